using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using ActOp.Staging;
using ActOp.Staging.Measuring;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>Start, views, stop.</summary>
/// <remarks>
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
internal sealed partial class Node
{
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
        Cluster.Host = AddSystemTarget(ClusterService.Name, Cluster);
        DirectoryService.Host = AddSystemTarget(DirectoryService.Name, DirectoryService);
        AddSystemTarget(Migrations.Name, Migrations);
        Locality.Host = AddSystemTarget(LocalityService.Name, Locality);
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

    private Activation AddSystemTarget(string name, object instance)
    {
        var host = Activation.ForInstance(this, SystemGrainIds.SystemTarget(name, Address), GrainClass.Special("sys." + name, instance.GetType(), reentrant: true), instance, Stages.Control);
        Activations.Add(host);
        return host;
    }

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
