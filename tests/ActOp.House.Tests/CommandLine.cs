using System.Diagnostics;

namespace ActOp.House.Tests;

/// <summary>Runs the SDK as a user's shell would: nothing of the build that runs the tests leaks into it.</summary>
internal static class CommandLine
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    /// <summary>Runs <c>dotnet</c> and returns its output; a failure is thrown with it.</summary>
    public static async Task<string> DotnetAsync(string folder, IReadOnlyDictionary<string, string> variables, params string[] arguments)
    {
        using var process = Start(folder, variables, arguments);
        using CancellationTokenSource patience = new(Patience);
        var output = process.StandardOutput.ReadToEndAsync(patience.Token);
        var errors = process.StandardError.ReadToEndAsync(patience.Token);
        try
        {
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException($"dotnet {string.Join(' ', arguments)} did not end.");
        }

        var text = await output + await errors;
        return process.ExitCode == 0
            ? text : throw new InvalidOperationException($"dotnet {string.Join(' ', arguments)} returned {process.ExitCode}:\n{text}");
    }

    /// <summary>Runs <c>dotnet</c> until a line of its output contains a text, lets the caller do something, and ends it.</summary>
    public static async Task DotnetUntilAsync(
        string folder, IReadOnlyDictionary<string, string> variables, string text, Func<Task> meanwhile, params string[] arguments)
    {
        using var process = Start(folder, variables, arguments);
        using CancellationTokenSource patience = new(Patience);
        List<string> lines = [];
        try
        {
            do
            {
                lines.Add(
                    await process.StandardOutput.ReadLineAsync(patience.Token)
                        ?? throw new InvalidOperationException($"It ended without \"{text}\":\n{string.Join('\n', lines)}"));
            }
            while (!lines[^1].Contains(text, StringComparison.Ordinal));
            await meanwhile();
        }
        finally
        {
            process.Kill(entireProcessTree: true);
        }
    }

    private static Process Start(string folder, IReadOnlyDictionary<string, string> variables, string[] arguments)
    {
        ProcessStartInfo start =
            new("dotnet", arguments) { WorkingDirectory = folder, RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var inherited in start.Environment.Keys.Where(
            static name => name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase)).ToArray())
        {
            start.Environment.Remove(inherited);
        }
        // A build node that stays would keep the output open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        start.Environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";
        foreach ((var name, var value) in variables)
            start.Environment[name] = value;
        return Process.Start(start)!;
    }
}
