using Harness.Children;

namespace Heartbeat.Children;

/// <summary>What the silo process says four times a second.</summary>
public sealed record SiloSample : ITimed
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>Processor time of the process in seconds.</summary>
    public required double CpuSeconds { get; init; }

    /// <summary>The stages, in the order of <see cref="StageNames"/>.</summary>
    public required StageReading[] Stages { get; init; }
}
