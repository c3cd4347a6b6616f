using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>One entry of the <see cref="LocationCache"/>. Immutable but for its marks.</summary>
internal sealed class CachedLocation(GrainId grain, CachedSilo silo, ActivationId activation, long epoch)
{
    /// <summary>
    /// Whether a reader used it since the clock hand passed. Written only when it changes, so that readers share the line.
    /// </summary>
    public bool Used;

    /// <summary>Set when the cache holds the entry no more: whoever kept it must ask again.</summary>
    public volatile bool IsStale;

    /// <summary>The grain.</summary>
    public GrainId Grain { get; } = grain;

    /// <summary>The silo, with its liveness.</summary>
    public CachedSilo Silo { get; } = silo;

    /// <summary>The activation.</summary>
    public ActivationId Activation { get; } = activation;

    /// <summary>The epoch of its registration.</summary>
    public long Epoch { get; } = epoch;

    /// <summary>The location.</summary>
    public Location Location => new(Silo.Address, Activation, Epoch);
}
