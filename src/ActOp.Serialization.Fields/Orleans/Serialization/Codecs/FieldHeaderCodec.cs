using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Session;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Codecs;

/// <summary>Reads headers of fields.</summary>
public static class FieldHeaderCodec
{
    public static Field ReadFieldHeader<TInput>(this ref Reader<TInput> reader)
    {
        Field field = default;
        ReadFieldHeader(ref reader, ref field);
        return field;
    }

    public static void ReadFieldHeader<TInput>(this ref Reader<TInput> reader, scoped ref Field field)
    {
        SerializerSession.CheckDepth();
        field = new Field(new Tag(reader.ReadByte()));
        if (field.Tag.HasExtendedWireType)
            return;
        if (field.Tag.HasExtendedFieldId)
            field.FieldIdDeltaRaw = reader.ReadVarUInt32();
        if (field.Tag.SchemaType != SchemaType.Expected)
            field.FieldTypeRaw = ReadType(ref reader, field.Tag.SchemaType);
    }

    /// <summary>The header, and its type as text.</summary>
    public static (Field Field, string Type) ReadFieldHeaderForAnalysis<TInput>(this ref Reader<TInput> reader)
    {
        var field = new Field(new Tag(reader.ReadByte()));
        if (field.Tag.HasExtendedWireType)
            return (field, "");
        if (field.Tag.HasExtendedFieldId)
            field.FieldIdDeltaRaw = reader.ReadVarUInt32();
        return (field, ReadTypeForAnalysis(ref reader, ref field));
    }

    private static string ReadTypeForAnalysis<TInput>(ref Reader<TInput> reader, ref Field field)
    {
        switch (field.Tag.SchemaType)
        {
            case SchemaType.Expected:
                return "Expected";
            case SchemaType.WellKnown:
                var id = reader.ReadVarUInt32();
                field.FieldTypeRaw = reader.Session.WellKnownTypes.TryGetWellKnownType(id, out var known) ? known : null;
                return "WellKnown " + id + " (" + (field.FieldTypeRaw?.ToString() ?? "unknown") + ")";
            case SchemaType.Encoded:
                reader.Session.TypeCodec.TryReadForAnalysis(ref reader, out var type, out var text);
                field.FieldTypeRaw = type;
                if (type is not null)
                    reader.Session.ReferencedTypes.RecordReferencedType(type);
                return "Encoded \"" + text + "\"";
            default:
                var reference = reader.ReadVarUInt32();
                reader.Session.ReferencedTypes.TryGetReferencedType(reference, out var found);
                field.FieldTypeRaw = found;
                return "Referenced " + reference + " (" + (found?.ToString() ?? "unknown") + ")";
        }
    }

    private static Type? ReadType<TInput>(ref Reader<TInput> reader, SchemaType schemaType)
    {
        switch (schemaType)
        {
            case SchemaType.WellKnown:
                return reader.Session.WellKnownTypes.GetWellKnownType(reader.ReadVarUInt32());
            case SchemaType.Referenced:
                return reader.Session.ReferencedTypes.GetReferencedType(reader.ReadVarUInt32());
            default:
                var type = reader.Session.TypeCodec.TryRead(ref reader);
                if (type is not null)
                    reader.Session.ReferencedTypes.RecordReferencedType(type);
                return type;
        }
    }
}

/// <summary>Identity of objects in the data of an application's codecs.</summary>
public static class ReferenceCodec
{
    /// <summary>Counts a value that is not referred to, so that both sides number objects alike.</summary>
    public static void MarkValueField(SerializerSession session) => session.ReferencedObjects.MarkValueField();

    /// <summary>The number of an object that is about to be read.</summary>
    public static uint CreateRecordPlaceholder(SerializerSession session)
    {
        session.ReferencedObjects.MarkValueField();
        return session.ReferencedObjects.CurrentReferenceId;
    }

    public static void RecordObject(SerializerSession session, object? value, uint referenceId) =>
        session.ReferencedObjects.RecordReferenceField(value, referenceId);

    public static void RecordObject(SerializerSession session, object value) => session.ReferencedObjects.RecordReferenceField(value);

    /// <summary>True when the value is null or was written before: then a reference to it was written.</summary>
    public static bool TryWriteReferenceField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldId, Type? expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (!writer.Session.ReferencedObjects.GetOrAddReference(value, out var reference))
            return false;
        writer.WriteFieldHeader(fieldId, expectedType, value?.GetType(), WireType.Reference);
        writer.WriteVarUInt32(reference);
        return true;
    }

    /// <inheritdoc cref="TryWriteReferenceField{TBufferWriter}(ref Writer{TBufferWriter}, uint, Type?, object?)"/>
    public static bool TryWriteReferenceField<TBufferWriter>(
        ref Writer<TBufferWriter> writer, uint fieldId, Type? expectedType, Type actualType, object? value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (!writer.Session.ReferencedObjects.GetOrAddReference(value, out var reference))
            return false;
        writer.WriteFieldHeader(fieldId, expectedType, actualType, WireType.Reference);
        writer.WriteVarUInt32(reference);
        return true;
    }

    public static void WriteNullReference<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldId)
        where TBufferWriter : IBufferWriter<byte>
    {
        writer.Session.ReferencedObjects.MarkValueField();
        writer.WriteFieldHeaderExpected(fieldId, WireType.Reference);
        writer.WriteVarUInt32(0);
    }

    /// <summary>The object that a field refers to.</summary>
    public static T ReadReference<T, TInput>(ref Reader<TInput> reader, Field field) =>
        ReadReference(ref reader, field.FieldType ?? typeof(T)) switch
        {
            null when default(T) is not null => throw new ReferenceFieldNotSupportedException(typeof(T)),
            null => default!,
            T value => value,
            var other =>
                throw new SerializerException(
                    "The data refer to an object of type " + other.GetType() + " where " + typeof(T) + " is expected."),
        };

    /// <summary>The object that a field refers to; null for null.</summary>
    public static object? ReadReference<TInput>(ref Reader<TInput> reader, Type? fieldType)
    {
        MarkValueField(reader.Session);
        var reference = reader.ReadVarUInt32();
        if (reference == 0)
            return null;
        var found = reader.Session.ReferencedObjects.TryGetReferencedObject(reference);
        if (found is not string)
            reader.Session.ReferencedObjects.HasShared = true;
        return found switch
        {
            UnknownFieldMarker marker => ReadSkipped(ref reader, marker, reference, fieldType),
            { } value => value,
            _ => throw new ReferenceNotFoundException(fieldType, reference),
        };
    }

    private static object? ReadSkipped<TInput>(ref Reader<TInput> reader, UnknownFieldMarker marker, uint reference, Type? type)
    {
        SerializerSession.CheckDepth();
        var objects = reader.Session.ReferencedObjects;
        var current = objects.CurrentReferenceId;
        var position = reader.Position;
        objects.CurrentReferenceId = reference - 1;
        // A field that refers to itself must not be read within itself.
        objects.RecordReferenceField(new object(), reference);
        reader.ForkFrom(marker.Position, out var fork);
        var codec = reader.Session.CodecProvider.GetCodec(marker.Field.FieldType ?? type
            ?? throw new FieldTypeMissingException(typeof(object)));
        var value = codec.ReadValue(ref fork, marker.Field);
        objects.CurrentReferenceId = current;
        reader.ResumeFrom(position);
        return value;
    }
}

/// <summary>Skips fields that a codec does not know.</summary>
public static class SkipFieldExtension
{
    /// <summary>Skips a field; each one in it counts as an object, as it did when it was written.</summary>
    public static void SkipField<TInput>(this ref Reader<TInput> reader, Field field)
    {
        if (!field.IsEndBaseOrEndObject)
            ReferenceCodec.MarkValueField(reader.Session);
        SkipContent(ref reader, field);
    }

    /// <summary>Skips a field that the caller has counted.</summary>
    internal static void SkipContent<TInput>(ref Reader<TInput> reader, Field field)
    {
        switch (field.WireType)
        {
            case WireType.VarInt:
                reader.ReadVarUInt64();
                break;
            case WireType.Reference:
                reader.ReadVarUInt32();
                break;
            case WireType.LengthPrefixed:
                reader.Skip(reader.ReadVarUInt32());
                break;
            case WireType.Fixed32:
                reader.Skip(4);
                break;
            case WireType.Fixed64:
                reader.Skip(8);
                break;
            case WireType.TagDelimited:
                for (var inner = reader.ReadFieldHeader(); !inner.IsEndObject; inner = reader.ReadFieldHeader())
                    SkipField(ref reader, inner);
                break;
            case WireType.Extended:
                break;
            default:
                throw new UnsupportedWireTypeException();
        }
    }
}

/// <summary>Skips fields that a codec does not know, and remembers the objects in them.</summary>
public static class ConsumeFieldExtension
{
    public static void ConsumeUnknownField<TInput>(this ref Reader<TInput> reader, Field field) =>
        ConsumeUnknownField(ref reader, ref field);

    public static void ConsumeUnknownField<TInput>(this ref Reader<TInput> reader, scoped ref Field field)
    {
        if (field.IsEndBaseOrEndObject)
            return;
        if (field.IsReference)
        {
            ReferenceCodec.MarkValueField(reader.Session);
            reader.ReadVarUInt32();
            return;
        }

        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        ReferenceCodec.RecordObject(reader.Session, new UnknownFieldMarker(field, reader.Position), id);
        if (field.WireType != WireType.TagDelimited)
        {
            SkipFieldExtension.SkipContent(ref reader, field);
            return;
        }

        for (var inner = reader.ReadFieldHeader(); !inner.IsEndObject; inner = reader.ReadFieldHeader())
            ConsumeUnknownField(ref reader, ref inner);
    }
}

/// <summary>A codec of fields whose type is not known here: they are skipped.</summary>
public class SkipFieldCodec : IFieldCodec
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte> => throw new NotSupportedException("A field of an unknown type cannot be written.");

    public object? ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        reader.SkipField(field);
        return null;
    }
}
