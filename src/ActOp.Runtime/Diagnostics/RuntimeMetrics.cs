using System.Diagnostics.Metrics;
using ActOp.Runtime.Locality;
using ActOp.Staging;

namespace ActOp.Runtime.Diagnostics;

/// <summary>The runtime's numbers on the meter <c>ActOp.Runtime</c>. Counting is a plain add; instruments read the fields when somebody listens.</summary>
internal sealed class RuntimeMetrics : IDisposable
{
    internal const string MeterName = "ActOp.Runtime";

    private readonly Meter _meter = new(MeterName);
    private long _activated;
    private long _arrived;
    private long _deactivated;
    private long _moved;
    private long _expired;

    internal RuntimeMetrics(Func<int> activations, EdgeCounters edges, params Stage[] stages)
    {
        _meter.CreateObservableCounter("actop.grain.messages.local", () => edges.Totals().Local, description: "Requests and answers between grains of one silo.");
        _meter.CreateObservableCounter("actop.grain.messages.remote", () => edges.Totals().Remote, description: "Requests and answers between grains of different silos, counted where the request began.");
        _meter.CreateObservableCounter("actop.activations.created", () => Interlocked.Read(ref _activated));
        _meter.CreateObservableCounter("actop.activations.ended", () => Interlocked.Read(ref _deactivated));
        _meter.CreateObservableUpDownCounter("actop.activations", activations);
        _meter.CreateObservableCounter("actop.migrations", () => Interlocked.Read(ref _moved));
        _meter.CreateObservableCounter("actop.migrations.arrived", () => Interlocked.Read(ref _arrived));
        _meter.CreateObservableCounter("actop.calls.expired", () => Interlocked.Read(ref _expired));
        foreach (var stage in stages)
        {
            var tag = new KeyValuePair<string, object?>("stage", stage.Name);
            _meter.CreateObservableUpDownCounter("actop.stage.threads", () => new Measurement<int>(stage.Threads, tag));
            _meter.CreateObservableUpDownCounter("actop.stage.queued", () => new Measurement<int>(stage.Counters.Queued, tag));
            _meter.CreateObservableCounter("actop.stage.executed", () => new Measurement<long>(stage.Counters.Executed, tag));
            _meter.CreateObservableCounter("actop.stage.wakes", () => new Measurement<long>(stage.Counters.Wakes, tag));
            _meter.CreateObservableCounter("actop.stage.empty_wakes", () => new Measurement<long>(stage.Counters.EmptyWakes, tag));
        }
    }

    internal Meter Meter => _meter;

    internal long Moved => Interlocked.Read(ref _moved);

    internal long Arrived => Interlocked.Read(ref _arrived);

    internal void Activated(bool arrived)
    {
        Interlocked.Increment(ref _activated);
        if (arrived)
            Interlocked.Increment(ref _arrived);
    }

    internal void Deactivated(bool moved)
    {
        Interlocked.Increment(ref _deactivated);
        if (moved)
            Interlocked.Increment(ref _moved);
    }

    internal void Expired(int count) => Interlocked.Add(ref _expired, count);

    public void Dispose() => _meter.Dispose();
}
