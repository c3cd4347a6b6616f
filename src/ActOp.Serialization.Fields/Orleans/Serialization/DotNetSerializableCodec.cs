using ActOp.Serialization.Codecs;
using ActOp.Serialization.Fields.Bridging;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>
/// Types that write themselves by ISerializable, in the data of an application's codecs. Types of assemblies with generated code only; the
/// provider of codecs serves them without this class too.
/// </summary>
public class DotNetSerializableCodec : IGeneralizedCodec
{
    /// <summary>The type that stands for the codec.</summary>
    public static readonly Type CodecType = typeof(DotNetSerializableCodec);

    public DotNetSerializableCodec(TypeConverter typeResolver) => ArgumentNullException.ThrowIfNull(typeResolver);

    public bool IsSupportedType(Type type) => SerializableTypes.IsSupported(type);

    void IFieldCodec.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
    {
        if (value is null)
            ReferenceCodec.WriteNullReference(ref writer, fieldIdDelta);
        else
            Codec(value.GetType()).WriteField(ref writer, fieldIdDelta, expectedType, value);
    }

    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference(ref reader, field.FieldType);
        return Codec(field.FieldType ?? throw new FieldTypeMissingException(typeof(System.Runtime.Serialization.ISerializable)))
            .ReadValue(ref reader, field);
    }

    private static IFieldCodec Codec(Type type) => SerializableTypes.IsSupported(type)
        ? (IFieldCodec)Activator.CreateInstance(typeof(OpaqueCodec<>).MakeGenericType(type))!
        : throw new SerializationConstructorNotFoundException(type);
}
