namespace Harness.Options;

/// <summary>Runs a command's work and turns what may go wrong into a message and an exit code.</summary>
public static class CommandRun
{
    /// <summary>
    /// Returns 2 for a wrong option, 1 for a run that failed, 130 when it was stopped, else what <paramref name="work"/> returns.
    /// </summary>
    public static async Task<int> RunAsync(string? wrongOption, Func<Task<int>> work)
    {
        if (wrongOption is not null)
        {
            Console.Error.WriteLine(wrongOption);
            return 2;
        }
        try
        {
            return await work().ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is InvalidOperationException or TimeoutException)
        {
            Console.Error.WriteLine(failure.Message);
            return 1;
        }
        catch (OperationCanceledException)
        {
            Console.Error.WriteLine("Stopped; the child processes have ended.");
            return 130;
        }
    }
}
