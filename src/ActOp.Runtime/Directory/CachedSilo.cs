using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A silo as all cached locations on it share it: one write makes them all invalid.</summary>
internal sealed class CachedSilo(SiloAddress address)
{
    /// <summary>Set when a view declares the silo dead; never unset.</summary>
    public volatile bool IsDead;

    /// <summary>The silo.</summary>
    public SiloAddress Address { get; } = address;
}
