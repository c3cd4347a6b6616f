using System.Data.Common;
using ActOp.PostgreSql.Schema;
using Microsoft.Extensions.Options;
using Orleans.Storage;

namespace Orleans.Configuration;

/// <summary>A storage of states in PostgreSQL.</summary>
public class AdoNetGrainStorageOptions : IStorageProviderSerializerOptions
{
    /// <summary>The usual value of <see cref="Invariant"/> in Orleans. It must be set to "Npgsql".</summary>
    public const string DEFAULT_ADONET_INVARIANT = "Microsoft.Data.SqlClient";

    /// <summary>The usual value of <see cref="InitStage"/>.</summary>
    public const int DEFAULT_INIT_STAGE = ServiceLifecycleStage.ApplicationServices;

    /// <summary>A connection string of Npgsql. It may contain a password and is not logged.</summary>
    public string? ConnectionString { get; set; }

    /// <summary>An NpgsqlDataSource instead of the connection string. The application disposes it.</summary>
    public DbDataSource? DataSource { get; set; }

    /// <summary>Whether a clear removes the record. Otherwise it stays, empty and with a version.</summary>
    public bool DeleteStateOnClear { get; set; }

    /// <inheritdoc/>
    public IGrainStorageSerializer GrainStorageSerializer { get; set; } = null!;

    /// <summary>
    /// The hashes by which rows are found in the tables of Orleans (<see cref="ActOp.PostgreSql.Configuration.PostgresTables"/>). Without
    /// effect in the tables of ActOp, where whole names find them; reported at start if it is set there.
    /// </summary>
    public IStorageHasherPicker HashPicker { get; set; } = null!;

    /// <summary>The stage of the silo's start at which the database must answer.</summary>
    public int InitStage { get; set; } = DEFAULT_INIT_STAGE;

    /// <summary>Must be set to "Npgsql": PostgreSQL is the only database that is supported.</summary>
    public string Invariant { get; set; } = DEFAULT_ADONET_INVARIANT;

    /// <summary>Rows in the tables of Orleans are found by the hashes of its version 3: see <see cref="HashPicker"/>.</summary>
    public void UseOrleans3CompatibleHasher() => HashPicker = new Orleans3CompatibleStorageHashPicker();

    internal DatabaseChoice Choice(string name) =>
        new("Storage " + name, nameof(AdoNetGrainStorageOptions), ConnectionString, DataSource, Invariant);
}

/// <summary>Sets <see cref="AdoNetGrainStorageOptions.HashPicker"/> if the application has not.</summary>
public class DefaultAdoNetGrainStorageOptionsHashPickerConfigurator : IPostConfigureOptions<AdoNetGrainStorageOptions>
{
    /// <inheritdoc/>
    public void PostConfigure(string? name, AdoNetGrainStorageOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.HashPicker ??= new StorageHasherPicker([new OrleansDefaultHasher()]);
    }
}
