using System.ComponentModel;
using Orleans.Concurrency;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>What a request for items of an enumeration has brought.</summary>
[Flags]
public enum EnumerationResult
{
    /// <summary>Nothing yet; ask again.</summary>
    Heartbeat = 1,

    /// <summary>One item.</summary>
    Element = 1 << 1,

    /// <summary>Several items.</summary>
    Batch = 1 << 2,

    /// <summary>There are no more items.</summary>
    Completed = 1 << 3,

    /// <summary>The last item.</summary>
    CompletedWithElement = Completed | Element,

    /// <summary>The last items.</summary>
    CompletedWithBatch = Completed | Batch,

    /// <summary>The grain does not know the enumeration.</summary>
    MissingEnumeratorError = 1 << 4,

    /// <summary>The enumeration has failed.</summary>
    Error = 1 << 5,

    /// <summary>The enumeration was cancelled.</summary>
    Canceled = 1 << 6,
}

/// <summary>
/// How the items of grain methods that return <see cref="IAsyncEnumerable{T}"/> are fetched, batch by batch. Filters see these calls.
/// </summary>
public interface IAsyncEnumerableGrainExtension : IGrainExtension
{
    /// <summary>Starts an enumeration and gets its first items.</summary>
    /// <param name="requestId">Chosen by the caller; names the enumeration from now on.</param>
    /// <param name="request">The method and its arguments.</param>
    /// <param name="cancellationToken">Cancels the enumeration.</param>
    [AlwaysInterleave]
    ValueTask<(EnumerationResult Status, object? Value)> StartEnumeration<T>(
        Guid requestId, IAsyncEnumerableRequest<T> request, CancellationToken cancellationToken);

    /// <summary>As with a token.</summary>
    [AlwaysInterleave]
    ValueTask<(EnumerationResult Status, object? Value)> StartEnumeration<T>(Guid requestId, IAsyncEnumerableRequest<T> request) =>
        StartEnumeration(requestId, request, CancellationToken.None);

    /// <summary>Gets the next items.</summary>
    [AlwaysInterleave]
    ValueTask<(EnumerationResult Status, object? Value)> MoveNext<T>(Guid requestId, CancellationToken cancellationToken);

    /// <summary>As with a token.</summary>
    [AlwaysInterleave]
    ValueTask<(EnumerationResult Status, object? Value)> MoveNext<T>(Guid requestId) => MoveNext<T>(requestId, CancellationToken.None);

    /// <summary>Ends an enumeration, also before its end.</summary>
    [AlwaysInterleave]
    ValueTask DisposeAsync(Guid requestId);
}

/// <summary>A call of a grain method that returns <see cref="IAsyncEnumerable{T}"/>.</summary>
public interface IAsyncEnumerableRequest<T> : IRequest
{
    /// <summary>The most items that are fetched at once. Default: 100. A grain sends at most 1,024 at once.</summary>
    int MaxBatchSize { get; set; }

    /// <summary>Calls the method on the target.</summary>
    IAsyncEnumerable<T> InvokeImplementation();
}

/// <summary>How items are fetched.</summary>
public static class AsyncEnumerableExtensions
{
    /// <summary>
    /// Sets the most items that are fetched at once. A grain sends at most 1,024 at once, and the rest with its next answers. Has no
    /// effect if <paramref name="self"/> is no result of a grain call.
    /// </summary>
    public static IAsyncEnumerable<T> WithBatchSize<T>(this IAsyncEnumerable<T> self, int maxBatchSize)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxBatchSize, 1);
        if (self is IAsyncEnumerableRequest<T> request)
            request.MaxBatchSize = maxBatchSize;
        return self;
    }
}

/// <summary>
/// The grain does not know the enumeration any more: it has ended, the link to the consumer was lost, or the consumer has paused for too
/// long.
/// </summary>
public sealed class EnumerationAbortedException : Exception
{
    /// <summary>Creates the exception with a general message.</summary>
    public EnumerationAbortedException()
        : base("The enumeration was aborted.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public EnumerationAbortedException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public EnumerationAbortedException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>
/// A call of a grain method that returns <see cref="IAsyncEnumerable{T}"/>. At the caller it is the result: nothing is sent until it is
/// enumerated, which may be done several times. It travels as an argument of
/// <see cref="IAsyncEnumerableGrainExtension.StartEnumeration{T}(Guid, IAsyncEnumerableRequest{T}, CancellationToken)"/>.
/// </summary>
/// <remarks>Not pooled, and never sent itself.</remarks>
/// <typeparam name="T">The items.</typeparam>
public abstract class AsyncEnumerableRequest<T> : RequestBase, IAsyncEnumerable<T>, IAsyncEnumerableRequest<T>
{
    /// <inheritdoc/>
    public int MaxBatchSize { get; set; } = 100;

    /// <inheritdoc/>
    internal override object? BoxedResult { get; set; }

    /// <summary>Enumerates the items of the grain.</summary>
    public IAsyncEnumerator<T> GetAsyncEnumerator(CancellationToken cancellationToken = default) => new RemoteEnumerator<T>(
        this, Reference ?? throw new InvalidOperationException("The request has no grain."), cancellationToken);

    /// <summary>Sets the grain. Called by generated references.</summary>
    public IAsyncEnumerable<T> InitializeRequest(GrainReference targetGrainReference)
    {
        Reference = targetGrainReference;
        return this;
    }

    /// <inheritdoc/>
    public override ValueTask<Response> Invoke() => throw NotSent();

    /// <inheritdoc/>
    public IAsyncEnumerable<T> InvokeImplementation() => InvokeInner();

    /// <summary>Replaces the token among the arguments by that of the enumeration. Generated; empty without a token.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public virtual void SetCancellationToken(CancellationToken cancellationToken)
    {
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract IAsyncEnumerable<T> InvokeInner();

    private protected override NotSupportedException NotSent() => new(Method.ActivityName + " is enumerated, not called.");
}

/// <summary>
/// The consumer's end of one enumeration: fetches batches and hands their items out. Used by one consumer at a time.
/// </summary>
/// <remarks>
/// Holds one batch; at the grain, an enumerator, which <see cref="DisposeAsync"/> gives back. If that call is lost, or the consumer forgets
/// it, the grain gives it back when nobody has asked for a response timeout. After an error or the end, every further step says that there
/// are no more items.
/// </remarks>
internal sealed class RemoteEnumerator<T> : IAsyncEnumerator<T>
{
    private readonly AsyncEnumerableRequest<T> _request;
    private readonly IAsyncEnumerableGrainExtension _grain;
    private readonly CancellationTokenSource? _linked;
    private readonly CancellationToken _token;
    private readonly Guid _id = Guid.NewGuid();
    private T[] _batch = [];
    private int _next;
    private bool _isStarted;
    private bool _isCompleted;
    private bool _isDisposed;

    internal RemoteEnumerator(AsyncEnumerableRequest<T> request, GrainReference grain, CancellationToken token)
    {
        _request = request;
        _grain = grain.Cast<IAsyncEnumerableGrainExtension>();
        var argument = request.GetCancellationToken();
        if (argument.CanBeCanceled && token.CanBeCanceled && argument != token)
            _linked = CancellationTokenSource.CreateLinkedTokenSource(argument, token);
        _token = _linked?.Token ?? (token.CanBeCanceled ? token : argument);
    }

    public T Current { get; private set; } = default!;

    public ValueTask<bool> MoveNextAsync()
    {
        if (_next == _batch.Length)
            return FetchAsync();
        if (_token.IsCancellationRequested)
            return ValueTask.FromException<bool>(new OperationCanceledException(_token));
        Current = _batch[_next++];
        return new ValueTask<bool>(true);
    }

    public async ValueTask DisposeAsync()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        _batch = [];
        _next = 0;
        try
        {
            if (_isStarted)
                await _grain.DisposeAsync(_id);
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException)
        {
            // The grain cannot be reached: its enumerator has ended with it, or ends when it has been idle.
        }
        finally
        {
            _linked?.Dispose();
        }
    }

    private async ValueTask<bool> FetchAsync()
    {
        _batch = [];
        _next = 0;
        Current = default!;
        while (!_isCompleted && !_isDisposed)
        {
            _token.ThrowIfCancellationRequested();
            var (status, value) = await AskAsync();
            OnResult(status, value);
            if (_batch.Length == 0)
                continue;
            Current = _batch[_next++];
            return true;
        }

        return false;
    }

    private async ValueTask<(EnumerationResult Status, object? Value)> AskAsync()
    {
        try
        {
            if (_isStarted)
                return await _grain.MoveNext<T>(_id, _token);
            _isStarted = true;
            return await _grain.StartEnumeration(_id, _request, _token);
        }
        catch (OperationCanceledException) when (_token.IsCancellationRequested)
        {
            // However the consumer's cancellation comes back, it is its own, and says what any enumeration would say.
            _isCompleted = true;
            throw new OperationCanceledException(_token);
        }
        catch
        {
            _isCompleted = true;
            throw;
        }
    }

    private void OnResult(EnumerationResult status, object? value)
    {
        _isCompleted = (status & ~(EnumerationResult.Heartbeat | EnumerationResult.Element | EnumerationResult.Batch)) != 0;
        if ((status & EnumerationResult.Batch) != 0)
            _batch = (T[])value!;
        else if ((status & EnumerationResult.Element) != 0)
            _batch = [(T)value!];
        else if (status == EnumerationResult.Error)
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw((Exception)value!);
        else if (status == EnumerationResult.Canceled)
            // A consumer that only its link has lost has cancelled nothing, and must not hear that it has.
            throw _token.IsCancellationRequested ? new OperationCanceledException(_token) : Aborted();
        else if (status == EnumerationResult.MissingEnumeratorError)
            throw Aborted();
    }

    private EnumerationAbortedException Aborted() => new(
        "The enumeration of " + _request.Method.ActivityName + " was aborted: " + _request.TargetId
            + " does not know it any more. The grain"
        + " was deactivated, the link to the consumer was lost, or nobody has asked for items for longer than the response timeout.");
}
