using ActOp.Management;
using ActOp.Management.Rebalancing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Placement.Rebalancing;

namespace Orleans.Hosting;

/// <summary>Adds the even spread of activations over the silos. To be added to all silos of a cluster.</summary>
public static class ActivationRebalancerExtensions
{
    /// <summary>Adds the rebalancer; see <see cref="ActivationRebalancerOptions"/>.</summary>
    public static ISiloBuilder AddActivationRebalancer(this ISiloBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.TryAddSingleton<IFailedSessionBackoffProvider>(static provider => new UsualSessionBackoff(
            provider.GetRequiredService<IOptions<ActivationRebalancerOptions>>().Value.SessionCyclePeriod));
        ManagementRegistrations.AddRebalancer(builder.Services);
        return builder;
    }

    /// <summary>Adds the rebalancer with the application's choice of the pauses after sessions that have failed.</summary>
    public static ISiloBuilder AddActivationRebalancer<TProvider>(this ISiloBuilder builder)
        where TProvider : class, IFailedSessionBackoffProvider
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton<IFailedSessionBackoffProvider, TProvider>();
        return builder.AddActivationRebalancer();
    }
}
