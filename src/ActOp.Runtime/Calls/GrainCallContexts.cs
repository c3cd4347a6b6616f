using System.Reflection;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Calls;

/// <summary>A call as a filter sees it, at the caller or at the callee. One per filtered call; used by one asynchronous flow.</summary>
internal abstract class GrainCallContext(RequestBase request) : IGrainCallContext
{
    public abstract object Grain { get; }

    public MethodInfo InterfaceMethod => request.GetMethod();

    public string InterfaceName => request.GetInterfaceName();

    public GrainInterfaceType InterfaceType =>
        ((Call)request).Reference is { } reference ? reference.InterfaceType : GrainInterfaceType.Create(request.GetInterfaceName());

    public string MethodName => request.GetMethodName();

    public IInvokable Request => request.Visible;

    public Response? Response { get; set; }

    public object? Result
    {
        get => Response?.Result;
        set => Response = Response.FromResult(value);
    }

    /// <summary>
    /// Code outside of grains calls as its node does: a client, or the client inside of a silo. Its own filters see nobody, as in Orleans.
    /// </summary>
    public GrainId? SourceId => ((Call)request).SourceId is { IsDefault: false } source ? source
        : CallingNode is { } node && !((Call)request).Method.IsOfRuntime ? SystemGrainIds.Client(node)
        : null;

    /// <summary>The node of the caller, for filters of the callee.</summary>
    protected virtual SiloAddress? CallingNode => null;

    public GrainId TargetId => ((Call)request).TargetId;

    public abstract Task Invoke();

    /// <summary>
    /// Stores the outcome in the call: the response; or an <see cref="InvalidOperationException"/> if no filter has set one and the method
    /// was not invoked; or an <see cref="InvalidCastException"/> if a filter has set one of another type. Does not throw.
    /// </summary>
    internal void Store(Call call)
    {
        try
        {
            if (Response is not { } response)
            {
                throw new InvalidOperationException(
                    "A grain call filter ended the call " + call.Method.ActivityName +
                        " without invoking it and without a result. Call context.Invoke() or set context.Result.");
            }

            call.Error = response.Exception;
            if (call.Error is null)
                call.BoxedResult = response.Result;
        }
        catch (Exception exception)
        {
            call.Error = exception;
        }
    }
}

/// <summary>An incoming call: runs the filters of the silo, the filter of the grain itself, and the method.</summary>
internal sealed class IncomingCallContext(Activation activation, RequestBase request,
    IIncomingGrainCallFilter[] filters) : GrainCallContext(request), IIncomingGrainCallContext
{
    private MethodInfo? _implementation;
    private int _stage;

    /// <summary>The instance of the grain, or the observer. The caller of the filters has checked that it exists.</summary>
    public override object Grain { get; } = activation.GetTarget()!;

    public IGrainContext TargetContext => activation;

    protected override SiloAddress? CallingNode { get; } =
        ((Call)request).Remote as SiloAddress ?? activation.Parts.Local.Address;

    public MethodInfo ImplementationMethod => _implementation ??= FindImplementation();

    public override async Task Invoke()
    {
        var stage = _stage;
        try
        {
            if (stage < filters.Length)
            {
                _stage = stage + 1;
                await Given.Task(filters[stage].Invoke(this));
            }
            else if (stage == filters.Length && Grain is IIncomingGrainCallFilter own)
            {
                _stage = stage + 1;
                await Given.Task(own.Invoke(this));
            }
            else
            {
                Response = await Request.Invoke();
                if (Response.Exception is { } exception)
                    System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(exception);
            }
        }
        finally
        {
            _stage = stage;
        }
    }

    private MethodInfo FindImplementation()
    {
        var method = InterfaceMethod;
        var type = (Request.GetTarget() ?? Grain).GetType();
        if (method.DeclaringType is not { IsInterface: true } declaring || !declaring.IsAssignableFrom(type))
            return method;
        var map = type.GetInterfaceMap(declaring);
        var definition = method.IsGenericMethod ? method.GetGenericMethodDefinition() : method;
        var index = Array.FindIndex(map.InterfaceMethods, candidate => candidate == definition);
        if (index < 0)
            return method;
        var implementation = map.TargetMethods[index];
        return method.IsGenericMethod ? implementation.MakeGenericMethod(method.GetGenericArguments()) : implementation;
    }
}

/// <summary>
/// An outgoing call: runs the filters of the caller, and then the request itself if it is a filter. Each invocation sends a copy of the
/// request, so a filter may send it again.
/// </summary>
internal sealed class OutgoingCallContext(CallSender calls, RequestBase request,
    IOutgoingGrainCallFilter[] filters) : GrainCallContext(request), IOutgoingGrainCallContext
{
    private readonly RequestBase _request = request;
    private int _stage;

    public override object Grain => ((Call)_request).Reference!;

    public IGrainContext? SourceContext => ((Call)_request).Caller as IGrainContext;

    public override async Task Invoke()
    {
        var stage = _stage;
        var own = stage == filters.Length ? Request as IOutgoingGrainCallFilter : null;
        if (stage < filters.Length || own is not null)
        {
            _stage = stage + 1;
            try
            {
                await Given.Task((own ?? filters[stage]).Invoke(this)).ConfigureAwait(CallHost.Current is not null);
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
        var call = original is CustomCall custom ? custom.Twin() : CopyOf(_request);
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

    private static Call CopyOf(RequestBase request)
    {
        var method = ((Call)request).Method;
        var copy = (RequestBase)FrameWriter.CreateCall(method.Id, method.TypeArguments);
        for (var index = 0; index < request.GetArgumentCount(); index++)
            copy.SetArgument(index, request.GetArgument(index)!);
        return copy;
    }
}
