using System.Reflection;
using ActOp.Calls;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Calls;

/// <summary>What a filter sees of a call, on either side. One per filtered call; used by one logical thread.</summary>
internal abstract class GrainCallContext(RequestBase request) : IGrainCallContext
{
    public abstract object Grain { get; }

    public MethodInfo InterfaceMethod => request.GetMethod();

    public string InterfaceName => request.GetInterfaceName();

    public GrainInterfaceType InterfaceType => ((Call)request).Reference is { } reference ? reference.InterfaceType : GrainInterfaceType.Create(request.GetInterfaceName());

    public string MethodName => request.GetMethodName();

    public IInvokable Request => request;

    public Response? Response { get; set; }

    public object? Result
    {
        get => Response?.Result;
        set => Response = Response.FromResult(value);
    }

    public GrainId? SourceId => ((Call)request).SourceId is { IsDefault: false } source ? source : null;

    public GrainId TargetId => ((Call)request).TargetId;

    public abstract Task Invoke();

    /// <summary>
    /// Puts the outcome into the call: the response, or an <see cref="InvalidOperationException"/> when no filter set one and the
    /// method was not invoked, or an <see cref="InvalidCastException"/> when a filter set one of another type.
    /// </summary>
    internal void Store(Call call)
    {
        try
        {
            if (Response is not { } response)
                throw new InvalidOperationException("A grain call filter ended the call " + call.Method.ActivityName + " without invoking it and without a result. Call context.Invoke() or set context.Result.");
            call.Error = response.Exception;
            if (call.Error is null)
                call.BoxedResult = response.Result;
        }
        catch (Exception exception) when (exception is InvalidOperationException or InvalidCastException)
        {
            call.Error = exception;
        }
    }
}
