using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Routing;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;
using Orleans.Runtime.MembershipService;

namespace ActOp.Runtime.Cluster;

/// <summary>A silo's part in the cluster: carries the membership protocol's messages and acts on its views.</summary>
/// <remarks>
/// Everything runs on the turns of this system target, on the control stage. Timers and link events are put into its mailbox. Owns the
/// protocol's timer and the subscription to link events; <see cref="Dispose"/> releases both. Messages that cannot be sent are dropped.
/// Failed table requests are repeated. If this silo cannot apply a view or a lease change, it stops and logs the reason.
/// </remarks>
internal sealed class ClusterService : IClusterTarget, IDisposable
{
    internal const string Name = "cluster";

    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly PeerTable _peers;
    private readonly GrainFactory _factory;
    private readonly SiloFacts _facts;
    private readonly LeaseGate _lease;
    private readonly TableAccess _table;
    private readonly MembershipProtocol _protocol;
    private readonly TaskCompletionSource _left = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ActionPump<MembershipAction> _pump;
    private readonly TaskCompletionSource<MembershipAction.StopDead> _stoppedDead = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource<string> _notAccepted = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>The bytes that the probed silos have sent up to the last tick.</summary>
    private readonly Dictionary<SiloAddress, long> _received = [];

    /// <summary>The last silo that joins and was not reached.</summary>
    private (SiloAddress, DisconnectReason)? _unreached;
    private ITimer? _timer;
    private int _isTickPosted;

    internal ClusterService(
        LocalNode local, ClusterView cluster, PeerTable peers, GrainFactory factory, SiloFacts facts, LeaseGate lease, TableAccess table,
        MembershipProtocol protocol)
    {
        _local = local;
        _cluster = cluster;
        _peers = peers;
        _factory = factory;
        _facts = facts;
        _lease = lease;
        _table = table;
        _protocol = protocol;
        _pump = new ActionPump<MembershipAction>(protocol.Actions, Perform);
    }

    /// <summary>
    /// Called with a newer view (previous view, new view, changes) on the turns of this target. If it throws, the silo stops.
    /// </summary>
    internal event Action<View, View, ViewChange>? ViewChanged;

    /// <summary>
    /// Called when the lease changes: whether this silo may run grains, and whether it has left or is dead. Runs on the turns of this
    /// target. If it throws, the silo stops.
    /// </summary>
    internal event Action<bool, bool>? LeaseChanged;

    /// <summary>Called once with the reason why this silo must stop: it was declared dead, or it could not apply a change.</summary>
    internal event Action<string>? Died;

    /// <summary>The activation on whose turns this target runs; set before the start.</summary>
    internal Activation Host { get; set; } = null!;

    /// <summary>True while this silo may run grains.</summary>
    internal bool LeaseHeld => _protocol.LeaseHeld;

    /// <summary>False from a failed request to the table until the next one that succeeds.</summary>
    internal bool TableAnswers => _table.Failure is null;

    /// <summary>Joins and becomes active. Returns when the view lists this silo as active.</summary>
    internal async Task JoinAsync(CancellationToken cancellationToken)
    {
        _peers.LinkLost += OnLinkLost;
        _peers.SiloNotReached += OnNotReached;
        Post(() => _protocol.Join(Now));
        var period = TimeSpan.FromMilliseconds(_protocol.Options.TickPeriod);
        var longest = TimeSpan.FromMilliseconds(_protocol.Options.MaxJoinTime);
        _timer = _local.Time.CreateTimer(_ => PostTick(), null, period, period);
        try
        {
            await WaitFor(() => _cluster.View.StatusOf(_local.Address) != SiloStatus.None, cancellationToken)
                .WaitAsync(longest, _local.TaskTime, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException exception)
        {
            throw new OrleansClusterConnectivityCheckFailedException("The silo " + _local.Address + " could not join the cluster within "
                + longest + " (ClusterMembershipOptions.MaxJoinAttemptTime)."
                + (_table.Failure is { } last ? " The last request to the membership table failed: " + last.Message : ""),
                _table.Failure ?? exception);
        }
    }

    /// <summary>
    /// Becomes active, after it has reached the members and they have reached it (<see cref="NewcomerProof"/>). Otherwise it leaves the
    /// table and throws.
    /// </summary>
    internal async Task ActivateAsync(CancellationToken cancellationToken)
    {
        Post(() => _protocol.Activate(Now));
        await WaitFor(() => _cluster.IsActive(_local.Address) || _notAccepted.Task.IsCompleted, cancellationToken, _notAccepted.Task)
            .ConfigureAwait(false);
        if (!_notAccepted.Task.IsCompleted)
            return;
        await LeaveAsync(cancellationToken).ConfigureAwait(false);
        throw new OrleansClusterConnectivityCheckFailedException("The silo " + _local.Address + " was not started, because it and members "
            + "of the cluster do not reach each other: " + await _notAccepted.Task.ConfigureAwait(false)
            + ". It has left the membership table; the other silos are not affected.");
    }

    /// <summary>Marks this silo as stopping in the table. Returns when the view shows it, or when the table does not answer.</summary>
    internal async Task ShutDownAsync(CancellationToken cancellationToken)
    {
        Post(() => _protocol.BeginShutdown(Now));
        await WaitFor(() => !_cluster.IsActive(_local.Address), cancellationToken)
            .WaitAsync(TableTimeout, _local.TaskTime, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Another silo has a newer view: reads the table now.</summary>
    internal void RefreshTable() => Post(() => _protocol.Refresh(Now));

    /// <summary>Declares another silo dead. False if the view does not show it in time.</summary>
    internal async Task<bool> CondemnAsync(SiloAddress silo, CancellationToken cancellationToken)
    {
        Post(() => _protocol.Condemn(silo, Now));
        await WaitFor(() => _cluster.IsDead(silo), cancellationToken)
            .WaitAsync(TableTimeout, _local.TaskTime, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return _cluster.IsDead(silo);
    }

    internal async Task LeaveAsync(CancellationToken cancellationToken)
    {
        Post(() => _protocol.Leave(Now));
        await _left.Task.WaitAsync(TableTimeout, _local.TaskTime, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_left.Task.IsCompleted)
            _local.Log.LeftSilently(_local.Address);
        Dispose();
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _peers.LinkLost -= OnLinkLost;
        _peers.SiloNotReached -= OnNotReached;
    }

    public ValueTask Probe(Probe probe)
    {
        _local.Counts.Add(NodeEvent.ProbeReceived);
        return Do(() => _protocol.OnProbe(probe, Now));
    }

    public ValueTask ProbeReply(ProbeReply reply)
    {
        _local.Counts.Add(NodeEvent.ProbeAnswered);
        return Do(() => _protocol.OnProbeReply(reply, Now));
    }

    public ValueTask IndirectProbe(IndirectProbe probe) => Do(() => _protocol.OnIndirectProbe(probe, Now));

    public ValueTask IndirectProbeReply(IndirectProbeReply reply) => Do(() => _protocol.OnIndirectProbeReply(reply, Now));

    public ValueTask Introduce(Introduction introduction) => Do(() => _protocol.OnIntroduction(introduction, Now));

    public ValueTask IntroductionReply(IntroductionReply reply) => Do(() => _protocol.OnIntroductionReply(reply, Now));

    public ValueTask Gossip(TableSnapshot table) => Do(() => _protocol.OnGossip(table, Now));

    public ValueTask<TableReply> UseTable(TableRequest request) => _table.AnswerAsync(request);

    public ValueTask<TableSnapshot> GetTable() => new(_protocol.Table);

    public ValueTask<GrainTypesReply> GetGrainTypes() => new(_facts.GrainTypes);

    public ValueTask<SiloManifest> GetManifest() => new(_facts.Manifest);

    public ValueTask<int> GetActivationCount() => new(_facts.Activations);

    private TimeSpan TableTimeout => TimeSpan.FromMilliseconds(_protocol.Options.TableTimeout);

    private long Now => _local.Clock.Update();

    private void OnNotReached(SiloAddress silo, DialFailure failure) => Post(() => _protocol.OnNotReached(silo, failure));

    private void DialBack(SiloAddress silo) => _peers.Ask(silo, failure => Post(() =>
    {
        if (failure is not null && _unreached != (silo, failure.Reason))
        {
            // Not for each attempt.
            _unreached = (silo, failure.Reason);
            MembershipLog.JoinerNotReached(_local.Log.Logger, silo, DialFailures.Cause(failure));
        }

        _protocol.OnDialledBack(silo, failure);
    }));

    private void OnLinkLost(SiloAddress silo, bool refused) => Post(() =>
    {
        if (refused)
            _protocol.OnRefused(silo, Now);
        else
            _protocol.OnLinkLost(silo, Now);
    });

    /// <summary>At most one tick is queued, even if the stage is late.</summary>
    private void PostTick()
    {
        if (Interlocked.Exchange(ref _isTickPosted, 1) != 0)
            return;
        Post(() =>
        {
            Volatile.Write(ref _isTickPosted, 0);
            NoteBytes();
            _protocol.Tick(Now);
        });
    }

    /// <summary>Whoever has sent anything since the last tick is alive, even if its answers are late.</summary>
    private void NoteBytes()
    {
        foreach (var silo in _protocol.Probed)
        {
            var received = _peers.BytesFrom(silo);
            if (_received.TryGetValue(silo, out var before) && received > before)
                _protocol.OnBytes(silo, Now);
            _received[silo] = received;
        }

        if (_received.Count > 2 * (_protocol.Probed.Count + 1))
            _received.Clear();
    }

    private void Post(Action step) => Host.Enqueue(new ActionItem(static state =>
    {
        var (service, action) = ((ClusterService, Action))state!;
        action();
        service.Pump();
    }, (this, step)));

    private ValueTask Do(Action step)
    {
        step();
        Pump();
        return default;
    }

    /// <summary>Waits until a condition of the view, or of another event that makes it true, holds.</summary>
    private async Task WaitFor(Func<bool> condition, CancellationToken cancellationToken, Task? other = null)
    {
        while (true)
        {
            var changed = _cluster.Changed;
            if (condition())
                return;
            if (_stoppedDead.Task.IsCompleted)
            {
                var dead = await _stoppedDead.Task.ConfigureAwait(false);
                var message = "The silo " + _local.Address + " could not join the cluster: " + dead.Reason;
                throw dead.HasNoRow ? new OrleansMissingMembershipEntryException(message) : new OrleansException(message);
            }

            await Task.WhenAny(changed, _stoppedDead.Task, other ?? changed).WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Performs the actions of the protocol.</summary>
    private void Pump()
    {
        if (_pump.Run())
            _lease.Renew(_protocol.LeaseHeld ? _protocol.LeaseDeadline : long.MaxValue);
    }

    private void Perform(MembershipAction action)
    {
        try
        {
            Act(action);
        }
        catch (Exception exception) when (action is MembershipAction.Publish or MembershipAction.LeaseChanged)
        {
            // Otherwise it would continue with a view that differs from that of the other silos.
            _local.Log.ClusterFailed(_local.Address, action.GetType().Name, exception);
            StopDead(new MembershipAction.StopDead("It could not apply a change of the cluster (" + exception.Message + ")."));
        }
        catch (Exception exception)
        {
            _local.Log.ClusterStepFailed(_local.Address, action.GetType().Name, exception);
        }
    }

    private void Act(MembershipAction action)
    {
        switch (action)
        {
            case MembershipAction.SendProbe send:
                _local.Counts.Add(NodeEvent.ProbeSent);
                Send(At(send.To).Probe(send.Probe));
                break;
            case MembershipAction.SendProbeReply send:
                Send(At(send.To).ProbeReply(send.Reply));
                break;
            case MembershipAction.SendIndirectProbe send:
                Send(At(send.To).IndirectProbe(send.Probe));
                break;
            case MembershipAction.SendIndirectProbeReply send:
                Send(At(send.To).IndirectProbeReply(send.Reply));
                break;
            case MembershipAction.SendIntroduction send:
                Send(At(send.To).Introduce(send.Introduction));
                break;
            case MembershipAction.SendIntroductionReply send:
                Send(At(send.To).IntroductionReply(send.Reply));
                break;
            case MembershipAction.DialBack dial:
                DialBack(dial.Silo);
                break;
            case MembershipAction.NotConfirmed waits:
                MembershipLog.NotConfirmed(_local.Log.Logger, _local.Address, waits.Members);
                break;
            case MembershipAction.NotAccepted failed:
                MembershipLog.NotAccepted(_local.Log.Logger, _local.Address, failed.Members);
                _notAccepted.TrySetResult(failed.Members);
                break;
            case MembershipAction.SendGossip send:
                Send(At(send.To).Gossip(send.Table));
                break;
            case MembershipAction.UseTable use:
                BeginRequest(use.Request);
                break;
            case MembershipAction.Publish publish:
                Publish(publish.View);
                break;
            case MembershipAction.LeaseChanged lease:
                LeaseChanged?.Invoke(lease.Held, _protocol.IsStopped);
                break;
            case MembershipAction.StopDead dead:
                StopDead(dead);
                break;
            case MembershipAction.Left:
                _left.TrySetResult();
                break;
        }
    }

    /// <summary>A one-way call completes when it is sent. It fails only synchronously.</summary>
    private static void Send(ValueTask call) => call.GetAwaiter().GetResult();

    private void StopDead(MembershipAction.StopDead dead)
    {
        if (!_stoppedDead.TrySetResult(dead))
            return;
        _local.Log.DeclaredDead(_local.Address, dead.Reason);
        Died?.Invoke(dead.Reason);
    }

    private IClusterTarget At(SiloAddress silo) => _factory.GetSystemTarget<IClusterTarget>(Name, silo);

    /// <summary>A failed request is repeated, and so is one whose reply cannot be taken.</summary>
    private void BeginRequest(TableRequest request) => _table.Begin(
        request,
        reply =>
        {
            _protocol.OnTableReply(reply, Now);
            Pump();
        },
        () => _protocol.OnTableFailed(request.Id, Now));

    private void Publish(View view)
    {
        var before = _cluster.View;
        if (!_cluster.Update(view))
            return;
        var change = view.Since(before);
        _local.Log.ViewChanged(view.Number, view.ActiveSilos.Length, string.Join(", ", change.Joined), string.Join(", ", change.Left));
        ViewChanged?.Invoke(before, view, change);
    }
}

/// <summary>What the log says about silos that join. Ids 1400 to 1409.</summary>
internal static partial class MembershipLog
{
    [LoggerMessage(1400, LogLevel.Warning, "{Silo} is not active yet, because it and members do not reach each other: {Members}.")]
    internal static partial void NotConfirmed(ILogger logger, SiloAddress silo, string members);

    [LoggerMessage(1401, LogLevel.Error, "{Silo} gives up its start, because it and members do not reach each other: {Members}.")]
    internal static partial void NotAccepted(ILogger logger, SiloAddress silo, string members);

    [LoggerMessage(1402, LogLevel.Warning,
        "{Silo} joins, but does not answer at its address: {Reason}. It does not become active before it does; this silo is not affected.")]
    internal static partial void JoinerNotReached(ILogger logger, SiloAddress silo, string reason);
}
