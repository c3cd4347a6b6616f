namespace Orleans.Statistics;

/// <summary>Measures the processor and memory use of this process and its machine. An application may register its own.</summary>
public interface IEnvironmentStatisticsProvider
{
    /// <summary>The values now. Called about once a second, on threads of the runtime: it must not block.</summary>
    EnvironmentStatistics GetEnvironmentStatistics();
}

/// <summary>One measurement of <see cref="IEnvironmentStatisticsProvider"/>. Sizes in bytes, shares in percent.</summary>
public readonly record struct EnvironmentStatistics
{
    /// <summary>Available memory, smoothed over several measurements.</summary>
    public readonly long FilteredAvailableMemoryBytes;

    /// <summary>Processor use of the process, 0 to 100 for all its processors together, smoothed.</summary>
    public readonly float FilteredCpuUsagePercentage;

    /// <summary>Memory in use, smoothed.</summary>
    public readonly long FilteredMemoryUsageBytes;

    /// <summary>The most memory that the process may use: the limit of its container, or the memory of the machine.</summary>
    public readonly long MaximumAvailableMemoryBytes;

    /// <summary>Available memory, as measured.</summary>
    public readonly long RawAvailableMemoryBytes;

    /// <summary>Processor use of the process, 0 to 100 for all its processors together, as measured.</summary>
    public readonly float RawCpuUsagePercentage;

    /// <summary>Memory in use, as measured.</summary>
    public readonly long RawMemoryUsageBytes;

    internal EnvironmentStatistics(
        float rawCpu, float filteredCpu, long rawMemory, long filteredMemory, long rawAvailable, long filteredAvailable, long maximum)
    {
        RawCpuUsagePercentage = Math.Clamp(rawCpu, 0, 100);
        FilteredCpuUsagePercentage = Math.Clamp(filteredCpu, 0, 100);
        RawMemoryUsageBytes = rawMemory;
        FilteredMemoryUsageBytes = filteredMemory;
        RawAvailableMemoryBytes = rawAvailable;
        FilteredAvailableMemoryBytes = filteredAvailable;
        MaximumAvailableMemoryBytes = maximum;
    }

    /// <summary>Available memory of the maximum, 0 to 100, smoothed.</summary>
    public float AvailableMemoryPercentage => 100 * NormalizedFilteredAvailableMemory;

    /// <summary>Memory in use of the maximum, 0 to 100, smoothed.</summary>
    public float MemoryUsagePercentage => 100 * NormalizedFilteredMemoryUsage;

    /// <summary>Available memory of the maximum, 0 to 1, as measured.</summary>
    public float NormalizedAvailableMemory => ShareOf(RawAvailableMemoryBytes);

    /// <summary>Available memory of the maximum, 0 to 1, smoothed.</summary>
    public float NormalizedFilteredAvailableMemory => ShareOf(FilteredAvailableMemoryBytes);

    /// <summary>Memory in use of the maximum, 0 to 1, smoothed.</summary>
    public float NormalizedFilteredMemoryUsage => ShareOf(FilteredMemoryUsageBytes);

    /// <summary>Memory in use of the maximum, 0 to 1, as measured.</summary>
    public float NormalizedMemoryUsage => ShareOf(RawMemoryUsageBytes);

    private float ShareOf(long bytes) => MaximumAvailableMemoryBytes > 0 ? Math.Clamp((float)bytes / MaximumAvailableMemoryBytes, 0, 1) : 0;
}

/// <summary>The memory of this process, from <see cref="IEnvironmentStatisticsProvider"/>.</summary>
public interface IAppEnvironmentStatistics
{
    /// <summary>Memory in use, in bytes; null if it is not known.</summary>
    long? MemoryUsage { get; }
}

/// <summary>The processor and the memory of this machine, or of the container, from <see cref="IEnvironmentStatisticsProvider"/>.</summary>
public interface IHostEnvironmentStatistics
{
    /// <summary>Available memory in bytes; null if it is not known.</summary>
    long? AvailableMemory { get; }

    /// <summary>Processor use, 0 to 100; null if it is not known.</summary>
    float? CpuUsage { get; }

    /// <summary>The most memory that the process may use, in bytes; null if it is not known.</summary>
    long? TotalPhysicalMemory { get; }
}
