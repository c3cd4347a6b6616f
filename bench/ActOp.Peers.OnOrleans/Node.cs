using System.Net;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Peers.Shapes;
using HaloPresence;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;

namespace ActOp.Peers.OnOrleans;

/// <summary>A silo or a client with the programming model of Orleans. The same source for Orleans and for ActOp.</summary>
internal sealed class Node : IPeerNode, IObserverPeer, ITimerPeer, IStreamPeer, IStatePeer, IHeartbeatPeer, IHaloPeer
{
    private readonly IHost _host;
    private readonly IGrainFactory _grains;
    private readonly List<IFeedObserver> _observers = [];

    private Node(IHost host) => (_host, _grains) = (host, host.Services.GetRequiredService<IGrainFactory>());

    public long Ticks => ClockGrain.Ticks;

    public long Items => StreamGrain.Items;

    /// <summary>Starts a silo with what all shapes need, and what the runtime adds.</summary>
    internal static Task<IPeerNode> StartSiloAsync(PeerPorts ports, Action<ISiloBuilder> add)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleans(silo =>
        {
            var primary = new IPEndPoint(IPAddress.Parse(ports.PrimaryHost), ports.Primary);
            if (ports.IsOnLoopback)
            {
                silo.UseLocalhostClustering(ports.Port, ports.Gateway, ports.IsPrimary ? null : primary);
            }
            else
            {
                silo.ConfigureEndpoints(IPAddress.Parse(ports.Host), ports.Port, ports.Gateway);
                silo.UseDevelopmentClustering(primary);
                silo.Configure<ClusterOptions>(Name);
            }

            if (ports.Database is { } database)
            {
                silo.AddAdoNetGrainStorage(CounterGrain.Storage, options =>
                {
                    options.Invariant = "Npgsql";
                    options.ConnectionString = database;
                });
            }
            else
            {
                silo.AddMemoryGrainStorage(CounterGrain.Storage);
            }

            silo.AddMemoryGrainStorage("PubSubStore");
            silo.AddMemoryStreams(StreamGrain.Provider);
            add(silo);
        });
        return StartAsync(builder);
    }

    internal static Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client =>
        {
            if (silos.All(static silo => silo.IsOnLoopback))
            {
                client.UseLocalhostClustering([.. silos.Select(static silo => silo.Gateway)]);
                return;
            }

            client.UseStaticClustering([.. silos.Select(static silo => new IPEndPoint(IPAddress.Parse(silo.Host), silo.Gateway))]);
            client.Configure<ClusterOptions>(Name);
        });
        return StartAsync(builder);
    }

    private static void Name(ClusterOptions options) => options.ClusterId = options.ServiceId = "peers";

    private static async Task<IPeerNode> StartAsync(HostApplicationBuilder builder)
    {
        var host = builder.Build();
        await host.StartAsync();
        return new Node(host);
    }

    public Func<int, ValueTask<int>> EchoOf(long key) => _grains.GetGrain<IEchoGrain>(key).Next;

    public async Task<CallTimes> LoopAsync(long caller, long callee, int milliseconds, bool isTimed)
    {
        var result = await _grains.GetGrain<IEchoGrain>(caller).Loop(callee, milliseconds, isTimed);
        return new CallTimes(result.Calls, result.MedianMicroseconds, result.LongestMilliseconds);
    }

    public async Task<string> WhereAsync(long key) => await _grains.GetGrain<IEchoGrain>(key).Where();

    public Task StartTimersAsync(int count, TimeSpan period) =>
        Task.WhenAll(Enumerable.Range(0, count).Select(key => _grains.GetGrain<IClockGrain>(key).Start(period)));

    public async Task SubscribeAsync(int count, Action notified)
    {
        for (var i = 0; i < count; i++)
        {
            var observer = new Observer(notified);
            // The runtime holds observers weakly.
            _observers.Add(observer);
            await _grains.GetGrain<IFeedGrain>(0).Subscribe(_grains.CreateObjectReference<IFeedObserver>(observer));
        }
    }

    public Task NotifyAsync() => _grains.GetGrain<IFeedGrain>(0).NotifyAll();

    public Task ProduceAsync(int stream, int items) => _grains.GetGrain<IStreamGrain>(2L * stream).Produce(items);

    public Task SubscribeAsync(int stream) => _grains.GetGrain<IStreamGrain>((2L * stream) + 1).Consume();

    public Func<int, ValueTask<int>> WriterOf(long key) => _grains.GetGrain<ICounterGrain>(key).Write;

    public Func<int, ValueTask> BeatOf(long key) => _grains.GetGrain<IMonitorGrain>(key).Beat;

    public async ValueTask<bool> RequestStatusAsync(long player) =>
        (await _grains.GetGrain<IPlayerGrain>(player).GetStatus().ConfigureAwait(false)).Game != 0;

    public Task StartGameAsync(long game, long[] players) => _grains.GetGrain<IGameGrain>(game).Start(players);

    public Task EndGameAsync(long game) => _grains.GetGrain<IGameGrain>(game).End();

    public Task DepartAsync(long player) => _grains.GetGrain<IPlayerGrain>(player).Depart();

    public async Task<bool> IsRemoteAsync(long player, long game)
    {
        var management = _grains.GetGrain<IManagementGrain>(0);
        var one = await management.GetActivationAddress(_grains.GetGrain<IPlayerGrain>(player));
        var other = await management.GetActivationAddress(_grains.GetGrain<IGameGrain>(game));
        return one is not null && other is not null && !one.Equals(other);
    }

    public async ValueTask DisposeAsync()
    {
        // An orderly end of some hundred thousand grains would be measured as waiting.
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        await _host.StopAsync(limit.Token);
        _host.Dispose();
    }

    private sealed class Observer(Action notified) : IFeedObserver
    {
        public void Notify(int number) => notified();
    }
}
