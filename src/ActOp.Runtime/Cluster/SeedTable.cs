using System.Collections.Immutable;
using System.Net;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>Makes the membership table of a silo; registered by the clustering that the application chose.</summary>
internal delegate IClusterTable ClusterTableFactory(ClusterTableParts parts);

/// <summary>What a membership table may use of its silo.</summary>
/// <param name="Local">The silo.</param>
/// <param name="Peers">Finds and dials other silos.</param>
/// <param name="Factory">Makes references to their system targets.</param>
/// <param name="Refresh">Has the silo read the table soon.</param>
internal sealed record ClusterTableParts(LocalNode Local, PeerTable Peers, GrainFactory Factory, Action Refresh);

/// <summary>
/// The embedded membership table as every silo but the seed sees it: each operation is a call to the silo that is at the seed's endpoint
/// now. While none is, that endpoint is dialled again and again, so that a seed that starts again finds this silo at once and takes over
/// what it knows (<see cref="EmbeddedTable"/>).
/// </summary>
internal sealed class SeedTable : IClusterTable
{
    private readonly ClusterTableParts _parts;
    private readonly IPEndPoint _seed;
    private int _isAwaited;

    internal SeedTable(ClusterTableParts parts, IPEndPoint seed)
    {
        _parts = parts;
        _seed = seed;
        parts.Peers.LinkLost += (silo, _) =>
        {
            if (silo.Endpoint.Equals(seed))
                AwaitSeed();
        };
    }

    /// <summary>Reads the table as soon as the seed is there: a silo that came too late to give its copy must know at once.</summary>
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
            return await _parts.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).UseTable(request).AsTask().WaitAsync(cancellationToken);
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException or OperationCanceledException)
        {
            throw new IOException("The seed silo at " + _seed + ", which holds the membership table, does not answer.", exception);
        }
    }
}

/// <summary>
/// The embedded membership table at the seed, the silo that holds it. In memory only; but every silo keeps a copy of what it has last read.
/// So a seed that starts first asks the silos that are still there from before: for <see cref="Grace"/> it waits for those that dial it,
/// and goes on with the newest copy. Without one it begins a new table.
/// </summary>
/// <remarks>
/// Runs on the turns of the cluster's system target. Holds one recovery, which ends within the grace and the time that a connected silo is
/// given to answer.
/// </remarks>
internal sealed class EmbeddedTable(ClusterTableParts parts) : IClusterTable
{
    /// <summary>
    /// Silos dial a lost seed five times a second (MeshOptions.SearchMax): enough for every one, and a start that is hardly felt.
    /// </summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    /// <summary>A silo that is connected and says nothing for this long stands still; the others' copies are as good.</summary>
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(3);

    private static readonly TimeSpan LookPeriod = TimeSpan.FromMilliseconds(20);

    private readonly InMemoryMembershipTable _table = new(parts.Local.Address.Generation);
    private readonly Dictionary<SiloAddress, Task> _asked = [];
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
        for (var start = parts.Local.Time.GetTimestamp(); parts.Local.Time.GetElapsedTime(start) < Grace && !HasHeardAll; await Task.Delay(LookPeriod, parts.Local.Time))
        {
            foreach (var silo in parts.Peers.ConnectedSilos)
            {
                if (!_asked.ContainsKey(silo))
                    _asked.Add(silo, AskAsync(silo));
            }
        }

        await Task.WhenAll(_asked.Values);
        if (_newest.TableId == 0)
            return;
        _table.Restore(_newest);
        parts.Local.Log.TableRestored(parts.Local.Address, _newest.TableId, _newest.Version, _answered.Count);
    }

    private bool HasHeardAll => _newest.TableId != 0 && _newest.Rows.All(row =>
        !row.IsAlive || SiloOrder.SameEndpoint(row.Silo, parts.Local.Address) || _answered.Contains(row.Silo));

    private async Task AskAsync(SiloAddress silo)
    {
        try
        {
            var table = await parts.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).GetTable().AsTask().WaitAsync(AnswerLimit, parts.Local.Time);
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

/// <summary>The answer to a <see cref="TableRequest"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="Accepted">Write: whether the version matched and the write was done. Always true for the other operations.</param>
/// <param name="Snapshot">The table after the operation, so that a refused writer can try again at once.</param>
[Orleans.GenerateSerializer]
internal sealed record TableReply(long Id, bool Accepted, TableSnapshot Snapshot);
