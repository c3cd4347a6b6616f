namespace ActOp.Wire;

/// <summary>Nothing is written here.</summary>
public ref struct WireWriter
{
    internal readonly void WriteByte(byte value) => throw new NotSupportedException(nameof(WriteByte));

    internal readonly void WriteFixed64(ulong value) => throw new NotSupportedException(nameof(WriteFixed64));

    internal readonly void WriteVarUInt32(uint value) => throw new NotSupportedException(nameof(WriteVarUInt32));
}

/// <summary>Nothing is read here.</summary>
public ref struct WireReader
{
    internal readonly byte ReadByte() => throw new NotSupportedException(nameof(ReadByte));

    internal readonly ulong ReadFixed64() => throw new NotSupportedException(nameof(ReadFixed64));

    internal readonly uint ReadVarUInt32() => throw new NotSupportedException(nameof(ReadVarUInt32));
}

public sealed class CopyContext;
