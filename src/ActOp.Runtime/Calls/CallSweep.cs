using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>
/// Ends calls that will get no answer: their deadline has passed, the silo that owes the answer is dead, or this node stops.
/// </summary>
/// <remarks>
/// Runs on the control stage, or on the thread that stops the node. It reads calls that other threads use. What it has read is valid only
/// if <see cref="Call.TryClaim(long)"/> then succeeds for the ticket that was read first.
/// </remarks>
internal sealed class CallSweep(
    LocalNode local, CallSender calls, ClusterView cluster, RuntimeMetrics metrics, Stage control) : IDisposable
{
    private long _dropped;
    private long _lost;

    /// <summary>Tells callees of calls that took too long. Set before the start.</summary>
    internal Cancellations? Cancellations { get; set; }

    /// <summary>Where requests of calls to grains of this silo wait and run. Set before the start.</summary>
    internal ActivationTable? Activations { get; set; }

    /// <summary>Ends calls whose deadline has passed; returns how many.</summary>
    internal int EndExpired(long now)
    {
        calls.Cancellables.Expire(now);
        var ended = 0;
        foreach (var (call, ticket) in calls.Registry.ReadExpired(now))
        {
            var exception = new TimeoutException(TimeoutText(call, ticket));
            var remote = Volatile.Read(ref call.Remote);
            if (End(call, ticket, exception) == 0)
                continue;
            ended++;
            if (calls.CancelsOnTimeout && (call.Flags & Call.Cancellable) != 0)
                Cancellations!.OfExpired(call, ticket, remote);
        }

        return ended;
    }

    private string TimeoutText(Call call, long ticket) =>
        "The call " + call.Method.ActivityName + " to " + call.TargetId + " got no answer within its response timeout of "
            + TimeSpan.FromMilliseconds(calls.TimeoutOf(call.Method)) + " (from "
            + (call.SourceId.IsDefault ? "code outside of grains" : call.SourceId) + ", " + (local.IsSilo ? "silo " : "client ")
            + local.Address + "). " + Progress(call, ForwardedTo.DebtorOf(call.Remote, ticket));

    /// <summary>How far the call has come, as far as this node knows it.</summary>
    private string Progress(Call call, SiloAddress? silo)
    {
        if (silo is not null)
            return "Its request was sent to " + silo + ".";
        if (Activations is null || !Activations.TryGet(call.TargetId, out var activation))
            return "Its request was not sent: no silo was found for it in time.";
        // Others change both meanwhile, and what blocks may be a call that has ended: good enough for a text.
        var blocking = activation.Admission.Blocking;
        return ReferenceEquals(blocking, call) ? "Its request runs."
            : blocking?.Method is { } running
                ? "Its request waits while " + running.ActivityName + " runs; " + activation.QueueLength + " requests wait or run there."
            : "Its request waits or runs; " + activation.QueueLength + " requests wait or run there.";
    }

    /// <summary>Ends the calls that will get no answer because the silo is dead. On the control stage.</summary>
    internal void EndCallsToDead(SiloAddress silo)
    {
        EndCalls(silo, "it was declared dead", isDead: true);
        CancelCallsOf(silo);
    }

    /// <summary>
    /// Cancels the requests of a node that waits for no answer any more, because it is gone or its link was lost. Any thread.
    /// </summary>
    internal void CancelCallsOf(SiloAddress caller)
    {
        if (calls.Cancellables.CancelAllOf(caller) is > 0 and var cancelled)
            CancellationLog.CallerGone(local.Log.Logger, cancelled, caller);
    }

    /// <summary>The same, on the control stage, if the silo is dead. Any thread.</summary>
    internal void EndCallsIfDead(SiloAddress silo)
    {
        if (cluster.IsDead(silo))
            control.Post(new StageAction(() => EndCallsToDead(silo)));
    }

    /// <summary>Ends, on the control stage, the calls that wait for a silo that cannot be reached but may be alive. Any thread.</summary>
    internal void EndCallsTo(SiloAddress silo, string reason) => control.Post(new StageAction(() => EndCalls(silo, reason, isDead: false)));

    private void EndCalls(SiloAddress silo, string reason, bool isDead)
    {
        var ended = EndWaitingFor(silo, reason, isDead);
        if (ended > 0)
            local.Log.CallsLost(ended, silo, reason);
    }

    private int EndWaitingFor(SiloAddress silo, string reason, bool isDead)
    {
        var ended = 0;
        foreach (var (call, ticket) in calls.Registry.Read())
        {
            var remote = Volatile.Read(ref call.Remote);
            if (isDead ? !ForwardedTo.DiesWith(remote, ticket, silo) : !silo.Equals(ForwardedTo.DebtorOf(remote, ticket)))
                continue;
            var exception = new SiloUnavailableException(
                "The silo " + silo + " is gone (" + reason + ") while the call " + call.Method.ActivityName + " to " + call.TargetId +
                    " waited for its answer.");
            ended += End(call, ticket, exception);
        }

        return ended;
    }

    /// <summary>The node stops: its calls in flight fail, and no further call is accepted.</summary>
    public void Dispose()
    {
        calls.Registry.Close();
        foreach (var (call, ticket) in calls.Registry.Read())
            End(call, ticket, calls.Refusal(call));
    }

    /// <summary>Logs what was dropped or lost since the last time: one line for all, because such calls come in large numbers.</summary>
    internal void Report()
    {
        var dropped = metrics.Dropped;
        if (dropped != _dropped)
            local.Log.RequestsDropped(dropped - _dropped);
        _dropped = dropped;
        var lost = metrics.Lost;
        if (lost != _lost && calls.LastLost is { } last)
            local.Log.OneWayLost(lost - _lost, last.Method, last.Grain, last.Reason);
        _lost = lost;
    }

    private static int End(Call call, long ticket, Exception exception)
    {
        if (!call.TryClaim(ticket))
            return 0;
        call.Abandon(exception);
        return 1;
    }
}
