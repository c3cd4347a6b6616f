using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// The membership table of the application, as this runtime uses it: reads all rows, writes one row after the other with the next version
/// of the table, and gives up when the storage refuses one.
/// </summary>
/// <remarks>
/// <para>The cluster's system target calls, one request at a time; the code of the application runs on the thread pool. Holds no resource:
/// the container owns the table. Remembers at which version each row was last seen to change.</para>
/// <para>The storage throws: the request fails with an <see cref="IOException"/>, and the protocol repeats it. It hangs: the request ends
/// with its time limit, and the application's task is left alone. It refuses a row, because another silo was faster: the answer says so
/// with the rows as they are, and the protocol writes again what is lacking. A write of several rows may stop between two; each of them is
/// right by itself, and those of dead silos are written first.</para>
/// <para>What a row of this runtime has and an entry has not is in its suspicions: their times say in which view a vote was cast, and
/// whether the voter was refused; a dead silo that suspects itself says why it is dead. A row is never removed while its silo lives; the
/// rows of dead silos go with <see cref="IMembershipTable.CleanupDefunctSiloEntries"/>.</para>
/// </remarks>
internal sealed class ApplicationTable(IMembershipTable table, TimeProvider time) : IClusterTable
{
    /// <summary>The identity of every such table: a table that was emptied cannot be told from the one before.</summary>
    private const long TableId = 1;

    /// <summary>Suspicions of this runtime count seconds from here.</summary>
    private static readonly DateTime Epoch = new(2000, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private static readonly TimeSpan RefusedMark = TimeSpan.FromMilliseconds(500);

    private readonly Dictionary<SiloAddress, (MembershipRow Row, long ChangedAt)> _seen = [];
    private readonly DateTime _start = time.GetUtcNow().UtcDateTime;
    private Task? _initialized;
    private DateTime _alive;

    /// <summary>For a silo whose application has a table; null for others.</summary>
    internal static ClusterTableFactory? FactoryOf(IServiceProvider services)
    {
        if (services.GetService<IServiceProviderIsService>() is { } known && !known.IsService(typeof(IMembershipTable)))
            return null;
        if (services.GetService<IMembershipTable>() is not { } table)
            return null;
        return parts =>
        {
            ApplicationTableLog.Used(parts.Local.Log.Logger, table.GetType());
            return new ApplicationTable(table, parts.Local.TaskTime);
        };
    }

    /// <inheritdoc/>
    public async ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken)
    {
        try
        {
            // Not on the turn of the cluster: the application may block.
            await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            return await ExecuteAsync(request, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is not OperationCanceledException || !cancellationToken.IsCancellationRequested)
        {
            throw new IOException(
                "The membership table of the application, " + table.GetType() + ", could not be used: " + exception.Message, exception);
        }
    }

    private async Task<TableReply> ExecuteAsync(TableRequest request, CancellationToken cancellationToken)
    {
        if (_initialized is null or { IsFaulted: true } or { IsCanceled: true })
            _initialized = table.InitializeMembershipTableAsync(tryInitTableVersion: true, CancellationToken.None);
        await _initialized.WaitAsync(cancellationToken).ConfigureAwait(false);
        var data = await table.ReadAllAsync(cancellationToken).WaitAsync(cancellationToken).ConfigureAwait(false);
        switch (request.Operation)
        {
            case TableOperation.Heartbeat when data.TryGet(request.Silo!) is (var entry, _):
                await table.UpdateIAmAliveAsync(Alive(entry), cancellationToken).WaitAsync(cancellationToken).ConfigureAwait(false);
                return new TableReply(request.Id, true, Snapshot(data));
            case TableOperation.Write:
                return await WriteAsync(request, data, cancellationToken).ConfigureAwait(false);
            default:
                return new TableReply(request.Id, true, Snapshot(data));
        }
    }

    private async Task<TableReply> WriteAsync(TableRequest request, MembershipTableData data, CancellationToken cancellationToken)
    {
        if (data.Version.Version != request.ExpectedVersion)
            return new TableReply(request.Id, false, Snapshot(data));
        var rows = Changes(request, Snapshot(data));
        for (var written = 0; written < rows.Count; written++)
        {
            var row = rows[written];
            var version = data.Version.Next();
            var done = data.TryGet(row.Silo) is (var entry, var etag)
                ? table.UpdateRowAsync(With(entry, row), etag, version, cancellationToken)
                : table.InsertRowAsync(With(New(row), row), version, cancellationToken);
            var isDone = await done.WaitAsync(cancellationToken).ConfigureAwait(false);
            data = await table.ReadAllAsync(cancellationToken).WaitAsync(cancellationToken).ConfigureAwait(false);
            if (!isDone || (data.Version.Version != version.Version && written + 1 < rows.Count))
                return new TableReply(request.Id, false, Snapshot(data));
        }

        if (rows.Count == 0
            && request.Removed.Select(data.TryGet).OfType<Tuple<MembershipEntry, string>>().ToArray() is { Length: > 0 } gone)
        {
            var last = gone.Max(static row => row.Item1.IAmAliveTime > row.Item1.StartTime ? row.Item1.IAmAliveTime : row.Item1.StartTime);
            await table.CleanupDefunctSiloEntriesAsync(new DateTimeOffset(Utc(last)).AddSeconds(1), cancellationToken)
                .WaitAsync(cancellationToken).ConfigureAwait(false);
            data = await table.ReadAllAsync(cancellationToken).WaitAsync(cancellationToken).ConfigureAwait(false);
        }

        return new TableReply(request.Id, true, Snapshot(data));
    }

    /// <summary>
    /// A process that lives by the table although a newer one has its endpoint is dead; rows of the dead are left alone here.
    /// </summary>
    private static List<MembershipRow> Changes(TableRequest request, TableSnapshot present)
    {
        var replaced = request.Removed.Select(present.FindRow).OfType<MembershipRow>()
            .Where(static row => row.IsAlive).Select(static row => row.AsDead(DeathCause.Replaced));
        return [.. replaced.Concat(request.Rows).OrderBy(static row => row.IsAlive)];
    }

    private TableSnapshot Snapshot(MembershipTableData data)
    {
        var version = data.Version.Version;
        var rows = ImmutableArray.CreateBuilder<MembershipRow>(data.Members.Count);
        foreach (var (entry, _) in data.Members)
        {
            var row = RowOf(entry);
            if (!_seen.TryGetValue(row.Silo, out var seen) || !IsSame(seen.Row, row))
                _seen[row.Silo] = seen = (row, version);
            rows.Add(row with { ChangedAt = seen.ChangedAt });
        }

        if (_seen.Count > rows.Count)
        {
            foreach (var silo in _seen.Keys.Where(silo => data.TryGet(silo) is null).ToArray())
                _seen.Remove(silo);
        }

        return new TableSnapshot(version, version, rows.ToImmutable()) { TableId = TableId };
    }

    private static bool IsSame(MembershipRow one, MembershipRow other) =>
        one.Status == other.Status && one.Cause == other.Cause && one.Votes.SequenceEqual(other.Votes);

    private static MembershipRow RowOf(MembershipEntry entry)
    {
        var silo = entry.SiloAddress;
        var votes = entry.SuspectTimes ?? [];
        var isDead = entry.Status == SiloStatus.Dead;
        return new MembershipRow(silo, entry.SiloName ?? "", entry.Status,
            entry.ProxyPort > 0 ? new IPEndPoint(silo.Endpoint.Address, entry.ProxyPort) : null)
        {
            // Who has written another cause says nothing of its lease.
            Cause = !isDead ? DeathCause.None
                : votes.FirstOrDefault(vote => vote.Item1.Equals(silo)) is { } cause
                && SecondsOf(cause.Item2) is > 0 and <= (int)DeathCause.Silent and var known
                ? (DeathCause)known : DeathCause.Silent,
            Votes = isDead ? [] : [.. votes.Where(vote => !vote.Item1.Equals(silo)).Select(static vote =>
                new Vote(vote.Item1, SecondsOf(vote.Item2), Utc(vote.Item2).Millisecond >= RefusedMark.Milliseconds))],
            Heartbeat = Utc(entry.IAmAliveTime).Ticks / TimeSpan.TicksPerMillisecond,
        };
    }

    private static MembershipEntry With(MembershipEntry entry, MembershipRow row)
    {
        var written = Copy(entry);
        written.Status = row.Status;
        written.SiloName = row.Name;
        written.ProxyPort = row.Gateway?.Port ?? 0;
        written.SuspectTimes = row.IsAlive
            ? [.. row.Votes.Select(static vote => Tuple.Create(
                vote.Voter, Epoch.AddSeconds(vote.View) + (vote.Refused ? RefusedMark : TimeSpan.Zero)))]
            : [Tuple.Create(row.Silo, Epoch.AddSeconds((int)row.Cause))];
        return written;
    }

    private MembershipEntry New(MembershipRow row) => new()
    {
        SiloAddress = row.Silo,
        HostName = Environment.MachineName,
        RoleName = row.Name,
        StartTime = _start,
        IAmAliveTime = Now(),
    };

    private MembershipEntry Alive(MembershipEntry entry)
    {
        var alive = Copy(entry);
        alive.IAmAliveTime = Now();
        return alive;
    }

    /// <summary>The storage may hand out its own objects.</summary>
    private static MembershipEntry Copy(MembershipEntry entry) => new()
    {
        SiloAddress = entry.SiloAddress,
        Status = entry.Status,
        SuspectTimes = entry.SuspectTimes,
        ProxyPort = entry.ProxyPort,
        HostName = entry.HostName,
        SiloName = entry.SiloName,
        RoleName = entry.RoleName,
        UpdateZone = entry.UpdateZone,
        FaultZone = entry.FaultZone,
        StartTime = entry.StartTime,
        IAmAliveTime = entry.IAmAliveTime,
    };

    /// <summary>Always later than before, as the others see a silo that lives by the change. A clock may be set back.</summary>
    private DateTime Now()
    {
        var now = time.GetUtcNow().UtcDateTime;
        return _alive = now > _alive ? now : _alive.AddMilliseconds(1);
    }

    private static long SecondsOf(DateTime suspected) => (long)(Utc(suspected) - Epoch).TotalSeconds;

    private static DateTime Utc(DateTime stored) =>
        stored.Kind == DateTimeKind.Local ? stored.ToUniversalTime() : DateTime.SpecifyKind(stored, DateTimeKind.Utc);
}

/// <summary>What the log says about the application's membership table.</summary>
internal static partial class ApplicationTableLog
{
    [LoggerMessage(1270, LogLevel.Information, "The silos find each other by the membership table of the application, {Table}.")]
    internal static partial void Used(ILogger logger, Type table);
}
