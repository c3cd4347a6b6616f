using ActOp.Foundation;
using ActOp.Runtime.Diagnostics;
using Orleans;
using Orleans.Configuration;
using Orleans.Statistics;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Ends activations that were not called for their collection age, and those of observers whose objects were collected. Also lets blocked
/// activations drop abandoned requests. Runs on the control stage, once per collection quantum.
/// </summary>
internal sealed class Collector(ActivationTable activations, GrainCollectionOptions options, LocalNode local)
{
    /// <summary>Requests the end of idle activations; returns how many.</summary>
    internal int Collect()
    {
        var now = local.Clock.Now;
        var told = 0;
        local.Counts.Add(NodeEvent.Collection);
        foreach (var activation in activations)
        {
            if (activation.IsLostObserver)
            {
                activation.EndObserver();
                continue;
            }

            activation.DropAbandoned();
            var age = AgeOf(activation.Class);
            if (age == Timeout.InfiniteTimeSpan || !activation.MayCollect(now, (long)age.TotalMilliseconds))
                continue;
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ActivationIdle, "Idle for " + age + "."));
            told++;
        }

        return told;
    }

    private TimeSpan AgeOf(GrainClass grainClass)
    {
        if (grainClass.KeepAlive)
            return Timeout.InfiniteTimeSpan;
        if (grainClass.CollectionAge is { } own)
            return own;
        return options.ClassSpecificCollectionAge.TryGetValue(grainClass.Type.FullName!, out var configured)
            ? configured : options.CollectionAge;
    }
}

/// <summary>
/// Ends the activations that have been idle for longest while memory runs short
/// (<see cref="GrainCollectionOptions.EnableActivationSheddingOnMemoryPressure"/>). On the control stage.
/// </summary>
/// <remarks>
/// Holds the last measurement. The memory load is known only after a garbage collection, so nothing more is ended until it has changed.
/// </remarks>
internal sealed class MemoryShedding(
    LocalNode local, ActivationTable activations, IEnvironmentStatisticsProvider statistics, GrainCollectionOptions options)
{
    private long _measuredAt;
    private long _usageAtLastShedding;

    /// <summary>Measures, if a period has passed, and requests the end of activations if too much memory is in use.</summary>
    internal void Tick(long now)
    {
        if (now - _measuredAt < (long)options.MemoryUsagePollingPeriod.TotalMilliseconds)
            return;
        _measuredAt = now;
        var measured = statistics.GetEnvironmentStatistics();
        var usage = 100.0 * measured.NormalizedMemoryUsage;
        if (usage <= options.MemoryUsageLimitPercentage || measured.RawMemoryUsageBytes == _usageAtLastShedding)
            return;
        _usageAtLastShedding = measured.RawMemoryUsageBytes;
        var ended = End(1 - (options.MemoryUsageTargetPercentage / usage), usage, now);
        local.Log.ActivationsShed(ended, usage, options.MemoryUsageLimitPercentage);
    }

    private int End(double share, double usage, long now)
    {
        var all = 0;
        var lastUsed = new List<long>();
        foreach (var activation in activations)
        {
            all += activation.Class.IsOrdinary ? 1 : 0;
            if (MayEnd(activation, now))
                lastUsed.Add(Volatile.Read(ref activation.LastUsed));
        }

        if (lastUsed.Count == 0)
            return 0;
        lastUsed.Sort();
        var count = (int)Math.Ceiling(all * share);
        var newest = lastUsed[Math.Min(count, lastUsed.Count) - 1];
        var ended = 0;
        foreach (var activation in activations)
        {
            if (ended >= count || Volatile.Read(ref activation.LastUsed) > newest || !MayEnd(activation, now))
                continue;
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.HighMemoryPressure,
                usage.ToString("F0", System.Globalization.CultureInfo.InvariantCulture) + " % of the memory is in use."));
            ended++;
        }

        return ended;
    }

    private static bool MayEnd(Activation activation, long now) =>
        activation.Class is { IsOrdinary: true, KeepAlive: false } && activation.MayCollect(now, 0);
}

/// <summary>What a silo checks periodically about its activations, beside their collection. On the control stage, every 250 ms.</summary>
/// <remarks>Holds the times of the last checks. If one check throws, the caller logs it, and the others run.</remarks>
internal sealed class Upkeep
{
    private readonly ActivationTable _activations;
    private readonly StatelessWorkerOptions _workers;
    private long _inspectedAt;

    internal Upkeep(
        ActivationTable activations, StatelessWorkerOptions workers, Workload workload, MemoryShedding? memory, Overload? overload)
    {
        _activations = activations;
        _workers = workers;
        Workload = workload;
        List<Action<long>> checks = [InspectWorkers, workload.Tick];
        if (memory is not null)
            checks.Add(memory.Tick);
        if (overload is not null)
            checks.Add(overload.Tick);
        Checks = [.. checks];
    }

    internal Workload Workload { get; }

    /// <summary>The checks, which the caller runs one by one.</summary>
    internal Action<long>[] Checks { get; }

    private void InspectWorkers(long now)
    {
        if (!_workers.RemoveIdleWorkers || now - _inspectedAt < (long)_workers.IdleWorkersInspectionPeriod.TotalMilliseconds)
            return;
        _inspectedAt = now;
        _activations.EndIdleWorkers(now, _workers);
    }
}
