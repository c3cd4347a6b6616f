using System.Net;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Placement;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using ActOp.Staging;
using ActOp.Staging.Measuring;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Nodes;

/// <summary>
/// One member of the mesh: a silo, or a client, which is a node without grains. Composes all parts explicitly; the container provides only
/// the application's services, options and loggers.
/// </summary>
/// <remarks>
/// <para>Immutable after construction except for the parts that say otherwise. No part takes the node: each takes the
/// <see cref="LocalNode"/> and the parts that it uses. Where two parts need each other, the later one is set into the earlier one in
/// <see cref="TieCycles"/>.</para>
/// Ownership and lifetime:
/// <list type="bullet">
/// <item>The host (<c>SiloHost</c>, <c>ClientHost</c>) owns the node and its lifecycle: one start, one stop, in this order.
/// If the start fails, it closes what was opened. Disposing the host kills a node that was not stopped.</item>
/// <item>The node owns the stages and their threads, the time and its timers (<see cref="NodeTime"/>), the mesh with its listeners, links,
/// pollers and their descriptors (through <see cref="Peers"/>), the background work (<see cref="Foundation.Background"/>), the activations,
/// and the meters.</item>
/// <item>An activation owns its instance, its service scope, its timers and its token. A stop ends all (<see cref="DrainAsync"/>); those
/// that do not end in time are left to the garbage collector, without timers and threads.</item>
/// <item>Not owned by a node, one per thread or process: the shared timer thread, and the scratch buffers of threads, which keep no node
/// alive.</item>
/// </list>
/// A stop is in reverse order: the activations end, the silo leaves the table, then <see cref="CloseAsync"/> closes services, network,
/// background work, stages, timers and meters. Each part is closed even if the one before it throws. <see cref="Kill"/> does the same
/// without waiting.
/// </remarks>
internal sealed class Node : IDisposable
{
    private readonly NodeSetup _setup;
    private readonly BackgroundPart _clockPart;
    private readonly BorderReport _border;

    /// <summary>The timers of <see cref="LocalNode.TaskTime"/>.</summary>
    private readonly NodeTime _waits;

    internal Node(NodeSetup setup)
    {
        _setup = setup;
        var siloMessaging = setup.Messaging as SiloMessagingOptions;
        var log = new Log(setup.Loggers.CreateLogger("ActOp.Runtime"));
        Action<Exception> onTimerFailed = exception => log.BackgroundFailed("timers", exception);
        var isSystemTime = ReferenceEquals(setup.Time, TimeProvider.System);
        var time = new NodeTime(isSystemTime ? TimerThread.Shared : setup.Time, onTimerFailed);
        _waits = isSystemTime ? new NodeTime(setup.Time, onTimerFailed) : time;
        var taskTime = new TaskTime(_waits);
        var grainTime = setup.GrainTime is { } own && !ReferenceEquals(own, setup.Time) ? new NodeTime(own, onTimerFailed) : time;
        Local = new LocalNode
        {
            Address = setup.Address,
            Services = setup.Services,
            Time = time,
            TaskTime = taskTime,
            GrainTime = grainTime,
            Clock = new Clock(time, OnClockTick),
            Random = new SeededRandom(setup.Seed),
            Log = log,
            Tenants = setup.Tenants?.Create(setup.Services, taskTime, log),
            Background = new Background(time, taskTime, log),
            NewId = setup.NewId,
            ResponseTimeout = setup.ResponseTimeout,
            SystemResponseTimeout = siloMessaging?.SystemResponseTimeout ?? setup.ResponseTimeout,
            MaxHeaderBytes = setup.Messaging.MaxMessageHeaderSize,
            MaxFrameBytes = setup.Messaging.MaxMessageBodySize,
            Roots = new RootTraces(setup.Tracing.RootShare),
        };
        Lease = new LeaseGate(Local.Clock);
        _clockPart = Local.Background.Part("clock");
        _border = new BorderReport(log);
        try
        {
            Stages = new NodeStages(setup.Stages, setup.Driver, Local, setup.Groups);
            ClusterView = new ClusterView(Local);
            Edges = new EdgeCounters();
            var parts = new ActivationParts
            {
                Local = Local,
                Stages = Stages,
                Lease = Lease,
                Edges = Edges,
                Hints = Hints,
                ClusterView = ClusterView,
                Collection = setup.Collection,
                Limits = setup.Limits,
                QuantumMs = (long)setup.Scheduling.ActivationSchedulingQuantum.TotalMilliseconds,
                LateWork = new LateWork(Local, setup.Scheduling.StoppedActivationWarningInterval),
                LifeWatch = setup.LifeWatch,
                LongTurnMs = (long)setup.Scheduling.TurnWarningLengthThreshold.TotalMilliseconds,
            };
            Activations = new ActivationTable(parts);
            SizedStages = Stages.SizedWith(() => Peers!);
            Metrics = new RuntimeMetrics(() => Activations.Count, Edges, SizedStages, Stages, () => Refusals!, Local);
            Classes = new GrainClasses(setup.Services, setup.DefaultPlacement, IsSilo);
            Abandoned = new AbandonedRequests(Local.Clock, Metrics, runsExpired: !setup.Messaging.DropExpiredMessages);
            Calls = new CallSender(Local, Metrics) { CancelsOnTimeout = setup.Messaging.CancelRequestOnTimeout };
            Factory = new GrainFactory(Classes, Activations, Calls);
            Manifests = new ClusterManifests(Local, ClusterView, Classes, Factory);
            Filters = new CallFilters(Calls);
            Locations = new LocationCache(setup.LocationCacheSize, !setup.CachesLocations, setup.LocationLifetime,
                setup.CustomLocations is { } custom ? new CustomCache(custom, OnCacheFailed) : null);
            Sweep = new CallSweep(Local, Calls, ClusterView, Metrics, Stages.Control);
            Refusals = new Refusals(Local);
            Peers = new PeerTable(Local, Stages, ClusterView, Calls, Sweep,
                new PeerSetup(setup.Mesh, setup.Transport, setup.Driver, setup.Loggers.CreateLogger<MeshNode>(), EndPointOf,
                    setup.ConnectionLimits, setup.Channels, Metrics.Meter)
                {
                    LongestClose = siloMessaging?.WaitForMessageToBeQueuedForOutboundTime ?? TimeSpan.FromMilliseconds(500),
                });
            Writer = new FrameWriter(Local, Calls, Peers, ClusterView, Manifests, Classes, Abandoned);
            var fence = new RegistrationFence();
            DirectoryService = new DirectoryService(Local, Activations, Factory, setup.Directory, fence);
            Directory = new DirectoryClient(Local, ClusterView, Activations, Factory, DirectoryService, fence);
            Metrics.OfOrleans.Observe(Local, Activations, Locations, DirectoryService, Peers, Refusals, setup.Statistics);
            Placement = new GrainPlacement(Local, ClusterView, Manifests, Locations, Hints, Directory, Factory,
                setup.Locality.Enabled ? setup.Locality.Tolerance : null);
            Router = new Router(
                Local, Activations, Classes, Placement, new Destinations(Local, ClusterView, Peers, Locations),
                new Forwards(Local.Time, Stages.Work, Abandoned, siloMessaging?.MaxForwardCount ?? 2),
                new Diversions(Classes, Manifests, Local.Background.Part("requests of other versions"), Abandoned),
                new Deliveries(Local.Tenants, Edges, Writer));
            GrainRuntime = new GrainRuntime(Local, Factory, setup.GrainTime ?? setup.Time);
            Collector = new Collector(Activations, setup.Collection, Local);
            if (siloMessaging is not null)
                Upkeep = NewUpkeep(siloMessaging, parts);
            if (Local.IsSilo)
                Router.Starts = new StartShares(Local.Time, Stages.Work, Router.Begin, Abandoned, setup.Limits.Mailbox, Peers.Pause);
            var needs = new LocalityNeeds(Local, ClusterView, Manifests, Activations, Edges, Locations, Factory, setup.Locality)
            { Hints = Hints, Meter = Metrics.Meter };
            Locality = setup.Services.GetRequiredService<LocalityFactory>().Make(needs);
            Migrations = new Migrations(Local, ClusterView, DirectoryService, Activations, Classes, Factory, Calls, Locality);
            TieCycles(parts);
        }
        catch
        {
            // The stages start their threads when they are created.
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
    internal LeaseGate Lease { get; }

    internal ActivationTable Activations { get; } = null!;

    internal EdgeCounters Edges { get; } = null!;

    internal RuntimeMetrics Metrics { get; } = null!;

    internal GrainClasses Classes { get; } = null!;

    /// <summary>What the silos of the view host.</summary>
    internal ClusterManifests Manifests { get; } = null!;

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

    /// <summary>Null on a client.</summary>
    internal Upkeep? Upkeep { get; }

    internal Migrations Migrations { get; } = null!;

    internal PeerTable Peers { get; } = null!;

    /// <summary>What this node has refused of its peers.</summary>
    internal Refusals Refusals { get; } = null!;

    internal DirectoryService DirectoryService { get; } = null!;

    internal DirectoryClient Directory { get; } = null!;

    /// <summary>Set on silos when they open.</summary>
    internal ClusterService? Cluster { get; private set; }

    internal ILocality Locality { get; } = null!;

    private Upkeep NewUpkeep(SiloMessagingOptions messaging, ActivationParts parts)
    {
        var workload = parts.Workload = new Workload(Local, Activations, Stages.Work, messaging, _setup.Scheduling);
        var memory = _setup.Collection.EnableActivationSheddingOnMemoryPressure
            ? new MemoryShedding(Local, Activations, _setup.Statistics!, _setup.Collection)
            : null;
        var detector = Local.Services.GetService<IOverloadDetector>() is { } one and not OverloadReading ? one : null;
        Router.Overload = _setup.Shedding.LoadSheddingEnabled || detector is not null
            ? new Overload(Local, _setup.Statistics!, _setup.Shedding, Metrics) { Detector = detector }
            : null;
        return new Upkeep(Activations, _setup.Workers, workload, memory, Router.Overload);
    }

    /// <summary>Where this node dials a silo: clients its gateway, silos its address. Null if the view does not list it.</summary>
    private EndPoint? EndPointOf(SiloAddress silo) =>
        ClusterView.View.FindMember(silo) is { } member ? IsSilo ? silo.Endpoint : member.Gateway : null;

    /// <summary>The parts that need each other.</summary>
    private void TieCycles(ActivationParts parts)
    {
        // Activations call, route, register and migrate, and each of these parts looks up activations.
        parts.Activations = Activations;
        parts.Abandoned = Abandoned;
        parts.Metrics = Metrics;
        parts.Calls = Calls;
        parts.Filters = Filters;
        parts.Factory = Factory;
        parts.Router = Router;
        parts.Locations = Locations;
        parts.Directory = Directory;
        parts.Placement = Placement;
        parts.Locality = Locality;
        parts.Migrations = Migrations;
        // Locality knows the loads of the silos; it places grains that it moves.
        Placement.Uses = () => Locality.Uses;
        // The parts that send a call send calls themselves.
        var routes = new CancelRoutes(Local, Activations, Peers, Writer, Locations, Directory, Local.Background.Part("cancellations"));
        var cancellations = new Cancellations(Calls, routes, _setup.Messaging.WaitForCancellationAcknowledgement);
        Calls.Connect(Router, Writer, Peers, Factory, Filters, cancellations);
        (Sweep.Cancellations, Sweep.Activations) = (cancellations, Activations);
        // The part that reads frames sends replies over the same links.
        var rights = new FrameRights(Local, Calls, Peers, Refusals, _setup.ClientRights);
        var requests = new RequestReader(Local, Calls, Activations, Router, rights, Refusals);
        var replies = new ReplyReader(Local, Calls, Locations, Peers, Sweep, rights, Refusals);
        var many = new FanoutReader(Local, Calls, _setup.Decoding, Activations, Peers, Stages.Work, requests, rights);
        Peers.Reader = new FrameReader(Local, Calls, _setup.Decoding, rights, requests, replies, many, cancellations);
        // A silo that has joined speaks before the news of its join has arrived.
        rights.NewcomerSeen += () => Cluster?.RefreshTable();
        // A long turn delays frames that another thread can write.
        Stages.Held += () => Stages.Control.Post(new StageAction(Peers.FlushLate));
        // The directory detects an outdated view; the cluster service, which reads the new one, uses the same links.
        DirectoryService.NewerViewSeen += () => Cluster?.RefreshTable();
    }

    /// <summary>Time between searches for expired calls.</summary>
    private const long SweepPeriodMs = 250;

    /// <summary>How long a silo that stops waits until its clients know it.</summary>
    internal TimeSpan ClientNotice => _setup.Messaging is SiloMessagingOptions { ClientGatewayShutdownNotificationTimeout: var longest }
        && longest < ClientMembership.MaxViewStaleness ? longest : ClientMembership.MaxViewStaleness;

    /// <summary>Time limit for background work to end after its cancellation and the close of the network.</summary>
    private static readonly TimeSpan LongestClose = TimeSpan.FromSeconds(5);

    private StageControl? _stageControl;
    private long _lastSample;
    private long _lastSweep;
    private long _lastCollection;
    private readonly Lock _life = new();
    private volatile bool _killed;
    private volatile Task? _closing;

    /// <summary>Called on a thread of the pool when the node must stop: the silo was declared dead, or a vital part failed.</summary>
    internal event Action<string>? Died;

    /// <summary>Opens the network: threads, listeners, system targets.</summary>
    internal void Open()
    {
        OptionReport.Write(Local.Services, _setup.Messaging, Local.Log);
        Filters.Load(Local.Services);
        Local.Clock.Start();
        var manifest = Classes.LoadLocal();
        Peers.Start(_setup.Stages.ReceiveThreads ?? StageOptions.DefaultThreads);
        if (!IsSilo)
            return;
        Manifests.Open(manifest);
        Directory.Custom = CustomDirectories.OfSilo(Local, ClusterView, Classes);
        Cluster = NewClusterService();
        Cluster.Host = Activations.AddSystemTarget(ClusterService.Name, Cluster);
        DirectoryService.Host = Activations.AddSystemTarget(DirectoryService.Name, DirectoryService);
        Activations.AddSystemTarget(Migrations.Name, Migrations);
        Locality.Host = Activations.AddSystemTarget(Locality.TargetName, Locality, Stages.Locality);
        foreach (var target in Local.Services.GetServices<NodeTarget>())
            Activations.AddSystemTarget(target.Name, target.Make(this));
        foreach (var (endPoint, accepts) in _setup.Listens)
            Listening.Open(Peers.Mesh, endPoint, accepts);
    }

    private ClusterService NewClusterService()
    {
        var table = _setup.Table!(new ClusterTableNeeds(Local, Peers, Factory, () => Cluster!.RefreshTable()));
        var protocol = new MembershipProtocol(Address, _setup.Name, Gateway, _setup.Membership);
        var cluster = new ClusterService(Local, ClusterView, Peers, Factory, new SiloFacts(Classes, Manifests, Activations), Lease,
            new TableAccess(Local, table, _setup.Membership), protocol);
        cluster.ViewChanged += OnView;
        cluster.LeaseChanged += SetLease;
        cluster.Died += Die;
        return cluster;
    }

    /// <summary>Starts the membership of a client.</summary>
    internal ClientMembership NewClientMembership()
    {
        var gateways = new Gateways(_setup.Gateways, _setup.GatewayChoice.PreferredGatewayIndex,
            Local.Services.GetService<NameSeam>() ?? new NameSeam(Dns.GetHostAddressesAsync), _setup.GatewayList,
            _setup.Mesh.ClusterId, _setup.GatewayChoice.GatewayListRefreshPeriod);
        var membership = new ClientMembership(Local, ClusterView, Peers, Factory, Classes, Manifests, Stages.Control, gateways);
        Router.Destinations.PreferredGateway = gateways.HasPreferred ? () => membership.PreferredGateway : null;
        membership.ViewChanged += OnView;
        return membership;
    }

    internal async Task JoinAsync(CancellationToken cancellationToken)
    {
        await Cluster!.JoinAsync(cancellationToken).ConfigureAwait(false);
        DirectoryService.Start();
    }

    /// <summary>The last step of the start: from here on, other silos may place grains here.</summary>
    internal async Task ActivateAsync(CancellationToken cancellationToken)
    {
        // Otherwise it would place all grains here until it knows what the others host.
        await Manifests.SettleAsync(cancellationToken).ConfigureAwait(false);
        await Cluster!.ActivateAsync(cancellationToken).ConfigureAwait(false);
        Local.Log.SiloStatus(Address, "active");
        Locality.Start();
        if (_setup.Stages is { Mode: StageMode.OwnThreads, Controller: not StageController.Fixed })
        {
            _stageControl = new StageControl(Local, Stages, SizedStages, _setup.Stages, _setup.Services.GetService<IStageTracing>());
            _stageControl.Start();
        }
    }

    /// <summary>
    /// Ends all activations. Requests that arrive meanwhile, and for some time after, are forwarded. The view must first show that this
    /// silo is stopping, so that no silo places grains here any more.
    /// </summary>
    internal async Task DrainAsync(CancellationToken cancellationToken)
    {
        if (Local.IsDead)
            return;
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, Local.Background.Stopping);
        Locality.Dispose();
        await Cluster!.ShutDownAsync(ended.Token).ConfigureAwait(false);
        Local.MarkStopping();
        var drain = new ActivationDrain(Local, Activations, _setup.Collection.DeactivationTimeout);
        await drain.EndAllAsync(ended.Token).ConfigureAwait(false);
        if (ClusterView.Active.Length == 0)
            return;
        await Task.Delay(ClientNotice, Local.TaskTime,
            ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        // Grains that were placed here by silos with an older view.
        await drain.EndAllAsync(ended.Token).ConfigureAwait(false);
    }

    internal async Task LeaveAsync(CancellationToken cancellationToken)
    {
        if (Local.IsDead || Cluster is null)
            return;
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, Local.Background.Stopping);
        await Cluster.LeaveAsync(ended.Token).ConfigureAwait(false);
    }

    /// <summary>Closes the remaining parts of the node, once. After the cancellation of the token it does not wait.</summary>
    internal Task CloseAsync(CancellationToken cancellationToken)
    {
        lock (_life)
            return _closing ??= CloseOnceAsync(cancellationToken);
    }

    private async Task CloseOnceAsync(CancellationToken cancellationToken)
    {
        // The timers of a killed node have ended, so there is no time limit to wait with.
        if (_killed)
            cancellationToken = new CancellationToken(canceled: true);
        CloseServices();
        await WaitAsync("network", Peers.StopAsync(), cancellationToken).ConfigureAwait(false);
        using (var patience = new CancellationTokenSource(LongestClose, Local.TaskTime))
        using (var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, patience.Token))
            await Local.Background.StopAsync(ended.Token).ConfigureAwait(false);
        await WaitAsync("stages", Stages.StopAsync(), cancellationToken).ConfigureAwait(false);
        CloseRest();
    }

    /// <summary>Waits for a part to end until the token is cancelled. Its exceptions are logged.</summary>
    private async Task WaitAsync(string part, Task ended, CancellationToken cancellationToken)
    {
        await ended.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (ended.Exception is { InnerException: { } exception })
            Local.Log.BackgroundFailed(part, exception);
    }

    /// <summary>Ends at once, like a crash. Used when a start has failed, and by tests.</summary>
    internal void Kill()
    {
        Local.MarkDead();
        Dispose();
    }

    /// <summary>Ends at once without waiting for threads, so that any thread may call it. Idempotent for each part.</summary>
    public void Dispose()
    {
        _killed = true;
        CloseServices();
        Close("network", Peers);
        Close("stages", Stages);
        // A graceful stop under way still needs the timers.
        if (_closing is not { IsCompleted: false })
            CloseRest();
    }

    /// <summary>Stops the services. If the construction failed, some of them are null.</summary>
    private void CloseServices()
    {
        Local.Background.Cancel();
        Close("locality", Locality);
        Close("stages", _stageControl);
        Close("cluster", Cluster);
        Close("directory", DirectoryService);
        // Callers that wait for a reply get an exception.
        Close("calls", Sweep);
    }

    private void CloseRest()
    {
        Close("network", Peers);
        Close("clock", Local.Clock);
        Close("metrics", Metrics);
        Close("time", Local.Time);
        Close("time", _waits);
        Close("time", Local.GrainTime);
    }

    private void Close(string part, IDisposable? owned)
    {
        try
        {
            owned?.Dispose();
        }
        catch (Exception exception)
        {
            Local.Log.BackgroundFailed(part, exception);
        }
    }

    /// <summary>The view changed; called on the cluster's turn.</summary>
    internal void OnView(View before, View view, ViewChange change)
    {
        Locations.OnView(view);
        Factory.OnView(view);
        if (IsSilo)
        {
            Manifests.OnView(view);
            DirectoryService.OnView(view);
            Migrations.OnView(view);
            if (_setup.Locality.Enabled)
                Locality.OnView();
        }

        Directory.Custom?.OnDied(change.Died.Select(static member => member.Silo));
        foreach (var died in change.Died)
        {
            Peers.Remove(died.Silo);
            Sweep.EndCallsToDead(died.Silo);
        }

        foreach (var member in view.Members)
        {
            // Joined and died between two views of this node.
            if (member.Status == SiloStatus.Dead && before.StatusOf(member.Silo) == SiloStatus.None)
                Sweep.EndCallsToDead(member.Silo);
        }

        foreach (var silo in view.ActiveSilos)
        {
            if (!silo.Equals(Address))
                Peers.Connect(silo);
        }

        Peers.ReadHeld();
    }

    private void OnCacheFailed(Exception exception) => Local.Log.BackgroundFailed("directory cache", exception);

    /// <summary>Pauses the grains while the membership is not confirmed. A silo that leaves or is dead is handled elsewhere.</summary>
    internal void SetLease(bool held, bool ended)
    {
        if (held)
        {
            if (!Lease.IsClosed)
                return;
            Local.Log.LeaseRegained(Address, Lease.Open());
        }
        else if (!ended)
        {
            Lease.Close();
            Local.Log.LeaseLost(Address);
        }
    }

    /// <summary>The other silos have declared this silo dead: no further turn may run.</summary>
    internal void Die(string reason)
    {
        Local.MarkDead();
        Activations.Stop();
        End(reason);
    }

    /// <summary>The node must stop. The handlers are application code and run on a thread of the pool.</summary>
    private void End(string reason) => Local.Background.Part("end").Run(async _ =>
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        Died?.Invoke(reason);
    });

    /// <summary>Called by the timer of the clock, every <see cref="Clock.Period"/>.</summary>
    private void OnClockTick(long now)
    {
        foreach (var stage in SizedStages)
            stage.Sample((now - _lastSample) / 1000.0);
        _stageControl?.Sample();
        _lastSample = now;
        if (now - _lastSweep < SweepPeriodMs)
            return;
        _lastSweep = now;
        Stages.Control.Post(new StageAction(() => OnControlTick(now)));
    }

    private void OnControlTick(long now)
    {
        _clockPart.Do(() => EndExpiredCalls(now));
        _clockPart.Do(Sweep.Report);
        _clockPart.Do(_border.Report);
        // A dial may reach a silo that is already connected by another endpoint, for which there is no event.
        _clockPart.Do(Peers.EndSearches);
        _clockPart.Do(Peers.ReadHeld);
        _clockPart.Do(() => Locations.Expire(now, SweepPeriodMs));
        foreach (var check in Upkeep?.Checks ?? [])
            _clockPart.Do(() => check(now));
        _clockPart.Do(() => Peers.TendWaiting(now));
        if (now - _lastCollection < (long)_setup.Collection.CollectionQuantum.TotalMilliseconds)
            return;
        _lastCollection = now;
        var told = Collector.Collect();
        if (told > 0)
            Local.Log.Collected(told);
    }

    private void EndExpiredCalls(long now)
    {
        var expired = Sweep.EndExpired(now);
        if (expired == 0)
            return;
        Metrics.Expired(expired);
        Local.Log.CallsExpired(expired);
    }
}
