using Microsoft.Extensions.Logging;

namespace ActOp.PostgreSql;

/// <summary>The log lines of the parts on PostgreSQL. Event ids: 1150 to 1179, and 1293.</summary>
internal sealed partial class PostgresLog(ILogger logger)
{
    [LoggerMessage(1150, LogLevel.Information, "The tables of ActOp were created or upgraded to version {version}.")]
    private static partial void SchemaApplied(ILogger logger, int version);

    [LoggerMessage(1151, LogLevel.Warning, "{part} has lost the database and will try again until it answers.")]
    private static partial void DatabaseLost(ILogger logger, string part, Exception exception);

    [LoggerMessage(1152, LogLevel.Information, "{part} has reached the database again after {seconds:F1} s.")]
    private static partial void DatabaseReached(ILogger logger, string part, double seconds);

    [LoggerMessage(1153, LogLevel.Warning, "{count} operations on states were refused together and are repeated in halves.")]
    private static partial void BatchSplit(ILogger logger, int count, Exception exception);

    [LoggerMessage(1154, LogLevel.Warning, "The database was lost during {count} operations on states for too long: they fail.")]
    private static partial void OutcomeUnknown(ILogger logger, int count, Exception exception);

    [LoggerMessage(1155, LogLevel.Warning, "The row of {silo} in the membership table cannot be read and is left out.")]
    private static partial void RowUnreadable(ILogger logger, string silo, Exception exception);

    [LoggerMessage(1156, LogLevel.Warning,
        "AdoNetGrainStorageOptions.HashPicker of the storage {name} has no effect: records are found by whole names.")]
    private static partial void HasherWithoutEffect(ILogger logger, string name);

    [LoggerMessage(1157, LogLevel.Information, "{part} uses the table {table} of Orleans, by the queries in OrleansQuery.")]
    private static partial void TablesOfOrleans(ILogger logger, string part, string table);

    [LoggerMessage(1293, LogLevel.Error, "A loop of {part} has failed and begins again.")]
    private static partial void LaneFailed(ILogger logger, string part, Exception exception);

    internal void LaneFailed(string part, Exception exception) => LaneFailed(logger, part, exception);

    internal void HasherWithoutEffect(string name) => HasherWithoutEffect(logger, name);

    internal void TablesOfOrleans(string part, string table) => TablesOfOrleans(logger, part, table);

    internal void SchemaApplied(int version) => SchemaApplied(logger, version);

    internal void DatabaseLost(string part, Exception exception) => DatabaseLost(logger, part, exception);

    internal void DatabaseReached(string part, double seconds) => DatabaseReached(logger, part, seconds);

    internal void BatchSplit(int count, Exception exception) => BatchSplit(logger, count, exception);

    internal void OutcomeUnknown(int count, Exception exception) => OutcomeUnknown(logger, count, exception);

    internal void RowUnreadable(string silo, Exception exception) => RowUnreadable(logger, silo, exception);
}
