using ActOp.Runtime.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Statistics;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// What a provider of statistics of the application has measured last. One that throws, or measures what cannot be, is logged a few times,
/// and what it has measured before holds.
/// </summary>
/// <remarks>Any thread; called on the control stage, so a provider must not wait.</remarks>
internal sealed class CheckedStatistics(IEnvironmentStatisticsProvider provider, Action<Exception> failed) : IEnvironmentStatisticsProvider
{
    private readonly Lock _gate = new();
    private readonly FailureCount _failures = new();
    private EnvironmentStatistics _last;

    /// <summary>The provider of the services; null if there is none.</summary>
    internal static IEnvironmentStatisticsProvider? Of(IServiceProvider services) =>
        services.GetService<IEnvironmentStatisticsProvider>() is not { } found ? null
        : found is ProcessStatistics ? found
        : new CheckedStatistics(found, exception => new Log(GuardedLoggers.Of(services).CreateLogger("ActOp.Runtime")).BackgroundFailed(
            "the statistics " + found.GetType(), exception));

    public EnvironmentStatistics GetEnvironmentStatistics()
    {
        try
        {
            var measured = provider.GetEnvironmentStatistics();
            if (!(measured.FilteredCpuUsagePercentage >= 0) || float.IsInfinity(measured.FilteredCpuUsagePercentage)
                || measured.FilteredMemoryUsageBytes < 0 || measured.FilteredAvailableMemoryBytes < 0
                || measured.MaximumAvailableMemoryBytes < 0)
            {
                throw new InvalidOperationException("What was measured cannot be: " + measured);
            }

            lock (_gate)
                return _last = measured;
        }
        catch (Exception exception)
        {
            if (_failures.IsTold(out _))
                failed(exception);
            lock (_gate)
                return _last;
        }
    }
}
