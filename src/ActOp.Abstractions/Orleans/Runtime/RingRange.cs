namespace Orleans.Runtime;

/// <summary>A part of the ring of 32-bit hashes.</summary>
public interface IRingRange
{
    /// <summary>Whether the hash of the grain is in it.</summary>
    bool InRange(GrainId grainId) => InRange(grainId.GetUniformHashCode());

    /// <summary>Whether the hash is in it.</summary>
    bool InRange(uint value) => throw new NotImplementedException(GetType() + " does not implement InRange.");
}
