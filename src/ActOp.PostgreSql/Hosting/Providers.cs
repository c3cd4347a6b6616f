using System.Data.Common;
using ActOp.PostgreSql.Hosting;
using ActOp.PostgreSql.Schema;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.GrainDirectory;
using Orleans.GrainDirectory.AdoNet;
using Orleans.Hosting;
using Orleans.Providers;

[assembly: RegisterProvider("AdoNet", "Clustering", "Silo", typeof(SiloClusteringProvider))]
[assembly: RegisterProvider("AdoNet", "Clustering", "Client", typeof(ClientClusteringProvider))]
[assembly: RegisterProvider("AdoNet", "GrainDirectory", "Silo", typeof(GrainDirectoryProvider))]
[assembly: RegisterProvider("AdoNet", "GrainStorage", "Silo", typeof(GrainStorageProvider))]
[assembly: RegisterProvider("AdoNet", "Reminders", "Silo", typeof(RemindersProvider))]

namespace ActOp.PostgreSql.Hosting;

/// <summary>What the configuration section Orleans says of a provider of the name AdoNet.</summary>
/// <remarks>
/// Keys: <c>Invariant</c> (Npgsql if it is not set), and <c>ConnectionString</c>, or <c>ConnectionName</c> with the name of a connection
/// string, or <c>ServiceKey</c> with the key of a data source in the container.
/// </remarks>
internal static class ProviderSettings
{
    internal static string Invariant(IConfigurationSection section) =>
        section["Invariant"] is { Length: > 0 } invariant ? invariant : DatabaseChoice.Npgsql;

    internal static string? ConnectionString(IConfigurationSection section, IConfiguration configuration)
    {
        if (section["ConnectionString"] is { Length: > 0 } text)
            return text;
        if (section["ConnectionName"] is not { Length: > 0 } name)
            return null;
        return configuration.GetConnectionString(name)
            ?? throw new Orleans.Runtime.OrleansConfigurationException(
                section.Path + ":ConnectionName is " + name + ", but there is no such connection string.");
    }

    internal static DbDataSource? DataSource(IConfigurationSection section, IServiceProvider services) =>
        section["ServiceKey"] is { Length: > 0 } key ? services.GetRequiredKeyedService<DbDataSource>(key) : null;
}

/// <summary>Clustering of a silo by its configuration.</summary>
internal sealed class SiloClusteringProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) => builder.UseAdoNetClustering(
        (OptionsBuilder<AdoNetClusteringSiloOptions> options) => options.Configure<IServiceProvider>((clustering, services) =>
        {
            clustering.Invariant = ProviderSettings.Invariant(configurationSection);
            clustering.ConnectionString = ProviderSettings.ConnectionString(configurationSection, builder.Configuration);
            clustering.DataSource = ProviderSettings.DataSource(configurationSection, services);
        }));
}

/// <summary>Gateways of a client by its configuration.</summary>
internal sealed class ClientClusteringProvider : IProviderBuilder<IClientBuilder>
{
    public void Configure(IClientBuilder builder, string? name, IConfigurationSection configurationSection) => builder.UseAdoNetClustering(
        (OptionsBuilder<AdoNetClusteringClientOptions> options) => options.Configure<IServiceProvider>((clustering, services) =>
        {
            clustering.Invariant = ProviderSettings.Invariant(configurationSection);
            clustering.ConnectionString = ProviderSettings.ConnectionString(configurationSection, builder.Configuration);
            clustering.DataSource = ProviderSettings.DataSource(configurationSection, services);
        }));
}

/// <summary>A grain directory of a silo by its configuration.</summary>
internal sealed class GrainDirectoryProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddAdoNetGrainDirectory(
        name ?? GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY,
        (OptionsBuilder<AdoNetGrainDirectoryOptions> options) => options.Configure<IServiceProvider>((directory, services) =>
        {
            directory.Invariant = ProviderSettings.Invariant(configurationSection);
            directory.ConnectionString = ProviderSettings.ConnectionString(configurationSection, builder.Configuration);
            directory.DataSource = ProviderSettings.DataSource(configurationSection, services);
        }));
}

/// <summary>Storage of a silo by its configuration.</summary>
internal sealed class GrainStorageProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) => builder.AddAdoNetGrainStorage(
        name ?? ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME,
        (OptionsBuilder<AdoNetGrainStorageOptions> options) => options.Configure<IServiceProvider>((storage, services) =>
        {
            storage.Invariant = ProviderSettings.Invariant(configurationSection);
            storage.ConnectionString = ProviderSettings.ConnectionString(configurationSection, builder.Configuration);
            storage.DataSource = ProviderSettings.DataSource(configurationSection, services);
            if (bool.TryParse(configurationSection["DeleteStateOnClear"], out var deletes))
                storage.DeleteStateOnClear = deletes;
            if (configurationSection["SerializerKey"] is { Length: > 0 } key)
                storage.GrainStorageSerializer = services.GetRequiredKeyedService<Orleans.Storage.IGrainStorageSerializer>(key);
        }));
}

/// <summary>Reminders of a silo by its configuration.</summary>
internal sealed class RemindersProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.UseAdoNetReminderService(
        (OptionsBuilder<AdoNetReminderTableOptions> options) => options.Configure<IServiceProvider>((reminders, services) =>
        {
            reminders.Invariant = ProviderSettings.Invariant(configurationSection);
            reminders.ConnectionString = ProviderSettings.ConnectionString(configurationSection, builder.Configuration);
            reminders.DataSource = ProviderSettings.DataSource(configurationSection, services);
        }));
}
