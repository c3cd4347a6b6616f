using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Orleans.Configuration.Overrides;

/// <summary>Options that one provider has for itself.</summary>
public static class OptionsOverrides
{
    /// <summary>The cluster options of the provider if they were configured under its name, else those of the cluster.</summary>
    public static IOptions<ClusterOptions> GetProviderClusterOptions(this IServiceProvider services, string providerName)
    {
        ArgumentNullException.ThrowIfNull(services);
        return services.GetServices<IConfigureOptions<ClusterOptions>>().OfType<ConfigureNamedOptions<ClusterOptions>>()
            .Any(one => one.Name == providerName)
            ? Options.Create(services.GetRequiredService<IOptionsMonitor<ClusterOptions>>().Get(providerName))
            : services.GetRequiredService<IOptions<ClusterOptions>>();
    }
}
