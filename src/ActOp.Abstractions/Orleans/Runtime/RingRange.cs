namespace Orleans.Runtime;

/// <summary>A part of the ring of 32-bit hashes.</summary>
public interface IRingRange
{
    /// <summary>Whether the hash of the grain is in it.</summary>
    bool InRange(GrainId grainId) => InRange(grainId.GetUniformHashCode());

    /// <summary>Whether the hash is in it.</summary>
    bool InRange(uint value) => throw new NotSupportedException(GetType() + " does not implement InRange.");
}

/// <summary>One part of the ring: the hashes after <see cref="Begin"/> up to <see cref="End"/>; all if both are equal.</summary>
public interface ISingleRange : IRingRange
{
    /// <summary>The hash before the first one.</summary>
    uint Begin { get; }

    /// <summary>The last hash.</summary>
    uint End { get; }
}
