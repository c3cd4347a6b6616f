using System.Buffers;
using Orleans.Serialization.Activators;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.GeneratedCodeHelpers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Serializers;

/// <summary>Fields whose type has no objects of its own: the actual type decides.</summary>
public class AbstractTypeSerializer : IFieldCodec
{
    private readonly Type _fieldType;

    protected internal AbstractTypeSerializer(Type fieldType) => _fieldType = fieldType;

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (value is null)
            ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, null);
        else
            writer.SerializeUnexpectedType(fieldIdDelta, expectedType, value);
    }

    public object? ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference(ref reader, field.FieldType ?? _fieldType);
        var type = field.FieldType;
        return type is null || type == _fieldType
            ? throw new FieldTypeMissingException(_fieldType) : reader.Session.CodecProvider.GetCodec(type).ReadValue(ref reader, field);
    }
}

/// <summary>Fields of an abstract class: the actual class decides.</summary>
/// <typeparam name="TField">The class.</typeparam>
public class AbstractTypeSerializer<TField> : AbstractTypeSerializer, IFieldCodec<TField>, IBaseCodec<TField>
    where TField : class
{
    protected AbstractTypeSerializer()
        : base(typeof(TField))
    {
    }

    public virtual void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, TField instance)
        where TBufferWriter : IBufferWriter<byte>
    {
    }

    public virtual void Deserialize<TReaderInput>(ref Reader<TReaderInput> reader, TField instance) => reader.ConsumeEndBaseOrEndObject();

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TField value)
        where TBufferWriter : IBufferWriter<byte> => base.WriteField(ref writer, fieldIdDelta, expectedType, value);

    public new TField ReadValue<TInput>(ref Reader<TInput> reader, Field field) => base.ReadValue(ref reader, field) switch
    {
        null => null!,
        TField value => value,
        var other =>
            throw new SerializerException(
                "The data have an object of type " + other.GetType() + " where " + typeof(TField) + " is expected."),
    };
}

/// <summary>Fields of a class whose members a codec writes.</summary>
/// <typeparam name="TField">The class.</typeparam>
/// <typeparam name="TBaseCodec">The codec of its members.</typeparam>
public sealed class ConcreteTypeSerializer<TField, TBaseCodec> : IFieldCodec<TField>
    where TField : class
    where TBaseCodec : IBaseCodec<TField>
{
    private readonly IActivator<TField> _activator;
    private readonly TBaseCodec _serializer;

    public ConcreteTypeSerializer(IActivator<TField> activator, TBaseCodec serializer)
    {
        _activator = activator;
        _serializer = serializer;
    }

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
        _serializer.Serialize(ref writer, value!);
        writer.WriteEndObject();
    }

    public TField ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (!field.IsReference && field.FieldType is { } type && type != typeof(TField))
            return reader.DeserializeUnexpectedType<TInput, TField>(ref field);
        return ReadValueSealed(ref reader, field);
    }

    public TField ReadValueSealed<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<TField, TInput>(ref reader, field);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = _activator.Create();
        ReferenceCodec.RecordObject(reader.Session, value, id);
        _serializer.Deserialize(ref reader, value);
        return value;
    }
}

/// <summary>Fields of a struct whose members a codec writes.</summary>
/// <typeparam name="TField">The struct.</typeparam>
/// <typeparam name="TValueSerializer">The codec of its members.</typeparam>
public sealed class ValueSerializer<TField, TValueSerializer> : IFieldCodec<TField>
    where TField : struct
    where TValueSerializer : IValueSerializer<TField>
{
    private readonly TValueSerializer _serializer;

    public ValueSerializer(TValueSerializer serializer) => _serializer = serializer;

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        ReferenceCodec.MarkValueField(writer.Session);
        writer.WriteStartObject(fieldIdDelta, expectedType, typeof(TField));
        _serializer.Serialize(ref writer, ref value);
        writer.WriteEndObject();
    }

    public TField ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        field.EnsureWireTypeTagDelimited();
        ReferenceCodec.MarkValueField(reader.Session);
        TField value = default;
        _serializer.Deserialize(ref reader, ref value);
        return value;
    }
}

/// <summary>Fields that are written as surrogates.</summary>
/// <typeparam name="TField">The class.</typeparam>
/// <typeparam name="TSurrogate">What is written.</typeparam>
/// <typeparam name="TConverter">Converts between them.</typeparam>
public sealed class SurrogateCodec<TField, TSurrogate, TConverter>
    : IFieldCodec<TField>, IDeepCopier<TField>, IBaseCodec<TField>, IBaseCopier<TField>
    where TField : class
    where TSurrogate : struct
    where TConverter : IConverter<TField, TSurrogate>
{
    private readonly IValueSerializer<TSurrogate> _serializer;
    private readonly IDeepCopier<TSurrogate> _copier;
    private readonly TConverter _converter;

    public SurrogateCodec(IValueSerializer<TSurrogate> surrogateSerializer, IDeepCopier<TSurrogate> surrogateCopier, TConverter converter)
    {
        _serializer = surrogateSerializer;
        _copier = surrogateCopier;
        _converter = converter;
    }

    private IPopulator<TField, TSurrogate> Populator =>
        _converter as IPopulator<TField, TSurrogate>
            ?? throw new NotSupportedException(
                typeof(TConverter) + " does not implement IPopulator, so " + typeof(TField) + " cannot be a base class.");

    public TField DeepCopy(TField input, CopyContext context)
    {
        if (input is null)
            return null!;
        if (context.TryGetCopy<TField>(input, out var found))
            return found!;
        var copy = _converter.ConvertFromSurrogate(_copier.DeepCopy(_converter.ConvertToSurrogate(in input), context));
        context.RecordCopy(input, copy);
        return copy;
    }

    public void DeepCopy(TField input, TField output, CopyContext context) =>
        Populator.Populate(_copier.DeepCopy(_converter.ConvertToSurrogate(in input), context), output);

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        var surrogate = _converter.ConvertToSurrogate(in value);
        _serializer.Serialize(ref writer, ref surrogate);
    }

    public void Deserialize<TInput>(ref Reader<TInput> reader, TField value)
    {
        TSurrogate surrogate = default;
        _serializer.Deserialize(ref reader, ref surrogate);
        Populator.Populate(in surrogate, value);
    }

    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteStartObject(fieldIdDelta, expectedType, typeof(TField));
        Serialize(ref writer, value);
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
        var value = _converter.ConvertFromSurrogate(in surrogate);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}

/// <summary>Structs that are written as surrogates.</summary>
/// <typeparam name="TField">The struct.</typeparam>
/// <typeparam name="TSurrogate">What is written.</typeparam>
/// <typeparam name="TConverter">Converts between them.</typeparam>
public sealed class ValueTypeSurrogateCodec<TField, TSurrogate, TConverter>
    : IFieldCodec<TField>, IDeepCopier<TField>, IValueSerializer<TField>
    where TField : struct
    where TSurrogate : struct
    where TConverter : IConverter<TField, TSurrogate>
{
    private readonly IValueSerializer<TSurrogate> _serializer;
    private readonly IDeepCopier<TSurrogate> _copier;
    private readonly TConverter _converter;

    public ValueTypeSurrogateCodec(
        IValueSerializer<TSurrogate> surrogateSerializer, IDeepCopier<TSurrogate> surrogateCopier, TConverter converter)
    {
        _serializer = surrogateSerializer;
        _copier = surrogateCopier;
        _converter = converter;
    }

    public TField DeepCopy(TField input, CopyContext context) =>
        _converter.ConvertFromSurrogate(_copier.DeepCopy(_converter.ConvertToSurrogate(in input), context));

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, scoped ref TField value)
        where TBufferWriter : IBufferWriter<byte>
    {
        var surrogate = _converter.ConvertToSurrogate(in value);
        _serializer.Serialize(ref writer, ref surrogate);
    }

    public void Deserialize<TInput>(ref Reader<TInput> reader, scoped ref TField value)
    {
        TSurrogate surrogate = default;
        _serializer.Deserialize(ref reader, ref surrogate);
        value = _converter.ConvertFromSurrogate(in surrogate);
    }

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
}
