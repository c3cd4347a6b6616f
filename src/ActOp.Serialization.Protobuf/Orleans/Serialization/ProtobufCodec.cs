using ActOp.Serialization.Fields.Bridging;
using ActOp.Serialization.Protobuf;
using Google.Protobuf;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>
/// Sends messages of Google.Protobuf in their own form, beside the name of their class, and copies them by cloning. Any thread.
/// </summary>
/// <remarks>
/// Fields that a reader does not know stay in its message, as the library does it. What is read is limited by the length of the message
/// that it is in, as everything else. The library reads 100 levels of messages within messages.
/// </remarks>
public class ProtobufCodec : IGeneralizedCodec, IGeneralizedCopier, ITypeFilter
{
    /// <summary>The name of the codec in the data.</summary>
    public const string WellKnownAlias = "protobuf";

    private readonly TextObjects _objects;

    /// <summary>Creates the codec; selectors with its name say which messages it serves.</summary>
    public ProtobufCodec(IEnumerable<ICodecSelector> serializableTypeSelectors, IEnumerable<ICopierSelector> copyableTypeSelectors)
    {
        var sent = TextObjects.Chosen(serializableTypeSelectors, WellKnownAlias, null);
        var copied = TextObjects.Chosen(copyableTypeSelectors, WellKnownAlias, null);
        _objects = new TextObjects(
            typeof(ProtobufCodec),
            static value => ((IMessage)value).ToByteArray(),
            static (bytes, type) => MessageClass.ClassOf(type).Parse(bytes),
            type => IsMessage(type) && sent(type),
            type => IsMessage(type) && copied(type),
            static (bytes, type) => MessageMemory.BytesOf(MessageClass.ClassOf(type).Descriptor, bytes));
    }

    internal static bool IsMessage(Type type) => typeof(IMessage).IsAssignableFrom(type);

    void IFieldCodec.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value) =>
        _objects.WriteField(ref writer, fieldIdDelta, expectedType, value);

    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => _objects.ReadValue(ref reader, field);

    bool IGeneralizedCodec.IsSupportedType(Type type) => _objects.IsSent(type);

    bool IGeneralizedCopier.IsSupportedType(Type type) => _objects.IsCopied(type);

    object? IDeepCopier.DeepCopy(object? input, CopyContext context)
    {
        if (input is null)
            return null;
        if (context.TryGetCopy<object>(input, out var found))
            return found;
        var copy = MessageClass.ClassOf(input.GetType()).Clone(input);
        context.RecordCopy(input, copy);
        return copy;
    }

    bool? ITypeFilter.IsTypeAllowed(Type type) => _objects.IsSent(type) ? true : null;
}

/// <summary>Adds the codec that sends messages of Google.Protobuf.</summary>
public static class SerializationHostingExtensions
{
    /// <summary>Sends and copies all messages.</summary>
    public static ISerializerBuilder AddProtobufSerializer(this ISerializerBuilder serializerBuilder) =>
        serializerBuilder.AddProtobufSerializer(ProtobufCodec.IsMessage, ProtobufCodec.IsMessage);

    /// <summary>Sends and copies the messages that predicates accept. This codec neither sends nor copies what is no message.</summary>
    /// <param name="serializerBuilder">What is configured.</param>
    /// <param name="isSerializable">Which are sent.</param>
    /// <param name="isCopyable">Which are copied.</param>
    public static ISerializerBuilder AddProtobufSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool> isSerializable, Func<Type, bool> isCopyable)
    {
        ArgumentNullException.ThrowIfNull(serializerBuilder);
        TextObjects.Register<ProtobufCodec>(serializerBuilder.Services, ProtobufCodec.WellKnownAlias, isSerializable, isCopyable);
        return serializerBuilder;
    }
}
