using System.Diagnostics;

namespace ActOp.Harness.Processes;

/// <summary>Runs other programs to their end.</summary>
public static class ProcessRun
{
    /// <summary>Runs a program whose output and errors are redirected.</summary>
    /// <param name="start">The program.</param>
    /// <param name="patience">After this time it is killed, with what it has started.</param>
    /// <returns>Its exit code, and what it has written.</returns>
    /// <exception cref="TimeoutException">It did not end in time.</exception>
    public static async Task<(int Code, string Output, string Errors)> ToEndAsync(ProcessStartInfo start, TimeSpan patience)
    {
        using var process = Process.Start(start)!;
        using CancellationTokenSource limit = new(patience);
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(limit.Token);
            var errors = process.StandardError.ReadToEndAsync(limit.Token);
            await process.WaitForExitAsync(limit.Token);
            return (process.ExitCode, await output, await errors);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException($"{Path.GetFileName(start.FileName)} {string.Join(' ', start.ArgumentList)} did not end.");
        }
    }

    /// <summary>A start of <c>dotnet</c> as from a user's shell: nothing of the build that runs this program leaks into it.</summary>
    public static ProcessStartInfo Dotnet(string folder, IEnumerable<string> arguments)
    {
        ProcessStartInfo start = new("dotnet", arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var inherited in start.Environment.Keys.Where(
            static name => name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase)).ToArray())
        {
            start.Environment.Remove(inherited);
        }

        // A build node that stays would keep the output open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        start.Environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";
        return start;
    }
}
