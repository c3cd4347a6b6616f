using Harness.Children;

namespace HaloPresence.Children;

/// <summary>What a silo process says once a second; every counter is cumulative since its start.</summary>
public sealed record SiloSample : ITimed
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>Grain messages (calls and replies) between activations of this silo, counted by the runtime.</summary>
    public long LocalMessages { get; init; }

    /// <summary>Grain messages sent to other silos, counted by the runtime.</summary>
    public long RemoteMessages { get; init; }

    /// <summary>Sampled calls that the application itself saw coming from another silo.</summary>
    public long CheckedRemote { get; init; }

    /// <summary>Sampled calls that the application itself saw coming from its own silo.</summary>
    public long CheckedLocal { get; init; }

    /// <summary>Processor time of the process in seconds.</summary>
    public double CpuSeconds { get; init; }

    /// <summary>Grains that are active here.</summary>
    public long Activations { get; init; }

    /// <summary>Grains that have migrated away from here.</summary>
    public long Moves { get; init; }

    /// <summary>Bytes allocated on the managed heap.</summary>
    public long AllocatedBytes { get; init; }
}
