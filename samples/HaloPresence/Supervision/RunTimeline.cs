using HaloPresence.Children;
using HaloPresence.Load;

namespace HaloPresence.Supervision;

/// <summary>Everything that the processes of one run have said. Safe for concurrent use.</summary>
public sealed class RunTimeline
{
    // Two hours at one sample a second; a longer run keeps its beginning, whose end the last sample replaces.
    private const int MaxSamples = 7200;
    private readonly Lock _lock = new();
    private readonly List<SiloSample>[] _silos;
    private LoadReport? _load;

    /// <summary>Creates an empty timeline for a number of silos.</summary>
    public RunTimeline(int silos)
    {
        _silos = new List<SiloSample>[silos];
        for (int i = 0; i < silos; i++)
            _silos[i] = [];
    }

    /// <summary>Number of silos.</summary>
    public int SiloCount => _silos.Length;

    /// <summary>The load client's last report.</summary>
    public LoadReport? Load
    {
        get
        {
            lock (_lock)
                return _load;
        }
    }

    /// <summary>Adds a silo's sample.</summary>
    public void Add(int silo, SiloSample sample)
    {
        lock (_lock)
        {
            if (_silos[silo].Count == MaxSamples)
                _silos[silo][^1] = sample;
            else
                _silos[silo].Add(sample);
        }
    }

    /// <summary>Replaces the load client's report.</summary>
    public void Add(LoadReport report)
    {
        lock (_lock)
            _load = report;
    }

    /// <summary>Whether silo <paramref name="silo"/> has said anything.</summary>
    public bool HasStarted(int silo)
    {
        lock (_lock)
            return _silos[silo].Count > 0;
    }

    /// <summary>The value of a cumulative counter of one silo at a time, linear between samples; 0 without samples.</summary>
    public double At(int silo, double time, Func<SiloSample, double> counter)
    {
        lock (_lock)
        {
            List<SiloSample> samples = _silos[silo];
            if (samples.Count == 0)
                return 0;
            int next = samples.FindIndex(sample => sample.T >= time);
            if (next < 0)
                return counter(samples[^1]);
            if (next == 0)
                return counter(samples[0]);
            (SiloSample a, SiloSample b) = (samples[next - 1], samples[next]);
            double share = b.T > a.T ? (time - a.T) / (b.T - a.T) : 1;
            return counter(a) + share * (counter(b) - counter(a));
        }
    }

    /// <summary>How much a counter grew between two times, over all silos.</summary>
    public double Growth(double from, double to, Func<SiloSample, double> counter)
    {
        double sum = 0;
        for (int i = 0; i < _silos.Length; i++)
            sum += At(i, to, counter) - At(i, from, counter);
        return sum;
    }

    /// <summary>Share of the grain messages between two times that crossed silos, 0 when there were none.</summary>
    public double RemoteShare(double from, double to)
    {
        double remote = Growth(from, to, sample => sample.RemoteMessages);
        double all = remote + Growth(from, to, sample => sample.LocalMessages);
        return all > 0 ? remote / all : 0;
    }

    /// <summary>The same share as the application itself saw it in its samples.</summary>
    public double CheckedRemoteShare(double from, double to)
    {
        double remote = Growth(from, to, sample => sample.CheckedRemote);
        double all = remote + Growth(from, to, sample => sample.CheckedLocal);
        return all > 0 ? remote / all : 0;
    }
}
