using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using Orleans.Configuration;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// Reads one queue and delivers its batches to the subscriptions of their streams. One agent per queue in the cluster, as far as the views
/// of the silos agree.
/// </summary>
/// <remarks>
/// <para>Owns the receiver, the cache, the streams that it has seen and their subscriptions. Everything runs on the turns of its own
/// activation, on the work stage. It reads only while the cache has room, so slow consumers slow the producers down and nothing
/// grows.</para>
/// <para>Failures. The queue throws: logged, and read again after a pause, for ever. It hangs in a read: the queue waits until it answers
/// or the agent stops, which waits a limited time; in another call of its receiver: the call times out. It returns batches that cannot be
/// read: they are left out. The rendezvous of a stream throws or hangs: its batches wait in the cache, and the registration is repeated,
/// for ever. A batch cannot be delivered: see
/// <see cref="AgentSubscription"/>. The silo dies: the balancer of another silo starts an agent, which gets what was not acknowledged.
/// Started twice, by silos with different views: consumers get some batches twice. Nobody notices an agent that reads slowly, except the
/// producers that wait. Whatever else the application's receiver, cache, cursors, filter or pauses do wrong is a failure of the read, of
/// the stream or of the subscription that it belongs to: <see cref="QueueBorder"/>.</para>
/// </remarks>
internal sealed class StreamAgent : IStreamAgent
{
    /// <summary>Messages in one read.</summary>
    private const int MostInRead = 1024;

    /// <summary>Streams that an agent knows at most; beyond that, those without items for longest are forgotten early.</summary>
    private const int MostStreams = 65_536;

    private static readonly TimeSpan TidyPeriod = TimeSpan.FromSeconds(1);

    /// <summary>From the end of a delivery to its acknowledgement, while the receiver waits for messages.</summary>
    private static readonly TimeSpan AcknowledgementDelay = TimeSpan.FromMilliseconds(50);

    /// <summary>What is under way when the agent is to stop may go on for so long, and each step of the stop itself.</summary>
    private static readonly TimeSpan StepOfStop = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan LongestStop = 5 * StepOfStop;

    private readonly AgentSetup _setup;
    private readonly QueueId _queue;
    private readonly Activation _host;
    private readonly CancellationTokenSource _stopping = new();

    /// <summary>Cancelled when the stop has waited long enough for what was under way.</summary>
    private readonly CancellationTokenSource _abandoned = new();
    private readonly QueueBorder _queueParts;
    private readonly FailureCount _filterFailures = new();
    private readonly Dictionary<StreamId, AgentStream> _streams = [];
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<Task> _running = [];
    private readonly Acknowledgements _acknowledgements;
    private IQueueCache? _cache;
    private IQueueAdapterReceiver? _receiver;
    private IStreamFailureHandler? _failureHandler;
    private TaskCompletionSource? _room;
    private long _lastTidy;
    private long _registrations;
    private bool _acknowledgesSoon;

    internal StreamAgent(AgentSetup setup, QueueId queue)
    {
        _setup = setup;
        _queue = queue;
        Reports = new AgentReports(setup, queue);
        _queueParts = new QueueBorder(setup, queue);
        _host = setup.Parts.AddObserver(this);
        _acknowledgements = new Acknowledgements(
            () => Cache.TryPurgeFromCache(out var purged) ? purged : null,
            batches => DeliveredAsync(_receiver!.MessagesDeliveredAsync(batches, _stopping.Token)));
    }

    internal StreamNode Parts => _setup.Parts;

    internal StreamPullingAgentOptions Options => _setup.Options;

    /// <summary>Made before the first read.</summary>
    internal IQueueCache Cache => _cache!;

    internal QueueBorder QueueBorder => _queueParts;

    internal AgentReports Reports { get; }

    /// <summary>What the agent holds for consumers: streams whose subscriptions it does not know yet, and deliveries.</summary>
    internal int Held => _streams.Values.Sum(static stream =>
        (stream.Hold is null ? 0 : 1) + stream.Subscriptions.Values.Count(static one => !one.IsIdle));

    internal bool IsStopping => _stopping.IsCancellationRequested;

    internal bool HasFilter => _setup.Filter is not null;

    private GrainId Id => _host.GrainId;

    /// <summary>Begins to read. Any thread.</summary>
    internal void Start() => _host.Enqueue(new ActionItem(static agent => ((StreamAgent)agent!).Begin(), this));

    /// <summary>Ends: what was delivered is acknowledged, the rest is left to the next agent. Any thread.</summary>
    internal async Task StopAsync()
    {
        await _stopping.CancelAsync().ConfigureAwait(false);
        await _ended.Task.WaitAsync(StepOfStop, Parts.Local.TaskTime).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_ended.Task.IsCompleted)
        {
            Parts.Log.AgentLeft(_setup.Provider, _queue);
            await _abandoned.CancelAsync().ConfigureAwait(false);
            await _ended.Task.WaitAsync(LongestStop, Parts.Local.TaskTime).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        _host.EndObserver();
    }

    public Task AddSubscriber(SubscriptionEntry subscription, StreamId stream)
    {
        // Unknown streams are registered with their first batch; a registration under way may or may not have the subscription.
        if (!IsStopping && _streams.TryGetValue(stream, out var found))
        {
            found.Removed.Remove(subscription.Id);
            if (found.Subscriptions.TryGetValue(subscription.Id, out var known))
                known.AskAgain();
            else
                Add(found, subscription, _queueParts.NewCursorOf(Cache, stream, subscription));
        }

        return Task.CompletedTask;
    }

    public Task RemoveSubscriber(Guid subscription, StreamId stream)
    {
        if (_streams.TryGetValue(stream, out var found))
        {
            if (found.Hold is not null)
                found.Removed.Add(subscription);
            if (found.Subscriptions.Remove(subscription, out var removed))
            {
                removed.Dispose();
                Reports.Detached(stream, subscription);
            }

            OnProgress();
        }

        return Task.CompletedTask;
    }

    /// <summary>Supervises work of the agent, which must have ended before the agent has.</summary>
    internal void Follow(Task work)
    {
        if (work.IsCompletedSuccessfully)
            return;
        _running.RemoveAll(static one => one.IsCompleted);
        _running.Add(work);
        Parts.Background.Follow(work);
    }

    /// <summary>The cache may have room.</summary>
    internal void OnProgress()
    {
        var room = _room;
        _room = null;
        room?.TrySetResult();
    }

    /// <summary>A subscription has got everything. The loop that reads may wait for messages for long.</summary>
    internal void OnIdle()
    {
        if (_acknowledgesSoon || IsStopping || _receiver is not IWaitingReceiver)
            return;
        _acknowledgesSoon = true;
        Follow(AcknowledgeSoonAsync());
    }

    /// <summary>A subscription has ended at this agent.</summary>
    internal void Drop(AgentStream stream, SubscriptionEntry entry)
    {
        stream.Subscriptions.Remove(entry.Id);
        Reports.Detached(stream.Id, entry.Id);
        OnProgress();
    }

    internal void OnConsumerGone(AgentStream stream, SubscriptionEntry entry)
    {
        Drop(stream, entry);
        Parts.Log.ConsumerGone(stream.Id, entry.Consumer);
        Follow(TellRendezvousAsync(stream, () => _setup.PubSub.UnregisterConsumer(GuidId.GetGuidId(entry.Id), stream.Qualified)));
    }

    /// <summary>Whether a subscription gets a batch: with a filter, if one of its items passes.</summary>
    internal bool IsWanted(StreamId stream, IBatchContainer batch, string? filterData)
    {
        if (_setup.Filter is not { } filter)
            return true;
        try
        {
            var bound = (batch as IBoundBatch)?.Bind(_setup.Adapter) ?? batch;
            foreach (var (item, _) in bound.GetEvents<object>())
            {
                if (filter.ShouldDeliver(stream, item, filterData))
                    return true;
            }

            return false;
        }
        catch (Exception exception)
        {
            // Nothing is lost by a filter that fails.
            if (_filterFailures.IsTold(out var count))
                Parts.Log.FilterFailed(_setup.Provider, filter.GetType(), count, exception);
            return true;
        }
    }

    /// <summary>Tells the failure handler of a batch that was given up; true if the subscription ends.</summary>
    internal async Task<bool> ReportAsync(AgentStream stream, SubscriptionEntry entry, StreamSequenceToken? token)
    {
        try
        {
            // Code of the application: one that hangs must not hold the queue.
            _failureHandler ??= await Given.Task(_setup.Factory.GetDeliveryFailureHandler(_queue), "GetDeliveryFailureHandler")
                .WaitAsync(Options.MaxEventDeliveryTime, Parts.Local.TaskTime, _stopping.Token)
                ?? throw new InvalidOperationException("GetDeliveryFailureHandler has returned no handler.");
            await Given.Task(_failureHandler.OnDeliveryFailure(GuidId.GetGuidId(entry.Id), _setup.Provider, stream.Id, token),
                "OnDeliveryFailure").WaitAsync(Options.MaxEventDeliveryTime, Parts.Local.TaskTime, _stopping.Token);
            if (!_failureHandler.ShouldFaultSubsriptionOnError
                || !await _setup.PubSub.FaultSubscription(stream.Qualified, GuidId.GetGuidId(entry.Id)))
            {
                return false;
            }
        }
        catch (Exception exception)
        {
            Parts.Log.HandlerFailed(_setup.Provider, exception);
            return false;
        }

        Drop(stream, entry);
        return true;
    }

    /// <summary>The pause before a failed delivery is repeated.</summary>
    internal Task PauseAfterFailureAsync(int failures) => PauseAsync(_queueParts.Pause(_setup.Backoffs.Deliveries, failures));

    /// <summary>A pause that ends early when the agent stops.</summary>
    private async Task PauseAsync(TimeSpan time) => await Task.Delay(time, Parts.Local.TaskTime, _stopping.Token).ConfigureAwait(
        ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);

    private void Begin() => Parts.Background.Follow(RunAsync());

    private async Task RunAsync()
    {
        Reports.Started();
        try
        {
            for (var failures = 0; !IsStopping;)
            {
                try
                {
                    await OpenAsync();
                    await ReadAsync(() => failures = 0);
                }
                catch (Exception exception) when (!IsStopping)
                {
                    failures++;
                    Reports.NotRead(failures, exception);
                    await PauseAsync(_queueParts.Pause(_setup.Backoffs.Reads, failures - 1));
                }
                catch (Exception)
                {
                    break;
                }
            }

            await CloseAsync();
        }
        finally
        {
            Reports.Stopped();
            _ended.TrySetResult();
        }
    }

    private async Task OpenAsync()
    {
        _cache ??= _queueParts.NewCache();
        if (_receiver is null)
        {
            var receiver = _queueParts.NewReceiver();
            Task? opening = null;
            try
            {
                opening = Given.Task(receiver.Initialize(Options.InitQueueTimeout, _stopping.Token), "Initialize of " + receiver.GetType());
                await opening.WaitAsync(Options.InitQueueTimeout, Parts.Local.TaskTime, _stopping.Token);
            }
            catch (Exception exception)
            {
                if (opening is { IsFaulted: false })
                    Parts.Background.Follow(GiveBackAsync(receiver, opening));
                if (!IsStopping)
                    Reports.NotOpened(exception);
                throw;
            }

            _receiver = receiver;
            Reports.Opened();
        }
        else if (_receiver is IWaitingReceiver)
        {
            await _receiver.Initialize(Options.InitQueueTimeout, _stopping.Token);
        }
    }

    /// <summary>
    /// A receiver that opens its queue when nobody waits for it any more must not keep the queue from the next agent. Not on the turns of
    /// this agent, which may have ended.
    /// </summary>
    private async Task GiveBackAsync(IQueueAdapterReceiver receiver, Task opening)
    {
        await opening.WaitAsync(Options.InitQueueTimeout + LongestStop, Parts.Local.TaskTime, Parts.Background.Stopping)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (opening.IsCompletedSuccessfully)
            await receiver.Shutdown(StepOfStop, CancellationToken.None).ConfigureAwait(false);
    }

    private async Task ReadAsync(Action succeeded)
    {
        while (!IsStopping)
        {
            await AcknowledgeAsync();
            Tidy();
            var most = Cache.GetMaxAddCount();
            if (Cache.IsUnderPressure() || most == 0)
            {
                await WaitForRoomAsync();
                continue;
            }

            var asked = most < 0 ? QueueAdapterConstants.UNLIMITED_GET_QUEUE_MSG : Math.Min(most, MostInRead);
            var messages = await Given.Task(
                _receiver!.GetQueueMessagesAsync(asked, _stopping.Token), "GetQueueMessagesAsync of " + _receiver.GetType())
                .WaitAsync(_abandoned.Token);
            succeeded();
            if (messages is { Count: > 0 } && _queueParts.Readable(messages) is { Count: > 0 } readable)
                AddToQueueCache(readable);
            else if (_receiver is not IWaitingReceiver)
                await PauseAsync(Options.GetQueueMsgsTimerPeriod);
        }
    }

    private async Task WaitForRoomAsync()
    {
        _room ??= new TaskCompletionSource();
        await _room.Task.WaitAsync(Options.GetQueueMsgsTimerPeriod, Parts.Local.TaskTime, _stopping.Token).ConfigureAwait(
            ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
    }

    /// <summary>Repeated until it is done: the loop that reads may wait for messages, and a full queue gets none.</summary>
    private async Task AcknowledgeSoonAsync()
    {
        Invariant.Holds(_acknowledgesSoon);
        await PauseAsync(AcknowledgementDelay);
        _acknowledgesSoon = false;
        for (var failures = 0; !IsStopping; failures++)
        {
            try
            {
                await AcknowledgeAsync();
                return;
            }
            catch (Exception exception)
            {
                _queueParts.Failed("An acknowledgement to " + _receiver!.GetType(), exception);
            }

            await PauseAsync(_queueParts.Pause(_setup.Backoffs.Reads, failures));
        }
    }

    private ValueTask AcknowledgeAsync() => _receiver is null ? default : _acknowledgements.TellAsync();

    /// <summary>A receiver that does not answer holds neither the reads nor the stop.</summary>
    private Task DeliveredAsync(Task told) => told is { IsCompletedSuccessfully: true } ? Task.CompletedTask
        : Given.Task(told, "MessagesDeliveredAsync of " + _receiver!.GetType()).WaitAsync(
            IsStopping ? StepOfStop : Options.MaxEventDeliveryTime, Parts.Local.TaskTime, _abandoned.Token);

    private void AddToQueueCache(IList<IBatchContainer> messages)
    {
        Parts.Local.Counts.Add(NodeEvent.MessageRead, messages.Count);
        Cache.AddToCache(messages);
        var now = Parts.Now;
        HashSet<StreamId>? seen = messages.Count > 1 ? [] : null;
        foreach (var batch in messages)
        {
            if (seen is not null && !seen.Add(batch.StreamId))
                continue;
            if (!_streams.TryGetValue(batch.StreamId, out var stream) && (stream = TryBegin(batch)) is null)
                continue;
            stream.LastBatch = now;
            foreach (var subscription in stream.Subscriptions.Values)
            {
                if (Cache is not SimpleQueueCache)
                    subscription.Refresh(batch.SequenceToken);
                subscription.Wake();
            }
        }
    }

    /// <summary>The stream of its first batch. Null if the cache gives no cursor: nobody can read it, and other streams go on.</summary>
    private AgentStream? TryBegin(IBatchContainer batch)
    {
        try
        {
            var stream = new AgentStream(batch.StreamId, new QualifiedStreamId(_setup.Provider, batch.StreamId), ++_registrations)
            {
                First = batch.SequenceToken,
                Hold = CursorAt(batch.StreamId, batch.SequenceToken),
            };
            _streams.Add(batch.StreamId, stream);
            Follow(RegisterAsync(stream));
            return stream;
        }
        catch (Exception exception)
        {
            _queueParts.Failed("A cursor for the stream " + batch.StreamId, exception);
            return null;
        }
    }

    /// <summary>
    /// Learns the subscriptions of a stream, and is told of new ones from then on. If the agent stops before, the batches stay held, so
    /// that they are not acknowledged: the next agent gets them.
    /// </summary>
    private async Task RegisterAsync(AgentStream stream)
    {
        for (var attempt = 0; !IsStopping; attempt++)
        {
            try
            {
                var (found, areAll) = await _setup.PubSub.RegisterAgentAsync(stream.Qualified, Id, stream.Number);
                foreach (var entry in found)
                {
                    if (!stream.Subscriptions.ContainsKey(entry.Id) && !stream.Removed.Contains(entry.Id))
                        Add(stream, entry, CursorAt(stream.Id, stream.First));
                }

                Invariant.Holds(stream.Hold is not null);
                _queueParts.Release(stream.Hold);
                stream.Hold = null;
                stream.Removed.Clear();
                Reports.Registered(stream, Id);
                OnProgress();
                if (!areAll)
                    await FindOthersAsync(stream);
                return;
            }
            catch (Exception exception)
            {
                Reports.NotRegistered(stream.Id, exception);
                if (FailureCount.IsTold(attempt + 1))
                    Parts.Log.RegistrationFailed(_setup.Provider, stream.Id, attempt + 1, exception);
                await PauseAsync(_queueParts.Pause(_setup.Backoffs.Reads, attempt));
            }
        }
    }

    /// <summary>
    /// A predicate or mapper of the application has thrown. As soon as it answers, its class gets the items of the stream from then on.
    /// </summary>
    private async Task FindOthersAsync(AgentStream stream)
    {
        for (var areAll = false; !areAll;)
        {
            await PauseAsync(Options.MaxEventDeliveryTime);
            if (IsStopping || _streams.GetValueOrDefault(stream.Id) != stream)
                return;
            foreach (var entry in _setup.PubSub.ImplicitTo(stream.Qualified, out areAll))
            {
                if (!stream.Subscriptions.ContainsKey(entry.Id))
                    Add(stream, entry, _queueParts.NewCursorOf(Cache, stream.Id, entry));
            }
        }
    }

    private void Add(AgentStream stream, SubscriptionEntry entry, IQueueCacheCursor cursor)
    {
        var subscription = new AgentSubscription(this, stream, entry, cursor);
        stream.Subscriptions.Add(entry.Id, subscription);
        Reports.Attached(stream.Id, entry);
        subscription.Wake();
    }

    /// <summary>
    /// A cursor at a batch of the stream, or behind the newest one. Positions of other batches may be of classes that cannot be compared;
    /// then it begins with the oldest batch, so that nothing is lost.
    /// </summary>
    private IQueueCacheCursor CursorAt(StreamId stream, StreamSequenceToken? first)
    {
        try
        {
            return QueueBorder.NewCursor(Cache, stream, first);
        }
        catch (Exception exception) when (first is not null)
        {
            _queueParts.Failed("A cursor for the stream " + stream, exception);
        }

        return QueueBorder.NewCursorAtOldest(Cache, stream);
    }

    /// <summary>Forgets streams without items: those that are due, and more if there are too many.</summary>
    private void Tidy()
    {
        var now = Parts.Now;
        if (now - _lastTidy < (long)TidyPeriod.TotalMilliseconds)
            return;
        _lastTidy = now;
        var due = now - (long)Options.StreamInactivityPeriod.TotalMilliseconds;
        var idle = _streams.Values.Where(static one => one.Hold is null && one.Subscriptions.Values.All(static each => each.IsIdle));
        var tooMany = _streams.Count - MostStreams;
        AgentStream[] forgotten = tooMany > 0
            ? [.. idle.OrderBy(static one => one.LastBatch).Take(tooMany)]
            : [.. idle.Where(one => one.LastBatch < due)];
        foreach (var stream in forgotten)
        {
            _streams.Remove(stream.Id);
            Reports.Inactive(stream.Id);
            foreach (var subscription in stream.Subscriptions.Values)
                subscription.Dispose();
            Follow(TellRendezvousAsync(stream, () => _setup.PubSub.UnregisterAgentAsync(stream.Qualified, Id, stream.Number)));
        }
    }

    /// <summary>
    /// Tells the rendezvous of a stream that something has ended. If it does not hear of it, an agent is told of subscriptions that it does
    /// not need, and a consumer that is gone is found again by the next agent.
    /// </summary>
    private async Task TellRendezvousAsync(AgentStream stream, Func<Task> tell)
    {
        try
        {
            await tell();
        }
        catch (Exception exception)
        {
            Parts.Log.RendezvousNotTold(stream.Id, _setup.Provider, exception);
        }
    }

    /// <summary>
    /// The queue goes to the next agent also if consumers or the last acknowledgement hang or fail: that agent gets again what it was
    /// about.
    /// </summary>
    private async Task CloseAsync()
    {
        if (Invariant.AreChecked)
            Invariant.Holds(IsStopping);
        OnProgress();
        await Task.WhenAll(_running).WaitAsync(_abandoned.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing
            | ConfigureAwaitOptions.ContinueOnCapturedContext);
        if (_receiver is { } receiver)
        {
            await StepOfStopAsync("The last acknowledgement of " + receiver.GetType(), () =>
                _acknowledgements.Left() is { } left ? receiver.MessagesDeliveredAsync(left, CancellationToken.None) : Task.CompletedTask);
        }

        await ForgetStreamsAsync();
        if (_receiver is { } open)
            await StepOfStopAsync("Shutdown of " + open.GetType(), () => open.Shutdown(StepOfStop, _abandoned.Token));
    }

    private async Task StepOfStopAsync(string name, Func<Task> step)
    {
        try
        {
            await Given.Task(step(), name).WaitAsync(StepOfStop, Parts.Local.TaskTime);
        }
        catch (Exception exception)
        {
            _queueParts.Failed(name, exception);
        }
    }

    private async Task ForgetStreamsAsync()
    {
        foreach (var stream in _streams.Values)
        {
            _queueParts.Release(stream.Hold);
            foreach (var subscription in stream.Subscriptions.Values)
                subscription.Dispose();
        }

        await Task.WhenAll(_streams.Values.Take(1024)
            .Select(stream => _setup.PubSub.UnregisterAgentAsync(stream.Qualified, Id, stream.Number)))
            .WaitAsync(StepOfStop, Parts.Local.TaskTime)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
    }
}
