namespace Orleans;

/// <summary>
/// The number of a member on the wire. Unique among the members that one type declares itself, and never used again for another.
/// </summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum | AttributeTargets.Method | AttributeTargets.Property | AttributeTargets.Field | AttributeTargets.Parameter)]
public sealed class IdAttribute : Attribute
{
    /// <summary>Sets the number.</summary>
    public IdAttribute(uint id) => Id = id;

    /// <summary>The number.</summary>
    public uint Id { get; }
}
