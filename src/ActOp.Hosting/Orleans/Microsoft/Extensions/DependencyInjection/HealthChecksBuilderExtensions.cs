using ActOp.Configuration;
using ActOp.Hosting.Health;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Orleans;
using Orleans.Runtime;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds health checks of the silo, or the client, of this host.</summary>
public static class ActOpHealthChecksBuilderExtensions
{
    /// <summary>
    /// Adds two checks: <paramref name="name"/>-live with the tag <c>live</c>, whether the process must be replaced, and
    /// <paramref name="name"/>-ready with the tag <c>ready</c>, whether it may get work. A silo that is ready but does not reach the
    /// membership table is degraded.
    /// </summary>
    /// <param name="builder">What <c>services.AddHealthChecks()</c> returns.</param>
    /// <param name="name">The first part of the names of the checks.</param>
    /// <param name="configureOptions">Changes when a silo counts as not alive.</param>
    public static IHealthChecksBuilder AddActOp(
        this IHealthChecksBuilder builder, string name = "actop", Action<HealthOptions>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        var services = builder.Services;
        services.TryAddSingleton(TimeProvider.System);
        services.AddOptions<HealthOptions>();
        if (configureOptions is not null)
            services.Configure(configureOptions);
        if (services.All(static service => service.ServiceType != typeof(NodeHealth)))
        {
            services.AddSingleton<NodeHealth>();
            services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider => provider.GetRequiredService<NodeHealth>());
        }

        return builder.Add(Registration(name + "-live", "live", static health => health.CheckLive()))
            .Add(Registration(name + "-ready", "ready", static health => health.CheckReady()));
    }

    private static HealthCheckRegistration Registration(string name, string tag, Func<NodeHealth, HealthCheckResult> check) => new(
        name, services => new NodeHealthCheck(() => services.GetRequiredService<NodeHealth>().Count(check)), HealthStatus.Unhealthy, [tag]);
}
