using System.Globalization;
using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Storage;
using ActOp.Reminders;
using Npgsql;
using Orleans;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Reminders;

/// <summary>Reminders in PostgreSQL, one row each. The ETag is the version of the row, which no other write has.</summary>
/// <remarks>
/// Owns its connections until disposed with the container. Any thread. Each method is one statement, which is sent again while the
/// connection breaks, for <see cref="RetryTime"/>: a write chooses its version itself, so doing it twice is doing it once; a removal that
/// finds nothing after the connection broke has been done by an earlier attempt. If the database has the table of Orleans, that is used
/// (<see cref="OrleansReminders"/>); a write that is done twice there counts its version twice.
/// </remarks>
internal sealed class PostgresReminderTable(Database database, string serviceId, long firstVersion)
    : ISlotReminderTable, IAsyncDisposable, IDisposable
{
    /// <summary>Reminders are read rarely and in parts.</summary>
    internal const int Connections = 4;

    private const string Columns = "grain_id, name, start_ticks, period_ticks, version";

    private static readonly TimeSpan RetryTime = TimeSpan.FromSeconds(20);

    private long _lastVersion = firstVersion;

    /// <inheritdoc/>
    public bool FindsSlots => database.OrleansQueries is null;

    /// <summary>Null if the table is ours; known as soon as there is a connection.</summary>
    private OrleansReminders? Orleans => database.OrleansQueries is { } queries ? new OrleansReminders(serviceId, queries) : null;

    public Task StartAsync(CancellationToken cancellationToken = default) =>
        database.RepeatAsync(RetryTime, static (_, _, _) => Task.FromResult(true));

    public Task<ReminderTableData> ReadRows(GrainId grainId) => ReadAsync(connection => Orleans?.SelectOfGrain(connection, grainId)
        ?? Select(connection, "grain_id = $2", Text(GrainKeys.TextOf(grainId))));

    public Task<ReminderTableData> ReadRows(uint begin, uint end) => ReadAsync(connection => Orleans?.In(connection, begin, end)
        ?? Select(connection, begin < end ? "hash > $2 and hash <= $3" : "(hash > $2 or hash <= $3)", Number(begin), Number(end)));

    public Task<ReminderTableData> ReadSlots(int[] slots) => ReadAsync(connection =>
        Select(connection, "slot = any($2)", new NpgsqlParameter<int[]> { TypedValue = slots }));

    public async Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) =>
        (await ReadAsync(connection => Orleans?.One(connection, grainId, reminderName) ?? Select(
            connection, "grain_id = $2 and name = $3", Text(GrainKeys.TextOf(grainId)), Text(reminderName))).ConfigureAwait(false))
        .Reminders.SingleOrDefault();

    public async Task<string?> UpsertRow(ReminderEntry entry)
    {
        const string sql = """
            insert into actop_reminder (service_id, grain_id, name, hash, start_ticks, period_ticks, version)
            values ($1, $2, $3, $4, $5, $6, $7)
            on conflict (service_id, grain_id, name) do update
            set start_ticks = excluded.start_ticks, period_ticks = excluded.period_ticks, version = excluded.version
            returning version
            """;
        ArgumentNullException.ThrowIfNull(entry);
        var version = Interlocked.Increment(ref _lastVersion);
        return await database.RepeatAsync(RetryTime, async (connection, _, cancellationToken) =>
        {
            await using var command = Orleans?.Upsert(connection, entry) ?? Command(
                connection, sql, Text(GrainKeys.TextOf(entry.GrainId)), Text(entry.ReminderName),
                Number(entry.GrainId.GetUniformHashCode()), Number(entry.StartAt.Ticks), Number(entry.Period.Ticks), Number(version));
            await using var reader = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            var etag = await reader.ReadAsync(cancellationToken).ConfigureAwait(false) ? OrleansReminders.VersionIn(reader) : null;
            // The end of the results says that it was committed.
            await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
            return etag;
        }).ConfigureAwait(false);
    }

    public async Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag)
    {
        const string sql = """
            with removed as (
              delete from actop_reminder where service_id = $1 and grain_id = $2 and name = $3 and version = $4 returning 1)
            select count(*) from removed
            """;
        if (!long.TryParse(eTag, NumberStyles.None, CultureInfo.InvariantCulture, out var version))
            return false;
        var (wasRemoved, wasRepeated) = await database.RepeatAsync(RetryTime, async (connection, isRepeated, cancellationToken) =>
        {
            // A greater number is no version of the table of Orleans.
            if (Orleans is not null && version > int.MaxValue)
                return (false, false);
            await using var command = Orleans?.Remove(connection, grainId, reminderName, (int)version)
                ?? Command(connection, sql, Text(GrainKeys.TextOf(grainId)), Text(reminderName), Number(version));
            var removed = await command.ExecuteScalarAsync(cancellationToken).ConfigureAwait(false);
            return (Convert.ToBoolean(removed, CultureInfo.InvariantCulture), isRepeated);
        }).ConfigureAwait(false);
        return wasRemoved || (wasRepeated && await ReadRow(grainId, reminderName).ConfigureAwait(false) is null);
    }

    public Task TestOnlyClearTable() => database.RepeatAsync(RetryTime, async (connection, _, cancellationToken) =>
    {
        await using var command = Orleans?.Clear(connection) ?? Command(connection, "delete from actop_reminder where service_id = $1");
        return await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
    });

    public ValueTask DisposeAsync() => database.DisposeAsync();

    public void Dispose() => database.Dispose();

    private Task<ReminderTableData> ReadAsync(Func<NpgsqlConnection, NpgsqlCommand> read) =>
        database.RepeatAsync(RetryTime, async (connection, _, cancellationToken) =>
        {
            await using var command = read(connection);
            await using var reader = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            var isOfOrleans = Orleans is not null;
            List<ReminderEntry> entries = [];
            while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
                entries.Add(isOfOrleans ? OrleansReminders.Entry(reader) : Entry(reader));
            return new ReminderTableData(entries);
        });

    private static ReminderEntry Entry(NpgsqlDataReader reader) => new()
    {
        GrainId = GrainKeys.Parse(reader.GetString(0)),
        ReminderName = reader.GetString(1),
        StartAt = new DateTime(reader.GetInt64(2), DateTimeKind.Utc),
        Period = TimeSpan.FromTicks(reader.GetInt64(3)),
        ETag = reader.GetInt64(4).ToString(CultureInfo.InvariantCulture),
    };

    private NpgsqlCommand Select(NpgsqlConnection connection, string condition, params ReadOnlySpan<NpgsqlParameter> parameters) =>
        Command(connection, "select " + Columns + " from actop_reminder where service_id = $1 and " + condition, parameters);

    private NpgsqlCommand Command(NpgsqlConnection connection, string sql, params ReadOnlySpan<NpgsqlParameter> parameters)
    {
        var command = new NpgsqlCommand(sql, connection);
        command.Parameters.Add(Text(serviceId));
        foreach (var parameter in parameters)
            command.Parameters.Add(parameter);
        return command;
    }

    private static NpgsqlParameter Text(string value) => new NpgsqlParameter<string> { TypedValue = value };

    private static NpgsqlParameter Number(long value) => new NpgsqlParameter<long> { TypedValue = value };
}
