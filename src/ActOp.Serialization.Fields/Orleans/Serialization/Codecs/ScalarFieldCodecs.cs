using System.Buffers;
using System.Text;
using ActOp.Serialization.Codecs;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Codecs;

/// <summary>4 bytes.</summary>
public sealed class FloatCodec : IFieldCodec<float>
{
    void IFieldCodec<float>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, float value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(float));

    float IFieldCodec<float>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, float value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(float), value, typeof(float));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, float value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.Fixed32);
        writer.WriteUInt32(BitConverter.SingleToUInt32Bits(value));
    }

    public static float ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return FloatFields.Single(ref reader, field);
    }
}

/// <summary>8 bytes.</summary>
public sealed class DoubleCodec : IFieldCodec<double>
{
    void IFieldCodec<double>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, double value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(double));

    double IFieldCodec<double>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, double value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(double), value, typeof(double));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, double value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.Fixed64);
        writer.WriteUInt64(BitConverter.DoubleToUInt64Bits(value));
    }

    public static double ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return FloatFields.Double(ref reader, field);
    }
}

/// <summary>The bits, as a number.</summary>
public sealed class HalfCodec : IFieldCodec<Half>
{
    void IFieldCodec<Half>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Half value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(Half));

    Half IFieldCodec<Half>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Half value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(Half), value, typeof(Half));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Half value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.VarInt);
        writer.WriteVarUInt16(BitConverter.HalfToUInt16Bits(value));
    }

    public static Half ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return FloatFields.Half(ref reader, field);
    }
}

/// <summary>16 bytes behind their length.</summary>
public sealed class DecimalCodec : IFieldCodec<decimal>
{
    void IFieldCodec<decimal>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, decimal value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(decimal));

    decimal IFieldCodec<decimal>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, decimal value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(decimal), value, typeof(decimal));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, decimal value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.LengthPrefixed);
        FloatFields.Write(ref writer, value);
    }

    public static decimal ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return FloatFields.Decimal(ref reader, field);
    }
}

/// <summary>8 bytes: ticks and kind.</summary>
public sealed class DateTimeCodec : IFieldCodec<DateTime>
{
    void IFieldCodec<DateTime>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, DateTime value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(DateTime));

    DateTime IFieldCodec<DateTime>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, DateTime value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(DateTime), value, typeof(DateTime));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, DateTime value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.Fixed64);
        writer.WriteInt64(value.ToBinary());
    }

    public static DateTime ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.Fixed64);
        return Parsing.DateTime(reader.ReadInt64());
    }
}

/// <summary>8 bytes: ticks.</summary>
public sealed class TimeSpanCodec : IFieldCodec<TimeSpan>
{
    void IFieldCodec<TimeSpan>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TimeSpan value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(TimeSpan));

    TimeSpan IFieldCodec<TimeSpan>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, TimeSpan value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(TimeSpan), value, typeof(TimeSpan));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TimeSpan value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.Fixed64);
        writer.WriteInt64(value.Ticks);
    }

    public static TimeSpan ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.Fixed64);
        return new TimeSpan(reader.ReadInt64());
    }
}

/// <summary>4 bytes: the day.</summary>
public sealed class DateOnlyCodec : IFieldCodec<DateOnly>
{
    void IFieldCodec<DateOnly>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, DateOnly value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(DateOnly));

    DateOnly IFieldCodec<DateOnly>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, DateOnly value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(DateOnly), value, typeof(DateOnly));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, DateOnly value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.Fixed32);
        writer.WriteInt32(value.DayNumber);
    }

    public static DateOnly ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.Fixed32);
        return Parsing.DateOnly(reader.ReadInt32());
    }
}

/// <summary>8 bytes: ticks.</summary>
public sealed class TimeOnlyCodec : IFieldCodec<TimeOnly>
{
    void IFieldCodec<TimeOnly>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TimeOnly value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(TimeOnly));

    TimeOnly IFieldCodec<TimeOnly>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, TimeOnly value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(TimeOnly), value, typeof(TimeOnly));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TimeOnly value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.Fixed64);
        writer.WriteInt64(value.Ticks);
    }

    public static TimeOnly ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.Fixed64);
        return Parsing.TimeOnly(reader.ReadInt64());
    }
}

/// <summary>16 bytes behind their length.</summary>
public sealed class Int128Codec : IFieldCodec<Int128>
{
    void IFieldCodec<Int128>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Int128 value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(Int128));

    Int128 IFieldCodec<Int128>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Int128 value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(Int128), value, typeof(Int128));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Int128 value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.LengthPrefixed);
        UInt128Codec.WriteRaw(ref writer, (UInt128)value);
    }

    public static Int128 ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return field.WireType == WireType.LengthPrefixed
            ? (Int128)VarIntReaderExtensions.ReadUInt128(ref reader) : reader.ReadInt64(field.WireType);
    }
}

/// <summary>16 bytes behind their length.</summary>
public sealed class UInt128Codec : IFieldCodec<UInt128>
{
    void IFieldCodec<UInt128>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, UInt128 value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(UInt128));

    UInt128 IFieldCodec<UInt128>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, UInt128 value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(UInt128), value, typeof(UInt128));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, UInt128 value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.LengthPrefixed);
        WriteRaw(ref writer, value);
    }

    public static UInt128 ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        return field.WireType == WireType.LengthPrefixed
            ? VarIntReaderExtensions.ReadUInt128(ref reader) : reader.ReadUInt64(field.WireType);
    }

    internal static void WriteRaw<TBufferWriter>(ref Writer<TBufferWriter> writer, UInt128 value)
        where TBufferWriter : IBufferWriter<byte>
    {
        writer.WriteVarUInt32(16);
        writer.WriteUInt64((ulong)value);
        writer.WriteUInt64((ulong)(value >> 64));
    }
}

/// <summary>16 bytes behind their length.</summary>
public sealed class GuidCodec : IFieldCodec<Guid>
{
    void IFieldCodec<Guid>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Guid value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value, typeof(Guid));

    Guid IFieldCodec<Guid>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Guid value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(Guid), value, typeof(Guid));

    /// <summary>Writes a value of a type that is written as this one, such as an enum.</summary>
    public static void WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Guid value, Type actualType)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, actualType, WireType.LengthPrefixed);
        writer.WriteVarUInt32(16);
        WriteRaw(ref writer, value);
    }

    public static Guid ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.LengthPrefixed);
        var length = reader.ReadVarUInt32();
        return length == 16 ? ReadRaw(ref reader) : throw new UnexpectedLengthPrefixValueException(nameof(Guid), 16, length);
    }

    public static void WriteRaw<TBufferWriter>(ref Writer<TBufferWriter> writer, Guid value)
        where TBufferWriter : IBufferWriter<byte>
    {
        Span<byte> bytes = stackalloc byte[16];
        value.TryWriteBytes(bytes);
        writer.Write(bytes);
    }

    public static Guid ReadRaw<TInput>(ref Reader<TInput> reader)
    {
        Span<byte> bytes = stackalloc byte[16];
        reader.ReadBytes(bytes);
        return new Guid(bytes);
    }
}

/// <summary>Floating-point fields: widened always, narrowed when the value fits.</summary>
internal static class FloatFields
{
    internal static Half Half<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.WireType == WireType.VarInt)
            return BitConverter.UInt16BitsToHalf(reader.ReadVarUInt16());
        var value = Double(ref reader, field);
        var narrow = (Half)value;
        return System.Half.IsInfinity(narrow) && !double.IsInfinity(value)
            ? throw new OverflowException("The number does not fit.") : narrow;
    }

    internal static float Single<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.WireType == WireType.Fixed32)
            return BitConverter.UInt32BitsToSingle(reader.ReadUInt32());
        var value = Double(ref reader, field);
        var narrow = (float)value;
        return float.IsInfinity(narrow) && !double.IsInfinity(value) ? throw new OverflowException("The number does not fit.") : narrow;
    }

    internal static double Double<TInput>(ref Reader<TInput> reader, Field field) => field.WireType switch
    {
        WireType.VarInt => (double)BitConverter.UInt16BitsToHalf(reader.ReadVarUInt16()),
        WireType.Fixed32 => BitConverter.UInt32BitsToSingle(reader.ReadUInt32()),
        WireType.Fixed64 => BitConverter.UInt64BitsToDouble(reader.ReadUInt64()),
        WireType.LengthPrefixed => (double)Decimal(ref reader),
        _ => throw new UnsupportedWireTypeException(),
    };

    internal static decimal Decimal<TInput>(ref Reader<TInput> reader, Field field) =>
        field.WireType == WireType.LengthPrefixed ? Decimal(ref reader) : (decimal)Double(ref reader, field);

    internal static void Write<TBufferWriter>(ref Writer<TBufferWriter> writer, decimal value)
        where TBufferWriter : IBufferWriter<byte>
    {
        Span<int> bits = stackalloc int[4];
        decimal.GetBits(value, bits);
        writer.WriteVarUInt32(16);
        foreach (var part in bits)
            writer.WriteInt32(part);
    }

    private static decimal Decimal<TInput>(ref Reader<TInput> reader)
    {
        var length = reader.ReadVarUInt32();
        if (length != 16)
            throw new UnexpectedLengthPrefixValueException(nameof(System.Decimal), 16, length);
        Span<int> bits = stackalloc int[4];
        for (var i = 0; i < 4; i++)
            bits[i] = reader.ReadInt32();
        try
        {
            return new decimal(bits);
        }
        catch (ArgumentException exception)
        {
            throw Parsing.Invalid("decimal", exception);
        }
    }
}

/// <summary>Ticks and minutes of the offset.</summary>
public sealed class DateTimeOffsetCodec : IFieldCodec<DateTimeOffset>
{
    void IFieldCodec<DateTimeOffset>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, DateTimeOffset value)
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(DateTimeOffset), WireType.LengthPrefixed);
        writer.WriteVarUInt32(12);
        writer.WriteInt64(value.Ticks);
        writer.WriteInt32(value.TotalOffsetMinutes);
    }

    DateTimeOffset IFieldCodec<DateTimeOffset>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, DateTimeOffset value)
        where TBufferWriter : IBufferWriter<byte> =>
        ((IFieldCodec<DateTimeOffset>)new DateTimeOffsetCodec()).WriteField(ref writer, fieldIdDelta, typeof(DateTimeOffset), value);

    public static DateTimeOffset ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        ReferenceCodec.MarkValueField(reader.Session);
        field.EnsureWireType(WireType.LengthPrefixed);
        var length = reader.ReadVarUInt32();
        if (length != 12)
            throw new UnexpectedLengthPrefixValueException(nameof(DateTimeOffset), 12, length);
        var ticks = reader.ReadInt64();
        var minutes = reader.ReadInt32();
        try
        {
            return new DateTimeOffset(ticks, TimeSpan.FromMinutes(minutes));
        }
        catch (ArgumentException exception)
        {
            throw Parsing.Invalid("time", exception);
        }
    }
}

/// <summary>Length and UTF-8; its identity is kept.</summary>
public sealed class StringCodec : IFieldCodec<string>
{
    void IFieldCodec<string>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, string value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value);

    string IFieldCodec<string>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, string value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(string), value);

    public static string ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<string, TInput>(ref reader, field);
        field.EnsureWireType(WireType.LengthPrefixed);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = ReadRaw(ref reader, reader.ReadVarUInt32());
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }

    public static string ReadRaw<TInput>(ref Reader<TInput> reader, uint numBytes)
    {
        reader.EnsureAvailable(numBytes);
        return reader.TryReadBytes((int)numBytes, out var bytes)
            ? Encoding.UTF8.GetString(bytes) : Encoding.UTF8.GetString(reader.ReadBytes(numBytes));
    }

    public static void WriteRaw<TBufferWriter>(ref Writer<TBufferWriter> writer, string value, int numBytes)
        where TBufferWriter : IBufferWriter<byte>
    {
        writer.EnsureContiguous(numBytes);
        writer.AdvanceSpan(Encoding.UTF8.GetBytes(value, writer.WritableSpan));
    }

    private static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, string value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(string), WireType.LengthPrefixed);
        var count = Encoding.UTF8.GetByteCount(value);
        writer.WriteVarUInt32((uint)count);
        WriteRaw(ref writer, value, count);
    }
}

/// <summary>Length and bytes; its identity is kept.</summary>
public sealed class ByteArrayCodec : IFieldCodec<byte[]>
{
    void IFieldCodec<byte[]>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, byte[] value)
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(byte[]), WireType.LengthPrefixed);
        writer.WriteVarUInt32((uint)value.Length);
        writer.Write(value);
    }

    byte[] IFieldCodec<byte[]>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, byte[] value)
        where TBufferWriter : IBufferWriter<byte> =>
        ((IFieldCodec<byte[]>)new ByteArrayCodec()).WriteField(ref writer, fieldIdDelta, typeof(byte[]), value);

    public static byte[] ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<byte[], TInput>(ref reader, field);
        field.EnsureWireType(WireType.LengthPrefixed);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = reader.ReadBytes(reader.ReadVarUInt32());
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}
