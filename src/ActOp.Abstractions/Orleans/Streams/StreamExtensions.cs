using ActOp.Calls;
using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>Subscriptions with methods in place of observers.</summary>
public static class AsyncObservableExtensions
{
    /// <summary>Subscribes the calling grain or client, from a place that needs no position.</summary>
    /// <param name="obs">The stream.</param>
    /// <param name="observer">Gets the items.</param>
    /// <param name="startPosition">Where it begins.</param>
    /// <param name="filterData">For the filter of the provider.</param>
    /// <exception cref="NotSupportedException">The observable is no stream and has no positions.</exception>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, IAsyncObserver<T> observer, StreamSubscriptionStartPosition startPosition, string? filterData = null)
    {
        ArgumentNullException.ThrowIfNull(observer);
        return Given.NotNull(obs) as IPositionedObservable<T> is { } stream
            ? stream.SubscribeAsync(observer, null, startPosition, filterData)
            : startPosition == StreamSubscriptionStartPosition.Latest ? obs.SubscribeAsync(observer, null, filterData)
            : throw new NotSupportedException(obs.GetType() + " has no positions to begin at.");
    }

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, StreamSequenceToken token) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, null, null), token);

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Exception, Task> onErrorAsync,
            StreamSequenceToken token) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, onErrorAsync, null), token);

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Exception, Task> onErrorAsync,
            Func<Task> onCompletedAsync, StreamSequenceToken token) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, onErrorAsync, onCompletedAsync), token);

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Exception, Task> onErrorAsync,
            Func<Task> onCompletedAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, onErrorAsync, onCompletedAsync));

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Exception, Task> onErrorAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, onErrorAsync, null));

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Task> onCompletedAsync,
            StreamSequenceToken token) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, null, onCompletedAsync), token);

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Task> onCompletedAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, null, onCompletedAsync));

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncObservable<T> obs, Func<T, StreamSequenceToken?, Task> onNextAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodObserver<T>(onNextAsync, null, null));
}

/// <summary>Subscriptions to batches with methods in place of observers.</summary>
public static class AsyncBatchObservableExtensions
{
    /// <summary>Subscribes the calling grain or client, from a place that needs no position.</summary>
    /// <param name="obs">The stream.</param>
    /// <param name="observer">Gets the items.</param>
    /// <param name="startPosition">Where it begins.</param>
    /// <exception cref="NotSupportedException">The observable is no stream and has no positions.</exception>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncBatchObservable<T> obs, IAsyncBatchObserver<T> observer, StreamSubscriptionStartPosition startPosition)
    {
        ArgumentNullException.ThrowIfNull(observer);
        return Given.NotNull(obs) as IPositionedObservable<T> is { } stream ? stream.SubscribeAsync(null, observer, startPosition, null)
            : startPosition == StreamSubscriptionStartPosition.Latest ? obs.SubscribeAsync(observer)
            : throw new NotSupportedException(obs.GetType() + " has no positions to begin at.");
    }

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncBatchObservable<T> obs, Func<IList<SequentialItem<T>>, Task> onNextAsync, Func<Exception, Task> onErrorAsync,
            Func<Task> onCompletedAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodBatchObserver<T>(onNextAsync, onErrorAsync, onCompletedAsync));

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncBatchObservable<T> obs, Func<IList<SequentialItem<T>>, Task> onNextAsync, Func<Exception, Task> onErrorAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodBatchObserver<T>(onNextAsync, onErrorAsync, null));

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncBatchObservable<T> obs, Func<IList<SequentialItem<T>>, Task> onNextAsync, Func<Task> onCompletedAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodBatchObserver<T>(onNextAsync, null, onCompletedAsync));

    /// <summary>Subscribes the calling grain or client.</summary>
    public static Task<StreamSubscriptionHandle<T>> SubscribeAsync<T>(
        this IAsyncBatchObservable<T> obs, Func<IList<SequentialItem<T>>, Task> onNextAsync) =>
            Given.NotNull(obs).SubscribeAsync(new MethodBatchObserver<T>(onNextAsync, null, null));
}

/// <summary>Subscriptions resumed with methods in place of observers.</summary>
public static class StreamSubscriptionHandleExtensions
{
    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<T, StreamSequenceToken?, Task> onNextAsync,
        StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodObserver<T>(onNextAsync, null, null), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<T, StreamSequenceToken?, Task> onNextAsync,
        Func<Exception, Task> onErrorAsync, StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodObserver<T>(onNextAsync, onErrorAsync, null), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<T, StreamSequenceToken?, Task> onNextAsync,
        Func<Exception, Task> onErrorAsync, Func<Task> onCompletedAsync, StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodObserver<T>(onNextAsync, onErrorAsync, onCompletedAsync), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<T, StreamSequenceToken?, Task> onNextAsync,
        Func<Task> onCompletedAsync, StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodObserver<T>(onNextAsync, null, onCompletedAsync), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<IList<SequentialItem<T>>, Task> onNextAsync,
        StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodBatchObserver<T>(onNextAsync, null, null), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<IList<SequentialItem<T>>, Task> onNextAsync,
        Func<Exception, Task> onErrorAsync, StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodBatchObserver<T>(onNextAsync, onErrorAsync, null), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<IList<SequentialItem<T>>, Task> onNextAsync,
        Func<Exception, Task> onErrorAsync, Func<Task> onCompletedAsync, StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodBatchObserver<T>(onNextAsync, onErrorAsync, onCompletedAsync), token);

    /// <summary>Attaches methods to the subscription; the handle is void afterwards.</summary>
    public static Task<StreamSubscriptionHandle<T>> ResumeAsync<T>(
        this StreamSubscriptionHandle<T> handle, Func<IList<SequentialItem<T>>, Task> onNextAsync,
        Func<Task> onCompletedAsync, StreamSequenceToken? token = null) =>
            Given.NotNull(handle).ResumeAsync(new MethodBatchObserver<T>(onNextAsync, null, onCompletedAsync), token);
}

/// <summary>An observer made of methods.</summary>
internal sealed class MethodObserver<T> : IAsyncObserver<T>
{
    private readonly Func<T, StreamSequenceToken?, Task> _onNext;
    private readonly Func<Exception, Task>? _onError;
    private readonly Func<Task>? _onCompleted;

    internal MethodObserver(Func<T, StreamSequenceToken?, Task> onNextAsync, Func<Exception, Task>? onErrorAsync,
        Func<Task>? onCompletedAsync)
    {
        ArgumentNullException.ThrowIfNull(onNextAsync);
        (_onNext, _onError, _onCompleted) = (onNextAsync, onErrorAsync, onCompletedAsync);
    }

    public Task OnNextAsync(T item, StreamSequenceToken? token = null) => _onNext(item, token);

    public Task OnCompletedAsync() => _onCompleted?.Invoke() ?? Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => _onError?.Invoke(ex) ?? Task.CompletedTask;
}

/// <summary>An observer of batches made of methods.</summary>
internal sealed class MethodBatchObserver<T> : IAsyncBatchObserver<T>
{
    private readonly Func<IList<SequentialItem<T>>, Task> _onNext;
    private readonly Func<Exception, Task>? _onError;
    private readonly Func<Task>? _onCompleted;

    internal MethodBatchObserver(Func<IList<SequentialItem<T>>, Task> onNextAsync, Func<Exception, Task>? onErrorAsync,
        Func<Task>? onCompletedAsync)
    {
        ArgumentNullException.ThrowIfNull(onNextAsync);
        (_onNext, _onError, _onCompleted) = (onNextAsync, onErrorAsync, onCompletedAsync);
    }

    public Task OnNextAsync(IList<SequentialItem<T>> items) => _onNext(items);

    public Task OnCompletedAsync() => _onCompleted?.Invoke() ?? Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => _onError?.Invoke(ex) ?? Task.CompletedTask;
}

/// <summary>Streams by their keys.</summary>
public static class StreamProviderExtensions
{
    /// <summary>The stream with that key and no namespace.</summary>
    public static IAsyncStream<T> GetStream<T>(this IStreamProvider streamProvider, Guid id) =>
        Given.NotNull(streamProvider).GetStream<T>(StreamId.Create(null, id));

    /// <summary>The stream with that key and no namespace.</summary>
    public static IAsyncStream<T> GetStream<T>(this IStreamProvider streamProvider, long id) =>
        Given.NotNull(streamProvider).GetStream<T>(StreamId.Create(null, id));

    /// <summary>The stream with that key and no namespace.</summary>
    public static IAsyncStream<T> GetStream<T>(this IStreamProvider streamProvider, string id) =>
        Given.NotNull(streamProvider).GetStream<T>(StreamId.Create(null, id));

    /// <summary>The stream with that key and namespace.</summary>
    public static IAsyncStream<T> GetStream<T>(this IStreamProvider streamProvider, string ns, Guid id) =>
        Given.NotNull(streamProvider).GetStream<T>(StreamId.Create(ns, id));

    /// <summary>The stream with that key and namespace.</summary>
    public static IAsyncStream<T> GetStream<T>(this IStreamProvider streamProvider, string ns, long id) =>
        Given.NotNull(streamProvider).GetStream<T>(StreamId.Create(ns, id));

    /// <summary>The stream with that key and namespace.</summary>
    public static IAsyncStream<T> GetStream<T>(this IStreamProvider streamProvider, string ns, string id) =>
        Given.NotNull(streamProvider).GetStream<T>(StreamId.Create(ns, id));
}
