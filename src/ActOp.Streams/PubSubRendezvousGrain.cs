using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Foundation;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Providers;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;
using Orleans.Storage;
using Orleans.Streaming.Diagnostics;

namespace ActOp.Streams;

/// <summary>Where the agents and the explicit subscriptions of one stream meet.</summary>
/// <remarks>
/// <para>Owns the list of agents and the list of subscriptions, both kept by <see cref="IPubSubStore"/>. One request at a time, on the
/// turns of the grain: a change is written before it is answered.</para>
/// <para>Failures. The store throws: the change is undone, and the caller gets the exception. It hangs: the caller's call times out; the
/// change is there or not, and repeating it is harmless. An agent cannot be told of a subscription: an agent on a dead silo is removed, and
/// one that has ended; one that cannot be reached is told again for a while. For any other the caller gets the exception, and a new
/// subscription is taken back. The grain's silo dies:
/// the next activation reads the store; agents and consumers notice nothing. A request comes twice: additions and removals are by
/// id. An agent's requests come in another order than they were sent, as when the first one waits for a link or was forwarded: each
/// registration has a number, and a removal removes no newer one.</para>
/// </remarks>
internal sealed class PubSubRendezvousGrain : Grain, IPubSubRendezvousGrain, IIncomingGrainCallFilter
{
    /// <summary>How long an agent may take to note a subscription.</summary>
    private static readonly TimeSpan LongestNotice = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan PauseBeforeNotice = TimeSpan.FromMilliseconds(100);

    private readonly StreamNode _parts;
    private readonly IPubSubStore _store;
    private readonly ClientRightsOptions _rights;

    public PubSubRendezvousGrain(StreamNode parts, IOptions<ClientRightsOptions> rights)
    {
        _parts = parts;
        _rights = rights.Value;
        _store = PubSubStores.For(parts, GrainContext);
    }

    private PubSubGrainState State => _store.State;

    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        await _store.ReadAsync();
        if (!_store.IsPersistent)
            DelayDeactivation(TimeSpan.MaxValue);
    }

    /// <summary>What clients may ask for: see <see cref="RendezvousRights"/>.</summary>
    public async Task Invoke(IIncomingGrainCallContext context)
    {
        var client = RendezvousRights.ClientOf(context.Request, _rights);
        if (client is not null)
            RendezvousRights.Check(client, context.Request, this.GetPrimaryKeyString(), State.Consumers);
        await context.Invoke();
        if (client is not null && context.Result is List<SubscriptionEntry> all)
            context.Result = RendezvousRights.OwnOf(client, all);
    }

    public async Task<List<SubscriptionEntry>> RegisterProducer(QualifiedStreamId stream, GrainId producer, long number)
    {
        // One whose silo the view does not list may be on a newcomer: only one that cannot be told of a subscription is lost then.
        var dead = State.Producers.FindAll(IsDead);
        var known = State.NumberOf(producer);
        if (known is null || known < number || dead.Count > 0)
        {
            await ChangeAsync(state =>
            {
                foreach (var one in dead)
                    state.RemoveProducer(one);
                state.SetProducer(producer, Math.Max(number, known ?? number));
            });
        }

        if (known is null)
        {
            _parts.Local.Counts.Add(NodeEvent.ProducerAdded);
            if (StreamingEvents.Feed.IsWatched)
            {
                StreamingEvents.Feed.Write(new StreamingEvents.ProducerRegistered(
                    stream.ProviderName, stream.StreamId, producer, _parts.Local.Address));
            }
        }

        return State.Consumers.FindAll(static one => !one.IsFaulted);
    }

    public async Task UnregisterProducer(QualifiedStreamId stream, GrainId producer, long number)
    {
        if (State.NumberOf(producer) <= number)
        {
            await ChangeAsync(state => state.RemoveProducer(producer));
            _parts.Local.Counts.Add(NodeEvent.ProducerRemoved);
            if (StreamingEvents.Feed.IsWatched)
            {
                StreamingEvents.Feed.Write(new StreamingEvents.ProducerUnregistered(
                    stream.ProviderName, stream.StreamId, producer, _parts.Local.Address));
            }
        }

        if (State.Producers.Count == 0 && State.Consumers.Count == 0 && _store.IsPersistent)
            DeactivateOnIdle();
    }

    public async Task RegisterConsumer(QualifiedStreamId stream, SubscriptionEntry subscription)
    {
        var known = State.Consumers.Find(one => one.Id == subscription.Id);
        if (known is { IsFaulted: true })
        {
            throw new Orleans.Streams.FaultedSubscriptionException("The subscription " + subscription.Id + " to " + stream
                + " has failed.");
        }

        if (known is null)
            await ChangeAsync(state => state.Consumers.Add(subscription));
        try
        {
            await TellAgentsAsync(stream, agent => agent.AddSubscriber(known ?? subscription, stream.StreamId));
        }
        catch when (known is null)
        {
            // The caller has no subscription, so none must stay: neither here, nor at an agent that was told, or that hears of it late.
            await ChangeAsync(state => state.Consumers.Remove(subscription));
            await TellAgentsAsync(stream, agent => agent.RemoveSubscriber(subscription.Id, stream.StreamId)).ConfigureAwait(
                ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            throw;
        }

        if (known is null)
            _parts.Local.Counts.Add(NodeEvent.ConsumerAdded);
        if (known is null && StreamingEvents.Feed.IsWatched)
        {
            StreamingEvents.Feed.Write(new StreamingEvents.SubscriptionRegistered(
                stream.ProviderName, stream.StreamId, subscription.Id, subscription.Consumer, _parts.Local.Address));
        }
    }

    public async Task UnregisterConsumer(QualifiedStreamId stream, Guid subscription)
    {
        if (State.Consumers.Exists(one => one.Id == subscription))
        {
            await ChangeAsync(state => state.Consumers.RemoveAll(one => one.Id == subscription));
            _parts.Local.Counts.Add(NodeEvent.ConsumerRemoved);
            if (StreamingEvents.Feed.IsWatched)
            {
                StreamingEvents.Feed.Write(new StreamingEvents.SubscriptionUnregistered(
                    stream.ProviderName, stream.StreamId, subscription, _parts.Local.Address));
            }
        }

        await TellAgentsAsync(stream, agent => agent.RemoveSubscriber(subscription, stream.StreamId));
    }

    public async Task<bool> FaultSubscription(QualifiedStreamId stream, Guid subscription)
    {
        if (State.Consumers.Find(one => one.Id == subscription) is not { } found)
            return false;
        if (!found.IsFaulted)
            await ChangeAsync(_ => found.IsFaulted = true);
        await TellAgentsAsync(stream, agent => agent.RemoveSubscriber(subscription, stream.StreamId));
        return true;
    }

    public Task<List<SubscriptionEntry>> GetSubscriptions() => Task.FromResult(State.Consumers);

    public Task<int> ProducerCount() => Task.FromResult(State.Producers.Count);

    /// <summary>The agent was on a silo that is known to be dead.</summary>
    private bool IsDead(GrainId agent) =>
        !SystemGrainIds.TryGetAddress(agent, out var silo) || _parts.ClusterView.IsDead(silo);

    /// <summary>The agent was on a silo that is dead, or that no view lists any more.</summary>
    private bool IsLost(GrainId agent) =>
        !SystemGrainIds.TryGetAddress(agent, out var silo) || !_parts.ClusterView.IsUsable(silo);

    private async Task ChangeAsync(Action<PubSubGrainState> change)
    {
        change(State);
        if (Invariant.AreChecked)
            Invariant.Holds(State.Consumers.DistinctBy(static one => one.Id).Count() == State.Consumers.Count);
        try
        {
            await _store.WriteAsync();
        }
        catch
        {
            // What the store holds is unknown now, so the next activation reads it.
            DeactivateOnIdle();
            throw;
        }
    }

    /// <summary>
    /// Tells one agent. One that cannot be reached and whose silo is not known to be dead, as after the loss of a link, or before the view
    /// lists it, is told again: additions and removals may come twice.
    /// </summary>
    private async Task TellAsync(GrainId agent, Func<IStreamAgent, Task> tell)
    {
        for (var until = _parts.Now + (long)LongestNotice.TotalMilliseconds; ;)
        {
            try
            {
                await tell(_parts.Reference<IStreamAgent>(agent)).WaitAsync(LongestNotice, _parts.Local.TaskTime);
                return;
            }
            catch (SiloUnavailableException) when (!IsDead(agent) && _parts.Now < until && !_parts.Local.IsStopping)
            {
                // Below.
            }

            await Task.Delay(PauseBeforeNotice, _parts.Local.TaskTime);
        }
    }

    private async Task TellAgentsAsync(QualifiedStreamId stream, Func<IStreamAgent, Task> tell)
    {
        List<Exception>? failures = null;
        foreach (var agent in State.Producers.ToArray())
        {
            try
            {
                await TellAsync(agent, tell);
            }
            catch (Exception exception)
            {
                if (IsLost(agent) || exception is OrleansMessageRejectionException and not SiloUnavailableException)
                {
                    // Its silo is dead, or the agent has ended: whoever reads the queue next asks for all subscriptions.
                    State.RemoveProducer(agent);
                    continue;
                }

                _parts.Log.AgentNotTold(agent, stream, exception);
                (failures ??= []).Add(exception);
            }
        }

        if (failures is not null)
            throw failures.Count == 1 ? failures[0] : new AggregateException(failures);
    }
}

/// <summary>Keeps the state of one rendezvous.</summary>
internal interface IPubSubStore
{
    PubSubGrainState State { get; }

    /// <summary>Whether the state survives the activation.</summary>
    bool IsPersistent { get; }

    Task ReadAsync();

    Task WriteAsync();
}

/// <summary>Makes stores.</summary>
internal static class PubSubStores
{
    private const string StateName = "pubsub";

    /// <summary>
    /// The grain storage called PubSubStore. Without one, a store that lasts as long as the activation, which is logged once.
    /// </summary>
    internal static IPubSubStore For(StreamNode parts, IGrainContext grain)
    {
        if (parts.Services.GetKeyedService<IGrainStorage>(ProviderConstants.DEFAULT_PUBSUB_PROVIDER_NAME) is { } storage)
            return new StoragePubSubStore(storage, grain.GrainId);
        if (Interlocked.Exchange(ref parts.HasReportedStore, 1) == 0)
            parts.Log.NoPubSubStore();
        return new ActivationPubSubStore();
    }

    private sealed class StoragePubSubStore(IGrainStorage storage, GrainId grain) : IPubSubStore
    {
        private readonly GrainState<PubSubGrainState> _record = new(new PubSubGrainState());

        public PubSubGrainState State => _record.State ??= new PubSubGrainState();

        public bool IsPersistent => true;

        public Task ReadAsync() => storage.ReadStateAsync(StateName, grain, _record);

        public Task WriteAsync() => State.Producers.Count > 0 || State.Consumers.Count > 0
            ? storage.WriteStateAsync(StateName, grain, _record)
            : _record.RecordExists ? storage.ClearStateAsync(StateName, grain, _record) : Task.CompletedTask;
    }

    /// <summary>Without a grain storage: the activation keeps the state, as long as its silo runs.</summary>
    private sealed class ActivationPubSubStore : IPubSubStore
    {
        public PubSubGrainState State { get; } = new();

        public bool IsPersistent => false;

        public Task ReadAsync() => Task.CompletedTask;

        public Task WriteAsync() => Task.CompletedTask;
    }
}

/// <summary>
/// What a client may do at the rendezvous of a stream without the right of management: have subscriptions of its own. Silos may do
/// everything there.
/// </summary>
/// <remarks>
/// A subscription is a client's own if its consumer is an observer of that client. Who the client is says its link, or the silo that has
/// forwarded the call; nothing in the call adds to that. Holds nothing; on the turns of the grain.
/// </remarks>
internal static class RendezvousRights
{
    /// <summary>The client that has sent a request; null if a silo has, or if the client may manage the cluster.</summary>
    internal static SiloAddress? ClientOf(IInvokable request, ClientRightsOptions rights) =>
        !rights.Management && request is Call { Remote: SiloAddress { IsClient: true } client } ? client : null;

    /// <summary>Refuses what concerns others.</summary>
    /// <param name="client">Who asks.</param>
    /// <param name="request">What it asks for.</param>
    /// <param name="key">The key of the rendezvous.</param>
    /// <param name="known">The subscriptions of the rendezvous.</param>
    /// <exception cref="UnauthorizedAccessException">The client may not do this.</exception>
    internal static void Check(SiloAddress client, IInvokable request, string key, List<SubscriptionEntry> known)
    {
        if (request.GetArgumentCount() == 0)
            return;
        if (request.GetArgument(0) is not QualifiedStreamId stream || stream.ToString() != key)
            throw Refused(client, "names another stream than the one of " + key);
        var (id, added) = request.GetArgument(1) switch
        {
            SubscriptionEntry entry => (entry.Id, entry),
            Guid one => (one, null),
            _ => throw Refused(client, "names no subscription"),
        };
        if (StreamPubSub.IsImplicit(id))
            throw Refused(client, "names an implicit subscription");
        if (added is not null && !Owns(client, added))
            throw Refused(client, "subscribes " + added.Consumer + ", which is not its own");
        if (known.Find(one => one.Id == id) is { } found && !Owns(client, found))
            throw Refused(client, "names the subscription " + id + ", which is not its own");
    }

    /// <summary>Those of the client.</summary>
    internal static List<SubscriptionEntry> OwnOf(SiloAddress client, List<SubscriptionEntry> known) =>
        known.FindAll(one => Owns(client, one));

    private static bool Owns(SiloAddress client, SubscriptionEntry subscription) =>
        SystemGrainIds.TryGetAddress(subscription.Consumer, out var owner) && owner.Equals(client);

    private static UnauthorizedAccessException Refused(SiloAddress client, string why) => new("The client " + client + " " + why
        + ". Subscriptions of others need ClientRightsOptions.Management on the silos.");
}
