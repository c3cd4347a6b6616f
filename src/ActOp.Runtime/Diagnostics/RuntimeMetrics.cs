using System.Diagnostics.Metrics;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Stages;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// The runtime's metrics on the meter <c>ActOp.Runtime</c>. Counting is a plain addition; observable instruments read the fields.
/// </summary>
internal sealed class RuntimeMetrics : IDisposable
{
    internal const string MeterName = "ActOp.Runtime";

    private readonly Meter _meter = new(MeterName);
    private long _activated;
    private long _arrived;
    private long _deactivated;
    private long _moved;
    private long _expired;
    private long _dropped;
    private long _fanouts;
    private long _receivers;
    private long _lost;
    private long _refused;

    internal RuntimeMetrics(
        Func<int> activations, EdgeCounters edges, IReadOnlyList<SizedStage> sized, NodeStages stages, Func<Refusals> refusals,
        LocalNode local)
    {
        Calls = new CallMetrics(_meter, OfOrleans.Meter, local.TaskTime, local.Log.Logger);
        OfOrleans.Observe(
            () => Interlocked.Read(ref _activated), () => Interlocked.Read(ref _deactivated), () => Interlocked.Read(ref _expired),
            () => Dropped, () => Interlocked.Read(ref _refused), () => edges.Totals().Local, () => Lost);
        _meter.CreateObservableCounter("actop.grain.messages.local", () => edges.Totals().Local,
            description: "Requests and answers between grains of one silo.");
        _meter.CreateObservableCounter("actop.grain.messages.remote", () => edges.Totals().Remote,
            description: "Requests and answers between grains of different silos, counted where the request began.");
        _meter.CreateObservableCounter("actop.activations.created", () => Interlocked.Read(ref _activated));
        _meter.CreateObservableCounter("actop.activations.ended", () => Interlocked.Read(ref _deactivated));
        _meter.CreateObservableUpDownCounter("actop.activations", activations);
        _meter.CreateObservableCounter("actop.migrations", () => Interlocked.Read(ref _moved));
        _meter.CreateObservableCounter("actop.migrations.arrived", () => Interlocked.Read(ref _arrived));
        _meter.CreateObservableCounter("actop.calls.expired", () => Interlocked.Read(ref _expired));
        _meter.CreateObservableCounter("actop.calls.dropped", () => Dropped,
            description: "Requests that did not run because no caller waited for the reply any more.");
        _meter.CreateObservableCounter("actop.calls.lost", () => Lost,
            description: "One-way calls that did not run: refused by a limit, or without a way to their grain.");
        _meter.CreateObservableCounter("actop.fanout.frames", () => Interlocked.Read(ref _fanouts), "{frame}",
            "Frames that were sent to several observers or grains of a node each.");
        _meter.CreateObservableCounter("actop.fanout.receivers", () => Interlocked.Read(ref _receivers), "{call}",
            "The calls in these frames.");
        _meter.CreateObservableCounter("actop.refused", () => Refused(refusals()),
            description: "Frames of peers that were refused: not allowed to the peer, unknown, damaged, or beyond a limit.");
        _meter.CreateObservableCounter("actop.calls.refused", () => Interlocked.Read(ref _refused),
            description: "Requests of clients that were refused because the silo was overloaded.");
        _meter.CreateObservableCounter("actop.border.failures", BorderFailures,
            description: "Calls of loggers, activity listeners and contexts of the application that have thrown, in this process.");
        foreach (var stage in sized)
            Add(stage);
        if (local.Tenants is { } tenants)
        {
            _meter.CreateObservableCounter("actop.tenants.refused", () => tenants.Refused,
                description: "Calls and uses of streams across tenants that were refused.");
        }

        if (stages.Groups is { } groups)
            GroupMetrics.Observe(_meter, groups);
        foreach (var stage in stages.All)
        {
            var tag = new KeyValuePair<string, object?>("stage", stage.Name);
            _meter.CreateObservableUpDownCounter("actop.stage.queued", () => new Measurement<int>(stage.Counters.Queued, tag));
            _meter.CreateObservableCounter("actop.stage.wakes", () => new Measurement<long>(stage.Counters.Wakes, tag));
            _meter.CreateObservableCounter("actop.stage.empty_wakes", () => new Measurement<long>(stage.Counters.EmptyWakes, tag));
        }
    }

    private static IEnumerable<Measurement<long>> Refused(Refusals refusals)
    {
        for (var reason = (Refusal)0; (int)reason < Refusals.Reasons; reason++)
            yield return new Measurement<long>(refusals[reason], new KeyValuePair<string, object?>("reason", Refusals.NameOf(reason)));
    }

    private static IEnumerable<Measurement<long>> BorderFailures()
    {
        foreach (var kind in Enum.GetValues<BorderKind>())
            yield return new Measurement<long>(Border.FailuresOf(kind), new KeyValuePair<string, object?>("kind", Border.NameOf(kind)));
    }

    private void Add(SizedStage stage)
    {
        var tag = new KeyValuePair<string, object?>("stage", stage.Name);
        _meter.CreateObservableUpDownCounter("actop.stage.threads", () => new Measurement<int>(stage.Threads(), tag));
        _meter.CreateObservableCounter("actop.stage.changes", () => new Measurement<long>(stage.Changes, tag),
            description: "Changes of the number of threads.");
        _meter.CreateObservableCounter("actop.stage.executed", () => new Measurement<long>(stage.Usage().Executed, tag),
            description: "Events run.");
        _meter.CreateObservableCounter("actop.stage.wait", () => new Measurement<double>(stage.Waited, tag), "s",
            "Time that events have waited in the stage's queue.");
        _meter.CreateObservableCounter("actop.stage.wall", () => new Measurement<double>(stage.Wall, tag), "s",
            "Time that threads were busy with events (z).");
        _meter.CreateObservableCounter("actop.stage.cpu", () => new Measurement<double>(stage.Cpu, tag), "s",
            "Processor time of events (x).");
        _meter.CreateObservableCounter("actop.stage.ready", () => new Measurement<double>(stage.Ready, tag), "s",
            "Time that threads were busy and ready without a processor (r).");
    }

    internal Meter Meter => _meter;

    /// <summary>The same under the names of Orleans.</summary>
    internal OrleansMeter OfOrleans { get; } = new();

    /// <summary>The calls of this node.</summary>
    internal CallMetrics Calls { get; }

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

    internal long Dropped => Interlocked.Read(ref _dropped);

    internal long Lost => Interlocked.Read(ref _lost);

    internal void RequestDropped() => Interlocked.Increment(ref _dropped);

    internal void ClientRefused() => Interlocked.Increment(ref _refused);

    internal void CallsLost(int count) => Interlocked.Add(ref _lost, count);

    /// <summary>A frame was sent to several observers.</summary>
    internal void FannedOut(int receivers)
    {
        Interlocked.Increment(ref _fanouts);
        Interlocked.Add(ref _receivers, receivers);
    }

    internal void Expired(int count) => Interlocked.Add(ref _expired, count);

    public void Dispose()
    {
        _meter.Dispose();
        OfOrleans.Dispose();
    }
}
