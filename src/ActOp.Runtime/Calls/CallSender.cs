using ActOp.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Hosting;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>Step 1 of a call's path: who asks, on whose behalf, until when; and the way back to callers outside of grains.</summary>
/// <remarks>Stateless; runs on the caller's thread (a turn, or any application thread).</remarks>
internal sealed class CallSender(Node node) : CallRuntime
{
    private readonly long _timeoutMs = (long)node.ResponseTimeout.TotalMilliseconds;

    internal Node Node => node;

    internal override void Send(Call call, GrainReference reference)
    {
        var caller = CallHost.Current;
        call.Caller = caller;
        call.Context = RequestContext.Current;
        if ((call.Flags & InvokeMethodOptions.OneWay) != 0)
            call.Origin = CallOrigin.Nobody;
        else
            call.Deadline = node.Clock.Now + (call.Method.ResponseTimeout is { } own ? (long)own.TotalMilliseconds : _timeoutMs);
        if (node.Filters.HasOutgoing || CallTrace.IsOn)
        {
            SendFiltered(call);
            return;
        }

        node.Router.Route(call, reference);
    }

    internal override void SendReply(Call call) => node.Messages.SendReply(call);

    internal override void Resume(Call call)
    {
#pragma warning disable RS0030 // Code of the application that is no grain goes on where .NET code does: on the thread pool.
        ThreadPool.UnsafeQueueUserWorkItem(call, preferLocal: false);
#pragma warning restore RS0030
    }

    internal override object Cast(GrainReference reference, Type interfaceType) => node.Factory.Cast(reference, interfaceType);

    internal override GrainReference CreateReference(GrainId id, Type interfaceType) => node.Factory.Create(id, interfaceType);

    private void SendFiltered(Call call) => node.Filters.RunOutgoing(call);
}
