using System.Diagnostics;
using System.Globalization;
using System.Text;
using ActOp.Harness.Processes;
using ActOp.Process.Silo;
using ActOp.Storage.Files;

namespace ActOp.Process.Tests;

/// <summary>A process that writes states to files is killed with SIGKILL before each step.</summary>
public sealed class KilledWriterTests : IDisposable
{
    private const int ExitOfSigKill = 137;

    private readonly string _root = Directory.CreateTempSubdirectory("killed").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public async Task A_kill_at_any_step_loses_only_what_was_not_acknowledged()
    {
        var kills = 0;
        for (var step = 1; ; step++)
        {
            var root = Path.Combine(_root, step.ToString(CultureInfo.InvariantCulture));
            var (exit, written) = await WriteAsync(root, step);
            var folder = new StateFolder(RealDisk.Instance, root, static () => "next");
            folder.Open();
            var record = folder.Read("s", StateWriter.Grain);
            var found = record is null ? 0 : int.Parse(Encoding.UTF8.GetString(record.Content.Span), CultureInfo.InvariantCulture);
            Assert.InRange(found, written, written + 1);
            Assert.Empty(Directory.EnumerateFiles(root, "*.new", SearchOption.AllDirectories));
            Assert.Equal("next", folder.TryWrite("s", StateWriter.Grain, record?.ETag, "9"u8.ToArray()));
            if (exit == 0)
            {
                Assert.Equal(StateWriter.Last, written);
                break;
            }

            Assert.Equal(ExitOfSigKill, exit);
            kills++;
        }

        Assert.InRange(kills, 15, 60);
    }

    /// <summary>The exit code of the process, and the last number that it has acknowledged.</summary>
    private static async Task<(int Exit, int Written)> WriteAsync(string root, int step)
    {
        string[] command =
        [
            .. ChildProcess.CommandOf(Path.Combine(AppContext.BaseDirectory, "ActOp.Process.Silo.dll")),
            "write-states", root, step.ToString(CultureInfo.InvariantCulture),
        ];
        using var process = System.Diagnostics.Process.Start(
            new ProcessStartInfo(command[0], command[1..]) { RedirectStandardOutput = true, RedirectStandardInput = true })!;
        try
        {
            var said = await process.StandardOutput.ReadToEndAsync().WaitAsync(Limits.Patience);
            await process.WaitForExitAsync().WaitAsync(Limits.Patience);
            return (process.ExitCode, said.Split('\n').Count(static line => line.StartsWith("WRITTEN", StringComparison.Ordinal)));
        }
        finally
        {
            if (!process.HasExited)
                process.Kill();
        }
    }
}
