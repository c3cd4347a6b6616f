using ActOp.Calls;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>Ends calls that will get no answer: their time is over, or the silo that was asked is dead.</summary>
/// <remarks>
/// Runs on the control stage. It reads calls that other threads use; what it reads counts only if <see cref="Call.TryClaim"/>
/// then succeeds for the version that was read first.
/// </remarks>
internal sealed class CallSweep(Node node)
{
    /// <summary>Ends calls whose deadline has passed; returns how many.</summary>
    internal int EndExpired(long now)
    {
        var ended = 0;
        for (var slot = 0; slot < CallRegistry.Limit; slot++)
        {
            if (CallRegistry.Find(slot) is not { } call)
                continue;
            var version = Volatile.Read(ref call.Version);
            var deadline = Volatile.Read(ref call.Deadline);
            if (deadline == 0 || deadline > now || !ReferenceEquals(call.Runtime, node.Calls) || !call.IsPending(version))
                continue;
            ended += End(call, version, static (call, node) => new TimeoutException(
                "The call " + call.Method.ActivityName + " to " + call.TargetId + (SentOnTo.Of(call.Remote) is { } silo ? " on " + silo : "") + " got no answer within its response timeout" +
                " (from " + call.SourceId + ", silo " + node.Address + ").")) ? 1 : 0;
        }

        return ended;
    }

    /// <summary>Ends calls that wait for an answer from <paramref name="silo"/>, which is dead or out of reach; returns how many.</summary>
    internal int EndWaitingFor(SiloAddress silo, string reason, bool isDead)
    {
        var ended = 0;
        for (var slot = 0; slot < CallRegistry.Limit; slot++)
        {
            if (CallRegistry.Find(slot) is not { } call)
                continue;
            var version = Volatile.Read(ref call.Version);
            if (call.Origin != CallOrigin.Local || !ReferenceEquals(call.Runtime, node.Calls) || !(isDead ? SentOnTo.DiesWith(call.Remote, silo) : silo.Equals(SentOnTo.Of(call.Remote))) || !call.IsPending(version))
                continue;
            ended += End(call, version, (c, _) => new SiloUnavailableException(
                "The silo " + silo + " is gone (" + reason + ") while the call " + c.Method.ActivityName + " to " + c.TargetId + " waited for its answer.")) ? 1 : 0;
        }

        return ended;
    }

    private bool End(Call call, int version, Func<Call, Node, Exception> error)
    {
        var exception = error(call, node);
        if (!call.TryClaim(version))
            return false;
        call.Error = exception;
        call.PublishAbandoned();
        return true;
    }
}
