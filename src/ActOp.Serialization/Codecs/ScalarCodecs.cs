using System.Runtime.CompilerServices;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>A codec of immutable values that are written with one kind as members.</summary>
/// <param name="kind">How <see cref="Codec{T}.Write"/> writes; <see cref="WireKind.Block"/> for anything else.</param>
internal abstract class PlainCodec<T>(WireKind kind) : Codec<T>
{
    public override bool IsImmutable => true;

    public override T Copy(T value, CopyContext context) => value;

    public override void WriteMember(ref WireWriter writer, uint delta, T value)
    {
        if (kind == WireKind.Block)
        {
            base.WriteMember(ref writer, delta, value);
            return;
        }

        writer.WriteTag(delta, kind);
        Write(ref writer, value);
    }

    public override T ReadMember(ref WireReader reader, WireKind actual)
    {
        if (actual == kind && kind != WireKind.Block)
            return Read(ref reader);
        return base.ReadMember(ref reader, actual);
    }
}

/// <summary>One byte.</summary>
internal sealed class BooleanCodec() : PlainCodec<bool>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, bool value) => writer.WriteByte(value ? (byte)1 : (byte)0);

    public override bool Read(ref WireReader reader) => reader.ReadVarUInt64() != 0;
}

/// <summary>Varint.</summary>
internal sealed class ByteCodec() : PlainCodec<byte>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, byte value) => writer.WriteVarUInt32(value);

    public override byte Read(ref WireReader reader) => checked((byte)reader.ReadVarUInt64());

    public override byte ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((byte)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Zigzag varint.</summary>
internal sealed class SByteCodec() : PlainCodec<sbyte>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, sbyte value) => writer.WriteVarInt32(value);

    public override sbyte Read(ref WireReader reader) => checked((sbyte)reader.ReadVarInt64());

    public override sbyte ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((sbyte)(Int128)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Varint.</summary>
internal sealed class CharCodec() : PlainCodec<char>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, char value) => writer.WriteVarUInt32(value);

    public override char Read(ref WireReader reader) => (char)Parsing.InRange(reader.ReadVarUInt32(), char.MinValue, char.MaxValue);
}

/// <summary>Scalar value.</summary>
internal sealed class RuneCodec() : PlainCodec<System.Text.Rune>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, System.Text.Rune value) => writer.WriteVarInt32(value.Value);

    public override System.Text.Rune Read(ref WireReader reader) => Parsing.Rune(reader.ReadVarInt32());
}

/// <summary>Zigzag varint.</summary>
internal sealed class Int16Codec() : PlainCodec<short>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, short value) => writer.WriteVarInt32(value);

    public override short Read(ref WireReader reader) => checked((short)reader.ReadVarInt64());

    public override short ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((short)(Int128)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Varint.</summary>
internal sealed class UInt16Codec() : PlainCodec<ushort>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ushort value) => writer.WriteVarUInt32(value);

    public override ushort Read(ref WireReader reader) => checked((ushort)reader.ReadVarUInt64());

    public override ushort ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((ushort)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Zigzag varint.</summary>
internal sealed class Int32Codec() : PlainCodec<int>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, int value) => writer.WriteVarInt32(value);

    public override int Read(ref WireReader reader) => checked((int)reader.ReadVarInt64());

    public override int ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((int)(Int128)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Varint.</summary>
internal sealed class UInt32Codec() : PlainCodec<uint>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, uint value) => writer.WriteVarUInt32(value);

    public override uint Read(ref WireReader reader) => checked((uint)reader.ReadVarUInt64());

    public override uint ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((uint)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Zigzag varint.</summary>
internal sealed class Int64Codec() : PlainCodec<long>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, long value) => writer.WriteVarInt64(value);

    public override long Read(ref WireReader reader) => reader.ReadVarInt64();

    public override long ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((long)(Int128)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>Varint.</summary>
internal sealed class UInt64Codec() : PlainCodec<ulong>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ulong value) => writer.WriteVarUInt64(value);

    public override ulong Read(ref WireReader reader) => reader.ReadVarUInt64();

    public override ulong ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Fixed128 ? checked((ulong)Parsing.UInt128(ref reader)) : base.ReadMember(ref reader, actual);
}

/// <summary>16 bytes.</summary>
internal sealed class Int128Codec() : PlainCodec<Int128>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, Int128 value) => Parsing.Write(ref writer, (UInt128)value);

    public override Int128 Read(ref WireReader reader) => (Int128)Parsing.UInt128(ref reader);

    public override Int128 ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Varint ? reader.ReadVarInt64() : base.ReadMember(ref reader, actual);
}

/// <summary>16 bytes.</summary>
internal sealed class UInt128Codec() : PlainCodec<UInt128>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, UInt128 value) => Parsing.Write(ref writer, value);

    public override UInt128 Read(ref WireReader reader) => Parsing.UInt128(ref reader);

    public override UInt128 ReadMember(ref WireReader reader, WireKind actual) =>
        actual == WireKind.Varint ? reader.ReadVarUInt64() : base.ReadMember(ref reader, actual);
}

/// <summary>Length and bytes, little endian.</summary>
internal sealed class BigIntegerCodec() : PlainCodec<System.Numerics.BigInteger>(WireKind.Bytes)
{
    public override void Write(ref WireWriter writer, System.Numerics.BigInteger value) => writer.WriteBytes(value.ToByteArray());

    public override System.Numerics.BigInteger Read(ref WireReader reader) => new(reader.ReadBytes());
}

/// <summary>Varint of the bits.</summary>
internal sealed class HalfCodec() : PlainCodec<Half>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, Half value) => writer.WriteVarUInt32(BitConverter.HalfToUInt16Bits(value));

    public override Half Read(ref WireReader reader) =>
        BitConverter.UInt16BitsToHalf((ushort)Parsing.InRange(reader.ReadVarUInt32(), ushort.MinValue, ushort.MaxValue));

    public override Half ReadMember(ref WireReader reader, WireKind actual) => FloatMembers.ReadHalf(ref reader, actual);
}

/// <summary>4 bytes.</summary>
internal sealed class SingleCodec() : PlainCodec<float>(WireKind.Fixed32)
{
    public override void Write(ref WireWriter writer, float value) => writer.WriteFixed32(BitConverter.SingleToUInt32Bits(value));

    public override float Read(ref WireReader reader) => BitConverter.UInt32BitsToSingle(reader.ReadFixed32());

    public override float ReadMember(ref WireReader reader, WireKind actual) => FloatMembers.ReadSingle(ref reader, actual);
}

/// <summary>8 bytes.</summary>
internal sealed class DoubleCodec() : PlainCodec<double>(WireKind.Fixed64)
{
    public override void Write(ref WireWriter writer, double value) => writer.WriteFixed64(BitConverter.DoubleToUInt64Bits(value));

    public override double Read(ref WireReader reader) => BitConverter.UInt64BitsToDouble(reader.ReadFixed64());

    public override double ReadMember(ref WireReader reader, WireKind actual) => FloatMembers.ReadDouble(ref reader, actual);
}

/// <summary>16 bytes.</summary>
internal sealed class DecimalCodec() : PlainCodec<decimal>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, decimal value) => Parsing.Write(ref writer, value);

    public override decimal Read(ref WireReader reader) => Parsing.Decimal(ref reader);

    public override decimal ReadMember(ref WireReader reader, WireKind actual) => FloatMembers.ReadDecimal(ref reader, actual);
}

/// <summary>
/// Reads members whose type was another floating-point type when they were written: widened always, narrowed when the value fits.
/// </summary>
internal static class FloatMembers
{
    internal static Half ReadHalf(ref WireReader reader, WireKind kind)
    {
        if (kind == WireKind.Varint)
            return Codec<Half>.Default.Read(ref reader);
        var value = ReadDouble(ref reader, kind);
        var narrow = (Half)value;
        return Half.IsInfinity(narrow) && !double.IsInfinity(value) ? throw TooLarge(value) : narrow;
    }

    internal static float ReadSingle(ref WireReader reader, WireKind kind)
    {
        if (kind == WireKind.Fixed32)
            return BitConverter.UInt32BitsToSingle(reader.ReadFixed32());
        var value = ReadDouble(ref reader, kind);
        var narrow = (float)value;
        return float.IsInfinity(narrow) && !double.IsInfinity(value) ? throw TooLarge(value) : narrow;
    }

    internal static double ReadDouble(ref WireReader reader, WireKind kind) => kind switch
    {
        WireKind.Varint => (double)Codec<Half>.Default.Read(ref reader),
        WireKind.Fixed32 => BitConverter.UInt32BitsToSingle(reader.ReadFixed32()),
        WireKind.Fixed64 => BitConverter.UInt64BitsToDouble(reader.ReadFixed64()),
        WireKind.Fixed128 => (double)Parsing.Decimal(ref reader),
        WireKind.Null => 0,
        _ => throw WireReader.WrongKind(kind, typeof(double)),
    };

    internal static decimal ReadDecimal(ref WireReader reader, WireKind kind) => kind switch
    {
        WireKind.Varint => (decimal)Codec<Half>.Default.Read(ref reader),
        WireKind.Fixed32 => (decimal)BitConverter.UInt32BitsToSingle(reader.ReadFixed32()),
        WireKind.Fixed64 => (decimal)BitConverter.UInt64BitsToDouble(reader.ReadFixed64()),
        WireKind.Fixed128 => Parsing.Decimal(ref reader),
        WireKind.Null => 0,
        _ => throw WireReader.WrongKind(kind, typeof(decimal)),
    };

    private static OverflowException TooLarge(double value) => new("The number " + value + " in the message is too large for its member.");
}

/// <summary>Day number.</summary>
internal sealed class DateOnlyCodec() : PlainCodec<DateOnly>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, DateOnly value) => writer.WriteVarInt32(value.DayNumber);

    public override DateOnly Read(ref WireReader reader) => Parsing.DateOnly(reader.ReadVarInt32());
}

/// <summary>Ticks.</summary>
internal sealed class TimeOnlyCodec() : PlainCodec<TimeOnly>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, TimeOnly value) => writer.WriteVarInt64(value.Ticks);

    public override TimeOnly Read(ref WireReader reader) => Parsing.TimeOnly(reader.ReadVarInt64());
}

/// <summary>8 bytes: ticks and kind.</summary>
internal sealed class DateTimeCodec() : PlainCodec<DateTime>(WireKind.Fixed64)
{
    public override void Write(ref WireWriter writer, DateTime value) => writer.WriteFixed64((ulong)value.ToBinary());

    public override DateTime Read(ref WireReader reader) => Parsing.DateTime((long)reader.ReadFixed64());
}

/// <summary>Ticks and offset in minutes.</summary>
internal sealed class DateTimeOffsetCodec() : PlainCodec<DateTimeOffset>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, DateTimeOffset value) => Parsing.Write(ref writer, value);

    public override DateTimeOffset Read(ref WireReader reader) => Parsing.DateTimeOffset(ref reader);
}

/// <summary>Ticks.</summary>
internal sealed class TimeSpanCodec() : PlainCodec<TimeSpan>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, TimeSpan value) => writer.WriteVarInt64(value.Ticks);

    public override TimeSpan Read(ref WireReader reader) => new(reader.ReadVarInt64());
}

/// <summary>16 bytes.</summary>
internal sealed class GuidCodec() : PlainCodec<Guid>(WireKind.Fixed128)
{
    public override void Write(ref WireWriter writer, Guid value) => Parsing.Write(ref writer, value);

    public override Guid Read(ref WireReader reader) => Parsing.Guid(ref reader);
}

/// <summary>Length and bytes.</summary>
internal sealed class IPAddressCodec() : PlainCodec<System.Net.IPAddress?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, System.Net.IPAddress? value) => Parsing.Write(ref writer, value);

    public override System.Net.IPAddress? Read(ref WireReader reader) => Parsing.Address(ref reader);
}

/// <summary>Address and port.</summary>
internal sealed class IPEndPointCodec() : PlainCodec<System.Net.IPEndPoint?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, System.Net.IPEndPoint? value) => Parsing.Write(ref writer, value);

    public override System.Net.IPEndPoint? Read(ref WireReader reader) => Parsing.EndPoint(ref reader);
}

/// <summary>The name.</summary>
internal sealed class CultureInfoCodec() : PlainCodec<System.Globalization.CultureInfo?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, System.Globalization.CultureInfo? value) => writer.WriteNullableString(value?.Name);

    public override System.Globalization.CultureInfo? Read(ref WireReader reader) => Parsing.Culture(reader.ReadNullableString());
}

/// <summary>The original text.</summary>
internal sealed class UriCodec() : PlainCodec<Uri?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Uri? value) => writer.WriteNullableString(value?.OriginalString);

    public override Uri? Read(ref WireReader reader) => Parsing.Uri(reader.ReadNullableString());
}

/// <summary>The text.</summary>
internal sealed class VersionCodec() : PlainCodec<Version?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Version? value) => writer.WriteNullableString(value?.ToString());

    public override Version? Read(ref WireReader reader) => Parsing.Version(reader.ReadNullableString());
}

/// <summary>The name in the manifest; other types cannot be sent.</summary>
internal sealed class TypeCodec() : PlainCodec<Type?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, Type? value) =>
        writer.WriteNullableString(value is null ? null : TypeManifest.NameOf(value));

    public override Type? Read(ref WireReader reader) => Parsing.Type(reader.ReadNullableString());
}

/// <summary>One byte, so that every value has one.</summary>
internal sealed class NoResultCodec() : PlainCodec<ActOp.Calls.NoResult>(WireKind.Varint)
{
    public override void Write(ref WireWriter writer, ActOp.Calls.NoResult value) => writer.WriteByte(0);

    public override ActOp.Calls.NoResult Read(ref WireReader reader) => Parsing.NoResult(reader.ReadByte());
}

/// <summary>Length in bytes plus one, then UTF-8; 0 for null. As a member: length and UTF-8.</summary>
internal sealed class StringCodec : Codec<string?>
{
    public override bool IsImmutable => true;

    public override string? Copy(string? value, CopyContext context) => value;

    public override void Write(ref WireWriter writer, string? value) => writer.WriteNullableString(value);

    public override string? Read(ref WireReader reader) => reader.ReadNullableString();

    public override void WriteMember(ref WireWriter writer, uint delta, string? value)
    {
        writer.WriteTag(delta, value is null ? WireKind.Null : WireKind.Bytes);
        if (value is not null)
            writer.WriteString(value);
    }

    public override string? ReadMember(ref WireReader reader, WireKind kind) => kind switch
    {
        WireKind.Null => null,
        WireKind.Bytes => reader.ReadString(),
        _ => throw WireReader.WrongKind(kind, typeof(string)),
    };
}

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

/// <summary>0 for null; 1 and the value.</summary>
internal sealed class NullableCodec<T> : Codec<T?>
    where T : struct
{
    public override bool IsImmutable => Codec<T>.Default.IsImmutable;

    public override T? Copy(T? value, CopyContext context) => value is { } some ? Codec<T>.Default.Copy(some, context) : null;

    public override void Write(ref WireWriter writer, T? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is { } some)
            Codec<T>.Default.Write(ref writer, some);
    }

    public override T? Read(ref WireReader reader) => reader.ReadByte() == 0 ? null : Codec<T>.Default.Read(ref reader);

    public override void WriteMember(ref WireWriter writer, uint delta, T? value)
    {
        if (value is { } some)
            Codec<T>.Default.WriteMember(ref writer, delta, some);
        else
            writer.WriteTag(delta, WireKind.Null);
    }

    public override T? ReadMember(ref WireReader reader, WireKind kind) =>
        kind == WireKind.Null ? null : Codec<T>.Default.ReadMember(ref reader, kind);
}
