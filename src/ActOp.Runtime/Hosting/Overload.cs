using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Statistics;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// Refuses the requests of clients while the process uses too much processor time or memory (<see cref="LoadSheddingOptions"/>). Requests
/// of silos and those that belong to a call chain already admitted are not refused.
/// </summary>
/// <remarks>
/// Holds one flag. <see cref="Tick"/> runs on the control stage and sets it; threads that read frames see it. If a measurement throws, the
/// flag stays as it is and the failure is logged by the caller.
/// </remarks>
internal sealed class Overload(
    LocalNode local, IEnvironmentStatisticsProvider statistics, LoadSheddingOptions options, RuntimeMetrics metrics)
{
    /// <summary>Time between measurements, in ms.</summary>
    private const long Period = 1_000;

    private long _measuredAt = -Period;
    private volatile bool _isOn;

    /// <summary>Whether clients are refused now. Any thread.</summary>
    internal bool IsOn => _isOn;

    /// <summary>Measures, if a period has passed.</summary>
    internal void Tick(long now)
    {
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

    /// <summary>Refuses a request that has arrived, if it came straight from a client. Any thread.</summary>
    internal bool Refuses(Call call)
    {
        if (call.Remote is not SiloAddress { IsClient: true } || call.Via is not null || call.Method.IsSystem)
            return false;
        metrics.ClientRefused();
        RequestRun.Fail(call, new GatewayTooBusyException("The silo " + local.Address + " is overloaded (LoadSheddingOptions): the call "
            + call.Method.ActivityName + " was refused."));
        return true;
    }
}
