using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace Orleans.Hosting;

/// <summary>Adds storage in PostgreSQL to a silo.</summary>
public static class AdoNetGrainStorageSiloBuilderExtensions
{
    /// <summary>Adds a storage under a name.</summary>
    public static ISiloBuilder AddAdoNetGrainStorage(
        this ISiloBuilder builder, string name, Action<OptionsBuilder<AdoNetGrainStorageOptions>>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddAdoNetGrainStorage(name, configureOptions);
        return builder;
    }

    /// <summary>Adds a storage under a name.</summary>
    public static ISiloBuilder AddAdoNetGrainStorage(
        this ISiloBuilder builder, string name, Action<AdoNetGrainStorageOptions> configureOptions) =>
        builder.AddAdoNetGrainStorage(name, (OptionsBuilder<AdoNetGrainStorageOptions> options) => options.Configure(configureOptions));

    /// <summary>Adds the storage of grains that name none.</summary>
    public static ISiloBuilder AddAdoNetGrainStorageAsDefault(
        this ISiloBuilder builder, Action<OptionsBuilder<AdoNetGrainStorageOptions>>? configureOptions = null) =>
        builder.AddAdoNetGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);

    /// <summary>Adds the storage of grains that name none.</summary>
    public static ISiloBuilder AddAdoNetGrainStorageAsDefault(
        this ISiloBuilder builder, Action<AdoNetGrainStorageOptions> configureOptions) =>
        builder.AddAdoNetGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);
}

/// <summary>Adds storage in PostgreSQL to the services of a silo.</summary>
public static class AdoNetGrainStorageServiceCollectionExtensions
{
    /// <summary>Adds a storage under a name.</summary>
    public static IServiceCollection AddAdoNetGrainStorage(
        this IServiceCollection services, string name, Action<OptionsBuilder<AdoNetGrainStorageOptions>>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        configureOptions?.Invoke(services.AddOptions<AdoNetGrainStorageOptions>(name));
        services.TryAddEnumerable(ServiceDescriptor
            .Transient<IPostConfigureOptions<AdoNetGrainStorageOptions>, DefaultAdoNetGrainStorageOptionsHashPickerConfigurator>());
        services.TryAddEnumerable(ServiceDescriptor.Transient<IPostConfigureOptions<AdoNetGrainStorageOptions>,
            DefaultStorageProviderSerializerOptionsConfigurator<AdoNetGrainStorageOptions>>());
        services.AddGrainStorage(name, AdoNetGrainStorageFactory.Create);
        return services;
    }

    /// <summary>Adds a storage under a name.</summary>
    public static IServiceCollection AddAdoNetGrainStorage(
        this IServiceCollection services, string name, Action<AdoNetGrainStorageOptions> configureOptions) =>
        services.AddAdoNetGrainStorage(name, (OptionsBuilder<AdoNetGrainStorageOptions> options) => options.Configure(configureOptions));

    /// <summary>Adds the storage of grains that name none.</summary>
    public static IServiceCollection AddAdoNetGrainStorage(
        this IServiceCollection services, Action<AdoNetGrainStorageOptions> configureOptions) =>
        services.AddAdoNetGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);

    /// <summary>Adds the storage of grains that name none.</summary>
    public static IServiceCollection AddAdoNetGrainStorageAsDefault(
        this IServiceCollection services, Action<OptionsBuilder<AdoNetGrainStorageOptions>>? configureOptions = null) =>
        services.AddAdoNetGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);
}
