using System.Data.Common;
using ActOp.PostgreSql.Schema;

namespace Orleans.GrainDirectory.AdoNet;

/// <summary>A grain directory in PostgreSQL.</summary>
public class AdoNetGrainDirectoryOptions
{
    /// <summary>A connection string of Npgsql. It may contain a password and is not logged.</summary>
    public string? ConnectionString { get; set; }

    /// <summary>An NpgsqlDataSource instead of the connection string. The application disposes it.</summary>
    public DbDataSource? DataSource { get; set; }

    /// <summary>Must be set to "Npgsql": PostgreSQL is the only database that is supported.</summary>
    public string Invariant { get; set; } = "";

    internal DatabaseChoice Choice(string name) => new(
        "Grain directory " + name, nameof(AdoNetGrainDirectoryOptions), ConnectionString, DataSource, Invariant);
}
