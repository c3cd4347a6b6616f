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
/// finds nothing after the connection broke has been done by an earlier attempt.
/// </remarks>
internal sealed class PostgresReminderTable(Database database, string serviceId, long firstVersion)
    : ISlotReminderTable, IAsyncDisposable, IDisposable
{
    /// <summary>Reminders are read rarely and in parts.</summary>
    internal const int Connections = 4;

    private const string Columns = "grain_id, name, start_ticks, period_ticks, version";

    private static readonly TimeSpan RetryTime = TimeSpan.FromSeconds(20);

    private long _lastVersion = firstVersion;

    public Task StartAsync(CancellationToken cancellationToken = default) =>
        database.RepeatAsync(RetryTime, static (_, _, _) => Task.FromResult(true));

    public Task<ReminderTableData> ReadRows(GrainId grainId) => ReadAsync("grain_id = $2", Text(GrainKeys.TextOf(grainId)));

    public Task<ReminderTableData> ReadRows(uint begin, uint end) =>
        ReadAsync(begin < end ? "hash > $2 and hash <= $3" : "(hash > $2 or hash <= $3)", Number(begin), Number(end));

    public Task<ReminderTableData> ReadSlots(int[] slots) =>
        ReadAsync("slot = any($2)", new NpgsqlParameter<int[]> { TypedValue = slots });

    public async Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) =>
        (await ReadAsync("grain_id = $2 and name = $3", Text(GrainKeys.TextOf(grainId)), Text(reminderName)).ConfigureAwait(false))
            .Reminders.SingleOrDefault();

    public async Task<string?> UpsertRow(ReminderEntry entry)
    {
        const string sql = """
            insert into actop_reminder (service_id, grain_id, name, hash, start_ticks, period_ticks, version)
            values ($1, $2, $3, $4, $5, $6, $7)
            on conflict (service_id, grain_id, name) do update
            set start_ticks = excluded.start_ticks, period_ticks = excluded.period_ticks, version = excluded.version
            """;
        ArgumentNullException.ThrowIfNull(entry);
        var version = Interlocked.Increment(ref _lastVersion);
        await ChangeAsync(
            sql, Text(GrainKeys.TextOf(entry.GrainId)), Text(entry.ReminderName), Number(entry.GrainId.GetUniformHashCode()),
            Number(entry.StartAt.Ticks), Number(entry.Period.Ticks), Number(version)).ConfigureAwait(false);
        return version.ToString(CultureInfo.InvariantCulture);
    }

    public async Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag)
    {
        const string sql = "delete from actop_reminder where service_id = $1 and grain_id = $2 and name = $3 and version = $4";
        if (!long.TryParse(eTag, NumberStyles.None, CultureInfo.InvariantCulture, out var version))
            return false;
        var (rows, wasRepeated) = await ChangeAsync(
            sql, Text(GrainKeys.TextOf(grainId)), Text(reminderName), Number(version)).ConfigureAwait(false);
        return rows > 0 || (wasRepeated && await ReadRow(grainId, reminderName).ConfigureAwait(false) is null);
    }

    public Task TestOnlyClearTable() => ChangeAsync("delete from actop_reminder where service_id = $1");

    public ValueTask DisposeAsync() => database.DisposeAsync();

    public void Dispose() => database.Dispose();

    private Task<(int Rows, bool WasRepeated)> ChangeAsync(string sql, params NpgsqlParameter[] parameters) =>
        database.RepeatAsync(RetryTime, async (connection, isRepeated, cancellationToken) =>
        {
            await using var command = Command(connection, sql, parameters);
            return (await command.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false), isRepeated);
        });

    private Task<ReminderTableData> ReadAsync(string condition, params NpgsqlParameter[] parameters) =>
        database.RepeatAsync(RetryTime, async (connection, _, cancellationToken) =>
        {
            await using var command = Command(
                connection, "select " + Columns + " from actop_reminder where service_id = $1 and " + condition, parameters);
            await using var reader = await command.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
            List<ReminderEntry> entries = [];
            while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                entries.Add(new ReminderEntry
                {
                    GrainId = GrainKeys.Parse(reader.GetString(0)),
                    ReminderName = reader.GetString(1),
                    StartAt = new DateTime(reader.GetInt64(2), DateTimeKind.Utc),
                    Period = TimeSpan.FromTicks(reader.GetInt64(3)),
                    ETag = reader.GetInt64(4).ToString(CultureInfo.InvariantCulture),
                });
            }

            return new ReminderTableData(entries);
        });

    private NpgsqlCommand Command(NpgsqlConnection connection, string sql, NpgsqlParameter[] parameters)
    {
        var command = new NpgsqlCommand(sql, connection);
        command.Parameters.Add(Text(serviceId));
        foreach (var parameter in parameters)
            command.Parameters.Add(parameter.Clone());
        return command;
    }

    private static NpgsqlParameter Text(string value) => new NpgsqlParameter<string> { TypedValue = value };

    private static NpgsqlParameter Number(long value) => new NpgsqlParameter<long> { TypedValue = value };
}
