using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.Storage;
using Orleans.TestingHost;

namespace Orleans.Persistence.TestKit;

/// <summary>A cluster of one silo with the storage under test.</summary>
/// <remarks>
/// A test framework calls <see cref="InitializeAsync"/> before the first test and <see cref="DisposeAsync"/> after the last one. If the
/// silo does not start, or has no such storage, the first one throws and gives the cluster back.
/// </remarks>
public abstract class GrainStorageTestFixture
{
    private InProcessTestCluster? _cluster;
    private IGrainStorage? _storage;

    /// <summary>The storage of the silo.</summary>
    /// <exception cref="InvalidOperationException">The fixture is not initialized.</exception>
    public IGrainStorage Storage => _storage ?? throw new InvalidOperationException("InitializeAsync was not called, or failed.");

    /// <summary>The name under which <see cref="ConfigureSilo"/> registers the storage.</summary>
    protected abstract string StorageProviderName { get; }

    /// <summary>Starts the cluster.</summary>
    /// <exception cref="InvalidOperationException">The silo has no storage of this name.</exception>
    public virtual async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => ConfigureSilo(silo));
        ConfigureTestCluster(builder);
        _cluster = builder.Build();
        try
        {
            await _cluster.DeployAsync();
            _storage = _cluster.Silos[0].ServiceProvider.GetKeyedService<IGrainStorage>(StorageProviderName)
                ?? throw new InvalidOperationException($"The silo has no storage \"{StorageProviderName}\": register it in ConfigureSilo.");
        }
        catch
        {
            await DisposeAsync();
            throw;
        }
    }

    /// <summary>Stops the cluster.</summary>
    public virtual async ValueTask DisposeAsync()
    {
        _storage = null;
        if (Interlocked.Exchange(ref _cluster, null) is { } cluster)
            await cluster.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    /// <summary>Registers the storage.</summary>
    protected abstract void ConfigureSilo(ISiloBuilder siloBuilder);

    /// <summary>Changes the cluster; does nothing by default.</summary>
    protected virtual void ConfigureTestCluster(InProcessTestClusterBuilder builder)
    {
    }
}
