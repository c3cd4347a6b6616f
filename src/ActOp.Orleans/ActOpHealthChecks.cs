using ActOp.Orleans.Locality;
using ActOp.Orleans.Threads;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace ActOp.Orleans;

/// <summary>Adds a health check of ActOp in a silo of Microsoft Orleans.</summary>
public static class ActOpHealthChecksBuilderExtensions
{
    /// <summary>
    /// Adds a check that is degraded when a part of ActOp has switched itself off after a failure, or stands still. It is never unhealthy:
    /// the silo works without ActOp.
    /// </summary>
    /// <param name="builder">What <c>services.AddHealthChecks()</c> returns.</param>
    /// <param name="name">The name of the check.</param>
    /// <returns>The same builder.</returns>
    public static IHealthChecksBuilder AddActOp(this IHealthChecksBuilder builder, string name = "actop")
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Add(new HealthCheckRegistration(
            name, static services => new ActOpHealthCheck(services.GetService<LocalityGate>(), services.GetService<PoolRounds>()),
            HealthStatus.Degraded, []));
    }
}

/// <summary>Tells what of ActOp has failed on this silo.</summary>
/// <param name="locality">Null if locality was not added.</param>
/// <param name="threads">Null if thread control was not added.</param>
internal sealed class ActOpHealthCheck(LocalityGate? locality, PoolRounds? threads) : IHealthCheck
{
    /// <summary>A step follows the last one after at most 250 ms.</summary>
    private static readonly TimeSpan StandsStill = TimeSpan.FromSeconds(10);

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(Check());

    private HealthCheckResult Check()
    {
        if (locality?.Failure is { } failure)
            return HealthCheckResult.Degraded("Locality has switched itself off: a filter threw.", failure);
        if (threads?.Failure is { } thrown)
            return HealthCheckResult.Degraded("Thread control has switched itself off: it threw.", thrown);
        if (threads is { IsRunning: true } && threads.SinceStep > StandsStill)
            return HealthCheckResult.Degraded($"Thread control stands still for {threads.SinceStep.TotalSeconds:0} s.");
        return HealthCheckResult.Healthy();
    }
}
