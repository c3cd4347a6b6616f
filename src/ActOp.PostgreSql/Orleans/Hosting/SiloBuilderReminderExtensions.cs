using ActOp.PostgreSql.Configuration;
using ActOp.PostgreSql.Reminders;
using ActOp.PostgreSql.Schema;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Orleans.Hosting;

/// <summary>Reminders in PostgreSQL.</summary>
public static class SiloBuilderReminderExtensions
{
    /// <summary>Reminders are kept in PostgreSQL, and so outlive the cluster.</summary>
    public static ISiloBuilder UseAdoNetReminderService(this ISiloBuilder builder, Action<AdoNetReminderTableOptions> configureOptions) =>
        builder.UseAdoNetReminderService((OptionsBuilder<AdoNetReminderTableOptions> options) => options.Configure(configureOptions));

    /// <summary>Reminders are kept in PostgreSQL, and so outlive the cluster.</summary>
    public static ISiloBuilder UseAdoNetReminderService(
        this ISiloBuilder builder, Action<OptionsBuilder<AdoNetReminderTableOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.UseAdoNetReminderService(configureOptions);
        return builder;
    }

    /// <summary>Reminders are kept in PostgreSQL, and so outlive the cluster.</summary>
    public static IServiceCollection UseAdoNetReminderService(
        this IServiceCollection services, Action<OptionsBuilder<AdoNetReminderTableOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configureOptions);
        services.AddReminders();
        configureOptions(services.AddOptions<AdoNetReminderTableOptions>());
        services.AddSingleton<IReminderTable>(static provider => new PostgresReminderTable(
            Database.FromServices(
                provider, provider.GetRequiredService<IOptions<AdoNetReminderTableOptions>>().Value.Choice,
                PostgresReminderTable.Connections, OrleansReminders.Tables,
                provider.GetRequiredService<IOptions<PostgresOptions>>().Value.Checked().Tables),
            provider.GetRequiredService<IOptions<ClusterOptions>>().Value.ServiceId,
            BitConverter.ToInt64(Guid.NewGuid().ToByteArray()) & long.MaxValue));
        return services;
    }
}
