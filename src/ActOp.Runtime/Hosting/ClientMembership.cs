using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Hosting;

/// <summary>How a client learns the silos of the cluster: from any silo it is connected to, again and again.</summary>
internal sealed class ClientMembership : IDisposable
{
    /// <summary>A view is a few hundred bytes; asking every second finds new silos soon and costs nothing.</summary>
    private static readonly TimeSpan RefreshPeriod = TimeSpan.FromSeconds(1);

    /// <summary>After this time every client has heard of a change: the period, and as much again for a silo that was slow to answer.</summary>
    internal static readonly TimeSpan LongestIgnorance = RefreshPeriod * 2;

    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(10);

    private readonly Node _node;
    private readonly IServiceProvider _services;
    private ITimer? _timer;
    private int _refreshing;
    private int _gateways;

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
        _timer = _node.Time.CreateTimer(_ => _ = RefreshAsync(), null, RefreshPeriod, RefreshPeriod);
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _node.Peers.LinkLost -= OnLinkLost;
    }

    private async Task ConnectOnceAsync(CancellationToken cancellationToken)
    {
        var found = _node.GatewayEndPoints.Select(_node.Peers.FindAsync).ToArray();
        SiloAddress silo;
        try
        {
            silo = await (await Task.WhenAny(found).WaitAsync(ConnectTimeout, _node.Time, cancellationToken).ConfigureAwait(false)).ConfigureAwait(false);
        }
        catch (TimeoutException exception)
        {
            throw new ConnectionFailedException("No silo answered at " + string.Join(", ", _node.GatewayEndPoints.AsEnumerable()) + " within " + ConnectTimeout + ". Are the cluster id and service id the silos'?", exception);
        }

        await LearnAsync(silo).ConfigureAwait(false);
    }

    private async Task LearnAsync(SiloAddress silo)
    {
        var target = _node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo);
        _node.Classes.Add(await target.GetGrainTypes().ConfigureAwait(false));
        Take(await target.GetTable().ConfigureAwait(false));
    }

    private void OnLinkLost(SiloAddress silo, bool refused) => _ = RefreshAsync();

    private async Task RefreshAsync()
    {
        if (Interlocked.Exchange(ref _refreshing, 1) != 0)
            return;
        try
        {
            foreach (var silo in _node.Silos.Active)
            {
                if (!_node.Peers.IsConnected(silo))
                    continue;
                await LearnAsync(silo).ConfigureAwait(false);
                break;
            }
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException)
        {
            // The next period asks another silo.
        }
        finally
        {
            Volatile.Write(ref _refreshing, 0);
            NotifyGateways();
        }
    }

    private void Take(TableSnapshot table)
    {
        var view = View.From(table);
        var before = _node.Silos.View;
        if (_node.Silos.Update(view))
            _node.OnView(before, view, view.Since(before));
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
