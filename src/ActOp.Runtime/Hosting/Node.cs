using System.Net;
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
/// <remarks>
/// Immutable after construction except for the parts that say otherwise. <c>Node.Life.cs</c> starts and stops it. No part takes the node:
/// each takes the <see cref="LocalNode"/> and the parts that it uses. Where two parts need each other, the later one is set into the earlier
/// one in <see cref="TieCycles"/>.
/// </remarks>
internal sealed partial class Node : IDisposable
{
    private readonly NodeSetup _setup;
    private readonly BackgroundPart _clockPart;

    internal Node(NodeSetup setup)
    {
        _setup = setup;
        var log = new Log(setup.Loggers.CreateLogger("ActOp.Runtime"));
        Action<Exception> onTimerFailed = exception => log.BackgroundFailed("timers", exception);
        var isSystemTime = ReferenceEquals(setup.Time, TimeProvider.System);
        var time = new NodeTime(isSystemTime ? TimerThread.Shared : setup.Time, onTimerFailed);
        var taskTime = isSystemTime ? new NodeTime(setup.Time, onTimerFailed) : time;
        Local = new LocalNode
        {
            Address = setup.Address,
            Services = setup.Services,
            Time = time,
            TaskTime = taskTime,
            Clock = new Clock(time, OnClockTick),
            Random = new SeededRandom(setup.Seed),
            Log = log,
            Background = new Background(time, taskTime, log, End),
            NewId = setup.NewId,
            ResponseTimeout = setup.Messaging.ResponseTimeout,
            MaxFrameBytes = setup.Messaging.MaxMessageBodySize,
        };
        MailboxLimit = setup.Stages.MailboxLimit;
        LongTurnMs = (long)setup.Scheduling.TurnWarningLengthThreshold.TotalMilliseconds;
        _clockPart = Local.Background.Part("clock");
        try
        {
            Stages = new NodeStages(setup.Stages, setup.Driver, log);
            ClusterView = new ClusterView(Local);
            Activations = new ActivationTable(this);
            Edges = new EdgeCounters();
            SizedStages = Stages.SizedWith(() => Peers!);
            Metrics = new RuntimeMetrics(() => Activations.Count, Edges, SizedStages, Stages.All);
            Classes = new GrainClasses(setup.DefaultPlacement, IsSilo);
            Abandoned = new AbandonedRequests(Local.Clock, Metrics);
            Calls = new CallSender(this);
            Factory = new GrainFactory(Classes, Activations, Calls);
            Filters = new CallFilters(this);
            Locations = new LocationCache(setup.LocationCacheSize);
            Sweep = new CallSweep(Local, Calls, ClusterView, Metrics, Stages.Control);
            Peers = new PeerTable(Local, Stages, ClusterView, Calls, Sweep, new PeerSetup(setup.Mesh, setup.Transport, setup.Driver, setup.Loggers.CreateLogger<MeshNode>(), EndPointOf));
            Writer = new FrameWriter(Local, Calls, Peers, ClusterView, Abandoned);
            var fence = new RegistrationFence();
            DirectoryService = new DirectoryService(Local, Activations, Factory, setup.Directory, fence);
            Directory = new DirectoryClient(Local, ClusterView, Activations, Factory, DirectoryService, fence);
            Placement = new GrainPlacement(Local, ClusterView, Classes, Locations, Hints, Directory, Factory);
            Router = new Router(
                Local, Activations, Classes, ClusterView, Locations, Placement, Directory, Writer, Peers, Edges, Abandoned, Stages.Work,
                (setup.Messaging as SiloMessagingOptions)?.MaxForwardCount ?? 2);
            GrainRuntime = new GrainRuntime(Local, Factory, setup.Time);
            Collector = new Collector(this);
            Locality = new LocalityService(Local, ClusterView, Activations, Edges, Locations, Hints, Factory, Metrics.Meter, setup.Locality);
            Migrations = new Migrations(Local, Activations, Classes, Factory, Calls, Locality);
            TieCycles();
        }
        catch
        {
            // The stages have threads from the first moment.
            Dispose();
            throw;
        }
    }

    internal LocalNode Local { get; }

    internal SiloAddress Address => Local.Address;

    internal bool IsSilo => Local.IsSilo;

    /// <summary>Where clients reach this silo.</summary>
    internal IPEndPoint? Gateway => _setup.Gateway;

    internal NodeStages Stages { get; } = null!;

    /// <summary>The stages whose threads a controller may change: receive, work, silo send, client send.</summary>
    internal IReadOnlyList<SizedStage> SizedStages { get; } = null!;

    internal ClusterView ClusterView { get; } = null!;

    /// <summary>Holds back turns while the membership cannot be confirmed.</summary>
    internal LeaseGate Lease { get; } = new();

    internal ActivationTable Activations { get; } = null!;

    internal EdgeCounters Edges { get; } = null!;

    internal RuntimeMetrics Metrics { get; } = null!;

    internal GrainClasses Classes { get; } = null!;

    internal AbandonedRequests Abandoned { get; } = null!;

    internal CallSender Calls { get; } = null!;

    internal GrainFactory Factory { get; } = null!;

    internal CallFilters Filters { get; } = null!;

    internal LocationCache Locations { get; } = null!;

    internal FrameWriter Writer { get; } = null!;

    internal Router Router { get; } = null!;

    internal GrainPlacement Placement { get; } = null!;

    internal PlacementHints Hints { get; } = new();

    internal GrainRuntime GrainRuntime { get; } = null!;

    internal CallSweep Sweep { get; } = null!;

    internal Collector Collector { get; } = null!;

    internal Migrations Migrations { get; } = null!;

    internal PeerTable Peers { get; } = null!;

    internal DirectoryService DirectoryService { get; } = null!;

    internal DirectoryClient Directory { get; } = null!;

    /// <summary>Set on silos when they open.</summary>
    internal ClusterService? Cluster { get; private set; }

    internal LocalityService Locality { get; } = null!;

    // TEMPORARY
    internal IServiceProvider Services => Local.Services;
    internal NodeTime Time => Local.Time;
    internal Clock Clock => Local.Clock;
    internal Log Log => Local.Log;
    internal Background Background => Local.Background;
    internal GrainCollectionOptions CollectionOptions => _setup.Collection;
    internal TimeSpan ResponseTimeout => Local.ResponseTimeout;
    internal int MailboxLimit { get; private set; }
    internal long LongTurnMs { get; private set; }
    internal Stage WorkStage => Stages.Work;
    internal Stage ControlStage => Stages.Control;
    internal bool AcceptsActivations => Local.AcceptsActivations;
    internal bool IsStopping => Local.IsStopping;
    internal Guid NewId() => Local.NewId();
    internal ClusterView Silos => ClusterView;
    internal FrameWriter Messages => Writer;
    internal GrainClass ObserverClass { get; } = GrainClass.Special("sys.observer", typeof(IGrainObserver), reentrant: false);

    /// <summary>Where this node dials a silo: clients at its gateway, silos at its address.</summary>
    private EndPoint EndPointOf(SiloAddress silo) => IsSilo ? silo.Endpoint : ClusterView.View.Find(silo)?.Gateway ?? silo.Endpoint;

    /// <summary>The parts that need each other.</summary>
    private void TieCycles()
    {
        // What arrives is read by a part that sends answers over the same links.
        Peers.Reader = new FrameReader(Local, Calls, Activations, Locations, Router, Peers, Sweep);
        // A turn that takes long keeps frames back that another thread can write.
        Stages.Held += () => Stages.Control.Post(new StageAction(Peers.FlushLate));
        // The directory finds out that the view is old; the cluster service, which renews it, finds silos through the directory's links.
        DirectoryService.NewerViewSeen += () => Cluster?.RefreshTable();
    }
}
