using System.Diagnostics;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>Runs the grain call filters. Used only for calls that have filters or a recorded trace.</summary>
/// <remarks>
/// The filters are created once, when the node starts and before its first call, because a filter may depend on services of the node, such
/// as IGrainFactory. Then any thread may use this.
/// </remarks>
internal sealed class CallFilters(CallSender calls)
{
    private IIncomingGrainCallFilter[] _incoming = [];
    private IOutgoingGrainCallFilter[] _outgoing = [];

    internal bool HasIncoming { get; private set; }

    internal bool HasOutgoing { get; private set; }

    /// <summary>Creates the filters, in the order in which they were added.</summary>
    /// <exception cref="OrleansConfigurationException">A filter cannot be created.</exception>
    internal void Load(IServiceProvider services)
    {
        _incoming = Make<IIncomingGrainCallFilter>(services, "incoming");
        _outgoing = Make<IOutgoingGrainCallFilter>(services, "outgoing");
        HasIncoming = _incoming.Length > 0;
        HasOutgoing = _outgoing.Length > 0;
    }

    /// <summary>
    /// Runs the filters and the method on turns of the activation, and stores the outcome in the call. Only the filter of the grain itself
    /// sees a call of the runtime, such as a delivery of a stream.
    /// </summary>
    internal async Task RunIncoming(Activation activation, Call call, Activity? activity)
    {
        var request = (RequestBase)call;
        try
        {
            request.SetTarget(activation);
            var context = new IncomingCallContext(activation, request, call.Method.IsOfRuntime ? [] : _incoming);
            await context.Invoke();
            context.Store(call);
        }
        catch (Exception exception)
        {
            CallTrace.Fail(activity, exception);
            call.Error = exception;
        }

        CallTrace.End(activity);
    }

    /// <summary>Runs the filters of the caller, which send a copy of the call. The task does not fail, so nobody needs it.</summary>
    internal async Task RunOutgoing(Call call, Activity? activity)
    {
        // A context of the application may refuse the continuation; the caller itself goes on where it wants.
        var onTurn = CallHost.Current is not null;
        var request = (RequestBase)call;
        var context = new OutgoingCallContext(calls, request, _outgoing);
        var ticket = call.Ticket;
        Exception? failure = null;
        try
        {
            await context.Invoke().ConfigureAwait(onTurn);
        }
        catch (Exception exception)
        {
            CallTrace.Fail(activity, exception);
            failure = exception;
        }

        // Before the caller resumes, so that the span has ended when the caller has the answer.
        CallTrace.End(activity);
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
            throw new OrleansConfigurationException(
                "A filter of " + direction + " grain calls cannot be made: " + exception.Message, exception);
        }
    }
}
