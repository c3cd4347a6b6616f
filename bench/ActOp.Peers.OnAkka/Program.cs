using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Peers.OnAkka;
using ActOp.Peers.Shapes;
using Akka.Actor;
using Akka.Cluster.Hosting;
using Akka.Cluster.Sharding;
using Akka.Cluster.Tools.PublishSubscribe;
using Akka.Hosting;
using Akka.Remote.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

return await PeerProgram.RunAsync(args, static _ => new AkkaRuntime());

/// <summary>Akka.NET with cluster sharding, set up with Akka.Hosting as its documentation does.</summary>
internal sealed class AkkaRuntime : IPeerRuntime
{
    private const string Role = "silo";
    private const int Shards = 100;

    public Task<IPeerNode> StartSiloAsync(PeerPorts ports) => StartAsync(ports.Host, ports.Port, ports, true);

    public Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos) =>
        StartAsync(silos[0].OwnHost(), Ports.FindFree(1)[0], silos[0], false);

    private static async Task<IPeerNode> StartAsync(string address, int port, PeerPorts first, bool isSilo)
    {
        var host = QuietHost.CreateBuilder();
        host.Services.AddAkka("peers", (akka, _) =>
        {
            akka.ConfigureLoggers(static logging => logging.LogLevel = Akka.Event.LogLevel.WarningLevel);
            akka.WithRemoting(address, port);
            akka.WithClustering(new ClusterOptions
            {
                Roles = isSilo ? [Role] : ["client"],
                SeedNodes = [string.Create(CultureInfo.InvariantCulture, $"akka.tcp://peers@{first.PrimaryHost}:{first.Primary}")],
            });
            akka.WithDistributedPubSub(Role);
            Region<EchoActor>(EchoActor.Region);
            Region<MonitorActor>(MonitorActor.Region);
            Region<FeedActor>(FeedActor.Region);
            Region<ProducerActor>(ProducerActor.Region);
            Region<ConsumerActor>(ConsumerActor.Region);
            Region<PlayerActor>(PlayerActor.Region);
            Region<GameActor>(GameActor.Region);

            void Region<T>(string name)
                where T : ActorBase, new()
            {
                // The extractor itself takes what is in a ShardingEnvelope, which is all that is sent here.
                var messages = HashCodeMessageExtractor.Create(Shards, static _ => "");
                if (isSilo)
                {
                    akka.WithShardRegion<T>(
                        name, static _ => Props.Create<T>(), messages,
                        new ShardOptions { Role = Role, StateStoreMode = StateStoreMode.DData });
                }
                else
                {
                    akka.WithShardRegionProxy<T>(name, Role, messages);
                }
            }
        });
        var built = host.Build();
        await built.StartAsync();
        var node = new AkkaNode(built);
        await node.JoinAsync();
        return node;
    }
}

/// <summary>A node of the cluster.</summary>
internal sealed class AkkaNode(IHost host) : IPeerNode, IObserverPeer, ITimerPeer, IStreamPeer, IHeartbeatPeer, IHaloPeer
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly ActorSystem _system = host.Services.GetRequiredService<ActorSystem>();

    public long Ticks => ClockActor.Ticks;

    public long Items => ConsumerActor.Items;

    private IActorRef Echoes => Region(EchoActor.Region);

    internal async Task JoinAsync()
    {
        var joined = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Akka.Cluster.Cluster.Get(_system).RegisterOnMemberUp(() => joined.TrySetResult());
        await joined.Task.WaitAsync(Patience);
        // The regions have found their coordinator when the first actor answers.
        await Echoes.Ask<int>(new ShardingEnvelope("ready", 0), Patience);
    }

    public Func<int, ValueTask<int>> EchoOf(long key)
    {
        var (region, entity) = (Echoes, Text(key));
        return value => new ValueTask<int>(region.Ask<int>(new ShardingEnvelope(entity, value)));
    }

    public Task<CallTimes> LoopAsync(long caller, long callee, int milliseconds, bool isTimed) =>
        Echoes.Ask<CallTimes>(new ShardingEnvelope(Text(caller), new Loop(callee, milliseconds, isTimed)));

    public Task<string> WhereAsync(long key) => Echoes.Ask<string>(new ShardingEnvelope(Text(key), WhereAreYou.Instance));

    public Func<int, ValueTask> BeatOf(long key)
    {
        var (region, entity) = (Region(MonitorActor.Region), Text(key));
        return milliseconds => new ValueTask(region.Ask<int>(new ShardingEnvelope(entity, milliseconds)));
    }

    public async Task SubscribeAsync(int count, Action notified)
    {
        for (var i = 0; i < count; i++)
        {
            var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            var feeds = Region(FeedActor.Region);
            _system.ActorOf(Props.Create(() => new SubscriberActor(feeds, subscribed, notified)));
            await subscribed.Task.WaitAsync(Patience);
        }
    }

    public Task NotifyAsync() => Region(FeedActor.Region).Ask<int>(new ShardingEnvelope("0", 1));

    public Task StartTimersAsync(int count, TimeSpan period)
    {
        for (var i = 0; i < count; i++)
            _system.ActorOf(Props.Create(() => new ClockActor(period)));
        return Task.CompletedTask;
    }

    public Task ProduceAsync(int stream, int items) =>
        Region(ProducerActor.Region).Ask<bool>(new ShardingEnvelope(Text(stream), items));

    public Task SubscribeAsync(int stream) =>
        Region(ConsumerActor.Region).Ask<SubscribeAck>(new ShardingEnvelope(Text(stream), ConsumerActor.Subscribe));

    public async ValueTask<bool> RequestStatusAsync(long player) =>
        await Region(PlayerActor.Region).Ask<int>(new ShardingEnvelope(Text(player), PlayerActor.Status)) > 0;

    public Task StartGameAsync(long game, long[] players) =>
        Region(GameActor.Region).Ask<int>(new ShardingEnvelope(Text(game), new StartGame(players)));

    public Task EndGameAsync(long game) => Region(GameActor.Region).Ask<int>(new ShardingEnvelope(Text(game), GameActor.End));

    public Task DepartAsync(long player) => Region(PlayerActor.Region).Ask<int>(new ShardingEnvelope(Text(player), 0L));

    public async Task<bool> IsRemoteAsync(long player, long game) =>
        await Region(PlayerActor.Region).Ask<string>(new ShardingEnvelope(Text(player), WhereAreYou.Instance))
        != await Region(GameActor.Region).Ask<string>(new ShardingEnvelope(Text(game), WhereAreYou.Instance));

    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        try
        {
            await host.StopAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
            // It leaves the cluster in an orderly way, which nobody waits for.
        }

        host.Dispose();
    }

    private IActorRef Region(string name) => ClusterSharding.Get(_system).ShardRegion(name);

    private static string Text(long key) => key.ToString(CultureInfo.InvariantCulture);
}
