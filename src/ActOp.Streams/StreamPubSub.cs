using Orleans.Runtime;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Streams;

/// <summary>
/// The subscriptions of a provider: explicit ones, which the rendezvous of each stream keeps, and implicit ones, which follow from the
/// attributes of the grain classes of the cluster. Holds nothing; any thread.
/// </summary>
internal sealed class StreamPubSub(StreamNode parts, ImplicitSubscriptions implicits, StreamPubSubType type)
    : IStreamPubSub, IStreamSubscriptionManager
{
    private bool HasExplicit => type != StreamPubSubType.ImplicitOnly;

    private bool HasImplicit => type != StreamPubSubType.ExplicitGrainBasedOnly;

    /// <summary>Whether the id is that of an implicit subscription.</summary>
    internal static bool IsImplicit(Guid subscription) => (subscription.ToByteArray()[15] & 0x80) != 0;

    /// <summary>The id, marked as one of an implicit subscription or of an explicit one.</summary>
    internal static Guid Mark(Guid id, bool isImplicit)
    {
        var bytes = id.ToByteArray();
        bytes[15] = (byte)(isImplicit ? bytes[15] | 0x80 : bytes[15] & 0x7F);
        return new Guid(bytes);
    }

    /// <summary>
    /// All subscriptions; from now on the agent is told of new explicit ones. Whether the implicit ones are all there, see <see
    /// cref="ImplicitSubscriptions"/>. The number is higher than those of the agent's registrations before.
    /// </summary>
    internal async Task<(List<SubscriptionEntry> Found, bool AreAll)> RegisterAgentAsync(
        QualifiedStreamId stream, GrainId agent, long number)
    {
        var areAll = true;
        var found = HasImplicit ? implicits.To(stream, out areAll) : [];
        if (HasExplicit)
            found.AddRange(await Rendezvous(stream).RegisterProducer(stream, agent, number));
        return (found, areAll);
    }

    /// <summary>The implicit subscriptions only.</summary>
    internal List<SubscriptionEntry> ImplicitTo(QualifiedStreamId stream, out bool areAll) => implicits.To(stream, out areAll);

    public GuidId CreateSubscriptionId(QualifiedStreamId streamId, GrainId streamConsumer) => GuidId.GetGuidId(
        HasImplicit && implicits.TryGet(streamId, streamConsumer, out var id) ? id : Mark(parts.Local.NewId(), isImplicit: false));

    public async Task<ISet<PubSubSubscriptionState>> RegisterProducer(QualifiedStreamId streamId, GrainId streamProducer) =>
        (await RegisterAgentAsync(streamId, streamProducer, 0)).Found.Select(one =>
            new PubSubSubscriptionState(GuidId.GetGuidId(one.Id), streamId, one.Consumer) { FilterData = one.FilterData }).ToHashSet();

    public Task UnregisterProducer(QualifiedStreamId streamId, GrainId streamProducer) => UnregisterAgentAsync(streamId, streamProducer, 0);

    /// <summary>The agent has forgotten the stream that it has registered for with this number.</summary>
    internal Task UnregisterAgentAsync(QualifiedStreamId stream, GrainId agent, long number) =>
        HasExplicit ? Rendezvous(stream).UnregisterProducer(stream, agent, number) : Task.CompletedTask;

    public Task RegisterConsumer(GuidId subscriptionId, QualifiedStreamId streamId, GrainId streamConsumer, string? filterData) =>
        RegisterConsumer(subscriptionId, streamId, streamConsumer, filterData, null);

    internal Task RegisterConsumer(
        GuidId subscriptionId, QualifiedStreamId streamId, GrainId streamConsumer, string? filterData,
        StreamSubscriptionStartPosition? start)
    {
        ArgumentNullException.ThrowIfNull(subscriptionId);
        if (IsImplicit(subscriptionId.Guid))
            return Task.CompletedTask;
        if (!HasExplicit)
        {
            throw new InvalidOperationException(streamConsumer + " has no implicit subscription to " + streamId
                + ", and the provider knows no others.");
        }

        return Rendezvous(streamId).RegisterConsumer(
            streamId,
            new SubscriptionEntry { Id = subscriptionId.Guid, Consumer = streamConsumer, FilterData = filterData, Start = start });
    }

    public Task UnregisterConsumer(GuidId subscriptionId, QualifiedStreamId streamId)
    {
        ArgumentNullException.ThrowIfNull(subscriptionId);
        return IsImplicit(subscriptionId.Guid)
            ? Task.CompletedTask
            : Rendezvous(streamId).UnregisterConsumer(streamId, subscriptionId.Guid);
    }

    public Task<bool> FaultSubscription(QualifiedStreamId streamId, GuidId subscriptionId)
    {
        ArgumentNullException.ThrowIfNull(subscriptionId);
        return IsImplicit(subscriptionId.Guid)
            ? Task.FromResult(false)
            : Rendezvous(streamId).FaultSubscription(streamId, subscriptionId.Guid);
    }

    public async Task<List<StreamSubscription>> GetAllSubscriptions(QualifiedStreamId streamId, GrainId streamConsumer = default)
    {
        var found = HasImplicit ? implicits.To(streamId) : [];
        if (!streamConsumer.IsDefault)
            found.RemoveAll(one => one.Consumer != streamConsumer);
        // As in Orleans: a grain with an implicit subscription has no others to the stream.
        if (HasExplicit && (streamConsumer.IsDefault || found.Count == 0))
        {
            found.AddRange((await Rendezvous(streamId).GetSubscriptions()).Where(one =>
                !one.IsFaulted && (streamConsumer.IsDefault || one.Consumer == streamConsumer)));
        }

        return [.. found.Select(one => SubscriptionOf(one, streamId))];
    }

    public async Task<int> ConsumerCount(QualifiedStreamId streamId) => (await GetAllSubscriptions(streamId)).Count;

    public Task<int> ProducerCount(QualifiedStreamId streamId) =>
        HasExplicit ? Rendezvous(streamId).ProducerCount() : Task.FromResult(0);

    public async Task<StreamSubscription> AddSubscription(string streamProviderName, StreamId streamId, GrainReference grainRef)
    {
        ArgumentNullException.ThrowIfNull(grainRef);
        var stream = new QualifiedStreamId(streamProviderName, streamId);
        // The consumer is another grain than the one that subscribes it.
        parts.CheckTenant(stream);
        parts.Local.Tenants?.Check(grainRef.GrainId, stream);
        var entry = new SubscriptionEntry { Id = Mark(parts.Local.NewId(), isImplicit: false), Consumer = grainRef.GrainId };
        await Rendezvous(stream).RegisterConsumer(stream, entry);
        return SubscriptionOf(entry, stream);
    }

    public Task RemoveSubscription(string streamProviderName, StreamId streamId, Guid subscriptionId) =>
        UnregisterConsumer(GuidId.GetGuidId(subscriptionId), new QualifiedStreamId(streamProviderName, streamId));

    public async Task<IEnumerable<StreamSubscription>> GetSubscriptions(string streamProviderName, StreamId streamId)
    {
        var stream = new QualifiedStreamId(streamProviderName, streamId);
        return (await Rendezvous(stream).GetSubscriptions()).Where(static one => !one.IsFaulted).Select(one => SubscriptionOf(one, stream));
    }

    private static StreamSubscription SubscriptionOf(SubscriptionEntry entry, QualifiedStreamId stream) =>
        new(entry.Id, stream.ProviderName, stream.StreamId, entry.Consumer);

    private IPubSubRendezvousGrain Rendezvous(QualifiedStreamId stream) => parts.Grain<IPubSubRendezvousGrain>(stream.ToString());
}

/// <summary>The manager of the explicit subscriptions of all providers.</summary>
internal sealed class SubscriptionManagers(StreamNode parts, ImplicitSubscriptions implicits) : IStreamSubscriptionManagerAdmin
{
    private readonly StreamPubSub _explicit = new(parts, implicits, StreamPubSubType.ExplicitGrainBasedOnly);

    public IStreamSubscriptionManager GetStreamSubscriptionManager(string managerType) =>
        managerType == StreamSubscriptionManagerType.ExplicitSubscribeOnly
            ? _explicit
            : throw new KeyNotFoundException("There is no manager of subscriptions of the kind " + managerType + ".");
}
