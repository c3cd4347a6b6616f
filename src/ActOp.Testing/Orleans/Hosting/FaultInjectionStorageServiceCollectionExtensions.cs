using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime.Hosting;
using Orleans.Storage;
using Orleans.TestingHost;

namespace Orleans.Hosting;

/// <summary>Adds <see cref="FaultInjectionGrainStorage"/> to the services of a silo.</summary>
public static class FaultInjectionStorageServiceCollectionExtensions
{
    /// <summary>Adds a memory storage with that name whose accesses fail when a test wants it.</summary>
    public static IServiceCollection AddFaultInjectionMemoryStorage(this IServiceCollection services, string name,
        Action<MemoryGrainStorageOptions> configureOptions, Action<FaultInjectionGrainStorageOptions> configureFaultInjectionOptions) =>
        services.AddFaultInjectionMemoryStorage(
            name, (OptionsBuilder<MemoryGrainStorageOptions> options) => options.Configure(configureOptions),
            faults => faults.Configure(configureFaultInjectionOptions));

    /// <summary>Adds a memory storage with that name whose accesses fail when a test wants it.</summary>
    public static IServiceCollection AddFaultInjectionMemoryStorage(this IServiceCollection services, string name,
        Action<OptionsBuilder<MemoryGrainStorageOptions>>? configureOptions = null,
        Action<OptionsBuilder<FaultInjectionGrainStorageOptions>>? configureFaultInjectionOptions = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        configureOptions?.Invoke(services.AddOptions<MemoryGrainStorageOptions>(name));
        configureFaultInjectionOptions?.Invoke(services.AddOptions<FaultInjectionGrainStorageOptions>(name));
        services.TryAddEnumerable(ServiceDescriptor.Transient<IPostConfigureOptions<MemoryGrainStorageOptions>,
            DefaultStorageProviderSerializerOptionsConfigurator<MemoryGrainStorageOptions>>());
        return services.AddGrainStorage(name, static (provider, key) =>
            FaultInjectionGrainStorageFactory.Create(provider, key, MemoryGrainStorageFactory.Create));
    }
}
