using System.Diagnostics;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Hosting;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Calls;

/// <summary>Runs the grain call filters. Calls without filters never come here.</summary>
internal sealed class CallFilters(Node node, IIncomingGrainCallFilter[] incoming, IOutgoingGrainCallFilter[] outgoing)
{
    internal bool HasIncoming { get; } = incoming.Length > 0;

    internal bool HasOutgoing { get; } = outgoing.Length > 0;

    /// <summary>Runs filters and method on the activation's turn; the outcome ends up in the call.</summary>
    internal async Task RunIncoming(Activation activation, Call call, Activity? activity)
    {
        var request = (RequestBase)call;
        var context = new IncomingCallContext(activation, request, incoming);
        using var span = activity;
        try
        {
            request.SetTarget(activation);
            await context.Invoke();
            context.Store(call);
        }
        catch (Exception exception)
        {
            CallTrace.Fail(activity, exception);
            call.Error = exception;
        }
    }

    /// <summary>Runs the filters on the caller's side around a second call that does the sending.</summary>
    internal async void RunOutgoing(Call call, Activity? activity)
    {
        var request = (RequestBase)call;
        var context = new OutgoingCallContext(node, request, outgoing);
        var ticket = call.Ticket;
        using var span = activity;
        Exception? failure = null;
        try
        {
            if (CallTrace.IdOf(activity) is { } id)
                RequestContext.Set(CallTrace.ParentKey, id);
            await context.Invoke();
        }
        catch (Exception exception)
        {
            CallTrace.Fail(activity, exception);
            failure = exception;
        }

        if (!call.TryClaim(ticket))
            return;
        if (failure is null)
            context.Store(call);
        else
            call.Error = failure;
        call.Publish();
    }
}
