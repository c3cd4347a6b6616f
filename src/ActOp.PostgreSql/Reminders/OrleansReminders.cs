using System.Globalization;
using ActOp.PostgreSql.Schema;
using Npgsql;
using NpgsqlTypes;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.PostgreSql.Reminders;

/// <summary>Reminders in the table of Orleans, by its queries (record 0087).</summary>
/// <remarks>
/// <para>Orleans keeps milliseconds: what a start or a period has below is cut off. The hash of a grain in this table is that of Orleans,
/// which is not the place of the grain in our directory, so rows are found by ranges of it only. The ETag counts the writes of a row.
/// </para>
/// Holds nothing that changes. Any thread.
/// </remarks>
internal sealed class OrleansReminders(string serviceId, IReadOnlyDictionary<string, string> queries)
{
    private const string UpsertKey = "UpsertReminderRowKey";
    private const string ReadGrainKey = "ReadReminderRowsKey";
    private const string ReadOneKey = "ReadReminderRowKey";
    private const string ReadRangeKey = "ReadRangeRows1Key";
    private const string ReadOutsideKey = "ReadRangeRows2Key";
    private const string RemoveKey = "DeleteReminderRowKey";
    private const string ClearKey = "DeleteReminderRowsKey";

    private static readonly string[] Columns = ["GrainId", "ReminderName", "StartTime", "Period", "Version"];

    /// <summary>The tables of reminders.</summary>
    internal static TablePair Tables { get; } = new(
        "actop_reminder", "OrleansRemindersTable",
        [
            new OrleansQuery(UpsertKey, "Version"), new OrleansQuery(ReadGrainKey, Columns), new OrleansQuery(ReadOneKey, Columns),
            new OrleansQuery(ReadRangeKey, Columns), new OrleansQuery(ReadOutsideKey, Columns), new OrleansQuery(RemoveKey),
            new OrleansQuery(ClearKey) { HasResult = false },
        ],
        [
            ("ServiceId", NpgsqlDbType.Text), ("GrainId", NpgsqlDbType.Text), ("ReminderName", NpgsqlDbType.Text),
            ("StartTime", NpgsqlDbType.TimestampTz), ("Period", NpgsqlDbType.Bigint), ("GrainHash", NpgsqlDbType.Integer),
            ("BeginHash", NpgsqlDbType.Integer), ("EndHash", NpgsqlDbType.Integer), ("Version", NpgsqlDbType.Integer),
        ]);

    /// <summary>The reminders of a grain.</summary>
    internal NpgsqlCommand SelectOfGrain(NpgsqlConnection connection, GrainId grain) =>
        Command(connection, ReadGrainKey, ("GrainId", grain.ToString()));

    /// <summary>One reminder, or none.</summary>
    internal NpgsqlCommand One(NpgsqlConnection connection, GrainId grain, string name) =>
        Command(connection, ReadOneKey, ("GrainId", grain.ToString()), ("ReminderName", name));

    /// <summary>The reminders whose hash is above one end and not above the other; around the end of the numbers if that is less.</summary>
    /// <remarks>The table has signed numbers.</remarks>
    internal NpgsqlCommand In(NpgsqlConnection connection, uint begin, uint end) => Command(
        connection, (int)begin < (int)end ? ReadRangeKey : ReadOutsideKey, ("BeginHash", (int)begin), ("EndHash", (int)end));

    /// <summary>Writes a reminder, and returns the version of its row.</summary>
    internal NpgsqlCommand Upsert(NpgsqlConnection connection, ReminderEntry entry) => Command(
        connection, UpsertKey, ("GrainId", entry.GrainId.ToString()), ("ReminderName", entry.ReminderName),
        ("StartTime", InMilliseconds(entry.StartAt)), ("Period", entry.Period.Ticks / TimeSpan.TicksPerMillisecond),
        ("GrainHash", (int)HashOf(entry.GrainId)));

    /// <summary>Removes a reminder, and returns how many were.</summary>
    internal NpgsqlCommand Remove(NpgsqlConnection connection, GrainId grain, string name, int version) => Command(
        connection, RemoveKey, ("GrainId", grain.ToString()), ("ReminderName", name), ("Version", version));

    /// <summary>Removes all of the service.</summary>
    internal NpgsqlCommand Clear(NpgsqlConnection connection) => Command(connection, ClearKey);

    /// <summary>A row. Of a grain id that cannot be read, the entry has none, and the reader leaves it out.</summary>
    internal static ReminderEntry Entry(NpgsqlDataReader reader) => new()
    {
        GrainId = GrainId.TryParse(reader.GetString(reader.GetOrdinal("GrainId")), out var grain) ? grain : default,
        ReminderName = reader.GetString(reader.GetOrdinal("ReminderName")),
        StartAt = DateTime.SpecifyKind(reader.GetDateTime(reader.GetOrdinal("StartTime")), DateTimeKind.Utc),
        Period = TimeSpan.FromTicks(reader.GetInt64(reader.GetOrdinal("Period")) * TimeSpan.TicksPerMillisecond),
        ETag = VersionIn(reader),
    };

    internal static string VersionIn(NpgsqlDataReader reader) => Convert.ToString(
        Convert.ToInt64(reader.GetValue(reader.GetOrdinal("Version")), CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);

    /// <summary>The hash of a grain in Orleans, which reads ranges of it.</summary>
    internal static uint HashOf(GrainId grain) => unchecked(
        (OrleansDefaultHasher.Reversed(grain.Type.GetUniformHashCode()) * 31)
            + OrleansDefaultHasher.Reversed(grain.Key.GetUniformHashCode()));

    private static DateTime InMilliseconds(DateTime time) =>
        new(time.Ticks - (time.Ticks % TimeSpan.TicksPerMillisecond), DateTimeKind.Utc);

    private NpgsqlCommand Command(NpgsqlConnection connection, string query, params ReadOnlySpan<(string Name, object Value)> values)
    {
        var command = new NpgsqlCommand(queries[query], connection);
        command.Parameters.Add(new NpgsqlParameter("ServiceId", NpgsqlDbType.Text) { Value = serviceId });
        foreach (var (name, value) in values)
        {
            var type = Array.Find(Tables.Parameters, parameter => parameter.Name == name).Type;
            command.Parameters.Add(new NpgsqlParameter(name, type) { Value = value });
        }

        return command;
    }
}
