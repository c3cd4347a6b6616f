using System.Reflection;
using ActOp.Calls;
using Orleans.CodeGeneration;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>A grain call as filters and custom requests see it.</summary>
public abstract class RequestBase : Call, IRequest
{
    /// <inheritdoc/>
    public virtual bool IsCancellable => false;

    /// <inheritdoc/>
    public InvokeMethodOptions Options
    {
        get => Flags & ~ImmutableResult;
        protected set => Flags = value;
    }

    /// <inheritdoc/>
    public void AddInvokeMethodOptions(InvokeMethodOptions options) => Flags |= options;

    /// <inheritdoc/>
    public virtual void Dispose()
    {
    }

    /// <inheritdoc/>
    public virtual string GetActivityName() => Method.ActivityName;

    /// <inheritdoc/>
    public virtual object? GetArgument(int index) => throw new ArgumentOutOfRangeException(nameof(index), index, "The method " + Method.ActivityName + " has no such argument.");

    /// <inheritdoc/>
    public virtual int GetArgumentCount() => 0;

    /// <inheritdoc/>
    public virtual CancellationToken GetCancellationToken() => default;

    /// <inheritdoc/>
    public virtual TimeSpan? GetDefaultResponseTimeout() => Method.ResponseTimeout;

    /// <inheritdoc/>
    public virtual string GetInterfaceName() => Method.InterfaceName;

    /// <inheritdoc/>
    public virtual Type GetInterfaceType() => Method.InterfaceType;

    /// <inheritdoc/>
    public virtual MethodInfo GetMethod() => Method.Info;

    /// <inheritdoc/>
    public virtual string GetMethodName() => Method.Name;

    /// <inheritdoc/>
    public abstract object? GetTarget();

    /// <inheritdoc/>
    public abstract ValueTask<Response> Invoke();

    /// <inheritdoc/>
    public virtual void SetArgument(int index, object value) => throw new ArgumentOutOfRangeException(nameof(index), index, "The method " + Method.ActivityName + " has no such argument.");

    /// <inheritdoc/>
    public abstract void SetTarget(ITargetHolder holder);

    /// <inheritdoc/>
    public virtual bool TryCancel() => false;

    /// <summary>Hands the call to the runtime of <paramref name="reference"/>.</summary>
    private protected void Dispatch(GrainReference reference)
    {
        Flags |= Method.Options;
        Reference = reference;
        Runtime = reference.Shared.CallRuntime;
        Runtime.Send(this, reference);
    }
}
