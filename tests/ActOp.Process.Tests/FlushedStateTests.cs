using System.Diagnostics;
using System.Text.RegularExpressions;
using ActOp.Harness.Processes;

namespace ActOp.Process.Tests;

/// <summary>What the operating system is asked for when states are written to files, as strace tells it.</summary>
public sealed partial class FlushedStateTests : IDisposable
{
    private const string Tracer = "/usr/bin/strace";

    private readonly string _root = Directory.CreateTempSubdirectory("flushed").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public async Task A_state_is_acknowledged_when_its_bytes_and_then_its_name_are_on_the_disk()
    {
        if (!File.Exists(Tracer))
        {
            Assert.False(
                Environment.GetEnvironmentVariable("CI") == "true", "strace is not installed, and a pipeline must not skip this test.");
            Assert.Skip("STRACE IS NOT INSTALLED (apt-get install strace): the flushes of the real disk were not tested.");
        }

        var states = Path.Combine(_root, "states");
        var calls = (await TraceAsync(states)).Select(static line => Step(line)).Where(static step => step is not null).ToList();

        // The directory of the states must be there after a loss of power, too.
        Assert.Contains("flush " + _root, calls);
        Assert.Contains("flush " + states, calls);
        var said = Enumerable.Range(1, 3).Select(number => calls.IndexOf("acknowledge " + number)).ToArray();
        for (var number = 0; number < said.Length; number++)
        {
            Assert.True(said[number] >= 0);
            var before = calls[(number == 0 ? 0 : said[number - 1] + 1)..said[number]];
            var rename = before.FindIndex(static step => step!.StartsWith("rename ", StringComparison.Ordinal));
            var file = before[rename]!["rename ".Length..];
            Assert.Equal("flush " + file, before[rename - 1]);
            Assert.Equal("write " + file, before[rename - 2]);
            Assert.Equal(["flush " + Path.GetDirectoryName(file)], before[(rename + 1)..]);
        }
    }

    private async Task<string[]> TraceAsync(string states)
    {
        var trace = Path.Combine(_root, "trace");
        string[] arguments =
        [
            "-f", "-y", "-o", trace, "-e", "trace=write,pwrite64,fsync,fdatasync,rename,renameat,renameat2",
            .. ChildProcess.CommandOf(Path.Combine(AppContext.BaseDirectory, "ActOp.Process.Silo.dll")), "write-states", states, "0",
        ];
        using var process = System.Diagnostics.Process.Start(
            new ProcessStartInfo(Tracer, arguments) { RedirectStandardOutput = true, RedirectStandardInput = true })!;
        try
        {
            await process.StandardOutput.ReadToEndAsync().WaitAsync(Limits.Patience);
            await process.WaitForExitAsync().WaitAsync(Limits.Patience);
            Assert.Equal(0, process.ExitCode);
        }
        finally
        {
            if (!process.HasExited)
                process.Kill(entireProcessTree: true);
        }

        return [.. Joined(await File.ReadAllLinesAsync(trace))];
    }

    /// <summary>A call during which another thread was traced has two lines. It is done at the second one.</summary>
    private static IEnumerable<string> Joined(string[] lines)
    {
        const string unfinished = " <unfinished ...>";
        var begun = new Dictionary<string, string>();
        foreach (var line in lines)
        {
            var thread = line.Split(' ', 2)[0];
            if (line.EndsWith(unfinished, StringComparison.Ordinal))
                begun[thread] = line[..^unfinished.Length];
            else if (line.IndexOf(" resumed>", StringComparison.Ordinal) is > 0 and var at && begun.Remove(thread, out var first))
                yield return first + line[(at + " resumed>".Length)..];
            else
                yield return line;
        }
    }

    /// <summary>One step of the writer in a line of the trace; null if it is something else. A rename is named by the old name.</summary>
    private static string? Step(string line)
    {
        if (Acknowledgement.Match(line) is { Success: true } said)
            return "acknowledge " + said.Groups[1].Value;
        if (Call.Match(line) is { Success: true } call)
            return (call.Groups[1].Value.Contains("write", StringComparison.Ordinal) ? "write " : "flush ") + call.Groups[2].Value;
        return Rename.Match(line) is { Success: true } rename ? "rename " + rename.Groups[1].Value : null;
    }

    [GeneratedRegex("""write\(.*"WRITTEN (\d)\\n", 10\) += 10$""")]
    private static partial Regex Acknowledgement { get; }

    [GeneratedRegex("""(pwrite64|fsync|fdatasync)\(\d+<(/.*?flushed[^>]*)>.*\) += \d+$""")]
    private static partial Regex Call { get; }

    [GeneratedRegex("""rename(?:at2?)?\(.*?"(.*?)".*\) += 0$""")]
    private static partial Regex Rename { get; }
}
