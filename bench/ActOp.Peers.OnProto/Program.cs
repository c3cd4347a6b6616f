using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Peers.OnProto;
using ActOp.Peers.Shapes;
using Google.Protobuf.WellKnownTypes;
using Proto;
using Proto.Cluster;
using Proto.Cluster.Partition;
using Proto.Cluster.Seed;
using Proto.Remote;
using Proto.Remote.GrpcNet;

return await PeerProgram.RunAsync(args, static _ => new ProtoRuntime());

/// <summary>Proto.Actor with virtual actors, a seed node and gRPC, as its documentation sets it up.</summary>
internal sealed class ProtoRuntime : IPeerRuntime
{
    public async Task<IPeerNode> StartSiloAsync(PeerPorts ports)
    {
        var cluster = NewCluster(ports.Port, ports.Port == ports.Primary
            ? FixedServerSeedNode.StartSeedNode() : FixedServerSeedNode.JoinSeedNode("127.0.0.1", ports.Primary), true);
        await cluster.StartMemberAsync();
        return new ProtoNode(cluster);
    }

    public async Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos)
    {
        // With a seed node that is found by its address, a client cannot join as one: it is a member without actors.
        var cluster = NewCluster(Ports.FindFree(1)[0], FixedServerSeedNode.JoinSeedNode("127.0.0.1", silos[0].Primary), false);
        await cluster.StartMemberAsync();
        return new ProtoNode(cluster);
    }

    private static Cluster NewCluster(int port, IClusterProvider provider, bool isSilo)
    {
        var cluster = ClusterConfig.Setup("peers", provider, new PartitionIdentityLookup());
        if (isSilo)
        {
            cluster = cluster
                .WithClusterKind(EchoActor.Kind, Props.FromProducer(static () => new EchoActor()))
                .WithClusterKind(MonitorActor.Kind, Props.FromProducer(static () => new MonitorActor()));
        }

        return new ActorSystem()
            .WithRemote(RemoteConfig.BindToLocalhost(port).WithProtoMessages(WrappersReflection.Descriptor, StructReflection.Descriptor))
            .WithCluster(cluster).Cluster();
    }
}

/// <summary>A member or a client of the cluster.</summary>
internal sealed class ProtoNode(Cluster cluster) : IPeerNode, IHeartbeatPeer
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
