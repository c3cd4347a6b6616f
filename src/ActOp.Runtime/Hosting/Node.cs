using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Mesh;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Placement;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using ActOp.Staging;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// One member of the mesh, put together: a silo, or a client, which is the same without grains. Everything is made here and
/// by <c>new</c>; the container serves the application's services, options and loggers.
/// </summary>
/// <remarks>Immutable after construction except for the parts that say otherwise. <c>Node.Life.cs</c> starts and stops it.</remarks>
internal sealed partial class Node : IDisposable
{
    private readonly NodeSetup _setup;
    private readonly BackgroundPart _clockPart;

    internal Node(NodeSetup setup)
    {
        _setup = setup;
        Address = setup.Address;
        IsSilo = !Address.IsClient;
        Services = setup.Services;
        GivenTime = setup.Time;
        CollectionOptions = setup.Collection;
        ResponseTimeout = setup.Messaging.ResponseTimeout;
        MaxFrameBytes = setup.Messaging.MaxMessageBodySize;
        MaxForwards = (setup.Messaging as SiloMessagingOptions)?.MaxForwardCount ?? 2;
        MailboxLimit = setup.Stages.MailboxLimit;
        LongTurnMs = (long)setup.Scheduling.TurnWarningLengthThreshold.TotalMilliseconds;
        Log = new Log(setup.Loggers.CreateLogger("ActOp.Runtime"));
        var isSystemTime = ReferenceEquals(setup.Time, TimeProvider.System);
        Time = new NodeTime(isSystemTime ? TimerThread.Shared : setup.Time, OnTimerFailed);
        TaskTime = isSystemTime ? new NodeTime(setup.Time, OnTimerFailed) : Time;
        Background = new Background(Time, TaskTime, Log, End);
        _clockPart = Background.Part("clock");
        try
        {
            MeshLogger = setup.Loggers.CreateLogger<MeshNode>();
            Random = new SeededRandom(setup.Seed);
            Clock = new Clock(Time, OnClockTick);
            WorkStage = NewStage("work", setup.Stages.WorkThreads);
            SiloSendStage = NewStage("silo-send", setup.Stages.SiloSendThreads);
            ClientSendStage = NewStage("client-send", setup.Stages.ClientSendThreads);
            ControlStage = setup.Driver is { } driver
                ? new Stage("control", driver, exception => Log.StageFailed("control", exception))
                : new Stage("control", 1, StageMode.OwnThreads, exception => Log.StageFailed("control", exception));
            Silos = new Silos(this);
            Activations = new ActivationTable(this);
            Edges = new EdgeCounters();
            SizedStages =
            [
                new("receive", NeverBlocks: true, setup.Stages.ReceiveThreads, () => Peers!.ReceiveThreads, count => Peers!.SetReceiveThreads(count), () => Peers!.ReceiveUsage),
                Sized(WorkStage, neverBlocks: false, setup.Stages.WorkThreads),
                Sized(SiloSendStage, neverBlocks: true, setup.Stages.SiloSendThreads),
                Sized(ClientSendStage, neverBlocks: true, setup.Stages.ClientSendThreads),
            ];
            Metrics = new RuntimeMetrics(() => Activations.Count, Edges, SizedStages, [WorkStage, SiloSendStage, ClientSendStage, ControlStage]);
            Classes = new GrainClasses(setup.DefaultPlacement, IsSilo);
            Calls = new CallSender(this);
            Factory = new GrainFactory(this);
            Filters = new CallFilters(this);
            Locations = new LocationCache(setup.LocationCacheSize);
            Messages = new Messages(this);
            Reader = new FrameReader(this);
            Router = new Router(this);
            Placement = new GrainPlacement(this);
            GrainRuntime = new GrainRuntime(this);
            Sweep = new CallSweep(this);
            Collector = new Collector(this);
            Migrations = new Migrations(this);
            Peers = new PeerTable(this, setup.Mesh, setup.Transport, setup.Driver);
            var fence = new RegistrationFence();
            DirectoryService = new DirectoryService(this, setup.Directory, fence);
            Directory = new DirectoryClient(this, DirectoryService, fence);
            Locality = new LocalityService(this, setup.Locality);
        }
        catch
        {
            // The stages have threads from the first moment.
            Dispose();
            throw;
        }
    }

    internal SiloAddress Address { get; }

    internal bool IsSilo { get; }

    internal System.Net.IPEndPoint? Gateway => _setup.Gateway;

    /// <summary>Where this node dials a silo: clients at its gateway, silos at its address.</summary>
    internal System.Net.EndPoint EndPointOf(SiloAddress silo) => IsSilo ? silo.Endpoint : Silos.View.Find(silo)?.Gateway ?? silo.Endpoint;

    internal System.Net.EndPoint[] GatewayEndPoints => _setup.Gateways;

    internal IServiceProvider Services { get; }

    /// <summary>
    /// The runtime's own time: callbacks of its timers may run on one thread for all, so they must only post. Its timers end with the node.
    /// </summary>
    internal NodeTime Time { get; }

    /// <summary>
    /// For delays, for timeouts of tasks and for tokens: what follows may be code of the application, which must not run on the thread of
    /// all timers.
    /// </summary>
    internal NodeTime TaskTime { get; }

    /// <summary>The application's time, as it was given.</summary>
    internal TimeProvider GivenTime { get; }

    internal Clock Clock { get; }

    internal SeededRandom Random { get; }

    /// <summary>A new id for an activation or an observer of this node.</summary>
    internal Guid NewId() => _setup.NewId();

    internal Log Log { get; }

    /// <summary>Sees to the end of all work that nobody awaits.</summary>
    internal Background Background { get; }

    internal ILogger<MeshNode> MeshLogger { get; }

    internal GrainCollectionOptions CollectionOptions { get; }

    internal TimeSpan ResponseTimeout { get; }

    internal int MaxFrameBytes { get; }

    internal int MaxForwards { get; }

    internal int MailboxLimit { get; }

    internal bool MeasuresStages => _setup.Stages.Measure;

    internal long LongTurnMs { get; }

    /// <summary>Bytes that may wait for one peer beyond its links' own queues.</summary>
    internal long WaitingBytesPerPeer { get; } = 64L << 20;

    internal Stage WorkStage { get; }

    internal Stage SiloSendStage { get; }

    internal Stage ClientSendStage { get; }

    internal Stage ControlStage { get; }

    /// <summary>The stages whose threads a controller may change: receive, work, silo send, client send.</summary>
    internal IReadOnlyList<SizedStage> SizedStages { get; }

    internal Silos Silos { get; }

    /// <summary>Holds back turns while the membership cannot be confirmed.</summary>
    internal LeaseGate Lease { get; } = new();

    internal ActivationTable Activations { get; }

    internal EdgeCounters Edges { get; }

    internal RuntimeMetrics Metrics { get; }

    internal GrainClasses Classes { get; }

    internal CallSender Calls { get; }

    internal GrainFactory Factory { get; }

    internal CallFilters Filters { get; }

    internal LocationCache Locations { get; }

    internal Messages Messages { get; }

    internal FrameReader Reader { get; }

    internal Router Router { get; }

    internal GrainPlacement Placement { get; }

    internal PlacementHints Hints { get; } = new();

    internal GrainRuntime GrainRuntime { get; }

    internal CallSweep Sweep { get; }

    internal Collector Collector { get; }

    internal Migrations Migrations { get; }

    internal PeerTable Peers { get; }

    internal DirectoryService DirectoryService { get; }

    internal DirectoryClient Directory { get; }

    /// <summary>Set on silos.</summary>
    internal ClusterService? Cluster { get; private set; }

    internal LocalityService Locality { get; }

    internal Activation LocalityHost { get; private set; } = null!;

    internal Activation ClusterHost { get; private set; } = null!;

    internal Activation DirectoryHost { get; private set; } = null!;

    internal GrainClass ObserverClass { get; } = GrainClass.Special("sys.observer", typeof(IGrainObserver), reentrant: false);

    private static SizedStage Sized(Stage stage, bool neverBlocks, int? given) =>
        new(stage.Name, neverBlocks, given, () => stage.Threads, stage.SetThreads, () => stage.Usage);

    private Stage NewStage(string name, int? threads) => _setup.Driver is { } driver
        ? new(name, driver, exception => Log.StageFailed(name, exception), SendBatch.Flush)
        : new(name, threads ?? StageOptions.DefaultThreads, _setup.Stages.Mode, exception => Log.StageFailed(name, exception), SendBatch.Flush)
        {
            IsMeasured = MeasuresStages,
            OnHeld = () => ControlStage.Post(new StageAction(() => Peers.FlushLate())),
        };
}
