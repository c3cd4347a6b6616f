using System.Buffers;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.GeneratedCodeHelpers;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Codecs;

/// <summary>Base of codecs that write a struct in place of an object.</summary>
/// <typeparam name="TField">The type.</typeparam>
/// <typeparam name="TSurrogate">What is written.</typeparam>
public abstract class ReferenceTypeSurrogateCodec<TField, TSurrogate> : IFieldCodec<TField>
    where TSurrogate : struct
{
    private readonly IValueSerializer<TSurrogate> _serializer;

    protected ReferenceTypeSurrogateCodec(IValueSerializer<TSurrogate> surrogateSerializer) => _serializer = surrogateSerializer;

    public abstract TField ConvertFromSurrogate(ref TSurrogate surrogate);

    public abstract void ConvertToSurrogate(TField value, ref TSurrogate surrogate);

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (value is not null && value.GetType() != typeof(TField))
        {
            writer.SerializeUnexpectedType(fieldIdDelta, expectedType, value);
            return;
        }

        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteStartObject(fieldIdDelta, expectedType, typeof(TField));
        TSurrogate surrogate = default;
        ConvertToSurrogate(value, ref surrogate);
        _serializer.Serialize(ref writer, ref surrogate);
        writer.WriteEndObject();
    }

    public TField ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<TField, TInput>(ref reader, field);
        if (field.FieldType is { } type && type != typeof(TField))
            return (TField)reader.Session.CodecProvider.GetCodec(type).ReadValue(ref reader, field)!;
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        TSurrogate surrogate = default;
        _serializer.Deserialize(ref reader, ref surrogate);
        var value = ConvertFromSurrogate(ref surrogate);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}

/// <summary>Base of codecs that write a struct in place of an object of a class or of one that derives from it.</summary>
/// <typeparam name="TField">The class.</typeparam>
/// <typeparam name="TSurrogate">What is written.</typeparam>
public abstract class GeneralizedReferenceTypeSurrogateCodec<TField, TSurrogate> : IFieldCodec<TField>, IDerivedTypeCodec
    where TField : class
    where TSurrogate : struct
{
    private readonly IValueSerializer<TSurrogate> _serializer;

    protected GeneralizedReferenceTypeSurrogateCodec(IValueSerializer<TSurrogate> surrogateSerializer) => _serializer = surrogateSerializer;

    public abstract TField ConvertFromSurrogate(ref TSurrogate surrogate);

    public abstract void ConvertToSurrogate(TField value, ref TSurrogate surrogate);

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, typeof(TField), value))
            return;
        writer.WriteStartObject(fieldIdDelta, expectedType, typeof(TField));
        TSurrogate surrogate = default;
        ConvertToSurrogate(value, ref surrogate);
        _serializer.Serialize(ref writer, ref surrogate);
        writer.WriteEndObject();
    }

    public TField ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<TField, TInput>(ref reader, field);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        TSurrogate surrogate = default;
        _serializer.Deserialize(ref reader, ref surrogate);
        var value = ConvertFromSurrogate(ref surrogate);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}

/// <summary>Base of codecs that write a struct in place of another one.</summary>
/// <typeparam name="TField">The type.</typeparam>
/// <typeparam name="TSurrogate">What is written.</typeparam>
public abstract class GeneralizedValueTypeSurrogateCodec<TField, TSurrogate> : IFieldCodec<TField>, IValueSerializer<TField>
    where TField : struct
    where TSurrogate : struct
{
    private readonly IValueSerializer<TSurrogate> _serializer;

    protected GeneralizedValueTypeSurrogateCodec(IValueSerializer<TSurrogate> surrogateSerializer) => _serializer = surrogateSerializer;

    public abstract TField ConvertFromSurrogate(ref TSurrogate surrogate);

    public abstract void ConvertToSurrogate(TField value, ref TSurrogate surrogate);

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteStartObject(fieldIdDelta, expectedType, typeof(TField));
        Serialize(ref writer, ref value);
        writer.WriteEndObject();
    }

    public TField ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        field.EnsureWireTypeTagDelimited();
        ReferenceCodec.MarkValueField(reader.Session);
        TField value = default;
        Deserialize(ref reader, ref value);
        return value;
    }

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, scoped ref TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        TSurrogate surrogate = default;
        ConvertToSurrogate(value, ref surrogate);
        _serializer.Serialize(ref writer, ref surrogate);
    }

    public void Deserialize<TInput>(ref Reader<TInput> reader, scoped ref TField value)
    {
        TSurrogate surrogate = default;
        _serializer.Deserialize(ref reader, ref surrogate);
        value = ConvertFromSurrogate(ref surrogate);
    }
}
