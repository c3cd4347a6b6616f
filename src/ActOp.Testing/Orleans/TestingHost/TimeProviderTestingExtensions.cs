using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <summary>Clocks of tests.</summary>
public static class TimeProviderTestingExtensions
{
    /// <summary>
    /// Gives everything but grains and their timers this clock. Grains keep the <see cref="TimeProvider"/> that is registered without a
    /// key, so that a test can move their timers on while the silo runs in real time.
    /// </summary>
    public static IServiceCollection UseTimeProviderForBackgroundAreas(this IServiceCollection services, TimeProvider timeProvider)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(timeProvider);
        services.AddKeyedSingleton(KeyedService.AnyKey, (_, _) => timeProvider);
        return services.AddKeyedSingleton(TimeProviderNames.Grains, static (provider, _) => provider.GetRequiredService<TimeProvider>());
    }
}
