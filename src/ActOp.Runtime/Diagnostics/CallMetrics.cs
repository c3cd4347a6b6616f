using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using ActOp.Calls;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// Times and outcomes of the calls that this node makes, by method and grain type. Calls of the runtime itself do not count.
/// </summary>
/// <remarks>
/// Any thread. A call is measured only if somebody listened when it was made; without a listener it costs two comparisons. It is recorded
/// where its caller takes the answer, so listeners, which are code of the application, run on the turn of the caller or on its thread,
/// never on a thread that reads from the network. A listener that throws is reported once and changes nothing for the caller.
/// </remarks>
internal sealed partial class CallMetrics
{
    /// <summary>
    /// Series by method and grain type. Some hundreds are usual; an application with more has generated interfaces or generic grains, and
    /// each series costs memory in every exporter, usually with some 20 buckets. What comes later counts as <see cref="Other"/>.
    /// </summary>
    internal const int MostSeries = 1_000;

    internal const string Other = "other";

    private const double Second = 1_000;

    /// <summary>Milliseconds, as in Orleans.</summary>
    private static readonly double[] Buckets =
        [0.1, 0.25, 0.5, 0.75, 1, 2, 4, 6, 8, 10, 50, 100, 200, 400, 800, 1_000, 1_500, 2_000, 5_000, 10_000, 15_000, 30_000];

    private readonly ConcurrentDictionary<(ulong Method, GrainType Type), Series> _series = new();
    private readonly Series _others = new(Other, Other);
    private readonly Histogram<double> _duration;
    private readonly Histogram<double> _latency;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private int _count;
    private int _reported;

    internal CallMetrics(Meter own, Meter ofOrleans, TimeProvider time, ILogger log)
    {
        _time = time;
        _log = log;
        _duration = own.CreateHistogram(
            "actop.calls.duration", "s", "Time from a call to its answer, at the caller.", null,
            new InstrumentAdvice<double> { HistogramBucketBoundaries = [.. Buckets.Select(static one => one / Second)] });
        _latency = ofOrleans.CreateHistogram(
            "orleans-app-requests-latency", "ms", "Time from a call to its answer, at the caller.", null,
            new InstrumentAdvice<double> { HistogramBucketBoundaries = Buckets });
    }

    /// <summary>Somebody listens.</summary>
    internal bool IsOn => _duration.Enabled || _latency.Enabled;

    /// <summary>A call is made while somebody listens. Its caller waits for the answer.</summary>
    internal void Begin(Call call)
    {
        if (!call.Method.IsOfRuntime)
            call.Began = Math.Max(1, _time.GetTimestamp());
    }

    /// <summary>The caller takes the answer of a call that was measured.</summary>
    internal void End(Call call, Exception? error)
    {
        var time = _time.GetElapsedTime(call.Began);
        try
        {
            _latency.Record(time.TotalMilliseconds);
            if (_duration.Enabled)
                _duration.Record(time.TotalSeconds, TagsOf(call.Method.Id, call.Method.ActivityName, call.TargetId.Type, error));
        }
        catch (Exception exception)
        {
            ListenerFailed(exception);
        }
    }

    /// <summary>A listener of an instrument has thrown. The first one is logged: the others are likely the same, for every call.</summary>
    internal void ListenerFailed(Exception exception)
    {
        if (Interlocked.Exchange(ref _reported, 1) == 0)
            ListenerFailed(_log, exception);
    }

    /// <summary>The tags of a call, the same ones each time.</summary>
    internal ReadOnlySpan<KeyValuePair<string, object?>> TagsOf(ulong method, string name, GrainType type, Exception? error) =>
        (_series.TryGetValue((method, type), out var series) ? series : Add(method, name, type)).With(error);

    private Series Add(ulong method, string name, GrainType type)
    {
        if (Volatile.Read(ref _count) >= MostSeries || Interlocked.Increment(ref _count) > MostSeries)
            return _others;
        return _series.GetOrAdd((method, type), new Series(name, type.ToString()));
    }

    [LoggerMessage(1450, LogLevel.Warning, "A listener of the metrics has thrown. Further failures of listeners are not logged.")]
    private static partial void ListenerFailed(ILogger logger, Exception exception);

    /// <summary>The tags of one method of one grain type, made once: recording allocates nothing.</summary>
    private sealed class Series(string method, string type)
    {
        private readonly KeyValuePair<string, object?>[] _ok = Tags(method, type, "ok");
        private readonly KeyValuePair<string, object?>[] _failed = Tags(method, type, "failed");
        private readonly KeyValuePair<string, object?>[] _timedOut = Tags(method, type, "timed_out");
        private readonly KeyValuePair<string, object?>[] _cancelled = Tags(method, type, "cancelled");

        internal ReadOnlySpan<KeyValuePair<string, object?>> With(Exception? error) => error switch
        {
            null => _ok,
            TimeoutException => _timedOut,
            OperationCanceledException => _cancelled,
            _ => _failed,
        };

        private static KeyValuePair<string, object?>[] Tags(string method, string type, string outcome) =>
            [new("method", method), new("grain_type", type), new("outcome", outcome)];
    }
}
