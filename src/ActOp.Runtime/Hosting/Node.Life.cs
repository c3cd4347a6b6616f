using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using ActOp.Staging;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>Start, views, stop.</summary>
internal sealed partial class Node
{
    /// <summary>Expired calls are looked for this often: exact enough for timeouts of seconds, and a walk over all calls in flight.</summary>
    private const long SweepPeriodMs = 250;

    private StageControl? _stageControl;
    private long _lastLook;
    private long _lastSweep;
    private long _lastCollection;
    private volatile bool _stopping;
    private volatile bool _dead;

    /// <summary>True while this silo takes new activations.</summary>
    internal bool AcceptsActivations => IsSilo && !_stopping && !_dead;

    /// <summary>True once the silo has begun to end its activations.</summary>
    internal bool IsStopping => _stopping || _dead;

    /// <summary>Told when the silo was declared dead and must end.</summary>
    internal event Action<string>? Died;

    /// <summary>Opens the network: threads, listeners, system targets.</summary>
    internal void Open()
    {
        Clock.Start();
        Classes.LoadLocal();
        Peers.Start(_setup.Stages.ReceiveThreads ?? StageOptions.DefaultThreads);
        if (!IsSilo)
            return;
        Cluster = new ClusterService(this, _setup.Table!(this), _setup.Membership, _setup.Name);
        ClusterHost = AddSystemTarget(ClusterService.Name, Cluster);
        DirectoryHost = AddSystemTarget(DirectoryService.Name, DirectoryService);
        AddSystemTarget(Migrations.Name, Migrations);
        LocalityHost = AddSystemTarget(LocalityService.Name, Locality);
        foreach (var endPoint in _setup.Listens)
            Peers.Mesh.Listen(endPoint);
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
        Locality.Start();
        if (_setup.Stages is { Mode: StageMode.OwnThreads, Controller: not StageController.Fixed })
        {
            _stageControl = new StageControl(this, SizedStages, _setup.Stages);
            _stageControl.Start();
        }
    }

    /// <summary>
    /// Ends all activations; requests that come meanwhile, and for a while after, are sent on to where their grains are then. First the view must say
    /// that this silo goes, so that nobody, this silo included, places grains here any more.
    /// </summary>
    internal async Task DrainAsync(CancellationToken cancellationToken)
    {
        if (_dead)
            return;
        Locality.Dispose();
        await Cluster!.ShutDownAsync(cancellationToken).ConfigureAwait(false);
        _stopping = true;
        await EndActivationsAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (Silos.Active.Length == 0)
            return;
        await Task.Delay(ClientMembership.LongestIgnorance, Time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        // What was placed here by others that did not know yet.
        await EndActivationsAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private async Task EndActivationsAsync(CancellationToken cancellationToken)
    {
        var ending = new List<Task>();
        do
        {
            ending.Clear();
            foreach (var activation in Activations)
            {
                if (!activation.Class.IsOrdinary)
                    continue;
                activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ShuttingDown, "The silo shuts down."));
                ending.Add(activation.Deactivated);
            }

            await Task.WhenAll(ending).WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        while (ending.Count > 0);
    }

    internal Task LeaveAsync(CancellationToken cancellationToken) => _dead ? Task.CompletedTask : Cluster!.LeaveAsync(cancellationToken);

    internal async Task CloseAsync()
    {
        Locality.Dispose();
        _stageControl?.Dispose();
        Cluster?.Dispose();
        DirectoryService.Dispose();
        await Peers.StopAsync().ConfigureAwait(false);
        Clock.Dispose();
        await Task.WhenAll(WorkStage.StopAsync(), SiloSendStage.StopAsync(), ClientSendStage.StopAsync(), ControlStage.StopAsync()).ConfigureAwait(false);
        Metrics.Dispose();
    }

    /// <summary>Ends at once, as a crash would: for tests.</summary>
    internal void Kill()
    {
        _dead = true;
        Locality.Dispose();
        _stageControl?.Dispose();
        Cluster?.Dispose();
        DirectoryService.Dispose();
        Peers.Dispose();
        Dispose();
    }

    public void Dispose()
    {
        Clock.Dispose();
        WorkStage.Dispose();
        SiloSendStage.Dispose();
        ClientSendStage.Dispose();
        ControlStage.Dispose();
        Metrics.Dispose();
    }

    /// <summary>The view changed; called on the cluster's turn.</summary>
    internal void OnView(View before, View view, ViewChange change)
    {
        Locations.OnView(view);
        if (IsSilo)
        {
            DirectoryService.OnView(view);
            if (_setup.Locality.Enabled)
                Locality.OnView();
        }

        foreach (var died in change.Died)
        {
            Peers.Remove(died.Silo);
            EndCallsToDead(died.Silo);
        }

        foreach (var member in view.Members)
        {
            // Came and died between two views that this node has seen.
            if (member.Status == SiloStatus.Dead && before.StatusOf(member.Silo) == SiloStatus.None)
                EndCallsToDead(member.Silo);
        }

        foreach (var silo in view.ActiveSilos)
        {
            if (!silo.Equals(Address))
                Peers.Connect(silo);
        }
    }

    /// <summary>Ends the calls that will get no answer because of a silo's death.</summary>
    internal void EndCallsToDead(SiloAddress silo) => EndCalls(silo, "it was declared dead", isDead: true);

    /// <summary>Ends the calls that wait for a silo that is out of reach but may live.</summary>
    internal void EndCallsTo(SiloAddress silo, string reason) => EndCalls(silo, reason, isDead: false);

    private void EndCalls(SiloAddress silo, string reason, bool isDead)
    {
        var ended = Sweep.EndWaitingFor(silo, reason, isDead);
        if (ended > 0)
            Log.CallsLost(ended, silo, reason);
    }

    /// <summary>Pauses the grains while the membership is in doubt. The end of a silo that leaves or is dead is told otherwise.</summary>
    internal void SetLease(bool held, bool ended)
    {
        if (held)
        {
            if (!Lease.IsClosed)
                return;
            Log.LeaseRegained(Address, Lease.Open());
        }
        else if (!ended)
        {
            Lease.Close();
            Log.LeaseLost(Address);
        }
    }

    /// <summary>The others have declared this silo dead: no turn may run any more.</summary>
    internal void Die(string reason)
    {
        _dead = true;
        foreach (var activation in Activations)
        {
            if (activation.Class.IsOrdinary)
                activation.Stop();
        }

        Died?.Invoke(reason);
    }

    private Activation AddSystemTarget(string name, object instance)
    {
        var host = Activation.ForInstance(this, WellKnown.SystemTarget(name, Address), GrainClass.Special("sys." + name, instance.GetType(), reentrant: true), instance, ControlStage);
        Activations.Add(host);
        return host;
    }

    /// <summary>Ten times a second or more, from the clock's timer.</summary>
    private void OnClockTick(long now)
    {
        foreach (var stage in SizedStages)
            stage.Look((now - _lastLook) / 1000.0);
        _lastLook = now;
        if (now - _lastSweep < SweepPeriodMs)
            return;
        _lastSweep = now;
        ControlStage.Post(new StageAction(() => OnControlTick(now)));
    }

    private void OnControlTick(long now)
    {
        var expired = Sweep.EndExpired(now);
        if (expired > 0)
        {
            Metrics.Expired(expired);
            Log.CallsExpired(expired);
        }

        WorkStage.Watch();
        Peers.Watch();
        if (now - _lastCollection < (long)CollectionOptions.CollectionQuantum.TotalMilliseconds)
            return;
        _lastCollection = now;
        var told = Collector.Collect();
        if (told > 0)
            Log.Collected(told);
    }
}
