using ActOp.Reminders;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Orleans;

[assembly: RegisterProvider("Memory", "Reminders", "Silo", typeof(MemoryReminderSection))]

namespace Orleans.Hosting;

/// <summary>Adds reminders to a silo, without a table.</summary>
public static class SiloBuilderReminderExtensions
{
    /// <summary>Adds reminders. The table, an <see cref="IReminderTable"/>, comes from the services.</summary>
    public static ISiloBuilder AddReminders(this ISiloBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddReminders();
        return builder;
    }

    /// <inheritdoc cref="AddReminders(ISiloBuilder)"/>
    public static void AddReminders(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        ReminderSilo.AddTo(services);
    }
}

/// <summary>Adds reminders with a table in memory.</summary>
public static class SiloBuilderReminderMemoryExtensions
{
    /// <summary>
    /// Keeps reminders in the memory of all silos of the cluster: they survive as long as one silo does. For development and tests.
    /// </summary>
    public static ISiloBuilder UseInMemoryReminderService(this ISiloBuilder builder)
    {
        builder.AddReminders();
        builder.Services.TryAddSingleton<IReminderTable, MemoryReminderTable>();
        return builder;
    }
}
