using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;
using Orleans.Storage;

namespace Orleans.TestingHost;

/// <summary>Options of <see cref="FaultInjectionGrainStorage"/>.</summary>
public class FaultInjectionGrainStorageOptions
{
    /// <summary>10 ms.</summary>
    public static readonly TimeSpan DEFAULT_LATENCY = TimeSpan.FromMilliseconds(10);

    /// <summary>How long each access takes longer than in the storage behind.</summary>
    public TimeSpan Latency { get; set; } = DEFAULT_LATENCY;
}

/// <summary>
/// A grain storage before another one: an access fails if a test has said so to the <see cref="IStorageFaultGrain"/> whose key is the type
/// name or the state name that the storage is called with.
/// </summary>
/// <remarks>
/// Holds nothing of its own; any thread. The fault grain throws or hangs: the access fails with that, and the storage behind is not
/// called.
/// </remarks>
public class FaultInjectionGrainStorage : IGrainStorage, ILifecycleParticipant<ISiloLifecycle>
{
    private readonly IGrainStorage _storage;
    private readonly IGrainFactory _grains;
    private readonly FaultInjectionGrainStorageOptions _options;
    private readonly ILogger _logger;

    /// <summary>A storage before another one.</summary>
    public FaultInjectionGrainStorage(IGrainStorage realStorageProvider, string name, ILoggerFactory loggerFactory,
        IGrainFactory grainFactory, FaultInjectionGrainStorageOptions faultInjectionOptions)
    {
        ArgumentNullException.ThrowIfNull(loggerFactory);
        (_storage, _grains, _options) = (realStorageProvider, grainFactory, faultInjectionOptions);
        _logger = loggerFactory.CreateLogger(GetType().FullName + "." + name);
    }

    /// <inheritdoc/>
    public async Task ReadStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState)
    {
        await PassAsync(grainType, "read", grain => grain.OnRead(grainId));
        await _storage.ReadStateAsync(grainType, grainId, grainState);
    }

    /// <inheritdoc/>
    public async Task WriteStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState)
    {
        await PassAsync(grainType, "write", grain => grain.OnWrite(grainId));
        await _storage.WriteStateAsync(grainType, grainId, grainState);
    }

    /// <inheritdoc/>
    public async Task ClearStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState)
    {
        await PassAsync(grainType, "clear", grain => grain.OnClear(grainId));
        await _storage.ClearStateAsync(grainType, grainId, grainState);
    }

    /// <inheritdoc/>
    public void Participate(ISiloLifecycle lifecycle) => (_storage as ILifecycleParticipant<ISiloLifecycle>)?.Participate(lifecycle);

    /// <summary>Waits the latency, and throws the fault if there is one.</summary>
    private async Task PassAsync(string grainType, string access, Func<IStorageFaultGrain, Task> ask)
    {
        await Task.Delay(_options.Latency, TimeProvider.System);
        try
        {
            await ask(_grains.GetGrain<IStorageFaultGrain>(grainType));
        }
        catch (Exception exception)
        {
            _logger.LogInformation(exception, "A fault for the {Access} of {GrainType}.", access, grainType);
            throw;
        }
    }
}

/// <summary>Makes <see cref="FaultInjectionGrainStorage"/>.</summary>
public static class FaultInjectionGrainStorageFactory
{
    /// <summary>The storage with that name, before the one that the factory makes.</summary>
    public static IGrainStorage Create(
        IServiceProvider services, string name, Func<IServiceProvider, string, IGrainStorage> injectedGrainStorageFactory)
    {
        ArgumentNullException.ThrowIfNull(injectedGrainStorageFactory);
        return new FaultInjectionGrainStorage(injectedGrainStorageFactory(services, name), name,
            services.GetRequiredService<ILoggerFactory>(), services.GetRequiredService<IGrainFactory>(),
            services.GetRequiredService<IOptionsMonitor<FaultInjectionGrainStorageOptions>>().Get(name));
    }
}

/// <summary>Adds <see cref="FaultInjectionGrainStorage"/> to silos.</summary>
public static class SiloBuilderExtensions
{
    /// <summary>Adds a memory storage with that name whose accesses fail when a test wants it.</summary>
    public static ISiloBuilder AddFaultInjectionMemoryStorage(this ISiloBuilder builder, string name,
        Action<MemoryGrainStorageOptions> configureOptions, Action<FaultInjectionGrainStorageOptions> configureFaultInjectionOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddFaultInjectionMemoryStorage(name, configureOptions, configureFaultInjectionOptions);
        return builder;
    }

    /// <summary>Adds a memory storage with that name whose accesses fail when a test wants it.</summary>
    public static ISiloBuilder AddFaultInjectionMemoryStorage(this ISiloBuilder builder, string name,
        Action<OptionsBuilder<MemoryGrainStorageOptions>>? configureOptions = null,
        Action<OptionsBuilder<FaultInjectionGrainStorageOptions>>? configureFaultInjectionOptions = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddFaultInjectionMemoryStorage(name, configureOptions, configureFaultInjectionOptions);
        return builder;
    }
}
