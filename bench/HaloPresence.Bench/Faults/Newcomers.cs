using System.Globalization;
using ActOp.Harness.Processes;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Bench.Faults;

/// <summary>
/// Silo processes with a wrong setting that try to join a cluster. They have the lowest priority: what the start of a process takes from
/// the processors of this machine is not what the runtime takes.
/// </summary>
/// <remarks>Owns the processes until disposed.</remarks>
public sealed class Newcomers : IAsyncDisposable
{
    /// <summary>A process of the lowest priority may wait long for a busy processor; one that hangs never ends.</summary>
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(120);
    private static readonly TimeSpan OwnClusterTime = TimeSpan.FromSeconds(15);
    private readonly List<ChildProcess> _processes = [];

    /// <summary>Starts them.</summary>
    /// <param name="wrong">What is wrong with all of them.</param>
    /// <param name="options">The experiment.</param>
    /// <param name="arguments">The arguments of a silo but for its index and its ports.</param>
    public Newcomers(WrongSetting wrong, FaultOptions options, IEnumerable<string> arguments)
    {
        var ports = Ports.FindFree(2 * options.Newcomers);
        for (var i = 0; i < options.Newcomers; i++)
        {
            string[] own =
                ["silo", "--index", Text(options.Halo.Silos + i), "--port", Text(ports[2 * i]), "--gateway", Text(ports[2 * i + 1]),
                    "--wrong", wrong.ToString()];
            _processes.Add(ChildProcess.StartCommand(
                $"newcomer {i}", ["nice", "-n", "19", .. ChildProcess.ThisProgram, .. own, .. arguments], static _ => false));
        }
    }

    /// <summary>Waits until all are over; returns what those that are wrong have not done in time, empty if all is well.</summary>
    public async Task<List<string>> WaitAsync(WrongSetting wrong, CancellationToken cancellation)
    {
        if (wrong == WrongSetting.Cluster)
        {
            // It is no member of the cluster, but a cluster of its own, which is right: it ends when it is told to.
            await Task.Delay(OwnClusterTime, cancellation).ConfigureAwait(false);
            return [.. _processes.Where(process => process.HasExited).Select(process => $"{process.Name} ended: {process.Tail}")];
        }

        using var time = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        time.CancelAfter(EndLimit);
        var faults = new List<string>();
        foreach (var process in _processes)
        {
            try
            {
                if (await process.WaitForExitAsync(time.Token).ConfigureAwait(false) == 0)
                    faults.Add($"{process.Name} ended without an error: {process.Tail}");
            }
            catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
            {
                faults.Add($"{process.Name} still ran after {EndLimit.TotalSeconds} s: {process.Tail}");
            }
        }

        return faults;
    }

    /// <summary>The line in which the first one says why it did not join.</summary>
    public string Reason => _processes[0].Tail.Split(Environment.NewLine)
        .LastOrDefault(static line => line.Contains("Exception: ", StringComparison.Ordinal))?.Trim() ?? "";

    /// <inheritdoc/>
    public async ValueTask DisposeAsync() =>
        await Task.WhenAll(_processes.Select(static process => process.DisposeAsync().AsTask())).ConfigureAwait(false);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
