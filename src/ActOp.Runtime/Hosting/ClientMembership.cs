using System.Net;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// How a client learns the silos of the cluster: from any silo it is connected to, again and again. When it is connected to none of those
/// it knows, it begins anew with the gateways it was configured with: the whole cluster may have started again.
/// </summary>
/// <remarks>
/// Owns a timer and its subscription to link events until disposed. One refresh at a time, which ends within a period and
/// <see cref="AnswerLimit"/>; it runs on the control stage and the thread pool, throws nothing, and the next period repeats what failed.
/// </remarks>
internal sealed class ClientMembership : IDisposable
{
    /// <summary>A view is a few hundred bytes; asking every second finds new silos soon and costs nothing.</summary>
    private static readonly TimeSpan RefreshPeriod = TimeSpan.FromSeconds(1);

    /// <summary>
    /// After this time every client has heard of a change: the period, and as much again for a silo that was slow to answer.
    /// </summary>
    internal static readonly TimeSpan MaxViewStaleness = RefreshPeriod * 2;

    /// <summary>
    /// No silo has answered by then: the next period begins anew. One that is only busy must not be given up at once, or the client never
    /// learns.
    /// </summary>
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(10);

    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly PeerTable _peers;
    private readonly GrainFactory _factory;
    private readonly GrainClasses _classes;
    private readonly Stage _control;
    private readonly EndPoint[] _gateways;
    private ITimer? _timer;
    private volatile bool _isDisposed;
    private int _refreshing;
    private int _connectedGateways;

    /// <summary>Whom to ask, by its place in the view: the next one after a failure.</summary>
    private int _turn;

    internal ClientMembership(
        LocalNode local, ClusterView cluster, PeerTable peers, GrainFactory factory, GrainClasses classes, Stage control, EndPoint[] gateways)
    {
        _local = local;
        _cluster = cluster;
        _peers = peers;
        _factory = factory;
        _classes = classes;
        _control = control;
        _gateways = gateways;
    }

    /// <summary>Told of a newer view: the one before, the new one, what changed.</summary>
    internal event Action<View, View, ViewChange>? ViewChanged;

    /// <summary>Waits for the first silo that answers; without one, asks the retry filter or throws.</summary>
    internal async Task ConnectAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await ConnectOnceAsync(cancellationToken).ConfigureAwait(false);
                break;
            }
            catch (Exception exception) when (exception is not OperationCanceledException || !cancellationToken.IsCancellationRequested)
            {
                var filter = _local.Services.GetService<IClientConnectionRetryFilter>();
                if (filter is null || !await filter.ShouldRetryConnectionAttempt(exception, cancellationToken).ConfigureAwait(false))
                    throw;
            }
        }

        _peers.LinkLost += OnLinkLost;
        _timer = _local.Time.CreateTimer(_ => PostRefresh(), null, RefreshPeriod, RefreshPeriod);
    }

    public void Dispose()
    {
        _isDisposed = true;
        _timer?.Dispose();
        _peers.LinkLost -= OnLinkLost;
    }

    private async Task ConnectOnceAsync(CancellationToken cancellationToken)
    {
        SiloAddress silo;
        try
        {
            silo = await FindGatewayAsync().WaitAsync(ConnectTimeout, _local.TaskTime, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException exception)
        {
            throw new ConnectionFailedException("No silo answered at " + string.Join(", ", _gateways.AsEnumerable()) + " within " + ConnectTimeout + ". Are the cluster id and service id the silos'?", exception);
        }

        Take(await AskAsync(silo).ConfigureAwait(false));
    }

    private async Task<SiloAddress> FindGatewayAsync() =>
        await (await Task.WhenAny(_gateways.Select(_peers.FindAsync)).ConfigureAwait(false)).ConfigureAwait(false);

    /// <summary>Only asks: an answer that comes when nobody waits for it any more changes nothing.</summary>
    private async Task<(GrainTypeEntry[] Types, TableSnapshot Table)> AskAsync(SiloAddress silo)
    {
        var target = _factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo);
        return (await target.GetGrainTypes().ConfigureAwait(false), await target.GetTable().ConfigureAwait(false));
    }

    /// <summary>
    /// Asks one silo after the other, a period apart, until one has answered: whoever stands still holds nothing up, and whoever is slow
    /// may still answer.
    /// </summary>
    private async Task<(GrainTypeEntry[] Types, TableSnapshot Table)> AskAnyAsync()
    {
        var asked = new List<Task<(GrainTypeEntry[] Types, TableSnapshot Table)>>();
        while (true)
        {
            var silo = Connected() ?? await FindGatewayAsync().WaitAsync(RefreshPeriod, _local.TaskTime).ConfigureAwait(false);
            asked.Add(AskAsync(silo));
            try
            {
                return await (await Task.WhenAny(asked).WaitAsync(RefreshPeriod, _local.TaskTime).ConfigureAwait(false)).ConfigureAwait(false);
            }
            catch (TimeoutException) when (asked.Count * RefreshPeriod < AnswerLimit)
            {
                _turn++;
            }
        }
    }

    private void OnLinkLost(SiloAddress silo, bool isGone) => PostRefresh();

    /// <summary>From timers and link events, which must not wait for the calls of a refresh to be sent.</summary>
    private void PostRefresh()
    {
        if (!_isDisposed && Interlocked.Exchange(ref _refreshing, 1) == 0)
            _control.Post(new StageAction(() => _ = RefreshAsync()));
    }

    private async Task RefreshAsync()
    {
        try
        {
            Take(await AskAnyAsync().ConfigureAwait(false));
        }
        catch (TimeoutException)
        {
            // Nobody is there, or the one that was asked stands still: the next period asks another.
            _turn++;
        }
        catch (Exception exception)
        {
            _turn++;
            if (!_isDisposed)
                _local.Log.RefreshFailed(exception);
        }

        try
        {
            NotifyGateways();
        }
        catch (Exception exception)
        {
            // The application's observers.
            _local.Log.RefreshFailed(exception);
        }
        finally
        {
            Volatile.Write(ref _refreshing, 0);
        }
    }

    /// <summary>A silo of the view that is connected.</summary>
    private SiloAddress? Connected()
    {
        var active = _cluster.Active;
        for (var i = 0; i < active.Length; i++)
        {
            var silo = active[(_turn + i) % active.Length];
            if (_peers.IsConnected(silo))
                return silo;
        }

        return null;
    }

    private void Take((GrainTypeEntry[] Types, TableSnapshot Table) answer)
    {
        _classes.Add(answer.Types);
        // The silo has only begun to start.
        if (answer.Table.TableId == 0)
            return;
        var view = View.From(answer.Table);
        var before = _cluster.View;
        if (_cluster.Update(view))
            ViewChanged?.Invoke(before, view, view.Since(before));
        if (Connected() is not null)
            _peers.StopSearching();
    }

    private void NotifyGateways()
    {
        var count = _peers.Count(clients: false);
        var before = Interlocked.Exchange(ref _connectedGateways, count);
        if (count == before)
            return;
        foreach (var observer in _local.Services.GetServices<IClusterConnectionStatusObserver>())
        {
            observer.NotifyGatewayCountChanged(count, before, connectionRecovered: before == 0 && count > 0);
            if (count == 0)
                observer.NotifyClusterConnectionLost();
        }
    }
}
