using System.Diagnostics.Metrics;

namespace ActOp.Orleans.Threads;

/// <summary>What thread control has found and done until now.</summary>
/// <param name="Threads">The pool's minimum.</param>
/// <param name="Queued">Items that wait.</param>
/// <param name="Changes">How often the minimum was changed.</param>
/// <param name="Sums">What the threads of the pool did.</param>
internal sealed record PoolStatus(int Threads, int Queued, long Changes, PoolSums Sums);

/// <summary>
/// The metrics of thread control, <c>actop.stage.*</c> of the meter <c>ActOp.Orleans</c> with the tag <c>stage=pool</c>, with the names of
/// the runtime of ActOp. There are none while another silo of the process sets the threads.
/// </summary>
internal sealed class ThreadMetrics : IDisposable
{
    private const string MeterName = "ActOp.Orleans";

    private static readonly KeyValuePair<string, object?> Tag = new("stage", "pool");

    private readonly Meter _meter;
    private readonly Counter<long> _failures;
    private PoolStatus? _status;

    public ThreadMetrics(IMeterFactory meters)
    {
        _meter = meters.Create(MeterName);
        _failures = _meter.CreateCounter<long>(
            "actop.stage.failures", description: "Exceptions of the measuring or of the setting of threads, which end it.");
        _meter.CreateObservableUpDownCounter(
            "actop.stage.threads", () => Measure(static status => status.Threads), description: "The pool's minimum.");
        _meter.CreateObservableUpDownCounter(
            "actop.stage.queued", () => Measure(static status => status.Queued), description: "Items that wait.");
        _meter.CreateObservableCounter(
            "actop.stage.changes", () => Measure(static status => status.Changes), description: "Changes of the number of threads.");
        _meter.CreateObservableCounter(
            "actop.stage.executed", () => Measure(static status => status.Sums.Executed), description: "Items run.");
        _meter.CreateObservableCounter(
            "actop.stage.wait", () => Measure(static status => status.Sums.Waited), "s", "Time that items have waited in the queue.");
        _meter.CreateObservableCounter(
            "actop.stage.wall", () => Measure(static status => status.Sums.Wall), "s", "Time that threads were busy with items (z).");
        _meter.CreateObservableCounter(
            "actop.stage.cpu", () => Measure(static status => status.Sums.Cpu), "s", "Processor time of threads (x).");
        _meter.CreateObservableCounter("actop.stage.ready", () => Measure(static status => status.Sums.Ready), "s",
            "Time that threads were busy and ready without a processor (r).");
    }

    /// <summary>Null while this silo does not set the threads.</summary>
    internal PoolStatus? Status
    {
        get => Volatile.Read(ref _status);
        set => Volatile.Write(ref _status, value);
    }

    public void Dispose() => _meter.Dispose();

    internal void Failed() => _failures.Add(1, Tag);

    private IEnumerable<Measurement<T>> Measure<T>(Func<PoolStatus, T> read)
        where T : struct => Status is { } status ? [new Measurement<T>(read(status), Tag)] : [];
}
