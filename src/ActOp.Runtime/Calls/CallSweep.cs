using ActOp.Calls;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>Ends calls that will get no answer: their time is over, the silo that was asked is dead, or this node ends.</summary>
/// <remarks>
/// Runs on the control stage, or on the thread that closes the node. It reads calls that other threads use; what it reads counts only if
/// <see cref="Call.TryClaim(long)"/> then succeeds for the ticket that was read first.
/// </remarks>
internal sealed class CallSweep(Node node) : IDisposable
{
    private long _dropped;
    private long _lost;

    /// <summary>Ends calls whose deadline has passed; returns how many.</summary>
    internal int EndExpired(long now)
    {
        var ended = 0;
        foreach (var (call, ticket) in node.Calls.Registry.ReadExpired(now))
        {
            var exception = new TimeoutException(
                "The call " + call.Method.ActivityName + " to " + call.TargetId + (SentOnTo.Of(call.Remote, ticket) is { } silo ? " on " + silo : "") + " got no answer within its response timeout" +
                " (from " + call.SourceId + ", silo " + node.Address + ").");
            ended += End(call, ticket, exception);
        }

        return ended;
    }

    /// <summary>Ends calls that wait for an answer from <paramref name="silo"/>, which is dead or out of reach; returns how many.</summary>
    internal int EndWaitingFor(SiloAddress silo, string reason, bool isDead)
    {
        var ended = 0;
        foreach (var (call, ticket) in node.Calls.Registry.Read())
        {
            var remote = Volatile.Read(ref call.Remote);
            if (isDead ? !SentOnTo.DiesWith(remote, ticket, silo) : !silo.Equals(SentOnTo.Of(remote, ticket)))
                continue;
            var exception = new SiloUnavailableException("The silo " + silo + " is gone (" + reason + ") while the call " + call.Method.ActivityName + " to " + call.TargetId + " waited for its answer.");
            ended += End(call, ticket, exception);
        }

        return ended;
    }

    /// <summary>The node ends: its calls in flight end with it, and no call is sent any more.</summary>
    public void Dispose()
    {
        node.Calls.Registry.Close();
        foreach (var (call, ticket) in node.Calls.Registry.Read())
            End(call, ticket, node.Calls.Refusal(call));
    }

    /// <summary>Says what was dropped or lost since the last time: one line for all, because the causes come in masses.</summary>
    internal void Report()
    {
        var dropped = node.Metrics.Dropped;
        if (dropped != _dropped)
            node.Log.RequestsDropped(dropped - _dropped);
        _dropped = dropped;
        var lost = node.Metrics.Lost;
        if (lost != _lost && node.Calls.LastLost is { } last)
            node.Log.OneWayLost(lost - _lost, last.Method, last.Grain, last.Reason);
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
