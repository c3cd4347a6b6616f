using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Management;
using ActOp.Management.Operations;
using ActOp.Reminders;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.Streams;
using ActOp.TestClusters;
using ActOp.Wire;
using Orleans.Core.Internal;
using Orleans.Storage;
using Orleans.Streams;

namespace ActOp.Faults.Tests;

/// <summary>
/// What the runtime's own grains and extensions do for clients: streams of their own, and management only if the silos grant it.
/// </summary>
public sealed class ClientRightsTests(ClientRightsTests.PlainSilos cluster) : IClassFixture<ClientRightsTests.PlainSilos>
{
    private const string Provider = "memory";

    private Node Silo => NodeOf(0);

    public static TheoryData<string> Management { get; } =
        ["hosts", "keys", "collection", "versions", "deactivation", "migration", "report", "location", "move", "drain"];

    public static TheoryData<string> Internals { get; } =
    [
        "claim", "take", "dequeue", "acknowledge", "read record", "remove record", "tick", "tick by its own interface", "delivery", "failure",
        "producer", "agent gone",
    ];

    [Theory]
    [MemberData(nameof(Management))]
    public async Task A_client_does_not_manage_the_cluster_without_the_right(string what)
    {
        var exception = await Assert.ThrowsAsync<UnauthorizedAccessException>(() => ManageAsync(what).WaitAsync(Gate.Patience));
        Assert.Contains("ClientRightsOptions.Management", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_silo_manages_the_cluster()
    {
        var management = cluster.ClientOf(0).GetGrain<IManagementGrain>(0);
        Assert.Equal(2, (await management.GetHosts(true)).Count);
        await cluster.ClientOf(0).GetGrain<IConsumer>(Guid.NewGuid()).AsReference<IGrainManagementExtension>().DeactivateOnIdle();
    }

    [Fact]
    public async Task A_client_manages_the_cluster_if_its_silos_grant_it()
    {
        await using var granted = await TestSilos.StartAsync(
            1, silo => silo.Configure<ClientRightsOptions>(static options => options.Management = true));
        Assert.Single(await granted.Client.GetGrain<IManagementGrain>(0).GetHosts(true));
        await granted.Client.GetGrain<IConsumer>(Guid.NewGuid()).AsReference<IGrainManagementExtension>().DeactivateOnIdle();
    }

    [Fact]
    public async Task An_operator_asks_its_silo_and_has_no_other_right_of_management()
    {
        const string Secret = "the secret of the operators, random";
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.Configure<ClientRightsOptions>(static options => options.Management = false)
            .Configure<ClusterSecurityOptions>(static options => options.OperatorSecret = Secret));
        builder.ConfigureClient(static client => client.Configure<ClusterSecurityOptions>(static options => options.OperatorSecret = Secret));
        await using var operated = builder.Build();
        await operated.DeployAsync();
        var silo = operated.Silos[0].ServiceProvider.GetRequiredService<Node>();
        Assert.Equal(silo.Address, Assert.Single((await DoorOf(operated.Client, silo).GetReport()).Silos).Silo);
        // What would be a matter of where the grain is, if a silo took the word of another one for it.
        var grain = operated.Client.GetGrain<IConsumer>(Guid.NewGuid()).AsReference<IGrainManagementExtension>();
        await Assert.ThrowsAsync<UnauthorizedAccessException>(() => grain.DeactivateOnIdle().AsTask().WaitAsync(Gate.Patience));
        await Assert.ThrowsAsync<UnauthorizedAccessException>(
            () => operated.Client.GetGrain<IManagementGrain>(0).GetHosts().WaitAsync(Gate.Patience));
        // What members ask of each other stays among them.
        await Assert.ThrowsAsync<OrleansMessageRejectionException>(() => operated.Client.ServiceProvider.GetRequiredService<Node>().Factory
            .GetSystemTarget<IManagementTarget>(ManagementTarget.Name, silo.Address).BeginStop().WaitAsync(Gate.Patience));
    }

    [Theory]
    [MemberData(nameof(Internals))]
    public async Task A_client_does_not_call_what_the_runtime_calls_for_its_own_parts(string what)
    {
        var before = Refused();
        await Assert.ThrowsAsync<UnauthorizedAccessException>(() => IntrudeAsync(what).WaitAsync(Gate.Patience));
        Assert.Equal(before + 1, Refused());
    }

    /// <summary>A silo that does not know the method passes it on; the one that does asks for the right of the client.</summary>
    [Fact]
    public async Task A_call_of_a_client_that_a_silo_has_forwarded_has_no_more_rights()
    {
        var target = cluster.Client.GetGrain<IMemoryQueue>(Guid.NewGuid()).GetGrainId();
        var method = TypeManifest.Methods.Single(static one =>
            one.InterfaceType == typeof(IMemoryQueue) && one.Name == nameof(IMemoryQueue.Release));
        var client = cluster.Client.ServiceProvider.GetRequiredService<Node>().Address;
        var before = NodeOf(1).Refusals[Refusal.Rights];
        Assert.Null(Silo.Peers.Send(NodeOf(1).Address, target, Forwarded(target, method.Id, client)));
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(NodeOf(1).Refusals[Refusal.Rights] == before + 1), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.False(NodeOf(1).Activations.TryGet(target, out _));
    }

    /// <summary>A new method of the runtime is closed; who opens one must add it here.</summary>
    [Fact]
    public void Every_method_of_the_runtime_is_closed_to_clients_but_for_an_explicit_list()
    {
        var interfaces = new[] { typeof(CallMethod), typeof(Node), typeof(StreamNode), typeof(ReminderSilo), typeof(ManagementNeeds),
                typeof(TestCluster) }
            .SelectMany(static type => type.Assembly.GetTypes()).Where(static type => type.IsInterface
                && typeof(IAddressable).IsAssignableFrom(type) && !typeof(ISystemTarget).IsAssignableFrom(type))
            .ToArray();
        Assert.Contains(typeof(IManagementGrain), interfaces);
        Assert.Contains(typeof(IRemindable), interfaces);
        var open = interfaces.SelectMany(static type => type.GetMethods().Where(static method => method.IsAbstract)
            .Where(method => new CallMethod(type, type.FullName!, method.Name, 0, 0, null, () => method).Callers == Callers.Everyone)
            .Select(method => type.Name + "." + method.Name)).Order(StringComparer.Ordinal);
        Assert.Equal(
            [
                "IAsyncEnumerableGrainExtension.DisposeAsync",
                "IAsyncEnumerableGrainExtension.MoveNext",
                "IAsyncEnumerableGrainExtension.StartEnumeration",
                "IBroadcastChannelConsumerExtension.OnPublished",
                "ICancellationSourcesExtension.CancelRemoteToken",
                "IMemoryStreamQueueGrain.Enqueue",
                "IPubSubRendezvousGrain.FaultSubscription",
                "IPubSubRendezvousGrain.GetSubscriptions",
                "IPubSubRendezvousGrain.ProducerCount",
                "IPubSubRendezvousGrain.RegisterConsumer",
                "IPubSubRendezvousGrain.UnregisterConsumer",
                "IStorageFaultGrain.AddFaultOnClear",
                "IStorageFaultGrain.AddFaultOnRead",
                "IStorageFaultGrain.AddFaultOnWrite",
            ],
            open.Where(static name => !name.StartsWith("IStorageFaultGrain.On", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_client_has_streams_and_subscriptions_of_its_own()
    {
        var (stream, box) = (NewStream(), Box.New());
        await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe(Provider, stream.StreamId, Box.New().Name);
        var handle = await stream.SubscribeAsync((item, _) =>
        {
            Box.Put(box.Name, item.ToString());
            return Task.CompletedTask;
        });
        await stream.OnNextAsync(1);
        await stream.OnNextBatchAsync([2, 3]);
        Assert.Equal(["1", "2", "3"], await box.ReceivedAsync(3));
        Assert.Equal(handle.HandleId, Assert.Single(await stream.GetAllSubscriptionHandles()).HandleId);
        await handle.UnsubscribeAsync();
        Assert.Empty(await stream.GetAllSubscriptionHandles());
    }

    [Fact]
    public async Task A_client_neither_sees_nor_ends_nor_makes_the_subscriptions_of_others()
    {
        var (stream, box) = (NewStream(), Box.New());
        var consumer = cluster.Client.GetGrain<IConsumer>(Guid.NewGuid());
        var handle = await consumer.Subscribe(Provider, stream.StreamId, box.Name);
        var qualified = new QualifiedStreamId(Provider, stream.StreamId);
        var rendezvous = cluster.Client.GetGrain<IPubSubRendezvousGrain>(qualified.ToString());
        Assert.Empty(await rendezvous.GetSubscriptions());
        var entry = new SubscriptionEntry { Id = Guid.NewGuid(), Consumer = consumer.GetGrainId() };
        foreach (var refused in new Func<Task>[]
        {
            () => rendezvous.UnregisterConsumer(qualified, handle.HandleId),
            () => rendezvous.FaultSubscription(qualified, handle.HandleId),
            () => rendezvous.RegisterConsumer(qualified, entry),
            () => rendezvous.UnregisterConsumer(new QualifiedStreamId(Provider, NewStream().StreamId), Guid.NewGuid()),
            () => rendezvous.UnregisterConsumer(qualified, StreamPubSub.Mark(Guid.NewGuid(), isImplicit: true)),
        })
        {
            await Assert.ThrowsAsync<UnauthorizedAccessException>(() => refused().WaitAsync(Gate.Patience));
        }

        await stream.OnNextAsync(7);
        Assert.Equal(["7"], await box.ReceivedAsync(1));
        var known = await cluster.ClientOf(0).GetGrain<IPubSubRendezvousGrain>(qualified.ToString()).GetSubscriptions();
        Assert.Equal(handle.HandleId, Assert.Single(known).Id);
    }

    private Task ManageAsync(string what)
    {
        var management = cluster.Client.GetGrain<IManagementGrain>(0);
        var grain = cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).AsReference<IGrainManagementExtension>();
        var door = DoorOf(cluster.Client, Silo);
        return what switch
        {
            "report" => door.GetReport(),
            "location" => door.Locate(grain.GetGrainId()),
            "move" => door.Move(grain.GetGrainId(), NodeOf(1).Address),
            "drain" => door.Drain(NodeOf(1).Address, evenLast: false),
            "hosts" => management.GetHosts(),
            "keys" => management.GetActiveGrains(GrainType.Create("consumer")).AsTask(),
            "collection" => management.ForceActivationCollection(TimeSpan.Zero),
            "versions" => management.SetSelectorStrategy(Orleans.Versions.Selector.LatestVersion.Singleton),
            "deactivation" => grain.DeactivateOnIdle().AsTask(),
            _ => grain.MigrateOnIdle().AsTask(),
        };
    }

    private Task IntrudeAsync(string what)
    {
        var client = cluster.Client;
        var queue = client.GetGrain<IMemoryQueue>(Guid.NewGuid());
        var records = client.GetGrain<IMemoryStorageGrain>(0);
        var grain = client.GetGrain<IConsumer>(Guid.NewGuid());
        var stream = new QualifiedStreamId(Provider, StreamId.Create("rights", Guid.NewGuid()));
        var consumer = grain.AsReference<IStreamConsumerExtension>();
        var rendezvous = client.GetGrain<IPubSubRendezvousGrain>(stream.ToString());
        return what switch
        {
            "claim" => queue.Claim(Guid.NewGuid()),
            "take" => queue.Take(Guid.NewGuid(), default, -1, 10),
            "dequeue" => queue.Dequeue(10),
            "acknowledge" => queue.Acknowledge(default, long.MaxValue),
            "read record" => records.ReadStateAsync<ReadOnlyMemory<byte>>("Default/n/a"),
            "remove record" => records.DeleteStateAsync<ReadOnlyMemory<byte>>("Default/n/a", null),
            "tick" => grain.AsReference<IRemindable>().ReceiveReminder("r", default),
            "tick by its own interface" => client.GetGrain<ITicked>(Guid.NewGuid()).ReceiveReminder("r", default),
            "delivery" => consumer.Deliver(Guid.NewGuid(), stream, new DeliveryBatch([]), null),
            "failure" => consumer.Fail(Guid.NewGuid(), stream, new InvalidOperationException()),
            "producer" => rendezvous.RegisterProducer(stream, grain.GetGrainId(), 1),
            _ => rendezvous.UnregisterProducer(stream, grain.GetGrainId(), 1),
        };
    }

    /// <summary>A grain interface of an application that has reminders.</summary>
    public interface ITicked : IGrainWithGuidKey, IRemindable;

    public sealed class Ticked : Grain, ITicked
    {
        public Task ReceiveReminder(string reminderName, TickStatus status) => Task.CompletedTask;
    }

    private static IOperatorTarget DoorOf(IClusterClient client, Node silo) => client.ServiceProvider.GetRequiredService<Node>().Factory
        .GetSystemTarget<IOperatorTarget>(OperatorTarget.Name, silo.Address);

    private long Refused() => NodeOf(0).Refusals[Refusal.Rights] + NodeOf(1).Refusals[Refusal.Rights];

    private Node NodeOf(int silo) => cluster.Cluster.Silos[silo].ServiceProvider.GetRequiredService<Node>();

    private IAsyncStream<int> NewStream() =>
        cluster.Client.GetStreamProvider(Provider).GetStream<int>(StreamId.Create("rights", Guid.NewGuid()));

    /// <summary>A request that silo 0 says to have got from a client.</summary>
    private byte[] Forwarded(GrainId target, ulong method, SiloAddress client)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        RequestHeader header = new()
        {
            Flags = FrameFlags.HasOrigin | FrameFlags.OneWay,
            Forwards = 1,
            ReplyTo = 1,
            MethodId = method,
            Origin = client,
            Via = Silo.Address,
        };
        header.Write(ref writer, target, default);
        writer.WriteRaw(new byte[32]);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    /// <summary>Two silos that grant their client nothing, as silos do by default.</summary>
    public sealed class PlainSilos() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) => silo
            .Configure<ClientRightsOptions>(static options => options.Management = false)
            .AddMemoryGrainStorage("PubSubStore").AddMemoryStreams(Provider);

        protected override void ConfigureClient(IClientBuilder client) => client.AddMemoryStreams(Provider);
    }
}
