using ActOp.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace Orleans.Hosting;

/// <summary>Adds storage in the memory of the cluster: for development and tests.</summary>
public static class MemoryGrainStorageSiloBuilderExtensions
{
    /// <summary>Adds a storage under a name.</summary>
    public static ISiloBuilder AddMemoryGrainStorage(
        this ISiloBuilder builder, string name, Action<MemoryGrainStorageOptions> configureOptions) =>
        builder.AddMemoryGrainStorage(name, (OptionsBuilder<MemoryGrainStorageOptions> options) => options.Configure(configureOptions));

    /// <summary>Adds a storage under a name.</summary>
    public static ISiloBuilder AddMemoryGrainStorage(
        this ISiloBuilder builder, string name, Action<OptionsBuilder<MemoryGrainStorageOptions>>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentException.ThrowIfNullOrEmpty(name);
        configureOptions?.Invoke(builder.Services.AddOptions<MemoryGrainStorageOptions>(name));
        builder.Services.TryAddEnumerable(ServiceDescriptor.Transient<IPostConfigureOptions<MemoryGrainStorageOptions>,
            DefaultStorageProviderSerializerOptionsConfigurator<MemoryGrainStorageOptions>>());
        builder.Services.AddGrainStorage(name, MemoryGrainStorageFactory.Create);
        builder.Services.AddSingleton<ILifecycleParticipant<Runtime.ISiloLifecycle>>(services => new StorageStart(
            name, services, static (all, one) => all.GetRequiredService<IOptionsMonitor<MemoryGrainStorageOptions>>().Get(one).InitStage));
        return builder;
    }

    /// <summary>Adds the storage of grains that name none.</summary>
    public static ISiloBuilder AddMemoryGrainStorageAsDefault(
        this ISiloBuilder builder, Action<MemoryGrainStorageOptions> configureOptions) =>
        builder.AddMemoryGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);

    /// <summary>Adds the storage of grains that name none.</summary>
    public static ISiloBuilder AddMemoryGrainStorageAsDefault(
        this ISiloBuilder builder, Action<OptionsBuilder<MemoryGrainStorageOptions>>? configureOptions = null) =>
        builder.AddMemoryGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);
}

/// <summary>Chooses the form of states.</summary>
public static class SystemTextJsonSerializerExtensions
{
    /// <summary>Storage providers without a serializer of their own write JSON with System.Text.Json.</summary>
    public static ISiloBuilder UseSystemTextJsonGrainStorageSerializer(this ISiloBuilder siloBuilder)
    {
        ArgumentNullException.ThrowIfNull(siloBuilder);
        siloBuilder.Services.AddSingleton<IGrainStorageSerializer>(static services =>
            services.GetRequiredService<SystemTextJsonGrainStorageSerializer>());
        return siloBuilder;
    }
}
