using System.Reflection;
using ActOp.Calls;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>A grain call as filters see it, with its options.</summary>
public interface IRequest : IInvokable, IDisposable
{
    /// <summary>Options of the call.</summary>
    InvokeMethodOptions Options { get; }

    /// <summary>Adds options to the call.</summary>
    void AddInvokeMethodOptions(InvokeMethodOptions options);

    /// <summary>The call for people: <c>Interface.Method(arg, arg)</c>.</summary>
    static string ToMethodCallString(IRequest request)
    {
        ArgumentNullException.ThrowIfNull(request);
        var arguments = Enumerable.Range(0, request.GetArgumentCount()).Select(index => request.GetArgument(index)?.ToString() ?? "null");
        return request.GetInterfaceName() + "." + request.GetMethodName() + "(" + string.Join(", ", arguments) + ")";
    }

    /// <summary>The call for people, with its options.</summary>
    static string ToString(IRequest request)
    {
        var text = ToMethodCallString(request);
        return request.Options == InvokeMethodOptions.None ? text : text + " [" + request.Options + "]";
    }
}

/// <summary>A grain call as filters and custom requests see it.</summary>
public abstract class RequestBase : Call, IRequest
{
    /// <inheritdoc/>
    public virtual bool IsCancellable => false;

    /// <inheritdoc/>
    public InvokeMethodOptions Options
    {
        get => Flags & ~(ImmutableResult | Cancellable | FiltersItself);
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
    public virtual object? GetArgument(int index) =>
        throw new ArgumentOutOfRangeException(nameof(index), index, "The method " + Method.ActivityName + " has no such argument.");

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
    public virtual void SetArgument(int index, object value) =>
        throw new ArgumentOutOfRangeException(nameof(index), index, "The method " + Method.ActivityName + " has no such argument.");

    /// <inheritdoc/>
    public abstract void SetTarget(ITargetHolder holder);

    /// <inheritdoc/>
    public virtual bool TryCancel() => false;

    /// <summary>
    /// What filters and the predicate of [MayInterleave] get: this, or the request of the application that this call carries.
    /// </summary>
    internal virtual IInvokable Visible => this;

    // What follows is for requests that are never sent: a CustomCall carries those of the application that derive from this class itself,
    // and an enumeration sends calls of its own.

    /// <inheritdoc/>
    internal override object? BoxedResult
    {
        get => null;
        set => throw NotSent();
    }

    /// <inheritdoc/>
    [System.ComponentModel.EditorBrowsable(System.ComponentModel.EditorBrowsableState.Never)]
    public override void Recycle()
    {
    }

    internal override bool Start()
    {
        Error = NotSent();
        return true;
    }

    internal override void TakeResult()
    {
    }

    internal override void CopyResult(CopyContext context)
    {
    }

    internal override void WriteResult(ref WireWriter writer) => throw NotSent();

    internal override void ReadResult(ref WireReader reader) => throw NotSent();

    internal override void CompleteTask()
    {
    }

    internal override ValueTask<object?> RouteBoxed(Action<Call, object> route, object state) => throw NotSent();

    /// <summary>The method has returned null.</summary>
    private protected InvalidOperationException NoTask() => Given.NoTask(Method.ActivityName);

    /// <summary>Sends a generated request that an application holds.</summary>
    /// <returns>The result; null at once if the options say one-way.</returns>
    internal ValueTask<object?> SendBoxed(GrainReference reference, InvokeMethodOptions options)
    {
        Flags |= options;
        if (((Flags | Method.Options) & InvokeMethodOptions.OneWay) == 0)
            return RouteBoxed(static (call, target) => ((RequestBase)call).Dispatch((GrainReference)target), reference);
        Dispatch(reference);
        return default;
    }

    /// <summary>Sends a generated request that an application holds, and that nobody waits for.</summary>
    internal void Post(GrainReference reference, InvokeMethodOptions options)
    {
        Flags |= options | InvokeMethodOptions.OneWay;
        Dispatch(reference);
    }

    /// <summary>Hands the call to the runtime of <paramref name="reference"/>.</summary>
    private protected void Dispatch(GrainReference reference)
    {
        Flags |= Method.Options;
        Reference = reference;
        Runtime = reference.Shared.CallRuntime;
        Runtime.Send(this, reference);
    }

    private protected virtual NotSupportedException NotSent() => new("A request of the class " + GetType() + " is not sent itself.");
}

/// <summary>A call of a method that returns <see cref="ValueTask"/>.</summary>
public abstract class Request : ResultRequest<NoResult>
{
    private ValueTask _running;

    /// <inheritdoc/>
    public sealed override async ValueTask<Response> Invoke()
    {
        try
        {
            var running = InvokeInner();
            if (running.IsCompleted)
                running.GetAwaiter().GetResult();
            else
                await running.AsTask(); // As a task: an await of a source that refuses its continuation would end the process.
            return Response.Completed;
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract ValueTask InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            var running = InvokeInner();
            if (running.IsCompleted)
            {
                running.GetAwaiter().GetResult();
                return true;
            }

            _running = running;
        }
        catch (Exception exception)
        {
            Error = exception;
            return true;
        }

        // With the activation's context: the end then runs within the turn that brings it. Without, .NET takes it to the thread pool,
        // because a turn has a scheduler of its own.
        _running.GetAwaiter().UnsafeOnCompleted(OnEnd);
        return false;
    }

    internal sealed override void TakeResult()
    {
        var running = _running;
        _running = default;
        try
        {
            running.GetAwaiter().GetResult();
        }
        catch (Exception exception)
        {
            Error = exception;
        }
    }
}

/// <summary>A call of a method that returns <see cref="ValueTask{TResult}"/>.</summary>
/// <typeparam name="TResult">The method's result.</typeparam>
public abstract class Request<TResult> : ResultRequest<TResult>
{
    private ValueTask<TResult> _running;

    /// <inheritdoc/>
    public sealed override async ValueTask<Response> Invoke()
    {
        try
        {
            var running = InvokeInner();
            // As a task: see the class above.
            return Response.FromResult(running.IsCompleted ? running.GetAwaiter().GetResult() : await running.AsTask());
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract ValueTask<TResult> InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            var running = InvokeInner();
            if (running.IsCompleted)
            {
                Result = running.GetAwaiter().GetResult();
                return true;
            }

            _running = running;
        }
        catch (Exception exception)
        {
            Error = exception;
            return true;
        }

        // With the activation's context: the end then runs within the turn that brings it. Without, .NET takes it to the thread pool,
        // because a turn has a scheduler of its own.
        _running.GetAwaiter().UnsafeOnCompleted(OnEnd);
        return false;
    }

    internal sealed override void TakeResult()
    {
        var running = _running;
        _running = default;
        try
        {
            Result = running.GetAwaiter().GetResult();
        }
        catch (Exception exception)
        {
            Error = exception;
        }
    }
}

/// <summary>A call of a method that returns <see cref="Task"/>.</summary>
public abstract class TaskRequest : ResultRequest<NoResult>
{
    private Task? _running;

    /// <inheritdoc/>
    public sealed override async ValueTask<Response> Invoke()
    {
        try
        {
            await (InvokeInner() ?? throw NoTask());
            return Response.Completed;
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract Task InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            var running = InvokeInner() ?? throw NoTask();
            if (running.IsCompleted)
            {
                running.GetAwaiter().GetResult();
                return true;
            }

            _running = running;
        }
        catch (Exception exception)
        {
            Error = exception;
            return true;
        }

        // With the activation's context: the end then runs within the turn that brings it. Without, .NET takes it to the thread pool,
        // because a turn has a scheduler of its own.
        _running.GetAwaiter().UnsafeOnCompleted(OnEnd);
        return false;
    }

    internal sealed override void TakeResult()
    {
        var running = _running;
        _running = null;
        try
        {
            running!.GetAwaiter().GetResult();
        }
        catch (Exception exception)
        {
            Error = exception;
        }
    }
}

/// <summary>A call of a method that returns <see cref="Task{TResult}"/>.</summary>
/// <typeparam name="TResult">The method's result.</typeparam>
public abstract class TaskRequest<TResult> : ResultRequest<TResult>
{
    private Task<TResult>? _running;

    /// <inheritdoc/>
    public sealed override async ValueTask<Response> Invoke()
    {
        try
        {
            return Response.FromResult(await (InvokeInner() ?? throw NoTask()));
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract Task<TResult> InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            var running = InvokeInner() ?? throw NoTask();
            if (running.IsCompleted)
            {
                Result = running!.GetAwaiter().GetResult();
                return true;
            }

            _running = running;
        }
        catch (Exception exception)
        {
            Error = exception;
            return true;
        }

        // With the activation's context: the end then runs within the turn that brings it. Without, .NET takes it to the thread pool,
        // because a turn has a scheduler of its own.
        _running.GetAwaiter().UnsafeOnCompleted(OnEnd);
        return false;
    }

    internal sealed override void TakeResult()
    {
        var running = _running;
        _running = null;
        try
        {
            Result = running!.GetAwaiter().GetResult();
        }
        catch (Exception exception)
        {
            Error = exception;
        }
    }
}

/// <summary>A call of a method that returns void: no caller waits for it.</summary>
public abstract class VoidRequest : ResultRequest<NoResult>
{
    /// <inheritdoc/>
    public sealed override ValueTask<Response> Invoke()
    {
        try
        {
            InvokeInner();
            return new ValueTask<Response>(Response.Completed);
        }
        catch (Exception exception)
        {
            return new ValueTask<Response>(Response.FromException(exception));
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract void InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            InvokeInner();
        }
        catch (Exception exception)
        {
            Error = exception;
        }

        return true;
    }

    internal sealed override void TakeResult()
    {
    }
}
