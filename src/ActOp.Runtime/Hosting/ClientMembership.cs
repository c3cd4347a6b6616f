using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
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
    internal static readonly TimeSpan LongestIgnorance = RefreshPeriod * 2;

    /// <summary>
    /// No silo has answered by then: the next period begins anew. One that is only busy must not be given up at once, or the client never
    /// learns.
    /// </summary>
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(10);

    private readonly Node _node;
    private readonly IServiceProvider _services;
    private ITimer? _timer;
    private volatile bool _isDisposed;
    private int _refreshing;
    private int _gateways;

    /// <summary>Whom to ask, by its place in the view: the next one after a failure.</summary>
    private int _turn;

    internal ClientMembership(Node node, IServiceProvider services)
    {
        _node = node;
        _services = services;
    }

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
                var filter = _services.GetService<IClientConnectionRetryFilter>();
                if (filter is null || !await filter.ShouldRetryConnectionAttempt(exception, cancellationToken).ConfigureAwait(false))
                    throw;
            }
        }

        _node.Peers.LinkLost += OnLinkLost;
        _timer = _node.Time.CreateTimer(_ => PostRefresh(), null, RefreshPeriod, RefreshPeriod);
    }

    public void Dispose()
    {
        _isDisposed = true;
        _timer?.Dispose();
        _node.Peers.LinkLost -= OnLinkLost;
    }

    private async Task ConnectOnceAsync(CancellationToken cancellationToken)
    {
        SiloAddress silo;
        try
        {
            silo = await FindGatewayAsync().WaitAsync(ConnectTimeout, _node.TaskTime, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException exception)
        {
            throw new ConnectionFailedException("No silo answered at " + string.Join(", ", _node.GatewayEndPoints.AsEnumerable()) + " within " + ConnectTimeout + ". Are the cluster id and service id the silos'?", exception);
        }

        Take(await AskAsync(silo).ConfigureAwait(false));
    }

    private async Task<SiloAddress> FindGatewayAsync() =>
        await (await Task.WhenAny(_node.GatewayEndPoints.Select(_node.Peers.FindAsync)).ConfigureAwait(false)).ConfigureAwait(false);

    /// <summary>Only asks: an answer that comes when nobody waits for it any more changes nothing.</summary>
    private async Task<(GrainTypeEntry[] Types, TableSnapshot Table)> AskAsync(SiloAddress silo)
    {
        var target = _node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo);
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
            var silo = Connected() ?? await FindGatewayAsync().WaitAsync(RefreshPeriod, _node.TaskTime).ConfigureAwait(false);
            asked.Add(AskAsync(silo));
            try
            {
                return await (await Task.WhenAny(asked).WaitAsync(RefreshPeriod, _node.TaskTime).ConfigureAwait(false)).ConfigureAwait(false);
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
            _node.ControlStage.Post(new StageAction(() => _ = RefreshAsync()));
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
                _node.Log.RefreshFailed(exception);
        }

        try
        {
            NotifyGateways();
        }
        catch (Exception exception)
        {
            // The application's observers.
            _node.Log.RefreshFailed(exception);
        }
        finally
        {
            Volatile.Write(ref _refreshing, 0);
        }
    }

    /// <summary>A silo of the view that is connected.</summary>
    private SiloAddress? Connected()
    {
        var active = _node.Silos.Active;
        for (var i = 0; i < active.Length; i++)
        {
            var silo = active[(_turn + i) % active.Length];
            if (_node.Peers.IsConnected(silo))
                return silo;
        }

        return null;
    }

    private void Take((GrainTypeEntry[] Types, TableSnapshot Table) answer)
    {
        _node.Classes.Add(answer.Types);
        // The silo has only begun to start.
        if (answer.Table.TableId == 0)
            return;
        var view = View.From(answer.Table);
        var before = _node.Silos.View;
        if (_node.Silos.Update(view))
            _node.OnView(before, view, view.Since(before));
        if (Connected() is not null)
            _node.Peers.StopSearching();
    }

    private void NotifyGateways()
    {
        var count = _node.Peers.Count(clients: false);
        var before = Interlocked.Exchange(ref _gateways, count);
        if (count == before)
            return;
        foreach (var observer in _services.GetServices<IClusterConnectionStatusObserver>())
        {
            observer.NotifyGatewayCountChanged(count, before, connectionRecovered: before == 0 && count > 0);
            if (count == 0)
                observer.NotifyClusterConnectionLost();
        }
    }
}
