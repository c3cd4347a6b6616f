using System.Buffers;
using System.Text.Json;
using ActOp.Serialization.Fields.Bridging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>Which types are sent as JSON text, and how.</summary>
public class JsonCodecOptions
{
    /// <summary>How objects become JSON and are made from it.</summary>
    public JsonSerializerOptions SerializerOptions { get; set; } = new();

    /// <summary>How JSON text is read: comments, trailing commas, depth.</summary>
    public JsonReaderOptions ReaderOptions { get; set; }

    /// <summary>How JSON text is written: indentation, encoder, validation.</summary>
    public JsonWriterOptions WriterOptions { get; set; }

    /// <summary>Which types are sent; null for no opinion.</summary>
    public Func<Type, bool?>? IsSerializableType { get; set; }

    /// <summary>Which types are copied by writing and reading them; null for no opinion.</summary>
    public Func<Type, bool?>? IsCopyableType { get; set; }
}

/// <summary>
/// Sends objects as JSON text beside the name of their class. For types that an application names; generated codecs come first. Any thread.
/// </summary>
public class JsonCodec : IGeneralizedCodec, IGeneralizedCopier, ITypeFilter
{
    /// <summary>The name of the codec in the data.</summary>
    public const string WellKnownAlias = "json";

    private readonly TextObjects _objects;

    /// <summary>Creates the codec; selectors with its name say which types it serves.</summary>
    public JsonCodec(
        IEnumerable<ICodecSelector> serializableTypeSelectors, IEnumerable<ICopierSelector> copyableTypeSelectors,
        IOptions<JsonCodecOptions> options)
    {
        var use = options.Value;
        _objects = new TextObjects(
            typeof(JsonCodec), value => Write(value, use), (text, type) => Read(text, type, use),
            TextObjects.Chosen(serializableTypeSelectors, WellKnownAlias, use.IsSerializableType),
            TextObjects.Chosen(copyableTypeSelectors, WellKnownAlias, use.IsCopyableType));
    }

    void IFieldCodec.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value) =>
        _objects.WriteField(ref writer, fieldIdDelta, expectedType, value);

    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => _objects.ReadValue(ref reader, field);

    bool IGeneralizedCodec.IsSupportedType(Type type) => _objects.IsSent(type);

    bool IGeneralizedCopier.IsSupportedType(Type type) => _objects.IsCopied(type);

    object? IDeepCopier.DeepCopy(object? input, CopyContext context) => _objects.DeepCopy(input, context);

    bool? ITypeFilter.IsTypeAllowed(Type type) => _objects.IsSent(type) ? true : null;

    private static byte[] Write(object value, JsonCodecOptions options)
    {
        var text = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(text, options.WriterOptions))
            JsonSerializer.Serialize(json, value, value.GetType(), options.SerializerOptions);
        return text.WrittenSpan.ToArray();
    }

    private static object? Read(byte[] text, Type type, JsonCodecOptions options)
    {
        var json = new Utf8JsonReader(text, options.ReaderOptions);
        return JsonSerializer.Deserialize(ref json, type, options.SerializerOptions);
    }
}

/// <summary>Adds the codec that sends objects as JSON text.</summary>
public static class SerializationHostingExtensions
{
    /// <summary>Sends the types that a predicate accepts as JSON text.</summary>
    public static ISerializerBuilder AddJsonSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSupported, JsonSerializerOptions? jsonSerializerOptions = null) =>
        serializerBuilder.AddJsonSerializer(isSupported, isSupported, options => options.Configure(o =>
        {
            if (jsonSerializerOptions is not null)
                o.SerializerOptions = jsonSerializerOptions;
        }));

    /// <summary>Sends the types that a predicate accepts as JSON text, and copies those that another accepts by it.</summary>
    public static ISerializerBuilder AddJsonSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSerializable, Func<Type, bool>? isCopyable,
        Action<OptionsBuilder<JsonCodecOptions>>? configureOptions = null)
    {
        var services = serializerBuilder.Services;
        configureOptions?.Invoke(services.AddOptions<JsonCodecOptions>());
        TextObjects.Register<JsonCodec>(services, JsonCodec.WellKnownAlias, isSerializable, isCopyable);
        return serializerBuilder;
    }
}
