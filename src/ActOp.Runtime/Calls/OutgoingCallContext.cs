using ActOp.Calls;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Calls;

/// <summary>
/// An outgoing call on its way through the caller's filters. Each invocation sends a copy of the request, so that a filter may try again.
/// </summary>
internal sealed class OutgoingCallContext(CallSender calls, RequestBase request, IOutgoingGrainCallFilter[] filters) : GrainCallContext(request), IOutgoingGrainCallContext
{
    private readonly RequestBase _request = request;
    private int _stage;

    public override object Grain => ((Call)_request).Reference!;

    public IGrainContext? SourceContext => ((Call)_request).Caller as IGrainContext;

    public override async Task Invoke()
    {
        var stage = _stage;
        if (stage < filters.Length)
        {
            _stage = stage + 1;
            try
            {
                await filters[stage].Invoke(this);
            }
            finally
            {
                _stage = stage;
            }

            return;
        }

        try
        {
            Response = Response.FromResult(await SendCopy());
        }
        catch (Exception exception)
        {
            Response = Response.FromException(exception);
            throw;
        }
    }

    private ValueTask<object?> SendCopy()
    {
        var original = (Call)_request;
        var copy = (RequestBase)FrameWriter.CreateCall(original.Method.Id, original.Method.TypeArguments);
        for (var index = 0; index < _request.GetArgumentCount(); index++)
            copy.SetArgument(index, _request.GetArgument(index)!);
        var call = (Call)copy;
        call.Flags = original.Flags;
        call.Origin = original.Origin;
        call.Reference = original.Reference;
        call.Runtime = original.Runtime;
        call.Caller = CallHost.Current;
        call.Context = RequestContext.Current;
        call.Trace = original.Trace;
        call.Deadline = original.Deadline;
        if (original.Origin != CallOrigin.Nobody)
            return call.RouteBoxed(static (sent, state) => ((CallSender)state).SendFiltered(sent), calls);
        calls.SendFiltered(call);
        return default;
    }
}
