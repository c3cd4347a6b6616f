using System.Data.Common;
using ActOp.PostgreSql.Configuration;
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
[assembly: RegisterProvider("PostgresServer", "Clustering", "Silo", typeof(SiloClusteringProvider))]
[assembly: RegisterProvider("PostgresServer", "Clustering", "Client", typeof(ClientClusteringProvider))]
[assembly: RegisterProvider("PostgresServer", "GrainDirectory", "Silo", typeof(GrainDirectoryProvider))]
[assembly: RegisterProvider("PostgresServer", "GrainStorage", "Silo", typeof(GrainStorageProvider))]
[assembly: RegisterProvider("PostgresServer", "Reminders", "Silo", typeof(RemindersProvider))]
[assembly: RegisterProvider("PostgresDatabase", "Clustering", "Silo", typeof(SiloClusteringProvider))]
[assembly: RegisterProvider("PostgresDatabase", "Clustering", "Client", typeof(ClientClusteringProvider))]
[assembly: RegisterProvider("PostgresDatabase", "GrainDirectory", "Silo", typeof(GrainDirectoryProvider))]
[assembly: RegisterProvider("PostgresDatabase", "GrainStorage", "Silo", typeof(GrainStorageProvider))]
[assembly: RegisterProvider("PostgresDatabase", "Reminders", "Silo", typeof(RemindersProvider))]

namespace ActOp.PostgreSql.Hosting;

/// <summary>
/// What the configuration section Orleans says of a provider of the name AdoNet, or of the names that .NET Aspire gives to its resources.
/// </summary>
/// <remarks>
/// Keys: <c>Invariant</c> (Npgsql if it is not set), and <c>ConnectionString</c>, or <c>ConnectionName</c> with the name of a connection
/// string, or <c>ServiceKey</c> with the key of a data source in the container, or else with the name of a connection string: .NET Aspire
/// passes a connection string, and the application may have made a data source of it. For storage and reminders also <c>Tables</c>, a
/// value of <see cref="PostgresTables"/>.
/// </remarks>
internal static class ProviderSettings
{
    internal static string Invariant(IConfigurationSection section) =>
        section["Invariant"] is { Length: > 0 } invariant ? invariant : DatabaseChoice.Npgsql;

    /// <summary>The connection string or the data source; neither if no key is set.</summary>
    internal static (string? ConnectionString, DbDataSource? DataSource) Database(
        IConfigurationSection section, IConfiguration configuration, IServiceProvider services)
    {
        if (section["ServiceKey"] is { Length: > 0 } key && services.GetKeyedService<DbDataSource>(key) is { } source)
            return (null, source);
        if (section["ConnectionString"] is { Length: > 0 } text)
            return (text, null);
        var setting = section["ConnectionName"] is { Length: > 0 } ? "ConnectionName" : "ServiceKey";
        if (section[setting] is not { Length: > 0 } name)
            return (null, null);
        return (configuration.GetConnectionString(name) ?? throw new Orleans.Runtime.OrleansConfigurationException(
            section.Path + ":" + setting + " is " + name + ", but there is no such connection string"
            + (setting == "ServiceKey" ? ", and no data source with this key." : ".")), null);
    }

    /// <summary>Takes the key <c>Tables</c> over, if it is set.</summary>
    internal static void TakeTables(IConfigurationSection section, IServiceCollection services, string name)
    {
        if (section["Tables"] is not { Length: > 0 } text)
            return;
        if (!Enum.TryParse<PostgresTables>(text, ignoreCase: true, out var tables) || !Enum.IsDefined(tables))
        {
            throw new Orleans.Runtime.OrleansConfigurationException(section.Path + ":Tables is " + text + ", but must be "
                + string.Join(" or ", Enum.GetNames<PostgresTables>()) + ".");
        }

        services.Configure<PostgresOptions>(name, options => options.Tables = tables);
    }
}

/// <summary>Clustering of a silo by its configuration.</summary>
internal sealed class SiloClusteringProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) => builder.UseAdoNetClustering(
        (OptionsBuilder<AdoNetClusteringSiloOptions> options) => options.Configure<IServiceProvider>((clustering, services) =>
        {
            clustering.Invariant = ProviderSettings.Invariant(configurationSection);
            (clustering.ConnectionString, clustering.DataSource)
                = ProviderSettings.Database(configurationSection, builder.Configuration, services);
        }));
}

/// <summary>Gateways of a client by its configuration.</summary>
internal sealed class ClientClusteringProvider : IProviderBuilder<IClientBuilder>
{
    public void Configure(IClientBuilder builder, string? name, IConfigurationSection configurationSection) => builder.UseAdoNetClustering(
        (OptionsBuilder<AdoNetClusteringClientOptions> options) => options.Configure<IServiceProvider>((clustering, services) =>
        {
            clustering.Invariant = ProviderSettings.Invariant(configurationSection);
            (clustering.ConnectionString, clustering.DataSource)
                = ProviderSettings.Database(configurationSection, builder.Configuration, services);
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
            (directory.ConnectionString, directory.DataSource)
                = ProviderSettings.Database(configurationSection, builder.Configuration, services);
        }));
}

/// <summary>Storage of a silo by its configuration.</summary>
internal sealed class GrainStorageProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        name ??= ProviderConstants.DEFAULT_STORAGE_PROVIDER_NAME;
        ProviderSettings.TakeTables(configurationSection, builder.Services, name);
        builder.AddAdoNetGrainStorage(
            name,
            (OptionsBuilder<AdoNetGrainStorageOptions> options) => options.Configure<IServiceProvider>((storage, services) =>
            {
                storage.Invariant = ProviderSettings.Invariant(configurationSection);
                (storage.ConnectionString, storage.DataSource)
                    = ProviderSettings.Database(configurationSection, builder.Configuration, services);
                if (bool.TryParse(configurationSection["DeleteStateOnClear"], out var deletes))
                    storage.DeleteStateOnClear = deletes;
                if (configurationSection["SerializerKey"] is { Length: > 0 } key)
                    storage.GrainStorageSerializer = services.GetRequiredKeyedService<Orleans.Storage.IGrainStorageSerializer>(key);
            }));
    }
}

/// <summary>Reminders of a silo by its configuration.</summary>
internal sealed class RemindersProvider : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection)
    {
        ProviderSettings.TakeTables(configurationSection, builder.Services, Options.DefaultName);
        builder.UseAdoNetReminderService(
            (OptionsBuilder<AdoNetReminderTableOptions> options) => options.Configure<IServiceProvider>((reminders, services) =>
            {
                reminders.Invariant = ProviderSettings.Invariant(configurationSection);
                (reminders.ConnectionString, reminders.DataSource)
                    = ProviderSettings.Database(configurationSection, builder.Configuration, services);
            }));
    }
}
