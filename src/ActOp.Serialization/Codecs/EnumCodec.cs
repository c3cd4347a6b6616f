using System.Runtime.CompilerServices;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The number, as a zigzag varint; unsigned ones of 64 bits by their bits.</summary>
internal sealed class EnumCodec<T>() : PlainCodec<T>(WireKind.Varint)
    where T : struct, Enum
{
    private static readonly TypeCode Code = Type.GetTypeCode(typeof(T));

    public override void Write(ref WireWriter writer, T value) => writer.WriteVarInt64(Code switch
    {
        TypeCode.SByte => Unsafe.BitCast<T, sbyte>(value),
        TypeCode.Byte => Unsafe.BitCast<T, byte>(value),
        TypeCode.Int16 => Unsafe.BitCast<T, short>(value),
        TypeCode.UInt16 => Unsafe.BitCast<T, ushort>(value),
        TypeCode.Int32 => Unsafe.BitCast<T, int>(value),
        TypeCode.UInt32 => Unsafe.BitCast<T, uint>(value),
        _ => Unsafe.BitCast<T, long>(value),
    });

    public override T Read(ref WireReader reader)
    {
        var number = reader.ReadVarInt64();
        return Code switch
        {
            TypeCode.SByte => Unsafe.BitCast<sbyte, T>((sbyte)number),
            TypeCode.Byte => Unsafe.BitCast<byte, T>((byte)number),
            TypeCode.Int16 => Unsafe.BitCast<short, T>((short)number),
            TypeCode.UInt16 => Unsafe.BitCast<ushort, T>((ushort)number),
            TypeCode.Int32 => Unsafe.BitCast<int, T>((int)number),
            TypeCode.UInt32 => Unsafe.BitCast<uint, T>((uint)number),
            _ => Unsafe.BitCast<long, T>(number),
        };
    }
}
