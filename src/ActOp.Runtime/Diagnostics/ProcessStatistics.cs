using Orleans.Statistics;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// The processor use of this process since the last measurement, and the memory load that the last garbage collection has seen, which is
/// that of the container or the machine; at least what this process itself occupies. Any thread; one measurement at a time.
/// </summary>
internal sealed class ProcessStatistics(TimeProvider time) : IEnvironmentStatisticsProvider
{
    /// <summary>Weight of a new measurement in the smoothed values.</summary>
    private const double Weight = 0.3;

    /// <summary>Measurements in quicker succession return the last one: their difference would be mostly noise.</summary>
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(100);

    private readonly Lock _gate = new();
    private long _measuredAt = time.GetTimestamp();
    private TimeSpan _used = Environment.CpuUsage.TotalTime;
    private EnvironmentStatistics _last;
    private bool _hasMeasured;

    public EnvironmentStatistics GetEnvironmentStatistics()
    {
        lock (_gate)
        {
            var passed = time.GetElapsedTime(_measuredAt);
            if (_hasMeasured && passed < Shortest)
                return _last;
            var used = Environment.CpuUsage.TotalTime;
            var cpu = passed < Shortest ? 0 : (float)(100 * (used - _used) / passed / Environment.ProcessorCount);
            (_measuredAt, _used) = (time.GetTimestamp(), used);
            var memory = GC.GetGCMemoryInfo();
            var most = memory.TotalAvailableMemoryBytes;
            // Before the first collection there is no load, and the last collection may be long ago.
            var load = Math.Min(most, Math.Max(memory.MemoryLoadBytes, Environment.WorkingSet));
            _last = new EnvironmentStatistics(
                cpu, (float)Smooth(_last.FilteredCpuUsagePercentage, cpu), load, (long)Smooth(_last.FilteredMemoryUsageBytes, load),
                most - load, (long)Smooth(_last.FilteredAvailableMemoryBytes, most - load), most);
            _hasMeasured = true;
            return _last;
        }
    }

    private double Smooth(double before, double now) => _hasMeasured ? before + (Weight * (now - before)) : now;
}

/// <summary>The same measurements under their older names. Holds nothing; any thread.</summary>
internal sealed class OlderStatistics(IEnvironmentStatisticsProvider statistics) : IAppEnvironmentStatistics, IHostEnvironmentStatistics
{
    public long? MemoryUsage => statistics.GetEnvironmentStatistics().RawMemoryUsageBytes;

    public long? AvailableMemory => statistics.GetEnvironmentStatistics().RawAvailableMemoryBytes;

    public float? CpuUsage => statistics.GetEnvironmentStatistics().RawCpuUsagePercentage;

    public long? TotalPhysicalMemory => statistics.GetEnvironmentStatistics().MaximumAvailableMemoryBytes;
}
