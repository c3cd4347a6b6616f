using System.Data.Common;
using ActOp.PostgreSql.Schema;

namespace Orleans.Configuration;

/// <summary>The database that holds the membership table of a silo.</summary>
public class AdoNetClusteringSiloOptions
{
    /// <summary>A connection string of Npgsql. It may contain a password and is not logged.</summary>
    public string? ConnectionString { get; set; }

    /// <summary>An NpgsqlDataSource instead of the connection string. The application disposes it.</summary>
    public DbDataSource? DataSource { get; set; }

    /// <summary>Must be set to "Npgsql": PostgreSQL is the only database that is supported.</summary>
    public string Invariant { get; set; } = "";

    internal DatabaseChoice Choice => new("Clustering", nameof(AdoNetClusteringSiloOptions), ConnectionString, DataSource, Invariant);
}

/// <summary>The database in which a client finds the gateways of the cluster.</summary>
public class AdoNetClusteringClientOptions
{
    /// <summary>A connection string of Npgsql. It may contain a password and is not logged.</summary>
    public string? ConnectionString { get; set; }

    /// <summary>An NpgsqlDataSource instead of the connection string. The application disposes it.</summary>
    public DbDataSource? DataSource { get; set; }

    /// <summary>Must be set to "Npgsql": PostgreSQL is the only database that is supported.</summary>
    public string Invariant { get; set; } = "";

    internal DatabaseChoice Choice => new("Gateways", nameof(AdoNetClusteringClientOptions), ConnectionString, DataSource, Invariant);
}
