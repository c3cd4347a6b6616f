using System.Data.Common;
using ActOp.PostgreSql.Schema;

namespace Orleans.Configuration;

/// <summary>The database that keeps reminders.</summary>
public class AdoNetReminderTableOptions
{
    /// <summary>A connection string of Npgsql. It may contain a password and is not logged.</summary>
    public string? ConnectionString { get; set; }

    /// <summary>An NpgsqlDataSource instead of the connection string. The application disposes it.</summary>
    public DbDataSource? DataSource { get; set; }

    /// <summary>Must be set to "Npgsql": PostgreSQL is the only database that is supported.</summary>
    public string Invariant { get; set; } = "";

    internal DatabaseChoice Choice => new("Reminders", nameof(AdoNetReminderTableOptions), ConnectionString, DataSource, Invariant);
}
