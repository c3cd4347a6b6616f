namespace Harness.Children;

/// <summary>What every process can say about itself.</summary>
/// <param name="T">Seconds on the machine's monotonic clock.</param>
/// <param name="CpuSeconds">Processor time since its start.</param>
/// <param name="AllocatedBytes">Bytes allocated on the managed heap since its start.</param>
public readonly record struct ProcessReading(double T, double CpuSeconds, long AllocatedBytes);
