using System.Collections.Immutable;
using System.Net;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Routing;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>Makes the membership table of a silo; registered by the clustering that the application chose.</summary>
internal delegate IClusterTable ClusterTableFactory(ClusterTableNeeds parts);

/// <summary>The parts of a silo that a membership table may use.</summary>
/// <param name="Local">The silo.</param>
/// <param name="Peers">Finds and dials other silos.</param>
/// <param name="Factory">Makes references to their system targets.</param>
/// <param name="Refresh">Requests that the silo reads the table soon.</param>
internal sealed record ClusterTableNeeds(LocalNode Local, PeerTable Peers, GrainFactory Factory, Action Refresh);

/// <summary>
/// The embedded membership table as seen by the other silos: each operation is a call to the silo at the seed's endpoint. While the seed is
/// not connected, its endpoint is dialled repeatedly, so that a restarted seed can recover the table from this silo
/// (<see cref="EmbeddedTable"/>).
/// </summary>
internal sealed class SeedTable : IClusterTable
{
    private readonly ClusterTableNeeds _parts;
    private readonly IPEndPoint _seed;
    private int _isAwaited;

    internal SeedTable(ClusterTableNeeds parts, IPEndPoint seed)
    {
        _parts = parts;
        _seed = seed;
        parts.Peers.LinkLost += (silo, _) =>
        {
            if (silo.Endpoint.Equals(seed))
                AwaitSeed();
        };
    }

    /// <summary>
    /// Reads the table as soon as the seed is connected: a silo that connected too late to provide its copy must notice at once.
    /// </summary>
    private void AwaitSeed()
    {
        if (Interlocked.Exchange(ref _isAwaited, 1) != 0)
            return;
        _parts.Peers.Search(_seed).Task.GetAwaiter().UnsafeOnCompleted(() =>
        {
            Volatile.Write(ref _isAwaited, 0);
            _parts.Refresh();
        });
    }

    public async ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken)
    {
        try
        {
            var silo = await _parts.Peers.FindAsync(_seed).WaitAsync(cancellationToken);
            return await _parts.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).UseTable(
                request).AsTask().WaitAsync(cancellationToken);
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException or OperationCanceledException)
        {
            var cause = _parts.Peers.LastFailureAt(_seed) is { } failure ? ": " + DialFailures.Cause(failure) : "";
            throw new IOException(
                "The seed silo at " + _seed + ", which holds the membership table, does not answer" + cause + ".", exception);
        }
    }
}

/// <summary>
/// The embedded membership table at the seed, the silo that holds it. In memory only; but every silo keeps a copy of what it has last read.
/// So a seed that starts first recovers the table from the running silos: it waits for <see cref="Grace"/> for silos that dial it, and
/// continues with the newest copy. Without a copy it creates a new table.
/// </summary>
/// <remarks>
/// Runs on the turns of the cluster's system target. Holds one recovery, which ends within the grace and the time that a connected silo is
/// given to answer.
/// </remarks>
internal sealed class EmbeddedTable(ClusterTableNeeds parts) : IClusterTable
{
    /// <summary>
    /// Silos dial a lost seed five times a second (MeshOptions.SearchMax), so this time suffices, and the start is delayed little.
    /// </summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    /// <summary>A connected silo that does not reply within this time is skipped; the copies of the others are equivalent.</summary>
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(3);

    private static readonly TimeSpan LookPeriod = TimeSpan.FromMilliseconds(20);

    private readonly InMemoryMembershipTable _table = new(parts.Local.Address.Generation);
    private readonly Dictionary<SiloAddress, Task> _fetches = [];
    private readonly HashSet<SiloAddress> _answered = [];
    private TableSnapshot _newest = TableSnapshot.Empty;
    private Task? _recovery;

    public async ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken)
    {
        await (_recovery ??= RecoverAsync()).WaitAsync(cancellationToken);
        return _table.Apply(request);
    }

    private async Task RecoverAsync()
    {
        for (var start = parts.Local.Time.GetTimestamp(); parts.Local.Time.GetElapsedTime(start) < Grace
            && !HasHeardAll; await Task.Delay(LookPeriod, parts.Local.TaskTime))
        {
            foreach (var silo in parts.Peers.ConnectedSilos)
            {
                if (!_fetches.ContainsKey(silo))
                    _fetches.Add(silo, FetchTableAsync(silo));
            }
        }

        await Task.WhenAll(_fetches.Values);
        if (_newest.TableId == 0)
            return;
        _table.Restore(_newest);
        parts.Local.Log.TableRestored(parts.Local.Address, _newest.TableId, _newest.Version, _answered.Count);
    }

    private bool HasHeardAll => _newest.TableId != 0 && _newest.Rows.All(row =>
        !row.IsAlive || SiloOrder.SameEndpoint(row.Silo, parts.Local.Address) || _answered.Contains(row.Silo));

    private async Task FetchTableAsync(SiloAddress silo)
    {
        try
        {
            var table = await parts.Factory.GetSystemTarget<IClusterTarget>(
                ClusterService.Name, silo).GetTable().AsTask().WaitAsync(AnswerLimit, parts.Local.TaskTime);
            _answered.Add(silo);
            if (table.TableId != 0 && table.Version > _newest.Version)
                _newest = table;
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException)
        {
            parts.Local.Log.TableFailed(exception);
        }
    }
}

/// <summary>What a <see cref="TableRequest"/> asks for.</summary>
internal enum TableOperation : byte
{
    /// <summary>Read all rows.</summary>
    Read = 0,

    /// <summary>Advance the heartbeat of one silo and read all rows.</summary>
    Heartbeat = 1,

    /// <summary>Write and remove rows if the table is still at the expected version.</summary>
    Write = 2,
}

/// <summary>One operation on the membership table, in a form that can be carried to the silo or database that holds it.</summary>
/// <param name="Id">Number by which the requester recognises the reply.</param>
/// <param name="Operation">What to do.</param>
[Orleans.GenerateSerializer]
internal sealed record TableRequest(long Id, TableOperation Operation)
{
    /// <summary>Heartbeat: whose counter to advance.</summary>
    [Orleans.Id(11)]
    public SiloAddress? Silo { get; init; }

    /// <summary>Write: the version the table must have.</summary>
    [Orleans.Id(12)]
    public long ExpectedVersion { get; init; }

    /// <summary>Write: whether a status changes, so that the view number advances too.</summary>
    [Orleans.Id(13)]
    public bool ChangesView { get; init; }

    /// <summary>Write: rows to insert or replace, all or none. Their heartbeat counters are ignored for rows that exist.</summary>
    [Orleans.Id(14)]
    public ImmutableArray<MembershipRow> Rows { get; init; } = [];

    /// <summary>Write: rows to remove.</summary>
    [Orleans.Id(15)]
    public ImmutableArray<SiloAddress> Removed { get; init; } = [];
}

/// <summary>The reply to a <see cref="TableRequest"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="Accepted">Write: whether the version matched and the write was done. Always true for the other operations.</param>
/// <param name="Snapshot">The table after the operation, so that a refused writer can try again at once.</param>
[Orleans.GenerateSerializer]
internal sealed record TableReply(long Id, bool Accepted, TableSnapshot Snapshot);
