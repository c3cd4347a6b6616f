using System.Buffers;
using System.Runtime.CompilerServices;
using ActOp.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.GeneratedCodeHelpers;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Codecs;

/// <summary>Objects by their actual type.</summary>
public sealed class ObjectCodec : IFieldCodec<object>
{
    object IFieldCodec<object>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field)!;

    void IFieldCodec<object>.WriteField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, object? value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(object), value);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (value is not null && value.GetType() != typeof(object))
        {
            writer.Session.CodecProvider.GetCodec(value.GetType()).WriteField(ref writer, fieldIdDelta, expectedType, value);
            return;
        }

        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(object), WireType.LengthPrefixed);
        writer.WriteVarUInt32(0);
    }

    public static object? ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference(ref reader, field.FieldType ?? typeof(object));
        if (field.FieldType is { } type && type != typeof(object))
            return reader.Session.CodecProvider.GetCodec(type).ReadValue(ref reader, field);
        field.EnsureWireType(WireType.LengthPrefixed);
        var value = new object();
        ReferenceCodec.RecordObject(reader.Session, value);
        SkipFieldExtension.SkipContent(ref reader, field);
        return value;
    }
}

/// <summary>Copies objects by their actual type.</summary>
public sealed class ObjectCopier : IDeepCopier<object>
{
    object IDeepCopier<object>.DeepCopy(object input, CopyContext context) => DeepCopy(input, context)!;

    public static object? DeepCopy(object? input, CopyContext context)
    {
        if (input is null)
            return null;
        if (context.TryGetCopy<object>(input, out var copy))
            return copy;
        if (input.GetType() != typeof(object))
            return context.DeepCopy(input);
        copy = new object();
        context.RecordCopy(input, copy);
        return copy;
    }
}

/// <summary>Arrays: their length, then the items.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ArrayCodec<T> : IFieldCodec<T[]>
{
    private readonly IFieldCodec<T> _item;

    public ArrayCodec(IFieldCodec<T> fieldCodec) => _item = OrleansGeneratedCodeHelper.UnwrapService(this, fieldCodec);

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T[] value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, value.GetType(), WireType.TagDelimited);
        ItemFields.Write(ref writer, _item, value);
        writer.WriteEndObject();
    }

    public T[] ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<T[], TInput>(ref reader, field);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        T[]? array = null;
        var count = 0;
        uint at = 0;
        for (var inner = reader.ReadFieldHeader(); !inner.IsEndBaseOrEndObject; inner = reader.ReadFieldHeader())
        {
            at += inner.FieldIdDelta;
            if (at == 0)
            {
                array = new T[ItemFields.ReadCount<T, TInput>(ref reader, inner)];
                ReferenceCodec.RecordObject(reader.Session, array, id);
            }
            else if (at == 1)
            {
                if (array is null)
                    throw new RequiredFieldMissingException("Serialized array is missing its length field.");
                if (count >= array.Length)
                    throw new SerializerException("The array in the data has more items than its length.");
                array[count++] = _item.ReadValue(ref reader, inner);
            }
            else
            {
                reader.ConsumeUnknownField(ref inner);
            }
        }

        if (array is null)
        {
            array = [];
            ReferenceCodec.RecordObject(reader.Session, array, id);
        }

        return array;
    }
}

/// <summary>Copies arrays.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ArrayCopier<T> : IDeepCopier<T[]>
{
    private readonly IDeepCopier<T> _item;

    public ArrayCopier(IDeepCopier<T> elementCopier) => _item = OrleansGeneratedCodeHelper.UnwrapService(this, elementCopier);

    public T[] DeepCopy(T[] input, CopyContext context)
    {
        if (input is null)
            return null!;
        if (context.TryGetCopy<T[]>(input, out var found))
            return found!;
        var copy = new T[input.Length];
        context.RecordCopy(input, copy);
        for (var i = 0; i < copy.Length; i++)
            copy[i] = input[i] is null ? input[i] : _item.DeepCopy(input[i], context);
        return copy;
    }
}

/// <summary>Lists: their length, then the items.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ListCodec<T> : IFieldCodec<List<T>>, IBaseCodec<List<T>>
{
    private readonly IFieldCodec<T> _item;

    public ListCodec(IFieldCodec<T> fieldCodec) => _item = OrleansGeneratedCodeHelper.UnwrapService(this, fieldCodec);

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, List<T> value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (value is not null && value.GetType() != typeof(List<T>))
        {
            writer.SerializeUnexpectedType(fieldIdDelta, expectedType, value);
            return;
        }

        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(List<T>), WireType.TagDelimited);
        Serialize(ref writer, value!);
        writer.WriteEndObject();
    }

    public List<T> ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<List<T>, TInput>(ref reader, field);
        if (field.FieldType is { } type && type != typeof(List<T>))
            return reader.DeserializeUnexpectedType<TInput, List<T>>(ref field);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var list = new List<T>();
        ReferenceCodec.RecordObject(reader.Session, list, id);
        Deserialize(ref reader, list);
        return list;
    }

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, List<T> value)
        where TBufferWriter : IBufferWriter<byte> =>
        ItemFields.Write(ref writer, _item, System.Runtime.InteropServices.CollectionsMarshal.AsSpan(value));

    public void Deserialize<TInput>(ref Reader<TInput> reader, List<T> value)
    {
        value.Clear();
        uint at = 0;
        for (var inner = reader.ReadFieldHeader(); !inner.IsEndBaseOrEndObject; inner = reader.ReadFieldHeader())
        {
            at += inner.FieldIdDelta;
            if (at == 0)
                value.EnsureCapacity(ItemFields.ReadCount<T, TInput>(ref reader, inner));
            else if (at == 1)
                value.Add(_item.ReadValue(ref reader, inner));
            else
                reader.ConsumeUnknownField(ref inner);
        }
    }
}

/// <summary>Copies lists.</summary>
/// <typeparam name="T">The items.</typeparam>
public sealed class ListCopier<T> : IDeepCopier<List<T>>, IBaseCopier<List<T>>
{
    private readonly IDeepCopier<T> _item;

    public ListCopier(IDeepCopier<T> valueCopier) => _item = OrleansGeneratedCodeHelper.UnwrapService(this, valueCopier);

    public List<T> DeepCopy(List<T> input, CopyContext context)
    {
        if (input is null)
            return null!;
        if (context.TryGetCopy<List<T>>(input, out var found))
            return found!;
        if (input.GetType() != typeof(List<T>))
            return context.DeepCopy<List<T>>(input)!;
        var copy = new List<T>(input.Count);
        context.RecordCopy(input, copy);
        DeepCopy(input, copy, context);
        return copy;
    }

    public void DeepCopy(List<T> input, List<T> output, CopyContext context)
    {
        foreach (var item in input)
            output.Add(item is null ? item : _item.DeepCopy(item, context));
    }
}

/// <summary>Counts and items as fields: 0 and 1.</summary>
internal static class ItemFields
{
    internal static void Write<T, TBufferWriter>(ref Writer<TBufferWriter> writer, IFieldCodec<T> codec, scoped ReadOnlySpan<T> items)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (items.IsEmpty)
            return;
        UInt32Codec.WriteField(ref writer, 0, (uint)items.Length);
        uint delta = 1;
        foreach (var item in items)
        {
            codec.WriteField(ref writer, delta, typeof(T), item);
            delta = 0;
        }
    }

    /// <summary>A count; every item takes at least a byte, and its memory counts for the message.</summary>
    internal static int ReadCount<T, TInput>(ref Reader<TInput> reader, Field field)
    {
        var count = UInt32Codec.ReadValue(ref reader, field);
        if (count > reader.Remaining)
            throw new IndexOutOfRangeException("Declared length of the collection, " + count + ", is greater than total length of input.");
        reader.Session.Outer?.CountDecoded(Footprint.OfItems<T>(count));
        return (int)count;
    }
}

/// <summary>Enums as numbers of variable length.</summary>
/// <typeparam name="T">The enum.</typeparam>
public abstract class Enum32BaseCodec<T> : IFieldCodec<T>
    where T : unmanaged, Enum
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, T value)
        where TBufferWriter : IBufferWriter<byte> =>
        Int64Codec.WriteField(ref writer, fieldIdDelta, expectedType, EnumNumbers<T>.From(value), typeof(T));

    public T ReadValue<TInput>(ref Reader<TInput> reader, Field field) => EnumNumbers<T>.To(Int64Codec.ReadValue(ref reader, field));
}

/// <summary>The codec of an enum that has none of its own.</summary>
internal sealed class EnumFieldCodec<T> : Enum32BaseCodec<T>
    where T : unmanaged, Enum
{
}

/// <summary>Enums as numbers; unsigned ones of 64 bits by their bits.</summary>
internal static class EnumNumbers<T>
    where T : unmanaged, Enum
{
    private static readonly TypeCode Code = Type.GetTypeCode(typeof(T));

    internal static long From(T value) => Code switch
    {
        TypeCode.SByte => Unsafe.BitCast<T, sbyte>(value),
        TypeCode.Byte => Unsafe.BitCast<T, byte>(value),
        TypeCode.Int16 => Unsafe.BitCast<T, short>(value),
        TypeCode.UInt16 => Unsafe.BitCast<T, ushort>(value),
        TypeCode.Int32 => Unsafe.BitCast<T, int>(value),
        TypeCode.UInt32 => Unsafe.BitCast<T, uint>(value),
        _ => Unsafe.BitCast<T, long>(value),
    };

    internal static T To(long value) => Code switch
    {
        TypeCode.SByte => Unsafe.BitCast<sbyte, T>(checked((sbyte)value)),
        TypeCode.Byte => Unsafe.BitCast<byte, T>(checked((byte)value)),
        TypeCode.Int16 => Unsafe.BitCast<short, T>(checked((short)value)),
        TypeCode.UInt16 => Unsafe.BitCast<ushort, T>(checked((ushort)value)),
        TypeCode.Int32 => Unsafe.BitCast<int, T>(checked((int)value)),
        TypeCode.UInt32 => Unsafe.BitCast<uint, T>(checked((uint)value)),
        _ => Unsafe.BitCast<long, T>(value),
    };
}

/// <summary>Types by their names.</summary>
public sealed class TypeSerializerCodec : IFieldCodec<Type>, IDerivedTypeCodec
{
    void IFieldCodec<Type>.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Type value) =>
        WriteField(ref writer, fieldIdDelta, expectedType, value);

    Type IFieldCodec<Type>.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => ReadValue(ref reader, field);

    public static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type value)
        where TBufferWriter : IBufferWriter<byte> => WriteField(ref writer, fieldIdDelta, typeof(Type), value);

    public static Type ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<Type, TInput>(ref reader, field);
        field.EnsureWireType(WireType.LengthPrefixed);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = reader.Session.TypeCodec.ReadLengthPrefixed(ref reader);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }

    private static void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type? expectedType, Type value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, typeof(Type), value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(Type), WireType.LengthPrefixed);
        writer.Session.TypeCodec.WriteLengthPrefixed(ref writer, value);
    }
}
