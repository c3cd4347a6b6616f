using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Simulation.Load;

/// <summary>A grain that subscribes to the stream with its name.</summary>
public interface IListener : IGrainWithStringKey
{
    /// <summary>Makes one more subscription, unless there are several.</summary>
    Task Subscribe();

    /// <summary>Ends a subscription.</summary>
    Task Unsubscribe();

    /// <summary>Begins again with an item that a subscription has had.</summary>
    Task Rewind();

    /// <summary>Ends all subscriptions; how many there are then, as the stream says.</summary>
    Task<int> UnsubscribeAll();

    /// <summary>Ends the activation.</summary>
    [AlwaysInterleave]
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    [AlwaysInterleave]
    Task Move();
}

/// <summary>A listener that takes one delivery after the other.</summary>
public interface IPlainListener : IListener;

/// <summary>A listener whose deliveries could run beside each other.</summary>
public interface IBusyListener : IListener;

/// <summary>A grain that listens to all streams of its name without being asked.</summary>
public interface IArchivist : IGrainWithStringKey;

/// <summary>The observer of one subscription in one activation, or in a client.</summary>
internal sealed class Ear(StreamLoad load, Subscription subscription, Machine machine, IGrainContext? grain)
    : IAsyncObserver<long>
{
    private readonly object _place = grain is null ? machine : grain.ActivationId;

    /// <summary>Its consumer was told that its subscription has ended, or has another observer.</summary>
    internal bool IsDetached { get; set; }

    public Task OnNextAsync(long item, StreamSequenceToken? token = null) => HearAsync([item], token);

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex)
    {
        load.Told(ex);
        return Task.CompletedTask;
    }

    internal async Task HearAsync(long[] items, StreamSequenceToken? token)
    {
        if (IsDetached)
            load.Checks.HearsDetached(subscription, items, machine);
        load.Checks.Begins(subscription, _place, grain is null or { GrainInstance: BusyListener }, items, machine);
        try
        {
            await load.TroubleAsync(subscription, machine);
            load.Checks.Heard(subscription, items, token);
        }
        finally
        {
            load.Checks.Ends(subscription, _place);
        }
    }
}

/// <summary>An ear that gets several items at once.</summary>
internal sealed class BatchEar(Ear ear) : IAsyncBatchObserver<long>
{
    public Task OnNextAsync(IList<SequentialItem<long>> items) =>
        ear.HearAsync([.. items.Select(static one => one.Item)], items[^1].Token);

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => ear.OnErrorAsync(ex);
}

/// <inheritdoc cref="IListener"/>
internal abstract class ListenerGrain(StreamLoad load, Machine machine)
    : Grain, IListener, IStreamSubscriptionObserver, IGrainMigrationParticipant
{
    private const int MostSubscriptions = 3;

    private readonly List<StreamSubscriptionHandle<long>> _handles = [];

    /// <summary>The observers, by the ids of their subscriptions.</summary>
    private readonly Dictionary<Guid, Ear> _ears = [];

    private StreamName Name => StreamName.Parse(this.GetPrimaryKeyString());

    private IAsyncStream<long> Stream => this.GetStreamProvider(Name.Provider).GetStream<long>(Name.Id);

    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        foreach (var handle in await Stream.GetAllSubscriptionHandles())
        {
            var subscription = load.Checks.Find(handle.HandleId, Name, GrainContext.GrainId);
            var ear = _ears[handle.HandleId] = new Ear(load, subscription, machine, GrainContext);
            _handles.Add(await handle.ResumeAsync(ear));
        }
    }

    /// <summary>An agent has something for a subscription of which this activation does not know.</summary>
    public Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory)
    {
        load.Checks.Announced(handleFactory.SubscriptionId.Guid);
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
    }

    public async Task Subscribe()
    {
        if (_handles.Count >= MostSubscriptions)
            return;
        var subscription = load.Checks.New(Name, GrainContext.GrainId, null);
        var ear = new Ear(load, subscription, machine, GrainContext);
        var handle = load.HearsInBatches(subscription)
            ? await Stream.SubscribeAsync(new BatchEar(ear)) : await Stream.SubscribeAsync(ear);
        _handles.Add(handle);
        _ears[handle.HandleId] = ear;
        load.Checks.Confirm(subscription, handle.HandleId, machine);
    }

    public async Task Unsubscribe()
    {
        if (_handles.Count > 0)
            await EndAsync(_handles[0]);
    }

    public async Task Rewind()
    {
        if (_handles.Count == 0)
            return;
        var handle = _handles[0];
        var subscription = load.Checks.Find(handle.HandleId, Name, GrainContext.GrainId);
        if (load.TokenOf(subscription) is not { } token)
            return;
        _handles.RemoveAt(0);
        var ear = new Ear(load, subscription, machine, GrainContext);
        try
        {
            handle = await handle.ResumeAsync(ear, token);
            if (_ears.TryGetValue(handle.HandleId, out var before))
                before.IsDetached = true;
            _ears[handle.HandleId] = ear;
        }
        finally
        {
            _handles.Add(handle);
        }
    }

    public async Task<int> UnsubscribeAll()
    {
        while (_handles.Count > 0)
            await EndAsync(_handles[0]);
        // Those that were stored though their grain was told that they were not.
        foreach (var handle in await Stream.GetAllSubscriptionHandles())
            await EndAsync(handle);
        return (await Stream.GetAllSubscriptionHandles()).Count;
    }

    public Task Leave()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Move()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    private async Task EndAsync(StreamSubscriptionHandle<long> handle)
    {
        var subscription = load.Checks.Find(handle.HandleId, Name, GrainContext.GrainId);
        var isKnown = _handles.Remove(handle);
        subscription.AskEnd(load.Now);
        try
        {
            await handle.UnsubscribeAsync();
            if (_ears.Remove(handle.HandleId, out var ear))
                ear.IsDetached = true;
            load.Checks.End(subscription, machine);
        }
        catch when (isKnown)
        {
            // It may be there or not, and may be ended again.
            _handles.Add(handle);
            throw;
        }
    }
}

/// <inheritdoc cref="IPlainListener"/>
internal sealed class PlainListener(StreamLoad load, Machine machine) : ListenerGrain(load, machine), IPlainListener;

/// <inheritdoc cref="IBusyListener"/>
[Reentrant]
internal sealed class BusyListener(StreamLoad load, Machine machine) : ListenerGrain(load, machine), IBusyListener;

/// <inheritdoc cref="IArchivist"/>
[ImplicitStreamSubscription(StreamName.Archived)]
internal sealed class Archivist(StreamLoad load, Machine machine)
    : Grain, IArchivist, IStreamSubscriptionObserver, IGrainMigrationParticipant
{
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory)
    {
        var subscription = load.Checks.Implicit(new StreamName(handleFactory.StreamId), GrainContext.GrainId);
        await handleFactory.Create<long>().ResumeAsync(new Ear(load, subscription, machine, GrainContext));
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
    }
}
