using System.Net;
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
using ActOp.Staging.Measuring;
using Microsoft.Extensions.DependencyInjection;
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
/// <para>Immutable after construction except for the parts that say otherwise. No part takes the node: each takes the
/// <see cref="LocalNode"/> and the parts that it uses. Where two parts need each other, the later one is set into the earlier one in
/// <see cref="TieCycles"/>.</para>
/// Who owns what, and when it ends:
/// <list type="bullet">
/// <item>The host (<see cref="SiloHost"/>, <see cref="ClientHost"/>) owns the node and its lifecycle: one start, one stop, in this order,
/// and whatever the start has opened when it fails. Disposing the host kills a node that was not stopped.</item>
/// <item>The node owns the stages and their threads, the time and its timers (<see cref="NodeTime"/>), the mesh with its listeners, links,
/// pollers and their descriptors (through <see cref="Peers"/>), the background work (<see cref="Hosting.Background"/>), the activations,
/// and the meters.</item>
/// <item>An activation owns its instance, its service scope, its timers and its token. A stop ends all (<see cref="DrainAsync"/>); those
/// that do not end in time are left to the collector, without timers and threads.</item>
/// <item>Owned by nobody, and so never more than one for each thread or process: the thread of all timers, and scratch of threads, which
/// keeps no node alive.</item>
/// </list>
/// A stop goes backwards: the activations end, the silo leaves the table, then <see cref="CloseAsync"/>: services, network, background
/// work, stages, timers, meters. Every part is closed even if the one before it throws. <see cref="Kill"/> does the same at once and waits
/// for nothing.
/// </remarks>
internal sealed class Node : IDisposable
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
        _clockPart = Local.Background.Part("clock");
        try
        {
            Stages = new NodeStages(setup.Stages, setup.Driver, log);
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
                MailboxLimit = setup.Stages.MailboxLimit,
                LongTurnMs = (long)setup.Scheduling.TurnWarningLengthThreshold.TotalMilliseconds,
            };
            Activations = new ActivationTable(parts);
            SizedStages = Stages.SizedWith(() => Peers!);
            Metrics = new RuntimeMetrics(() => Activations.Count, Edges, SizedStages, Stages.All);
            Classes = new GrainClasses(setup.DefaultPlacement, IsSilo);
            Abandoned = new AbandonedRequests(Local.Clock, Metrics);
            Calls = new CallSender(Local, Metrics);
            Factory = new GrainFactory(Classes, Activations, Calls);
            Filters = new CallFilters(Calls);
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
            Collector = new Collector(Activations, setup.Collection, Local.Clock);
            Locality = new LocalityService(Local, ClusterView, Activations, Edges, Locations, Hints, Factory, Metrics.Meter, setup.Locality);
            Migrations = new Migrations(Local, Activations, Classes, Factory, Calls, Locality);
            TieCycles(parts);
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

    /// <summary>Where this node dials a silo: clients at its gateway, silos at its address.</summary>
    private EndPoint EndPointOf(SiloAddress silo) => IsSilo ? silo.Endpoint : ClusterView.View.Find(silo)?.Gateway ?? silo.Endpoint;

    /// <summary>The parts that need each other.</summary>
    private void TieCycles(ActivationParts parts)
    {
        // Activations call, route, register and migrate; all of that finds activations.
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
        // A call goes out by parts that send calls themselves.
        Calls.Connect(Router, Writer, Factory, Filters);
        // What arrives is read by a part that sends answers over the same links.
        Peers.Reader = new FrameReader(Local, Calls, Activations, Locations, Router, Peers, Sweep);
        // A turn that takes long keeps frames back that another thread can write.
        Stages.Held += () => Stages.Control.Post(new StageAction(Peers.FlushLate));
        // The directory finds out that the view is old; the cluster service, which renews it, finds silos through the directory's links.
        DirectoryService.NewerViewSeen += () => Cluster?.RefreshTable();
    }

    /// <summary>Expired calls are looked for this often: exact enough for timeouts of seconds.</summary>
    private const long SweepPeriodMs = 250;

    /// <summary>What background work gets to end once it is cancelled and the network is gone.</summary>
    private static readonly TimeSpan LongestClose = TimeSpan.FromSeconds(5);

    private StageControl? _stageControl;
    private long _lastLook;
    private long _lastSweep;
    private long _lastCollection;
    private readonly Lock _life = new();
    private volatile bool _killed;
    private volatile Task? _closing;

    /// <summary>
    /// Told, on a thread of the pool, when the node must end: the others have declared the silo dead, or a part that it cannot do without
    /// has failed.
    /// </summary>
    internal event Action<string>? Died;

    /// <summary>Opens the network: threads, listeners, system targets.</summary>
    internal void Open()
    {
        Filters.Load(Local.Services);
        Local.Clock.Start();
        Classes.LoadLocal();
        Peers.Start(_setup.Stages.ReceiveThreads ?? StageOptions.DefaultThreads);
        if (!IsSilo)
            return;
        Cluster = NewClusterService();
        Cluster.Host = Activations.AddSystemTarget(ClusterService.Name, Cluster);
        DirectoryService.Host = Activations.AddSystemTarget(DirectoryService.Name, DirectoryService);
        Activations.AddSystemTarget(Migrations.Name, Migrations);
        Locality.Host = Activations.AddSystemTarget(LocalityService.Name, Locality);
        foreach (var endPoint in _setup.Listens)
            Peers.Mesh.Listen(endPoint);
    }

    private ClusterService NewClusterService()
    {
        var table = _setup.Table!(new ClusterTableParts(Local, Peers, Factory, () => Cluster!.RefreshTable()));
        var protocol = new MembershipProtocol(Address, _setup.Name, Gateway, _setup.Membership);
        var cluster = new ClusterService(Local, ClusterView, Peers, Factory, Classes, Activations, table, protocol, _setup.Membership);
        cluster.ViewChanged += OnView;
        cluster.LeaseChanged += SetLease;
        cluster.Died += Die;
        return cluster;
    }

    /// <summary>What a client learns its cluster by.</summary>
    internal ClientMembership NewClientMembership()
    {
        var membership = new ClientMembership(Local, ClusterView, Peers, Factory, Classes, Stages.Control, _setup.Gateways);
        membership.ViewChanged += OnView;
        return membership;
    }

    internal async Task JoinAsync(CancellationToken cancellationToken)
    {
        await Cluster!.JoinAsync(cancellationToken).ConfigureAwait(false);
        DirectoryService.Start();
    }

    /// <summary>The last step of a start: other silos may place grains here.</summary>
    internal async Task ActivateAsync(CancellationToken cancellationToken)
    {
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
    /// Ends all activations; requests that come meanwhile, and for a while after, are sent on to where their grains are then. First the
    /// view must say that this silo goes, so that nobody, this silo included, places grains here any more.
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
        await Task.Delay(ClientMembership.MaxViewStaleness, Local.TaskTime, ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        // What was placed here by others that did not know yet.
        await drain.EndAllAsync(ended.Token).ConfigureAwait(false);
    }

    internal async Task LeaveAsync(CancellationToken cancellationToken)
    {
        if (Local.IsDead || Cluster is null)
            return;
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, Local.Background.Stopping);
        await Cluster.LeaveAsync(ended.Token).ConfigureAwait(false);
    }

    /// <summary>Ends what is left of the node, once. When the token is cancelled it waits for nothing any more.</summary>
    internal Task CloseAsync(CancellationToken cancellationToken)
    {
        lock (_life)
            return _closing ??= CloseOnceAsync(cancellationToken);
    }

    private async Task CloseOnceAsync(CancellationToken cancellationToken)
    {
        // A node that was killed has no time left in which anything could be waited for.
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

    /// <summary>Waits for a part to end, as long as the token allows; what it throws keeps nothing else open.</summary>
    private async Task WaitAsync(string part, Task ended, CancellationToken cancellationToken)
    {
        await ended.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (ended.Exception is { InnerException: { } exception })
            Local.Log.BackgroundFailed(part, exception);
    }

    /// <summary>Ends at once, as a crash would: when a start has failed, and for tests.</summary>
    internal void Kill()
    {
        Local.MarkDead();
        Dispose();
    }

    /// <summary>Ends at once. Waits for no thread, so that any may call it. What was closed before stays so.</summary>
    public void Dispose()
    {
        _killed = true;
        CloseServices();
        Close("network", Peers);
        Close("stages", Stages);
        // An orderly end that is under way still needs the time.
        if (_closing is not { IsCompleted: false })
            CloseRest();
    }

    /// <summary>The services begin nothing any more. A node whose construction failed does not have all of them.</summary>
    private void CloseServices()
    {
        Local.Background.Cancel();
        Close("locality", Locality);
        Close("stages", _stageControl);
        Close("cluster", Cluster);
        Close("directory", DirectoryService);
        // Whoever waits for an answer gets none any more.
        Close("calls", Sweep);
    }

    private void CloseRest()
    {
        Close("network", Peers);
        Close("clock", Local.Clock);
        Close("metrics", Metrics);
        Close("time", Local.Time);
        Close("time", Local.TaskTime);
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
            DirectoryService.OnView(view);
            if (_setup.Locality.Enabled)
                Locality.OnView();
        }

        foreach (var died in change.Died)
        {
            Peers.Remove(died.Silo);
            Sweep.EndCallsToDead(died.Silo);
        }

        foreach (var member in view.Members)
        {
            // Came and died between two views that this node has seen.
            if (member.Status == SiloStatus.Dead && before.StatusOf(member.Silo) == SiloStatus.None)
                Sweep.EndCallsToDead(member.Silo);
        }

        foreach (var silo in view.ActiveSilos)
        {
            if (!silo.Equals(Address))
                Peers.Connect(silo);
        }
    }

    /// <summary>Pauses the grains while the membership is in doubt. The end of a silo that leaves or is dead is told otherwise.</summary>
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

    /// <summary>The others have declared this silo dead: no turn may run any more.</summary>
    internal void Die(string reason)
    {
        Local.MarkDead();
        Activations.Stop();
        End(reason);
    }

    /// <summary>The node cannot go on. Whoever hears of it is code of the application, which gets a thread of its own.</summary>
    private void End(string reason) => Local.Background.Part("end").Run(async _ =>
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        Died?.Invoke(reason);
    });

    /// <summary>Ten times a second or more, from the clock's timer.</summary>
    private void OnClockTick(long now)
    {
        foreach (var stage in SizedStages)
            stage.Look((now - _lastLook) / 1000.0);
        _stageControl?.Look();
        _lastLook = now;
        if (now - _lastSweep < SweepPeriodMs)
            return;
        _lastSweep = now;
        Stages.Control.Post(new StageAction(() => OnControlTick(now)));
    }

    private void OnControlTick(long now)
    {
        _clockPart.Do(() => EndExpiredCalls(now));
        _clockPart.Do(Sweep.Report);
        // A dial may turn out to lead to a silo that is connected by another of its endpoints: no event tells of that.
        _clockPart.Do(Peers.EndSearches);
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
