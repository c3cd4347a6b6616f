using ActOp.State.Tests;
using Orleans.Persistence.TestKit;

namespace ActOp.PostgreSql.Tests;

/// <summary>A silo with a storage in PostgreSQL that keeps the rows of cleared states.</summary>
public class KeepingStorage(PostgresFixture postgres) : GrainStorageTestFixture, IAsyncLifetime
{
    private string _connectionString = "";

    protected override string StorageProviderName => "states";

    protected virtual bool Deletes => false;

    public override async ValueTask InitializeAsync()
    {
        _connectionString = await postgres.CreateAsync();
        await base.InitializeAsync();
    }

    protected override void ConfigureSilo(ISiloBuilder siloBuilder) => siloBuilder.AddAdoNetGrainStorage("states", options =>
    {
        options.Invariant = "Npgsql";
        options.ConnectionString = _connectionString;
        options.DeleteStateOnClear = Deletes;
    });
}

/// <summary>As before, but the rows are deleted.</summary>
public sealed class DeletingStorage(PostgresFixture postgres) : KeepingStorage(postgres)
{
    protected override bool Deletes => true;
}

public sealed class KeepingStorageConformanceTests(KeepingStorage fixture) : StoragePromises(fixture), IClassFixture<KeepingStorage>
{
    protected override int Depth => 3;
}

public sealed class DeletingStorageConformanceTests(DeletingStorage fixture) : StoragePromises(fixture), IClassFixture<DeletingStorage>
{
    protected override int Depth => 3;
}
