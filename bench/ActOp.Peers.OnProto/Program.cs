using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Peers.OnProto;
using ActOp.Peers.Shapes;
using Google.Protobuf.WellKnownTypes;
using Proto;
using Proto.Cluster;
using Proto.Cluster.Partition;
using Proto.Cluster.PubSub;
using Proto.Cluster.Seed;
using Proto.Remote;
using Proto.Remote.GrpcNet;

return await PeerProgram.RunAsync(args, static _ => new ProtoRuntime());

/// <summary>Proto.Actor with virtual actors, a seed node and gRPC, as its documentation sets it up.</summary>
internal sealed class ProtoRuntime : IPeerRuntime
{
    public async Task<IPeerNode> StartSiloAsync(PeerPorts ports)
    {
        var cluster = NewCluster(ports.Host, ports.Port, ports.IsPrimary
            ? FixedServerSeedNode.StartSeedNode() : FixedServerSeedNode.JoinSeedNode(ports.PrimaryHost, ports.Primary), true);
        await cluster.StartMemberAsync();
        return new ProtoNode(cluster);
    }

    public async Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos)
    {
        // With a seed node that is found by its address, a client cannot join as one: it is a member without actors.
        var cluster = NewCluster(
            silos[0].OwnHost(), Ports.FindFree(1)[0], FixedServerSeedNode.JoinSeedNode(silos[0].PrimaryHost, silos[0].Primary), false);
        await cluster.StartMemberAsync();
        return new ProtoNode(cluster);
    }

    private static Cluster NewCluster(string host, int port, IClusterProvider provider, bool isSilo)
    {
        var cluster = ClusterConfig.Setup("peers", provider, new PartitionIdentityLookup());
        if (isSilo)
        {
            cluster = cluster
                .WithClusterKind(EchoActor.Kind, Props.FromProducer(static () => new EchoActor()))
                .WithClusterKind(MonitorActor.Kind, Props.FromProducer(static () => new MonitorActor()))
                .WithClusterKind(ProducerActor.Kind, Props.FromProducer(static () => new ProducerActor()))
                .WithClusterKind(ConsumerActor.Kind, Props.FromProducer(static () => new ConsumerActor()))
                .WithClusterKind(PlayerActor.Kind, Props.FromProducer(static () => new PlayerActor()))
                .WithClusterKind(GameActor.Kind, Props.FromProducer(static () => new GameActor()));
        }

        return new ActorSystem()
            .WithRemote(RemoteConfig.BindTo(host, port).WithProtoMessages(
                WrappersReflection.Descriptor, StructReflection.Descriptor, EmptyReflection.Descriptor))
            .WithCluster(cluster).Cluster();
    }
}

/// <summary>A member or a client of the cluster.</summary>
internal sealed class ProtoNode(Cluster cluster) : IPeerNode, ITimerPeer, IStreamPeer, IHeartbeatPeer, IHaloPeer
{
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(1);

    public Func<int, ValueTask<int>> EchoOf(long key)
    {
        var identity = Text(key);
        return async value => (await cluster.RequestAsync<Int32Value>(
            identity, EchoActor.Kind, new Int32Value { Value = value }, CancellationToken.None)).Value;
    }

    public async Task<CallTimes> LoopAsync(long caller, long callee, int milliseconds, bool isTimed)
    {
        var order = new ListValue
        {
            Values = { Value.ForNumber(callee), Value.ForNumber(milliseconds), Value.ForNumber(isTimed ? 1 : 0) },
        };
        var result = await cluster.RequestAsync<ListValue>(Text(caller), EchoActor.Kind, order, CancellationToken.None);
        return new CallTimes((long)result.Values[0].NumberValue, result.Values[1].NumberValue, result.Values[2].NumberValue);
    }

    public async Task<string> WhereAsync(long key) =>
        (await cluster.RequestAsync<StringValue>(Text(key), EchoActor.Kind, new StringValue(), CancellationToken.None)).Value;

    public Func<int, ValueTask> BeatOf(long key)
    {
        var identity = Text(key);
        return async milliseconds => await cluster.RequestAsync<Int32Value>(
            identity, MonitorActor.Kind, new Int32Value { Value = milliseconds }, CancellationToken.None);
    }

    public long Ticks => ClockActor.Ticks;

    public long Items => ConsumerActor.Items;

    public Task StartTimersAsync(int count, TimeSpan period)
    {
        for (var i = 0; i < count; i++)
            cluster.System.Root.Spawn(Props.FromProducer(() => new ClockActor(period)));
        return Task.CompletedTask;
    }

    public Task ProduceAsync(int stream, int items) =>
        cluster.RequestAsync<Empty>(Text(stream), ProducerActor.Kind, new Int32Value { Value = items }, CancellationToken.None);

    public async Task SubscribeAsync(int stream) => await cluster.Subscribe(
        ConsumerActor.TopicOf(Text(stream)), ClusterIdentity.Create(Text(stream), ConsumerActor.Kind), CancellationToken.None);

    public async ValueTask<bool> RequestStatusAsync(long player) => (await cluster.RequestAsync<Int32Value>(
        Text(player), PlayerActor.Kind, new Empty(), CancellationToken.None)).Value > 0;

    public Task StartGameAsync(long game, long[] players) => cluster.RequestAsync<Int32Value>(
        Text(game), GameActor.Kind, new ListValue { Values = { players.Select(static player => Value.ForNumber(player)) } },
        CancellationToken.None);

    public Task EndGameAsync(long game) =>
        cluster.RequestAsync<Int32Value>(Text(game), GameActor.Kind, new BoolValue(), CancellationToken.None);

    public Task DepartAsync(long player) =>
        cluster.RequestAsync<Int32Value>(Text(player), PlayerActor.Kind, new Int64Value(), CancellationToken.None);

    public async Task<bool> IsRemoteAsync(long player, long game) =>
        (await cluster.RequestAsync<StringValue>(Text(player), PlayerActor.Kind, new StringValue(), CancellationToken.None)).Value
        != (await cluster.RequestAsync<StringValue>(Text(game), GameActor.Kind, new StringValue(), CancellationToken.None)).Value;

    public async ValueTask DisposeAsync()
    {
        try
        {
            await cluster.ShutdownAsync(graceful: false).WaitAsync(StopLimit);
        }
        catch (TimeoutException)
        {
            // The end of the process ends what is left.
        }
    }

    private static string Text(long key) => key.ToString(CultureInfo.InvariantCulture);
}
