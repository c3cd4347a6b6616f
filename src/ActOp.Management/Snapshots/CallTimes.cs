using System.Collections.Concurrent;
using System.Diagnostics.Metrics;

namespace ActOp.Management.Snapshots;

/// <summary>Numbers and times of the calls of one node by the class that they go to, while it is not disposed.</summary>
/// <remarks>
/// Any thread. Listens to the metric <c>actop.calls.duration</c>, so calls are measured only from the first viewer to the last. There are
/// at most as many classes as that metric has series.
/// </remarks>
internal sealed class CallTimes : IDisposable
{
    /// <summary>Upper bounds of the times, in seconds: four in each decade from 50 us to 28 s.</summary>
    internal static readonly double[] Bounds = [.. Enumerable.Range(0, 24).Select(static step => 0.00005 * Math.Pow(10, step / 4.0))];

    private readonly ConcurrentDictionary<string, Counts> _classes = new(StringComparer.Ordinal);
    private readonly MeterListener _listener;

    internal CallTimes(Meter meter)
    {
        _listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                // Several nodes of a process have a meter of this name each.
                if (ReferenceEquals(instrument.Meter, meter) && instrument.Name == "actop.calls.duration")
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        _listener.SetMeasurementEventCallback<double>((_, seconds, tags, _) => Add(seconds, tags));
        _listener.Start();
    }

    public void Dispose() => _listener.Dispose();

    /// <summary>Adds what was counted so far.</summary>
    internal void CopyTo(Func<string, ClassSnapshot> classOf)
    {
        foreach (var (name, counts) in _classes)
        {
            var one = classOf(name);
            one.Failed = Interlocked.Read(ref counts.Failed);
            one.Calls = [.. counts.Calls];
        }
    }

    private void Add(double seconds, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var (name, hasFailed) = ("", false);
        foreach (var (key, value) in tags)
        {
            if (key == "grain_type")
                name = (string)value!;
            else if (key == "outcome")
                hasFailed = (string)value! is "failed" or "timed_out";
        }

        var counts = _classes.GetOrAdd(name, static _ => new Counts());
        var bound = Array.BinarySearch(Bounds, seconds);
        Interlocked.Increment(ref counts.Calls[bound < 0 ? ~bound : bound]);
        if (hasFailed)
            Interlocked.Increment(ref counts.Failed);
    }

    private sealed class Counts
    {
        internal long Failed;

        internal long[] Calls { get; } = new long[Bounds.Length + 1];
    }
}
