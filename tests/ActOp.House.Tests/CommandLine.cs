using System.Diagnostics;
using ActOp.Harness.Processes;

namespace ActOp.House.Tests;

/// <summary>Runs the SDK as a user's shell would: nothing of the build that runs the tests leaks into it.</summary>
internal static class CommandLine
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    /// <summary>Runs <c>dotnet</c> and returns its output; a failure is thrown with it.</summary>
    public static async Task<string> DotnetAsync(string folder, IReadOnlyDictionary<string, string> variables, params string[] arguments)
    {
        var (code, output, errors) = await ProcessRun.ToEndAsync(NewStart(folder, variables, arguments), Patience);
        return code == 0
            ? output + errors
            : throw new InvalidOperationException($"dotnet {string.Join(' ', arguments)} returned {code}:\n{output}{errors}");
    }

    /// <summary>Runs <c>dotnet</c> until a line of its output contains a text, lets the caller do something, and ends it.</summary>
    public static async Task DotnetUntilAsync(
        string folder, IReadOnlyDictionary<string, string> variables, string text, Func<Task> meanwhile, params string[] arguments)
    {
        using var process = Process.Start(NewStart(folder, variables, arguments))!;
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

    private static ProcessStartInfo NewStart(string folder, IReadOnlyDictionary<string, string> variables, string[] arguments)
    {
        var start = ProcessRun.Dotnet(folder, arguments);
        foreach ((var name, var value) in variables)
            start.Environment[name] = value;
        return start;
    }
}
