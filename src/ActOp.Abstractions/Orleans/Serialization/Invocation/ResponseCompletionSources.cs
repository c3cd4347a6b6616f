using System.Threading.Tasks.Sources;

namespace Orleans.Serialization.Invocation;

/// <summary>Waits for the outcome of a request.</summary>
public interface IResponseCompletionSource
{
    /// <summary>The request has ended without a result.</summary>
    void Complete();

    /// <summary>The request has ended.</summary>
    void Complete(Response value);
}

/// <summary>The outcome of a request as a value task of the response.</summary>
/// <remarks>
/// Completed once, by any thread, and awaited once; <see cref="Reset"/> prepares it for the next use. The continuation runs on the thread
/// pool or on the context of the awaiter, never inside of the call that completes it.
/// </remarks>
public sealed class ResponseCompletionSource : IResponseCompletionSource, IValueTaskSource<Response>, IValueTaskSource
{
    private ManualResetValueTaskSourceCore<Response> _core = new() { RunContinuationsAsynchronously = true };

    /// <summary>The response, which is then the awaiter's. A failed one throws its exception.</summary>
    public ValueTask<Response> AsValueTask() => new(this, _core.Version);

    /// <summary>The end; disposes the response.</summary>
    public ValueTask AsVoidValueTask() => new((IValueTaskSource)this, _core.Version);

    /// <inheritdoc/>
    public void Complete() => SetResult(Response.Completed);

    /// <inheritdoc/>
    public void Complete(Response value)
    {
        ArgumentNullException.ThrowIfNull(value);
        if (value.Exception is not { } exception)
        {
            SetResult(value);
            return;
        }

        value.Dispose();
        SetException(exception);
    }

    /// <inheritdoc/>
    public Response GetResult(short token) => _core.GetResult(token);

    /// <inheritdoc/>
    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    /// <inheritdoc/>
    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    /// <summary>Prepares for the next use.</summary>
    public void Reset() => _core.Reset();

    /// <summary>The request has failed.</summary>
    public void SetException(Exception exception) => _core.SetException(exception);

    /// <summary>The request has ended.</summary>
    public void SetResult(Response result) => _core.SetResult(result);

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token).Dispose();
}

/// <summary>The outcome of a request as a value task of its result.</summary>
/// <typeparam name="TResult">The result. A response with another type fails with an <see cref="InvalidCastException"/>.</typeparam>
/// <remarks>As <see cref="ResponseCompletionSource"/>. It disposes the responses that it gets.</remarks>
public sealed class ResponseCompletionSource<TResult> : IResponseCompletionSource, IValueTaskSource<TResult?>, IValueTaskSource
{
    private ManualResetValueTaskSourceCore<TResult?> _core = new() { RunContinuationsAsynchronously = true };

    /// <summary>The result, or the exception.</summary>
    public ValueTask<TResult?> AsValueTask() => new(this, _core.Version);

    /// <summary>The end, or the exception.</summary>
    public ValueTask AsVoidValueTask() => new((IValueTaskSource)this, _core.Version);

    /// <inheritdoc/>
    public void Complete() => SetResult(default);

    /// <inheritdoc/>
    public void Complete(Response value)
    {
        ArgumentNullException.ThrowIfNull(value);
        try
        {
            if (value.Exception is { } exception)
                SetException(exception);
            else if (value.Result is var result && result is TResult typed)
                SetResult(typed);
            else if (result is null)
                SetResult(default);
            else
                SetException(new InvalidCastException("The response is a " + result.GetType() + " and no " + typeof(TResult) + "."));
        }
        finally
        {
            value.Dispose();
        }
    }

    /// <summary>The request has ended.</summary>
    public void Complete(Response<TResult> value)
    {
        ArgumentNullException.ThrowIfNull(value);
        var result = value.TypedResult;
        value.Dispose();
        SetResult(result);
    }

    /// <inheritdoc/>
    public TResult? GetResult(short token) => _core.GetResult(token);

    /// <inheritdoc/>
    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    /// <inheritdoc/>
    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    /// <summary>Prepares for the next use.</summary>
    public void Reset() => _core.Reset();

    /// <summary>The request has failed.</summary>
    public void SetException(Exception exception) => _core.SetException(exception);

    /// <summary>The request has ended with a result.</summary>
    public void SetResult(TResult? result) => _core.SetResult(result);

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token);
}
