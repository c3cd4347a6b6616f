using Harness.Children;

namespace Harness.Supervision;

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
        for (int i = 0; i < silos; i++)
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
            List<TSample> samples = _silos[silo];
            if (samples.Count == 0)
                return 0;
            int next = samples.FindIndex(sample => sample.T >= time);
            if (next < 0)
                return counter(samples[^1]);
            if (next == 0)
                return counter(samples[0]);
            (TSample a, TSample b) = (samples[next - 1], samples[next]);
            double share = b.T > a.T ? (time - a.T) / (b.T - a.T) : 1;
            return counter(a) + share * (counter(b) - counter(a));
        }
    }

    /// <summary>How much a counter grew between two times, over all silos.</summary>
    public double Growth(double from, double to, Func<TSample, double> counter)
    {
        double sum = 0;
        for (int i = 0; i < _silos.Length; i++)
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
