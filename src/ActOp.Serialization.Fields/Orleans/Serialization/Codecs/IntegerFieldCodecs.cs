using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Codecs;

/// <summary>A bit.</summary>
public sealed class BoolCodec : IFieldCodec<bool>
{
    void IFieldCodec<bool>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, bool value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(bool));

    bool IFieldCodec<bool>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, bool value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(bool), value, typeof(bool));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, bool value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteByte(value ? (byte)3 : (byte)1);
    }

    public static bool ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadUInt8(field.WireType) == 1;
    }
}

/// <summary>A number of variable length.</summary>
public sealed class ByteCodec : IFieldCodec<byte>
{
    void IFieldCodec<byte>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, byte value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(byte));

    byte IFieldCodec<byte>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, byte value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(byte), value, typeof(byte));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, byte value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarUInt8(value);
    }

    public static byte ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadUInt8(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class SByteCodec : IFieldCodec<sbyte>
{
    void IFieldCodec<sbyte>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, sbyte value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(sbyte));

    sbyte IFieldCodec<sbyte>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, sbyte value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(sbyte), value, typeof(sbyte));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, sbyte value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarInt8(value);
    }

    public static sbyte ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadInt8(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class UInt16Codec : IFieldCodec<ushort>
{
    void IFieldCodec<ushort>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, ushort value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(ushort));

    ushort IFieldCodec<ushort>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, ushort value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(ushort), value, typeof(ushort));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, ushort value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarUInt16(value);
    }

    public static ushort ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadUInt16(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class Int16Codec : IFieldCodec<short>
{
    void IFieldCodec<short>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, short value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(short));

    short IFieldCodec<short>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, short value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(short), value, typeof(short));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, short value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarInt16(value);
    }

    public static short ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadInt16(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class UInt32Codec : IFieldCodec<uint>
{
    void IFieldCodec<uint>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, uint value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(uint));

    uint IFieldCodec<uint>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, uint value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(uint), value, typeof(uint));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, uint value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarUInt32(value);
    }

    public static uint ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadUInt32(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class Int32Codec : IFieldCodec<int>
{
    void IFieldCodec<int>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, int value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(int));

    int IFieldCodec<int>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, int value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(int), value, typeof(int));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, int value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarInt32(value);
    }

    public static int ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadInt32(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class UInt64Codec : IFieldCodec<ulong>
{
    void IFieldCodec<ulong>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, ulong value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(ulong));

    ulong IFieldCodec<ulong>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, ulong value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(ulong), value, typeof(ulong));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, ulong value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarUInt64(value);
    }

    public static ulong ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadUInt64(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class Int64Codec : IFieldCodec<long>
{
    void IFieldCodec<long>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, long value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(long));

    long IFieldCodec<long>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, long value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(long), value, typeof(long));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, long value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarInt64(value);
    }

    public static long ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return reader.ReadInt64(field.WireType);
    }
}

/// <summary>A number of variable length.</summary>
public sealed class CharCodec : IFieldCodec<char>
{
    void IFieldCodec<char>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, char value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(char));

    char IFieldCodec<char>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, char value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(char), value, typeof(char));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, char value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarUInt16(value);
    }

    public static char ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return (char)reader.ReadUInt16(field.WireType);
    }
}
