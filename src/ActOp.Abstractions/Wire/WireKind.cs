namespace ActOp.Wire;

/// <summary>How long the value of a tagged member is, so that a reader that does not know the member can skip it.</summary>
public enum WireKind : byte
{
    /// <summary>A varint of 1 to 10 bytes.</summary>
    Varint = 0,

    /// <summary>4 bytes.</summary>
    Fixed32 = 1,

    /// <summary>8 bytes.</summary>
    Fixed64 = 2,

    /// <summary>A varint length, then so many bytes.</summary>
    Bytes = 3,

    /// <summary>A length of 4 bytes, then so many bytes, which a codec wrote.</summary>
    Block = 4,

    /// <summary>Nothing: the value is null or the default.</summary>
    Null = 5,

    /// <summary>16 bytes.</summary>
    Fixed128 = 6,

    /// <summary>No member: the end of the members of one type.</summary>
    End = 7,
}
