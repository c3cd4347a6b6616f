using System.Globalization;
using HaloPresence.Children;
using HaloPresence.Load;
using HaloPresence.Options;

namespace HaloPresence.Supervision;

/// <summary>One run: starts the silos and the load client as child processes on loopback, collects what they say, and stops them. Bounded in time.</summary>
public sealed class ClusterRun
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan SetupAndDrainLimit = TimeSpan.FromSeconds(180);
    private readonly HaloOptions _options;
    private readonly OptionTable _table;

    /// <summary>Creates the run; <paramref name="options"/> must be valid.</summary>
    public ClusterRun(HaloOptions options, OptionTable table)
    {
        _options = options;
        _table = table;
        Timeline = new RunTimeline(options.Silos);
    }

    /// <summary>What the processes have said so far.</summary>
    public RunTimeline Timeline { get; }

    /// <summary>Runs to the end of the load.</summary>
    /// <exception cref="InvalidOperationException">A child process ended early or did not start; the message carries its last lines.</exception>
    /// <exception cref="TimeoutException">The run took longer than its phases allow.</exception>
    public async Task ExecuteAsync(CancellationToken cancellation)
    {
        int[] ports = Ports.FindFree(2 * _options.Silos);
        var children = new List<ChildProcess>();
        try
        {
            // The primary first: the others find the cluster through it.
            for (int i = 0; i < _options.Silos; i++)
            {
                children.Add(StartSilo(i, ports));
                if (i == 0)
                    await WaitForSilosAsync(children, cancellation).ConfigureAwait(false);
            }
            await WaitForSilosAsync(children, cancellation).ConfigureAwait(false);
            ChildProcess client = StartClient(ports[_options.Silos..]);
            children.Add(client);
            await WaitForLoadAsync(client, children, cancellation).ConfigureAwait(false);
        }
        finally
        {
            children.Reverse();
            foreach (ChildProcess child in children.Where(child => child.Name == "client"))
                await child.DisposeAsync().ConfigureAwait(false);
            await Task.WhenAll(children.Where(child => child.Name != "client").Select(child => child.DisposeAsync().AsTask())).ConfigureAwait(false);
        }
    }

    private ChildProcess StartSilo(int index, int[] ports)
    {
        string[] own =
        [
            "silo",
            "--index", Text(index),
            "--port", Text(ports[index]),
            "--gateway", Text(ports[_options.Silos + index]),
            "--primary", Text(ports[0]),
        ];
        return ChildProcess.Start($"silo {index}", [.. own, .. _table.Print(_options)], line =>
        {
            if (!JsonLines.TryRead(line, out SiloSample? sample))
                return false;
            Timeline.Add(index, sample!);
            return true;
        });
    }

    private ChildProcess StartClient(int[] gateways)
    {
        string[] own = ["client", "--gateways", string.Join(',', gateways)];
        return ChildProcess.Start("client", [.. own, .. _table.Print(_options)], line =>
        {
            if (!JsonLines.TryRead(line, out LoadReport? report))
                return false;
            Timeline.Add(report!);
            return true;
        }, patient: true);
    }

    private async Task WaitForSilosAsync(List<ChildProcess> silos, CancellationToken cancellation)
    {
        using var limit = new CancellationTokenSource(StartLimit);
        for (int i = 0; i < silos.Count; i++)
        {
            while (!Timeline.HasStarted(i))
            {
                FailIfEnded(silos);
                if (limit.IsCancellationRequested)
                    throw new TimeoutException($"{silos[i].Name} did not start within {StartLimit.TotalSeconds} s. It said:{Environment.NewLine}{silos[i].Tail}");
                await Task.Delay(20, cancellation).ConfigureAwait(false);
            }
        }
    }

    private async Task WaitForLoadAsync(ChildProcess client, List<ChildProcess> children, CancellationToken cancellation)
    {
        TimeSpan longest = SetupAndDrainLimit + TimeSpan.FromSeconds(_options.Warmup + _options.Measure + _options.Saturate);
        using var limit = new CancellationTokenSource(longest);
        while (!client.HasExited)
        {
            FailIfEnded(children.Where(child => child != client));
            if (limit.IsCancellationRequested)
                throw new TimeoutException($"The load did not end within {longest.TotalSeconds} s. The client said:{Environment.NewLine}{client.Tail}");
            await Task.Delay(50, cancellation).ConfigureAwait(false);
        }
        int code = await client.WaitForExitAsync(cancellation).ConfigureAwait(false);
        if (code != 0 || Timeline.Load?.Phase != LoadPhase.Done)
            throw new InvalidOperationException($"The load client ended with code {code} before it was done. It said:{Environment.NewLine}{client.Tail}");
    }

    private static void FailIfEnded(IEnumerable<ChildProcess> children)
    {
        if (children.FirstOrDefault(child => child.HasExited) is { } ended)
            throw new InvalidOperationException($"{ended.Name} ended early. It said:{Environment.NewLine}{ended.Tail}");
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
