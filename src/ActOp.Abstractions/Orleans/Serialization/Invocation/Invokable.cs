using System.Reflection;
using System.Runtime.ExceptionServices;

namespace Orleans.Serialization.Invocation;

/// <summary>A method with its arguments, ready to be invoked.</summary>
public interface IInvokable : IDisposable
{
    /// <summary>True when the method takes a cancellation token.</summary>
    bool IsCancellable { get; }

    /// <summary>Name in traces.</summary>
    string GetActivityName();

    /// <summary>Argument <paramref name="index"/>, from 0.</summary>
    object? GetArgument(int index);

    /// <summary>How many arguments there are.</summary>
    int GetArgumentCount();

    /// <summary>The token among the arguments, or none.</summary>
    CancellationToken GetCancellationToken();

    /// <summary>The method's own response timeout, or null.</summary>
    TimeSpan? GetDefaultResponseTimeout();

    /// <summary>The interface's name.</summary>
    string GetInterfaceName();

    /// <summary>The interface.</summary>
    Type GetInterfaceType();

    /// <summary>The interface's method.</summary>
    MethodInfo GetMethod();

    /// <summary>The method's name.</summary>
    string GetMethodName();

    /// <summary>The object the method is invoked on.</summary>
    object? GetTarget();

    /// <summary>Invokes the method.</summary>
    ValueTask<Response> Invoke();

    /// <summary>Replaces argument <paramref name="index"/>.</summary>
    void SetArgument(int index, object value);

    /// <summary>Sets the object the method is invoked on.</summary>
    void SetTarget(ITargetHolder holder);

    /// <summary>Cancels the method if it can be.</summary>
    bool TryCancel();
}

/// <summary>What holds the target of a call.</summary>
public interface ITargetHolder
{
    /// <summary>A component of the holder, or null.</summary>
    object? GetComponent(Type componentType);

    /// <summary>The object that the call is invoked on.</summary>
    object? GetTarget();
}

/// <summary>The outcome of a call: a result or an exception.</summary>
public abstract class Response : IDisposable
{
    /// <summary>The outcome of a method without a result.</summary>
    public static Response Completed { get; } = new CompletedResponse();

    /// <summary>The exception, or null.</summary>
    public abstract Exception? Exception { get; set; }

    /// <summary>The result; throws the exception if there is one.</summary>
    public abstract object? Result { get; set; }

    /// <summary>A failed outcome.</summary>
    public static Response FromException(Exception exception) => new ExceptionResponse(exception);

    /// <summary>An outcome with a result.</summary>
    public static Response FromResult<TResult>(TResult value) => new Response<TResult> { TypedResult = value };

    /// <inheritdoc/>
    public abstract void Dispose();

    /// <summary>The result as <typeparamref name="T"/>; throws the exception if there is one.</summary>
    public abstract T GetResult<T>();

    /// <summary>The result's type where it is known, else null.</summary>
    public virtual Type? GetSimpleResultType() => null;
}

/// <summary>What is done with outcomes.</summary>
public static class ResponseExtensions
{
    /// <summary>Throws the exception of a failed outcome.</summary>
    public static void ThrowIfExceptionResponse(this Response response)
    {
        ArgumentNullException.ThrowIfNull(response);
        if (response.Exception is { } exception)
            ExceptionDispatchInfo.Throw(exception);
    }
}

/// <summary>An outcome with a result.</summary>
/// <typeparam name="TResult">The type of the result.</typeparam>
public sealed class Response<TResult> : Response
{
    /// <inheritdoc/>
    public override Exception? Exception
    {
        get => null;
        set => throw new InvalidOperationException("This response holds a result; make a new one with Response.FromException.");
    }

    /// <inheritdoc/>
    public override object? Result
    {
        get => TypedResult;
        set => TypedResult = (TResult?)value;
    }

    /// <summary>The result.</summary>
    public TResult? TypedResult { get; set; }

    /// <summary>Forgets the result.</summary>
    public override void Dispose() => TypedResult = default;

    /// <inheritdoc/>
    public override T GetResult<T>() => (T)(object?)TypedResult!;

    /// <inheritdoc/>
    public override Type GetSimpleResultType() => typeof(TResult);
}

/// <summary>The outcome of a method without a result: one object for all.</summary>
internal sealed class CompletedResponse : Response
{
    public override Exception? Exception
    {
        get => null;
        set => throw new InvalidOperationException("This response is shared; make a new one with Response.FromException.");
    }

    public override object? Result
    {
        get => null;
        set => throw new InvalidOperationException("This response is shared; make a new one with Response.FromResult.");
    }

    public override void Dispose()
    {
    }

    public override T GetResult<T>() => default!;
}

/// <summary>A failed outcome.</summary>
internal sealed class ExceptionResponse(Exception exception) : Response
{
    private Exception? _exception = exception;

    public override Exception? Exception
    {
        get => _exception;
        set => _exception = value;
    }

    public override object? Result
    {
        get
        {
            Throw();
            return null;
        }
        set => throw new InvalidOperationException("This response holds an exception; make a new one with Response.FromResult.");
    }

    public override void Dispose()
    {
    }

    public override T GetResult<T>()
    {
        Throw();
        return default!;
    }

    private void Throw()
    {
        if (_exception is { } exception)
            ExceptionDispatchInfo.Throw(exception);
    }
}
