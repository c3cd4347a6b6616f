using ActOp.Configuration;
using ActOp.Storage.Files;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Providers;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace Orleans.Hosting;

/// <summary>Adds storage in files: durable, with nothing to install, for silos that share a directory.</summary>
public static class FileGrainStorageSiloBuilderExtensions
{
    /// <summary>Adds a storage under a name.</summary>
    public static ISiloBuilder AddFileGrainStorage(
        this ISiloBuilder builder, string name, Action<FileGrainStorageOptions> configureOptions) =>
        builder.AddFileGrainStorage(name, (OptionsBuilder<FileGrainStorageOptions> options) => options.Configure(configureOptions));

    /// <summary>Adds a storage under a name.</summary>
    public static ISiloBuilder AddFileGrainStorage(
        this ISiloBuilder builder, string name, Action<OptionsBuilder<FileGrainStorageOptions>>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentException.ThrowIfNullOrEmpty(name);
        configureOptions?.Invoke(builder.Services.AddOptions<FileGrainStorageOptions>(name));
        builder.Services.TryAddEnumerable(ServiceDescriptor.Transient<IPostConfigureOptions<FileGrainStorageOptions>,
            DefaultStorageProviderSerializerOptionsConfigurator<FileGrainStorageOptions>>());
        builder.Services.AddGrainStorage(name, FileGrainStorage.Create);
        return builder;
    }

    /// <summary>Adds the storage of grains that name none.</summary>
    public static ISiloBuilder AddFileGrainStorageAsDefault(this ISiloBuilder builder, Action<FileGrainStorageOptions> configureOptions) =>
        builder.AddFileGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);

    /// <summary>Adds the storage of grains that name none.</summary>
    public static ISiloBuilder AddFileGrainStorageAsDefault(
        this ISiloBuilder builder, Action<OptionsBuilder<FileGrainStorageOptions>>? configureOptions = null) =>
        builder.AddFileGrainStorage(ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME, configureOptions);
}
