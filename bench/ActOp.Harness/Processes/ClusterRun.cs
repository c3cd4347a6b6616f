using System.Globalization;

namespace ActOp.Harness.Processes;

/// <summary>
/// One run: starts the silos and the load clients as child processes on loopback, collects what they say, and stops them. Bounded in time.
/// </summary>
/// <param name="timeline">Receives what the processes say; its number of silos is started.</param>
/// <param name="longest">The longest that the load may take, set-up and last answers included.</param>
/// <param name="silo">Arguments for the silos; the sample has a command "silo" with --index --port --gateway --primary.</param>
/// <param name="clients">Arguments for each load client; the sample has a command "client" with --gateways.</param>
public sealed class ClusterRun<TSample, TReport>(
    RunTimeline<TSample, TReport> timeline, TimeSpan longest, IReadOnlyList<string> silo,
    params IReadOnlyList<IReadOnlyList<string>> clients)
    where TSample : class, ITimed
    where TReport : class, ILoadReport
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);

    /// <summary>Runs to the end of the load.</summary>
    /// <exception cref="InvalidOperationException">A child process ended early or did not start; the message carries its last
    /// lines.</exception>
    /// <exception cref="TimeoutException">The run took longer than its phases allow.</exception>
    public async Task ExecuteAsync(CancellationToken cancellation)
    {
        var ports = Ports.FindFree(2 * timeline.SiloCount);
        var silos = new List<ChildProcess>();
        var loads = new List<ChildProcess>();
        try
        {
            // The primary first: the others find the cluster through it.
            for (var i = 0; i < timeline.SiloCount; i++)
            {
                silos.Add(StartSilo(i, ports));
                if (i == 0)
                    await WaitForSilosAsync(silos, cancellation).ConfigureAwait(false);
            }
            await WaitForSilosAsync(silos, cancellation).ConfigureAwait(false);
            for (var i = 0; i < clients.Count; i++)
                loads.Add(StartClient(i, ports[timeline.SiloCount..]));
            await WaitForLoadAsync(loads, silos, cancellation).ConfigureAwait(false);
        }
        finally
        {
            await Task.WhenAll(loads.Select(child => child.DisposeAsync().AsTask())).ConfigureAwait(false);
            await Task.WhenAll(silos.Select(child => child.DisposeAsync().AsTask())).ConfigureAwait(false);
        }
    }

    private ChildProcess StartSilo(int index, int[] ports)
    {
        string[] own =
        [
            "silo",
            "--index", Text(index),
            "--port", Text(ports[index]),
            "--gateway", Text(ports[timeline.SiloCount + index]),
            "--primary", Text(ports[0]),
        ];
        return ChildProcess.Start($"silo {index}", [.. own, .. silo], line =>
        {
            if (!JsonLines.TryRead(line, out TSample? sample))
                return false;
            timeline.Add(index, sample!);
            return true;
        });
    }

    private ChildProcess StartClient(int index, int[] gateways)
    {
        string[] own = ["client", "--gateways", string.Join(',', gateways)];
        return ChildProcess.Start(clients.Count == 1 ? "client" : $"client {index}", [.. own, .. clients[index]], line =>
        {
            if (!JsonLines.TryRead(line, out TReport? report))
                return false;
            timeline.Add(report!, index);
            return true;
        }, patient: true);
    }

    private async Task WaitForSilosAsync(List<ChildProcess> silos, CancellationToken cancellation)
    {
        using var limit = new CancellationTokenSource(StartLimit);
        for (var i = 0; i < silos.Count; i++)
        {
            while (!timeline.HasStarted(i))
            {
                FailIfEnded(silos);
                if (limit.IsCancellationRequested)
                {
                    throw new TimeoutException(
                        $"{silos[i].Name} did not start within {StartLimit.TotalSeconds} s. It said:{Environment.NewLine}{silos[i].Tail}");
                }

                await Task.Delay(20, cancellation).ConfigureAwait(false);
            }
        }
    }

    private async Task WaitForLoadAsync(List<ChildProcess> loads, List<ChildProcess> silos, CancellationToken cancellation)
    {
        using var limit = new CancellationTokenSource(longest);
        while (loads.Find(client => !client.HasExited) is { } running)
        {
            FailIfEnded(silos);
            if (limit.IsCancellationRequested)
            {
                throw new TimeoutException(
                    $"The load did not end within {longest.TotalSeconds} s. The {running.Name} said:{Environment.NewLine}{running.Tail}");
            }

            await Task.Delay(50, cancellation).ConfigureAwait(false);
        }
        for (var i = 0; i < loads.Count; i++)
        {
            var code = await loads[i].WaitForExitAsync(cancellation).ConfigureAwait(false);
            if (code != 0 || timeline.Loads[i] is not { IsDone: true })
            {
                throw new InvalidOperationException(
                    $"The load {loads[i].Name} ended with code {code} before it was done. It said:{Environment.NewLine}{loads[i].Tail}");
            }
        }
    }

    private static void FailIfEnded(IEnumerable<ChildProcess> children)
    {
        if (children.FirstOrDefault(child => child.HasExited) is { } ended)
            throw new InvalidOperationException($"{ended.Name} ended early. It said:{Environment.NewLine}{ended.Tail}");
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>Everything that the processes of one run have said. Safe for concurrent use.</summary>
/// <typeparam name="TSample">What a silo says.</typeparam>
/// <typeparam name="TReport">What the load client says.</typeparam>
public class RunTimeline<TSample, TReport>
    where TSample : class, ITimed
    where TReport : class, ILoadReport
{
    // Two hours at one sample a second; a longer run keeps its beginning, whose end the last sample replaces.
    private const int MaxSamples = 7200;
    private readonly Lock _lock = new();
    private readonly List<TSample>[] _silos;
    private readonly TReport?[] _loads;

    /// <summary>Creates an empty timeline for a number of silos and of load clients.</summary>
    public RunTimeline(int silos, int clients = 1)
    {
        _loads = new TReport?[clients];
        _silos = new List<TSample>[silos];
        for (var i = 0; i < silos; i++)
            _silos[i] = [];
    }

    /// <summary>Number of silos.</summary>
    public int SiloCount => _silos.Length;

    /// <summary>The last report of the first load client.</summary>
    public TReport? Load => Loads[0];

    /// <summary>The last report of every load client; null for one that has said nothing.</summary>
    public IReadOnlyList<TReport?> Loads
    {
        get
        {
            lock (_lock)
                return [.. _loads];
        }
    }

    /// <summary>Adds a silo's sample.</summary>
    public void Add(int silo, TSample sample)
    {
        lock (_lock)
        {
            if (_silos[silo].Count == MaxSamples)
                _silos[silo][^1] = sample;
            else
                _silos[silo].Add(sample);
        }
    }

    /// <summary>Replaces the report of the first load client.</summary>
    public void Add(TReport report) => Add(report, 0);

    /// <summary>Replaces a load client's report.</summary>
    public void Add(TReport report, int client)
    {
        lock (_lock)
            _loads[client] = report;
    }

    /// <summary>Whether silo <paramref name="silo"/> has said anything.</summary>
    public bool HasStarted(int silo)
    {
        lock (_lock)
            return _silos[silo].Count > 0;
    }

    /// <summary>The value of a cumulative counter of one silo at a time, linear between samples; 0 without samples.</summary>
    public double At(int silo, double time, Func<TSample, double> counter)
    {
        lock (_lock)
        {
            var samples = _silos[silo];
            if (samples.Count == 0)
                return 0;
            var next = samples.FindIndex(sample => sample.T >= time);
            if (next < 0)
                return counter(samples[^1]);
            if (next == 0)
                return counter(samples[0]);
            (var a, var b) = (samples[next - 1], samples[next]);
            var share = b.T > a.T ? (time - a.T) / (b.T - a.T) : 1;
            return counter(a) + share * (counter(b) - counter(a));
        }
    }

    /// <summary>How much a counter grew between two times, over all silos.</summary>
    public double Growth(double from, double to, Func<TSample, double> counter)
    {
        double sum = 0;
        for (var i = 0; i < _silos.Length; i++)
            sum += At(i, to, counter) - At(i, from, counter);
        return sum;
    }

    /// <summary>The samples of one silo so far.</summary>
    public TSample[] Samples(int silo)
    {
        lock (_lock)
            return [.. _silos[silo]];
    }
}

/// <summary>Something that a child process said at a time.</summary>
public interface ITimed
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    double T { get; }
}

/// <summary>What a load client says.</summary>
public interface ILoadReport : ITimed
{
    /// <summary>Whether the load is over and this is the last report.</summary>
    bool IsDone { get; }
}
