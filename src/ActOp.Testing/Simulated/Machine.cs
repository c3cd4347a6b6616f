using System.Net;
using ActOp.Configuration;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Statistics;

namespace ActOp.Testing.Simulated;

/// <summary>Where a process is in its life.</summary>
internal enum MachineState
{
    Starting,
    Up,
    Stopping,
    Stopped,
    Failed,
}

/// <summary>
/// One process on one host: a silo or a client as it is, with time, threads and network from the simulation. A restart is another machine
/// on the same host.
/// </summary>
/// <remarks>Owns the container of its node. Only the thread of the pump uses it.</remarks>
internal sealed class Machine : IHostApplicationLifetime
{
    internal const int SiloPort = 11111;
    private const int GatewayPort = 30000;

    /// <summary>From the end of an orderly stop to that of the process.</summary>
    private const long Afterlife = 2 * Pump.Second;

    private readonly SimulatedWorld _world;
    private readonly ServiceProvider _services;
    private readonly Dice _ids;

    internal Machine(SimulatedWorld world, int number, int host, bool isSilo, IWorldWatcher watcher)
    {
        _world = world;
        Number = number;
        Host = host;
        IsSilo = isSilo;
        Name = (isSilo ? "silo" : "client") + host + "." + number;
        Address = AddressOf(host);
        var dice = world.Dice.Fork("machine" + number);
        _ids = dice.Fork("ids");
        Clock = new MachineClock(world.Pump, this, dice.Fork("clock"), 1 + ((dice.Unit() - 0.5) * world.ClockDrift));
        AppClock = new MachineClock(world.Pump, this, dice.Fork("application"), Clock.Rate);
        Driver = new MachineDriver(world.Pump, this, dice.Fork("schedule"), world.Settings.Pace);
        var services = new ServiceCollection();
        services.AddSingleton<ILoggerFactory>(new MachineLog(world.Pump, this, world.Log, watcher));
        services.AddSingleton<TimeProvider>(Clock);
        services.AddSingleton<Transport>(new MachineTransport(world.Network, this));
        services.AddSingleton<IHostApplicationLifetime>(this);
        services.AddSingleton(new NodeSeams(Driver, number, _ids.NextGuid,
            (activation, before, happened) => world.Lived(this, activation, before, happened)));
        services.AddSingleton(this);
        if (isSilo)
            services.AddOrleans(silo => ConfigureSilo(silo, watcher));
        else
            services.AddOrleansClient(client => ConfigureClient(client, watcher));
        watcher.Configure(this, services);
        _services = services.BuildServiceProvider();
    }

    /// <summary>Of the process; no two have the same.</summary>
    internal int Number { get; }

    internal int Host { get; }

    internal bool IsSilo { get; }

    internal string Name { get; }

    internal IPAddress Address { get; }

    internal SimulatedWorld World => _world;

    internal MachineClock Clock { get; }

    /// <summary>
    /// The application's time, apart from the runtime's: what the application waits for is not left over from the runtime.
    /// </summary>
    internal MachineClock AppClock { get; }

    internal MachineDriver Driver { get; }

    internal MachineState State { get; private set; } = MachineState.Starting;

    /// <summary>The process is gone, with its memory and whatever it was about to do.</summary>
    internal bool IsDead { get; private set; }

    /// <summary>As after SIGSTOP: what comes due waits.</summary>
    internal bool IsPaused { get; private set; }

    /// <summary>When the orderly stop began.</summary>
    internal long StoppingSince { get; private set; }

    /// <summary>When the process went on after its last pause; negative for never.</summary>
    internal long ResumedAt { get; private set; } = long.MinValue / 2;

    /// <summary>What would need another descriptor may throw.</summary>
    internal bool IsOutOfDescriptors { get; set; }

    internal List<PumpEvent> Deferred { get; } = [];

    internal Node Node => field ??= _services.GetRequiredService<Node>();

    internal IGrainFactory Grains => field ??= _services.GetRequiredService<IGrainFactory>();

    /// <summary>A service of the application.</summary>
    internal T Service<T>()
        where T : notnull => _services.GetRequiredService<T>();

    /// <summary>A service of the application by its key.</summary>
    internal T Service<T>(string key)
        where T : notnull => _services.GetRequiredKeyedService<T>(key);

    /// <summary>Its code may run now.</summary>
    internal bool IsRunning => !IsDead && !IsPaused;

    CancellationToken IHostApplicationLifetime.ApplicationStarted => default;

    CancellationToken IHostApplicationLifetime.ApplicationStopping => default;

    CancellationToken IHostApplicationLifetime.ApplicationStopped => default;

    internal static int HostOf(EndPoint endPoint) => ((IPEndPoint)endPoint).Address.GetAddressBytes()[3];

    internal static IPAddress AddressOf(int host) => new([10, 0, 0, (byte)host]);

    internal void Start() => _ = StartAsync();

    /// <summary>The runtime asks the process to end.</summary>
    void IHostApplicationLifetime.StopApplication() => _world.Pump.After(Pump.Millisecond, this, EventKind.Fault, "asked to stop", () =>
    {
        WasEvicted = true;
        Stop("the silo asked for it");
    });

    /// <summary>The silo has found that it must end: the others have declared it dead.</summary>
    internal bool WasEvicted { get; private set; }

    /// <summary>The process ends in order, as after SIGTERM.</summary>
    internal void Stop(string reason)
    {
        if (State is MachineState.Stopping or MachineState.Stopped or MachineState.Failed)
            return;
        _world.Pump.Note(this, EventKind.Fault, "stop: " + reason);
        State = MachineState.Stopping;
        StoppingSince = _world.ChangedAt = _world.Pump.Now;
        _ = StopAsync();
    }

    internal void Kill(bool silent)
    {
        if (IsDead)
            return;
        IsDead = true;
        _world.ChangedAt = _world.Pump.Now;
        State = MachineState.Stopped;
        Deferred.Clear();
        _world.Network.Crash(this, silent);
    }

    internal void Pause() => IsPaused = true;

    internal void Resume()
    {
        if (!IsPaused)
            return;
        IsPaused = false;
        ResumedAt = _world.Pump.Now;
        Driver.GoOn(Deferred);
        Deferred.Clear();
    }

    private async Task StartAsync()
    {
        try
        {
            foreach (var service in _services.GetServices<IHostedService>())
                await service.StartAsync(CancellationToken.None);
            if (State == MachineState.Starting)
                State = MachineState.Up;
            _world.ChangedAt = _world.Pump.Now;
            _world.Pump.Note(this, EventKind.Fault, "started");
        }
        catch (Exception exception)
        {
            if (IsDead)
                return;
            _world.Pump.Note(this, EventKind.Fault, "start failed: " + exception.GetType().Name);
            State = MachineState.Failed;
            _world.StartFailed(this, exception);
            Kill(silent: false);
        }
    }

    private async Task StopAsync()
    {
        // A host gives its services half a minute.
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(30), Clock);
        try
        {
            foreach (var service in _services.GetServices<IHostedService>().Reverse())
                await service.StopAsync(patience.Token);
        }
        catch (Exception exception)
        {
            _world.Pump.Note(this, EventKind.Fault, "stop failed: " + exception.GetType().Name);
            _world.StopFailed(this, exception);
        }

        if (IsDead)
            return;
        // The process has other things to do before it ends: by then nothing of the node must be left.
        _world.Stopped(this);
        _world.Pump.After(Afterlife, this, EventKind.Fault, "exit", () =>
        {
            _world.Exits(this);
            Kill(silent: false);
        });
    }

    /// <summary>What the application may configure otherwise comes before its configuration, and the seams come after it.</summary>
    private void ConfigureSilo(ISiloBuilder silo, IWorldWatcher watcher)
    {
        Prepare(silo);
        watcher.ConfigureSilo(this, silo);
        ConfigureCommon(silo.Services);
        silo.Services.AddSingleton<ClusterTableFactory>(_ => new MachineTable(_world.Table, this));
        silo.Services.AddSingleton<IEnvironmentStatisticsProvider>(new NoStatistics());
        silo.Services.Configure<EndpointOptions>(options =>
        {
            (options.AdvertisedIPAddress, options.SiloPort, options.GatewayPort) = (Address, SiloPort, GatewayPort);
            options.SiloListeningEndpoint = options.GatewayListeningEndpoint = null;
        });
        silo.Services.Configure<SiloOptions>(options => options.SiloName = Name);
    }

    private void ConfigureClient(IClientBuilder client, IWorldWatcher watcher)
    {
        PrepareCommon(client.Services);
        watcher.ConfigureClient(this, client);
        ConfigureCommon(client.Services);
    }

    private void Prepare(ISiloBuilder silo)
    {
        PrepareCommon(silo.Services);
        var settings = _world.Settings;
        silo.Services.AddSingleton(settings.Placement);
        silo.Services.Configure<SiloMessagingOptions>(options =>
        {
            options.ResponseTimeout = settings.ResponseTimeout;
            options.MaxForwardCount = settings.MaxForwards;
        });
        silo.Services.Configure<ClusterMembershipOptions>(options =>
            options.ProbeTimeout = options.MinProbeTimeout = settings.ProbeTimeout);
        silo.Services.Configure<ClusterLeaseOptions>(options => options.Duration = settings.Lease);
        silo.Services.Configure<GrainCollectionOptions>(options =>
        {
            options.CollectionAge = settings.CollectionAge;
            options.CollectionQuantum = TimeSpan.FromSeconds(1);
            options.ActivationTimeout = TimeSpan.FromSeconds(10);
            options.DeactivationTimeout = TimeSpan.FromSeconds(10);
        });
        silo.Services.Configure<LocalityOptions>(options =>
        {
            options.Enabled = settings.Locality;
            options.Migration = settings.Migration;
            options.Tolerance = 0.5;
        });
        if (settings.Rebalancing is not { } cycle)
            return;
        silo.AddActivationRebalancer();
        silo.Services.Configure<ActivationRebalancerOptions>(options =>
        {
            (options.RebalancerDueTime, options.SessionCyclePeriod) = (cycle, cycle);
            options.CycleNumberWeight = 1;
        });
    }

    /// <summary>The real machine is not part of the simulation.</summary>
    private sealed class NoStatistics : IEnvironmentStatisticsProvider
    {
        public EnvironmentStatistics GetEnvironmentStatistics() => default;
    }

    private void PrepareCommon(IServiceCollection services)
    {
        var settings = _world.Settings;
        services.Configure<ConnectionOptions>(options => options.ConnectionsPerEndpoint = settings.LinksPerPeer);
        services.Configure<StageOptions>(options =>
        {
            options.ReceiveThreads = settings.Pollers;
            options.WorkThreads = 1;
            options.SiloSendThreads = 1;
            options.ClientSendThreads = 1;
            options.MailboxLimit = settings.MailboxLimit;
        });
        services.Configure<ClientMessagingOptions>(options => options.ResponseTimeout = settings.ResponseTimeout);
    }

    private void ConfigureCommon(IServiceCollection services)
    {
        services.Configure<StageOptions>(static options => (options.Controller, options.Measure) = (StageController.Fixed, false));
        services.Configure<ClusterOptions>(static options =>
        {
            options.ClusterId = "simulation";
            options.ServiceId = "simulation";
        });
        services.Configure<StaticGatewayListProviderOptions>(options =>
            options.Gateways = [.. Enumerable.Range(1,
                _world.Settings.Silos).Select(host => new Uri("gwy.tcp://" + AddressOf(host) + ":" + GatewayPort + "/0"))]);
    }
}
