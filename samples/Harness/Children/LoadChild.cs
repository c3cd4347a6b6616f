namespace Harness.Children;

/// <summary>The load process: connects, runs the load on a thread of its own and prints the last report.</summary>
public static class LoadChild
{
    /// <summary>Runs the load to its end, or until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync<TTarget, TReport>(Func<CancellationToken, Task<TTarget>> connect, Func<TTarget, CancellationToken, TReport> run)
        where TTarget : IAsyncDisposable
    {
        CancellationToken ended = ParentWatch.Start();
        try
        {
            await using TTarget target = await connect(ended).ConfigureAwait(false);
            TReport last = await Task.Factory.StartNew(() => run(target, ended), ended, TaskCreationOptions.LongRunning, TaskScheduler.Default).ConfigureAwait(false);
            JsonLines.Write(Console.Out, last);
            return 0;
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            return 130;
        }
    }
}
