using ActOp.Calls;
using ActOp.Runtime.Activations;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Storage;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Streams;

/// <summary>
/// The observers of one grain activation, or of a client. Agents call it; it calls the observers, one delivery at a time per subscription.
/// </summary>
/// <remarks>
/// <para>Belongs to the activation and ends with it: handles do not survive a deactivation, subscriptions do. On a grain, everything runs
/// on its turns; on a client, application threads attach and detach, so the table has a lock that is never held across a call.</para>
/// <para>Failures. An observer throws: the report says which batch, the agent delivers it again. It hangs: the agent's call times out, and
/// the batch is delivered again, beside the one that hangs. The grain ends or its silo dies in a delivery: the agent delivers to the next
/// activation. A delivery comes twice: the observer sees its items twice (at least once). The observer is detached during a delivery, also
/// one that hangs: it gets no further item. Nobody is attached: <c>OnSubscribed</c> is called
/// if the grain has it; if still nobody is, the items are dropped, as in Orleans, with one log line per activation.</para>
/// </remarks>
internal sealed class StreamConsumers(StreamNode parts, Activation? grain) : IStreamConsumerExtension
{
    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, StreamAttachment> _attached = [];
    private bool _hasLoggedLoss;

    /// <summary>The number of attached observers.</summary>
    internal int Count
    {
        get
        {
            lock (_gate)
                return _attached.Count;
        }
    }

    public async Task<DeliveryReport> Deliver(
        Guid subscription, QualifiedStreamId stream, DeliveryBatch batches, StreamSequenceToken? agreedStart)
    {
        if (await FindOrAnnounceAsync(subscription, stream) is not { } attachment)
            return new DeliveryReport(batches.Items.Length, HasNobody: true);
        var report = await attachment.TakeAsync(parts, stream, batches.Items, agreedStart);
        // A report is an answer like others, so the call does not show that an exception has left the grain.
        if (report.Error is InconsistentStateException conflict)
            grain?.Life.EndInconsistent(grain, conflict);
        return report;
    }

    public async Task Fail(Guid subscription, QualifiedStreamId stream, Exception reason)
    {
        if (await FindOrAnnounceAsync(subscription, stream) is { } attachment)
            await attachment.FailAsync(reason);
    }

    public Task<StreamSequenceToken?> GetStart(Guid subscription) => Task.FromResult(FindAttachment(subscription)?.Start);

    /// <summary>Sets the observer of a subscription.</summary>
    internal void Attach(Guid subscription, StreamAttachment attachment)
    {
        lock (_gate)
        {
            _attached.GetValueOrDefault(subscription)?.IsDetached = true;
            _attached[subscription] = attachment;
        }
    }

    /// <summary>Removes the observer of a subscription; true if there was one.</summary>
    internal bool Detach(Guid subscription)
    {
        lock (_gate)
        {
            if (!_attached.Remove(subscription, out var removed))
                return false;
            removed.IsDetached = true;
            return true;
        }
    }

    private StreamAttachment? FindAttachment(Guid subscription)
    {
        lock (_gate)
            return _attached.GetValueOrDefault(subscription);
    }

    private async ValueTask<StreamAttachment?> FindOrAnnounceAsync(Guid subscription, QualifiedStreamId stream)
    {
        var attachment = FindAttachment(subscription);
        if (attachment is not null)
            return attachment;
        if (grain?.GrainInstance is IStreamSubscriptionObserver observer)
        {
            await Given.Task(observer.OnSubscribed(new HandleFactory(parts, stream, subscription)), "OnSubscribed of the grain");
            attachment = FindAttachment(subscription);
        }

        if (attachment is null && !_hasLoggedLoss)
        {
            _hasLoggedLoss = true;
            parts.Log.NobodyAttached(stream, grain?.GrainId);
        }

        return attachment;
    }

    private sealed class HandleFactory(StreamNode parts, QualifiedStreamId stream, Guid subscription) : IStreamSubscriptionHandleFactory
    {
        public string ProviderName => stream.ProviderName;

        public StreamId StreamId => stream.StreamId;

        public GuidId SubscriptionId { get; } = GuidId.GetGuidId(subscription);

        public StreamSubscriptionHandle<T> Create<T>() =>
            new SubscriptionHandle<T>(new StreamOf<T>(parts, stream.ProviderName, stream.StreamId), subscription, null);
    }
}

/// <summary>An observer attached to a subscription. On the turns of the consumer.</summary>
internal abstract class StreamAttachment
{
    private volatile bool _isDetached;

    /// <summary>The subscription has ended or has another observer: this one gets nothing more. Any thread sets it.</summary>
    internal bool IsDetached
    {
        get => _isDetached;
        set => _isDetached = value;
    }

    /// <summary>Where it wants to begin, or null.</summary>
    internal abstract StreamSequenceToken? Start { get; }

    internal abstract Task<DeliveryReport> TakeAsync(
        StreamNode parts, QualifiedStreamId stream, IBatchContainer[] batches, StreamSequenceToken? agreedStart);

    internal abstract Task FailAsync(Exception reason);
}

/// <inheritdoc/>
internal sealed class StreamAttachment<T>(
    IAsyncObserver<T>? observer, IAsyncBatchObserver<T>? batchObserver, StreamSequenceToken? start, int batchSize) : StreamAttachment
{
    /// <summary>A delivery ends after so many milliseconds, so that other calls of the grain get their turns.</summary>
    private const long LongestMs = 20;

    /// <summary>The agent has begun where the observer wanted to; from then on it says where to go on.</summary>
    private bool _hasBegun;
    private IQueueAdapter? _adapter;

    internal override StreamSequenceToken? Start => _hasBegun ? null : start;

    internal override Task FailAsync(Exception reason) => observer is not null
        ? Given.Task(observer.OnErrorAsync(reason), "OnErrorAsync of the observer")
        : Given.Task(batchObserver!.OnErrorAsync(reason), "OnErrorAsync of the observer");

    internal override async Task<DeliveryReport> TakeAsync(
        StreamNode parts, QualifiedStreamId stream, IBatchContainer[] batches, StreamSequenceToken? agreedStart)
    {
        if (Start is not null && !Start.Equals(agreedStart))
            return new DeliveryReport(0, start);
        _hasBegun = true;
        var end = parts.Now + LongestMs;
        for (var taken = 0; taken < batches.Length;)
        {
            if (taken > 0 && parts.Now > end)
                return new DeliveryReport(taken);
            var count = batchObserver is null ? 1 : Math.Min(batchSize, batches.Length - taken);
            Invariant.Holds(count > 0);
            try
            {
                if (IsDetached || (batchObserver is null && !await TookSinglesAsync(Bound(batches[taken]))))
                    return new DeliveryReport(taken);
                if (batchObserver is not null)
                    await TakeListAsync(Array.ConvertAll(batches[taken..(taken + count)], Bound));
            }
            catch (Exception exception)
            {
                return new DeliveryReport(taken, null, exception);
            }

            taken += count;
        }

        return new DeliveryReport(batches.Length);

        IBatchContainer Bound(IBatchContainer batch) =>
            batch is IBoundBatch bound ? bound.Bind(_adapter ??= parts.Source(stream.ProviderName).Adapter) : batch;
    }

    /// <summary>False if the observer was detached before it had all items: whoever observes now gets them again.</summary>
    private async Task<bool> TookSinglesAsync(IBatchContainer batch)
    {
        var hasContext = batch.ImportRequestContext();
        try
        {
            if (batch is TypedBatch typed)
            {
                var items = typed.Read<T>();
                for (var i = 0; i < items.Length; i++)
                {
                    if (IsDetached)
                        return false;
                    await OnNextAsync(items[i], new EventSequenceTokenV2(typed.Number, i));
                }
            }
            else
            {
                foreach (var (item, token) in batch.GetEvents<T>())
                {
                    if (IsDetached)
                        return false;
                    await OnNextAsync(item, token);
                }
            }

            return true;
        }
        finally
        {
            if (hasContext)
                RequestContext.Clear();
        }
    }

    private Task OnNextAsync(T item, StreamSequenceToken? token) =>
        start is null || token is null || token.CompareTo(start) >= 0
            ? Given.Task(observer!.OnNextAsync(item, token), "OnNextAsync of the observer") : Task.CompletedTask;

    private async Task TakeListAsync(IBatchContainer[] batches)
    {
        var items = new List<SequentialItem<T>>();
        var hasContext = false;
        try
        {
            foreach (var batch in batches)
            {
                hasContext |= batch.ImportRequestContext();
                foreach (var (item, token) in batch.GetEvents<T>())
                {
                    if (start is null || token is null || token.CompareTo(start) >= 0)
                        items.Add(new SequentialItem<T>(item, token!));
                }
            }

            if (items.Count > 0)
                await Given.Task(batchObserver!.OnNextAsync(items), "OnNextAsync of the observer");
        }
        finally
        {
            if (hasContext)
                RequestContext.Clear();
        }
    }
}
