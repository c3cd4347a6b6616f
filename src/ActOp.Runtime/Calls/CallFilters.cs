using System.Diagnostics;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Calls;

/// <summary>Runs the grain call filters. Calls without filters never come here.</summary>
/// <remarks>
/// The filters are made once, when the node opens and before its first call: a filter may ask for what the node itself provides, as
/// IGrainFactory.
/// </remarks>
internal sealed class CallFilters(CallSender calls)
{
    private IIncomingGrainCallFilter[] _incoming = [];
    private IOutgoingGrainCallFilter[] _outgoing = [];

    internal bool HasIncoming { get; private set; }

    internal bool HasOutgoing { get; private set; }

    /// <summary>Makes the filters, in the order in which they were added.</summary>
    /// <exception cref="OrleansConfigurationException">A filter cannot be made.</exception>
    internal void Load(IServiceProvider services)
    {
        _incoming = Make<IIncomingGrainCallFilter>(services, "incoming");
        _outgoing = Make<IOutgoingGrainCallFilter>(services, "outgoing");
        HasIncoming = _incoming.Length > 0;
        HasOutgoing = _outgoing.Length > 0;
    }

    /// <summary>Runs filters and method on the activation's turn; the outcome ends up in the call.</summary>
    internal async Task RunIncoming(Activation activation, Call call, Activity? activity)
    {
        var request = (RequestBase)call;
        var context = new IncomingCallContext(activation, request, _incoming);
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
        var context = new OutgoingCallContext(calls, request, _outgoing);
        var ticket = call.Ticket;
        Exception? failure = null;
        try
        {
            await context.Invoke();
        }
        catch (Exception exception)
        {
            CallTrace.Fail(activity, exception);
            failure = exception;
        }

        // Before the caller goes on: whoever has the answer finds the span ended.
        activity?.Dispose();
        if (!call.TryClaim(ticket))
            return;
        if (failure is null)
            context.Store(call);
        else
            call.Error = failure;
        call.Publish();
    }

    private static TFilter[] Make<TFilter>(IServiceProvider services, string direction)
    {
        try
        {
            return [.. services.GetServices<TFilter>()];
        }
        catch (Exception exception)
        {
            throw new OrleansConfigurationException("A filter of " + direction + " grain calls cannot be made: " + exception.Message, exception);
        }
    }
}
