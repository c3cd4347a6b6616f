using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A silo as all cached locations on it share it: one write makes them all invalid.</summary>
internal sealed class CachedSilo(SiloAddress address)
{
    private View? _trustedBy;

    /// <summary>Set when a view declares the silo dead; never unset.</summary>
    public volatile bool IsDead;

    /// <summary>The view by which calls may be sent to the silo, as far as somebody has looked. Any thread.</summary>
    public View? TrustedBy
    {
        get => Volatile.Read(ref _trustedBy);
        set => Volatile.Write(ref _trustedBy, value);
    }

    /// <summary>The silo.</summary>
    public SiloAddress Address { get; } = address;
}
