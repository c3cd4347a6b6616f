using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Orleans;

/// <summary>Options of a provider.</summary>
public static class NamedOptionExtensions
{
    /// <summary>The options that were configured under a name.</summary>
    public static TOption GetOptionsByName<TOption>(this IServiceProvider services, string name)
        where TOption : class, new()
    {
        ArgumentNullException.ThrowIfNull(services);
        return services.GetRequiredService<IOptionsMonitor<TOption>>().Get(name);
    }
}
