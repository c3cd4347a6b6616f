using ActOp.Runtime.Activations;
using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>A silo's part in the cluster: carries the membership protocol's messages and acts on its views.</summary>
/// <remarks>Everything runs on the turns of this system target, on the control stage; timers and link events are put into its mailbox.</remarks>
internal sealed class ClusterService : IClusterTarget, IDisposable
{
    internal const string Name = "cluster";

    private readonly Node _node;
    private readonly IClusterTable _table;
    private readonly MembershipOptions _options;
    private readonly MembershipProtocol _protocol;
    private readonly TaskCompletionSource _left = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private ITimer? _timer;
    private bool _pumping;

    internal ClusterService(Node node, IClusterTable table, MembershipOptions options, string name)
    {
        _node = node;
        _table = table;
        _options = options;
        _protocol = new MembershipProtocol(node.Address, name, node.Gateway, options);
    }

    /// <summary>True while this silo may run grains.</summary>
    internal bool LeaseHeld => _protocol.LeaseHeld;

    /// <summary>Joins and becomes active; returns when the view says so.</summary>
    internal async Task JoinAsync(CancellationToken cancellationToken)
    {
        _node.Peers.LinkLost += OnLinkLost;
        Post(() => _protocol.Join(Now));
        var period = TimeSpan.FromMilliseconds(_options.TickPeriod);
        _timer = _node.Time.CreateTimer(_ => Post(() => _protocol.Tick(Now)), null, period, period);
        await WaitFor(() => _node.Silos.View.StatusOf(_node.Address) != SiloStatus.None, cancellationToken);
    }

    internal async Task ActivateAsync(CancellationToken cancellationToken)
    {
        Post(() => _protocol.Activate(Now));
        await WaitFor(() => _node.Silos.IsActive(_node.Address), cancellationToken);
    }

    /// <summary>Says in the table that this silo goes; returns when the view says so, or when the table does not answer.</summary>
    internal async Task ShutDownAsync(CancellationToken cancellationToken)
    {
        Post(() => _protocol.BeginShutdown(Now));
        await WaitFor(() => !_node.Silos.IsActive(_node.Address), cancellationToken)
            .WaitAsync(TableTimeout, _node.Time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Somebody has seen a newer view: reads the table now.</summary>
    internal void RefreshTable() => Post(() => _protocol.Refresh(Now));

    internal async Task LeaveAsync(CancellationToken cancellationToken)
    {
        Post(() => _protocol.Leave(Now));
        await _left.Task.WaitAsync(TableTimeout, _node.Time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_left.Task.IsCompleted)
            _node.Log.LeftSilently(_node.Address);
        Dispose();
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _node.Peers.LinkLost -= OnLinkLost;
    }

    public ValueTask Probe(Probe probe) => Do(() => _protocol.OnProbe(probe, Now));

    public ValueTask Answer(ProbeAnswer answer) => Do(() => _protocol.OnProbeAnswer(answer, Now));

    public ValueTask ProbeForMe(IndirectProbe probe) => Do(() => _protocol.OnIndirectProbe(probe, Now));

    public ValueTask AnswerForYou(IndirectAnswer answer) => Do(() => _protocol.OnIndirectAnswer(answer, Now));

    public ValueTask Gossip(TableSnapshot table) => Do(() => _protocol.OnGossip(table, Now));

    public ValueTask<TableReply> UseTable(TableRequest request) => _table is SeedTable
        ? throw new InvalidOperationException("This silo " + _node.Address + " does not hold the membership table; check the primary endpoint of UseLocalhostClustering or UseDevelopmentClustering.")
        : _table.Execute(request, CancellationToken.None);

    public ValueTask<TableSnapshot> GetTable() => new(_protocol.Table);

    public ValueTask<GrainTypeEntry[]> GetGrainTypes() => new(_node.Classes.Entries);

    public ValueTask<int> GetActivationCount() => new(_node.Activations.Count);

    private TimeSpan TableTimeout => TimeSpan.FromMilliseconds(_options.TableTimeout);

    private long Now => _node.Clock.Update();

    private void OnLinkLost(SiloAddress silo, bool refused) => Post(() =>
    {
        if (refused)
            _protocol.OnRefused(silo, Now);
        else
            _protocol.OnLinkLost(silo, Now);
    });

    private void Post(Action step) => _node.ClusterHost.Enqueue(new ActionWork(static state =>
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

    private async Task WaitFor(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (true)
        {
            var changed = _node.Silos.Changed;
            if (condition())
                return;
            await changed.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    private void Pump()
    {
        if (_pumping)
            return;
        _pumping = true;
        for (var next = 0; next < _protocol.Actions.Count; next++)
            Act(_protocol.Actions[next]);
        _protocol.Actions.Clear();
        _pumping = false;
    }

    private void Act(MembershipAction action)
    {
        switch (action)
        {
            case MembershipAction.SendProbe send:
                _ = At(send.To).Probe(send.Probe);
                break;
            case MembershipAction.SendAnswer send:
                _ = At(send.To).Answer(send.Answer);
                break;
            case MembershipAction.SendIndirectProbe send:
                _ = At(send.To).ProbeForMe(send.Probe);
                break;
            case MembershipAction.SendIndirectAnswer send:
                _ = At(send.To).AnswerForYou(send.Answer);
                break;
            case MembershipAction.SendGossip send:
                _ = At(send.To).Gossip(send.Table);
                break;
            case MembershipAction.UseTable use:
                _ = UseTableAsync(use.Request);
                break;
            case MembershipAction.Publish publish:
                Publish(publish.View);
                break;
            case MembershipAction.LeaseChanged lease:
                _node.SetLease(lease.Held, _protocol.IsStopped);
                break;
            case MembershipAction.StopDead dead:
                _node.Log.DeclaredDead(_node.Address, dead.Reason);
                _node.Die(dead.Reason);
                break;
            case MembershipAction.Left:
                _left.TrySetResult();
                break;
        }
    }

    private IClusterTarget At(SiloAddress silo) => _node.Factory.GetSystemTarget<IClusterTarget>(Name, silo);

    private async Task UseTableAsync(TableRequest request)
    {
        using var timeout = new CancellationTokenSource(TimeSpan.FromMilliseconds(_options.TableTimeout), _node.Time);
        try
        {
            var reply = await _table.Execute(request, timeout.Token);
            _protocol.OnTableReply(reply, Now);
        }
        catch (Exception exception) when (exception is IOException or OrleansException or TimeoutException or OperationCanceledException)
        {
            _node.Log.TableFailed(exception);
            _protocol.OnTableFailed(request.Id, Now);
        }

        Pump();
    }

    private void Publish(View view)
    {
        var before = _node.Silos.View;
        if (!_node.Silos.Update(view))
            return;
        var change = view.Since(before);
        _node.Log.ViewChanged(view.Number, view.ActiveSilos.Length, string.Join(", ", change.Joined), string.Join(", ", change.Left));
        _node.OnView(before, view, change);
    }
}
