using Orleans.Persistence.TestKit;

namespace ActOp.State.Tests;

/// <summary>A silo with a storage in memory.</summary>
public sealed class MemoryStorage : GrainStorageTestFixture, IAsyncLifetime
{
    protected override string StorageProviderName => "memory";

    protected override void ConfigureSilo(ISiloBuilder siloBuilder) => siloBuilder.AddMemoryGrainStorage("memory");
}

/// <summary>A silo with a storage in files.</summary>
public sealed class FileStorage : GrainStorageTestFixture, IAsyncLifetime
{
    private readonly string _root = Directory.CreateTempSubdirectory("states").FullName;

    protected override string StorageProviderName => "files";

    public override async ValueTask DisposeAsync()
    {
        await base.DisposeAsync();
        if (Directory.Exists(_root))
            Directory.Delete(_root, recursive: true);
    }

    protected override void ConfigureSilo(ISiloBuilder siloBuilder) =>
        siloBuilder.AddFileGrainStorage("files", options => options.RootDirectory = _root);
}

public sealed class MemoryStorageConformanceTests(MemoryStorage fixture) : StoragePromises(fixture), IClassFixture<MemoryStorage>;

public sealed class FileStorageConformanceTests(FileStorage fixture) : StoragePromises(fixture), IClassFixture<FileStorage>
{
    protected override int Depth => 3;
}
