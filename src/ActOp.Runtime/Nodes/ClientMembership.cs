using System.Net;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Nodes;

/// <summary>
/// Reads the silos of the cluster periodically from any connected silo. If no known silo is connected, the client starts again with its
/// configured gateways, because the whole cluster may have been restarted.
/// </summary>
/// <remarks>
/// Owns a timer and its subscription to link events until disposed. One refresh at a time, which ends within a period and
/// <see cref="AnswerLimit"/>; it runs on the control stage and the thread pool, and does not throw. A failed refresh is repeated in the
/// next period.
/// </remarks>
internal sealed class ClientMembership : IDisposable
{
    /// <summary>Time between refreshes. A view has a few hundred bytes.</summary>
    private static readonly TimeSpan RefreshPeriod = TimeSpan.FromSeconds(1);

    /// <summary>Time after which every client knows a change: the period, and the same time again for a slow silo.</summary>
    internal static readonly TimeSpan MaxViewStaleness = RefreshPeriod * 2;

    /// <summary>Time limit for the reply of a silo. Longer than a period, so that a busy silo can still reply.</summary>
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(10);

    /// <summary>Time between two lists of a provider while no gateway is found: doubled each time, up to the second one.</summary>
    private static readonly TimeSpan FirstListPause = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestListPause = TimeSpan.FromSeconds(1);

    private readonly LocalNode _local;
    private readonly ClusterView _cluster;
    private readonly PeerTable _peers;
    private readonly GrainFactory _factory;
    private readonly GrainClasses _classes;
    private readonly ClusterManifests _manifests;
    private readonly Stage _control;
    private readonly Gateways _gateways;
    private readonly ConnectionEvents _events;
    private readonly BackgroundPart _refreshes;
    private readonly BackgroundPart _names;
    private long _resolvedAt;
    private volatile SiloAddress? _preferred;
    private ITimer? _timer;
    private volatile bool _isDisposed;
    private int _refreshing;

    /// <summary>Index of the silo in the view to which the next request is sent; advanced after a failure.</summary>
    private int _turn;

    internal ClientMembership(
        LocalNode local, ClusterView cluster, PeerTable peers, GrainFactory factory, GrainClasses classes,
        ClusterManifests manifests, Stage control, Gateways gateways)
    {
        _names = local.Background.Part("gateways");
        _local = local;
        _cluster = cluster;
        _peers = peers;
        _factory = factory;
        _classes = classes;
        _manifests = manifests;
        _control = control;
        _gateways = gateways;
        _events = new ConnectionEvents(local);
        _refreshes = local.Background.Part("view");
    }

    /// <summary>The silo at the gateway that is preferred; null if none is, or if it is not known. Any thread.</summary>
    internal SiloAddress? PreferredGateway => _preferred;

    /// <summary>Called with a newer view: previous view, new view, changes.</summary>
    internal event Action<View, View, ViewChange>? ViewChanged;

    /// <summary>Waits for the first silo that replies. If none does, calls the retry filter or throws.</summary>
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

        _events.Report(_peers.Count(clients: false));
        _peers.LinkLost += OnLinkLost;
        _timer = _local.Time.CreateTimer(_ => OnPeriod(), null, RefreshPeriod, RefreshPeriod);
    }

    public void Dispose()
    {
        _isDisposed = true;
        _timer?.Dispose();
        _peers.LinkLost -= OnLinkLost;
    }

    private async Task ConnectOnceAsync(CancellationToken cancellationToken) =>
        OnAnswer(await FetchAsync(await FindFirstGatewayAsync(cancellationToken).ConfigureAwait(false)).ConfigureAwait(false));

    /// <summary>
    /// Searches until <see cref="ConnectTimeout"/>. The list of a provider may be empty, or name silos that are gone, until the cluster has
    /// started: it is read again. What only other settings can change fails at once.
    /// </summary>
    /// <exception cref="ConnectionFailedException">No silo was found; the text says why, as far as it is known.</exception>
    private async Task<SiloAddress> FindFirstGatewayAsync(CancellationToken cancellationToken)
    {
        var start = _local.Time.GetTimestamp();
        for (var pause = FirstListPause; ; pause = pause * 2 < LongestListPause ? pause * 2 : LongestListPause)
        {
            EndPoint[] endPoints = [];
            SiloAddress? found;
            try
            {
                endPoints = await ResolveAsync(cancellationToken).WaitAsync(Left(), _local.TaskTime, cancellationToken)
                    .ConfigureAwait(false);
                var patience = _gateways.IsProvided && Left() > RefreshPeriod ? RefreshPeriod : Left();
                found = await SearchAsync(endPoints).WaitAsync(patience, _local.TaskTime, cancellationToken).ConfigureAwait(false);
            }
            catch (Exception exception) when (exception is TimeoutException or ConnectionFailedException)
            {
                if (!_gateways.IsProvided || Left() <= pause || DialFailures.IsRefusedByDatabase(exception))
                    throw NotFound(endPoints, exception);
                await Task.Delay(pause, _local.TaskTime, cancellationToken).ConfigureAwait(false);
                continue;
            }

            return found ?? throw new ConnectionFailedException("The gateways do not let this client in. " + Causes(endPoints));
        }

        TimeSpan Left() => ConnectTimeout - _local.Time.GetElapsedTime(start) is { Ticks: > 0 } left ? left : TimeSpan.Zero;
    }

    /// <summary>The first silo that answers; null when the settings of this client fit none of the gateways.</summary>
    private async Task<SiloAddress?> SearchAsync(EndPoint[] endPoints)
    {
        var refusals = Array.ConvertAll(
            endPoints, static _ => new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        var searches = endPoints.Zip(refusals, _peers.FindAsync).ToArray();
        var first = await Task.WhenAny(
            [.. searches, Task.WhenAll(refusals.Select(static refused => refused.Task))]).ConfigureAwait(false);
        return first is Task<SiloAddress> found ? await found.ConfigureAwait(false) : null;
    }

    private ConnectionFailedException NotFound(EndPoint[] endPoints, Exception exception) => new(
        endPoints.Length > 0 ? "No silo answered at " + _gateways + " within " + ConnectTimeout + ". " + Causes(endPoints)
            : exception is TimeoutException ? "The gateways could not be looked up within " + ConnectTimeout + "."
            : exception.Message,
        exception);

    private string Causes(EndPoint[] endPoints) => string.Join(
        "; ", endPoints.Select(endPoint => endPoint + ": " + DialFailures.Cause(_peers.LastFailureAt(endPoint)))) + ".";

    private async Task<SiloAddress> FindGatewayAsync()
    {
        var endPoints = await ResolveAsync(CancellationToken.None).ConfigureAwait(false);
        var searches = endPoints.Select(endPoint => _peers.FindAsync(endPoint));
        return await (await Task.WhenAny(searches).ConfigureAwait(false)).ConfigureAwait(false);
    }

    private Task<EndPoint[]> ResolveAsync(CancellationToken cancellationToken)
    {
        _resolvedAt = _local.Clock.Now;
        return _gateways.ResolveAsync(cancellationToken);
    }

    /// <summary>On the timer: must only post.</summary>
    private void OnPeriod()
    {
        PostRefresh();
        if (!_gateways.MayChange || _local.Clock.Now - _resolvedAt < (long)_gateways.Period.TotalMilliseconds)
            return;
        _resolvedAt = _local.Clock.Now;
        _names.Run(async cancellationToken =>
        {
            await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            await ResolveAsync(cancellationToken).ConfigureAwait(false);
        });
    }

    /// <summary>Reads without changing state, so that a late reply has no effect.</summary>
    private async Task<(GrainTypesReply Types, TableSnapshot Table)> FetchAsync(SiloAddress silo)
    {
        var target = _factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo);
        return (await target.GetGrainTypes().ConfigureAwait(false), await target.GetTable().ConfigureAwait(false));
    }

    /// <summary>
    /// Sends the request to one silo after the other, a period apart, until one replies. An unresponsive silo delays nothing, and a slow
    /// one may still reply.
    /// </summary>
    private async Task<(GrainTypesReply Types, TableSnapshot Table)> FetchFromAnyAsync()
    {
        var asked = new List<Task<(GrainTypesReply Types, TableSnapshot Table)>>();
        while (true)
        {
            var silo = Connected()
                ?? await FindGatewayAsync().WaitAsync(RefreshPeriod, _local.TaskTime, _refreshes.Stopping).ConfigureAwait(false);
            asked.Add(FetchAsync(silo));
            try
            {
                return await (await Task.WhenAny(asked).WaitAsync(RefreshPeriod, _local.TaskTime,
                    _refreshes.Stopping).ConfigureAwait(false)).ConfigureAwait(false);
            }
            catch (TimeoutException) when (asked.Count * RefreshPeriod < AnswerLimit)
            {
                _turn++;
            }
        }
    }

    private void OnLinkLost(SiloAddress silo, bool isGone) => PostRefresh();

    /// <summary>Called by timers and link events, which must not wait until the requests are sent.</summary>
    private void PostRefresh()
    {
        if (!_isDisposed && Interlocked.Exchange(ref _refreshing, 1) == 0)
            _control.Post(new StageAction(() => _refreshes.Follow(RefreshAsync())));
    }

    private async Task RefreshAsync()
    {
        try
        {
            OnAnswer(await FetchFromAnyAsync().ConfigureAwait(false));
        }
        catch (TimeoutException)
        {
            // No silo is connected, or the silo did not reply: the next period uses another one.
            _turn++;
        }
        catch (Exception exception)
        {
            _turn++;
            if (!_isDisposed)
                _local.Log.RefreshFailed(exception);
        }

        _events.Report(_peers.Count(clients: false));
        Volatile.Write(ref _refreshing, 0);
    }

    /// <summary>A silo of the view that is connected.</summary>
    private SiloAddress? Connected() => _peers.FindConnected(_cluster.Active, _turn);

    private void OnAnswer((GrainTypesReply Types, TableSnapshot Table) answer)
    {
        // A silo that has just started does not know all classes yet.
        if (answer.Types.IsComplete && answer.Table.TableId != 0)
            _classes.SetKnown(answer.Types.Entries);
        else
            _classes.AddKnown(answer.Types.Entries);
        _manifests.TakeAsClient(answer.Types);
        // The silo is still starting.
        if (answer.Table.TableId == 0)
            return;
        var view = View.From(answer.Table);
        var before = _cluster.View;
        if (_cluster.Update(view))
            ViewChanged?.Invoke(before, view, view.Since(before));
        _preferred = _gateways.HasPreferred ? PreferredIn(view) : null;
        if (Connected() is not null)
            _peers.StopSearching();
    }

    private SiloAddress? PreferredIn(View view)
    {
        var endPoints = _gateways.Preferred.ToHashSet();
        foreach (var silo in view.ActiveSilos)
        {
            if (endPoints.Contains(silo.Endpoint) || (view.FindMember(silo)?.Gateway is { } gateway && endPoints.Contains(gateway)))
                return silo;
        }

        return null;
    }
}
