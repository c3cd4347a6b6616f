using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;
using Orleans.Statistics;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// Refuses the requests of clients while the process uses too much processor time or memory (<see cref="LoadSheddingOptions"/>). Requests
/// of silos and those that belong to a call chain already admitted are not refused.
/// </summary>
/// <remarks>
/// Holds one flag. <see cref="Tick"/> runs on the control stage and sets it; threads that read frames see it. If a measurement throws, the
/// flag stays as it is and the failure is logged by the caller. A detector of the application decides in its place. It is asked on the
/// thread pool, once per tick: threads that read frames see its last answer. If it throws, requests are not refused and the failure is
/// logged; if it hangs, its last answer holds.
/// </remarks>
internal sealed class Overload(
    LocalNode local, IEnvironmentStatisticsProvider statistics, LoadSheddingOptions options, RuntimeMetrics metrics)
{
    /// <summary>A detector of the application; null for the measurements.</summary>
    internal IOverloadDetector? Detector { get; init; }

    /// <summary>Time between measurements, in ms.</summary>
    private const long Period = 1_000;

    private long _measuredAt = -Period;
    private readonly FailureCount _failures = new();
    private volatile bool _isOn;
    private int _isAsking;

    /// <summary>Whether requests of clients may have to be refused now. Any thread.</summary>
    internal bool IsOn => _isOn;

    /// <summary>Whether clients are refused now. Any thread.</summary>
    internal bool IsOverloaded => _isOn;

    /// <summary>Measures, if a period has passed.</summary>
    internal void Tick(long now)
    {
        if (Detector is not null)
        {
            if (Interlocked.Exchange(ref _isAsking, 1) == 0)
                PoolStep.Begin(AskDetector);
            return;
        }

        if (now - _measuredAt < Period)
            return;
        _measuredAt = now;
        var measured = statistics.GetEnvironmentStatistics();
        var isOn = measured.FilteredCpuUsagePercentage > options.CpuThreshold || measured.MemoryUsagePercentage > options.MemoryThreshold;
        if (isOn == _isOn)
            return;
        _isOn = isOn;
        if (isOn)
            local.Log.Overloaded(local.Address, measured.FilteredCpuUsagePercentage, measured.MemoryUsagePercentage);
        else
            local.Log.OverloadEnded(local.Address);
    }

    private void AskDetector()
    {
        try
        {
            _isOn = Detector!.IsOverloaded;
        }
        catch (Exception exception)
        {
            _isOn = false;
            if (_failures.IsTold(out _))
                local.Log.BackgroundFailed("the overload detector " + Detector!.GetType(), exception);
        }
        finally
        {
            Volatile.Write(ref _isAsking, 0);
        }
    }

    /// <summary>Refuses a request that has arrived, if it came straight from a client. Any thread.</summary>
    internal bool Refuses(Call call)
    {
        if (call.Remote is not SiloAddress { IsClient: true } || call.Via is not null || call.Method.IsSystem
            || !IsOverloaded)
        {
            return false;
        }

        metrics.ClientRefused();
        RequestRun.Fail(call, new GatewayTooBusyException("The silo " + local.Address
            + " is overloaded (LoadSheddingOptions, IOverloadDetector): the call " + call.Method.ActivityName + " was refused."));
        return true;
    }
}

/// <summary>What this silo finds of its own load. Holds nothing; any thread.</summary>
internal sealed class OverloadReading(Func<Overload?> overload) : IOverloadDetector
{
    public bool IsOverloaded => overload() is { IsOverloaded: true };
}

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
    internal static IEnvironmentStatisticsProvider? FromServices(IServiceProvider services) =>
        services.GetService<IEnvironmentStatisticsProvider>() is not { } found ? null
        : found is ProcessStatistics ? found
        : new CheckedStatistics(
            found, exception => new Log(GuardedLoggers.GuardedOf(services).CreateLogger("ActOp.Runtime")).BackgroundFailed(
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
