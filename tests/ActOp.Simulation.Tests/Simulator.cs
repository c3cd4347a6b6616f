using System.Diagnostics;
using System.Text.RegularExpressions;

namespace ActOp.Simulation.Tests;

/// <summary>The simulator as a process of its own: it takes the whole thread pool, so it cannot run beside tests.</summary>
internal static partial class Simulator
{
    /// <summary>Far beyond any run of a few seeds; a run that hangs ends the test.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    internal static (int Code, string Output) Start(params string[] arguments) => StartIn(AppContext.BaseDirectory, [], arguments);

    /// <summary>Starts the program of another folder, with variables of the environment.</summary>
    internal static (int Code, string Output) StartIn(
        string folder, Dictionary<string, string> environment, params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true };
        start.ArgumentList.Add(Path.Combine(folder, "ActOp.Simulation.dll"));
        foreach (var argument in arguments)
            start.ArgumentList.Add(argument);
        foreach (var (name, value) in environment)
            start.Environment[name] = value;
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        var output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(Patience))
        {
            process.Kill();
            Assert.Fail("The simulator has not ended after " + Patience + ".");
        }

        return (process.ExitCode, output.GetAwaiter().GetResult() + errors.GetAwaiter().GetResult());
    }

    /// <summary>The hashes in their order.</summary>
    internal static string[] HashesInOrder(string output) => [.. HashLine().Matches(output).Select(static match => match.Groups[2].Value)];

    /// <summary>Seed and hash of each run that <paramref name="output"/> tells of.</summary>
    internal static Dictionary<string, string> Hashes(string output) =>
        HashLine().Matches(output).ToDictionary(static match => match.Groups[1].Value, static match => match.Groups[2].Value);

    [GeneratedRegex(@"^seed (\d+) hash ([0-9a-f]{16})\r?$", RegexOptions.Multiline)]
    private static partial Regex HashLine();
}
