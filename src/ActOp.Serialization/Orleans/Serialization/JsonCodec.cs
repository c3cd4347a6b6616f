using System.Buffers;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Configuration;
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
    public const string WellKnownAlias = "json";

    private static readonly Type SelfType = typeof(JsonCodec);

    private readonly ICodecSelector[] _codecs;
    private readonly ICopierSelector[] _copiers;
    private readonly JsonCodecOptions _options;

    public JsonCodec(IEnumerable<ICodecSelector> serializableTypeSelectors, IEnumerable<ICopierSelector> copyableTypeSelectors, IOptions<JsonCodecOptions> options)
    {
        _codecs = [.. serializableTypeSelectors.Where(static s => s.CodecName == WellKnownAlias)];
        _copiers = [.. copyableTypeSelectors.Where(static s => s.CopierName == WellKnownAlias)];
        _options = options.Value;
    }

    void IFieldCodec.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value)
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, SelfType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, SelfType, WireType.TagDelimited);
        var text = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(text, _options.WriterOptions))
            JsonSerializer.Serialize(json, value, value!.GetType(), _options.SerializerOptions);
        JsonFields.Write(ref writer, value.GetType(), text.WrittenSpan);
    }

    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference(ref reader, field.FieldType);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var (type, text) = JsonFields.Read(ref reader);
        if (!((IGeneralizedCodec)this).IsSupportedType(type))
            throw new IllegalTypeException(type.FullName ?? type.Name);
        var json = new Utf8JsonReader(text, _options.ReaderOptions);
        var value = JsonSerializer.Deserialize(ref json, type, _options.SerializerOptions);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }

    bool IGeneralizedCodec.IsSupportedType(Type type) =>
        type == SelfType || (!CommonCodecTypeFilter.IsAbstractOrFrameworkType(type)
            && (Array.Exists(_codecs, s => s.IsSupportedType(type)) || _options.IsSerializableType?.Invoke(type) == true));

    bool IGeneralizedCopier.IsSupportedType(Type type) =>
        !CommonCodecTypeFilter.IsAbstractOrFrameworkType(type)
            && (Array.Exists(_copiers, s => s.IsSupportedType(type)) || _options.IsCopyableType?.Invoke(type) == true);

    object? IDeepCopier.DeepCopy(object? input, CopyContext context)
    {
        if (input is null)
            return null;
        if (context.TryGetCopy<object>(input, out var found))
            return found;
        var text = JsonSerializer.SerializeToUtf8Bytes(input, input.GetType(), _options.SerializerOptions);
        var copy = JsonSerializer.Deserialize(text, input.GetType(), _options.SerializerOptions)!;
        context.RecordCopy(input, copy);
        return copy;
    }

    bool? ITypeFilter.IsTypeAllowed(Type type) => ((IGeneralizedCodec)this).IsSupportedType(type) ? true : null;
}

/// <summary>The fields of an object that is sent as text: 0 the name of its class, 1 the text.</summary>
internal static class JsonFields
{
    internal static void Write<TBufferWriter>(ref Writer<TBufferWriter> writer, Type type, scoped ReadOnlySpan<byte> text)
        where TBufferWriter : IBufferWriter<byte>
    {
        writer.WriteFieldHeaderExpected(0, WireType.LengthPrefixed);
        writer.Session.TypeCodec.WriteLengthPrefixed(ref writer, type);
        writer.WriteFieldHeaderExpected(1, WireType.LengthPrefixed);
        writer.WriteVarUInt32((uint)text.Length);
        writer.Write(text);
        writer.WriteEndObject();
    }

    internal static (Type Type, byte[] Text) Read<TInput>(ref Reader<TInput> reader)
    {
        Type? type = null;
        byte[]? text = null;
        uint id = 0;
        for (var field = reader.ReadFieldHeader(); !field.IsEndBaseOrEndObject; field = reader.ReadFieldHeader())
        {
            id += field.FieldIdDelta;
            if (id == 0)
                type = reader.Session.TypeCodec.ReadLengthPrefixed(ref reader);
            else if (id == 1)
                text = reader.ReadBytes(reader.ReadVarUInt32());
            else
                reader.ConsumeUnknownField(ref field);
        }

        return (type ?? throw new RequiredFieldMissingException("Serialized value is missing its type field."),
            text ?? throw new RequiredFieldMissingException("Serialized value is missing its payload field."));
    }
}

/// <summary>Adds the codec that sends objects as JSON text.</summary>
public static class SerializationHostingExtensions
{
    /// <summary>Sends the types that a predicate accepts as JSON text.</summary>
    public static ISerializerBuilder AddJsonSerializer(this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSupported, JsonSerializerOptions? jsonSerializerOptions = null) =>
        serializerBuilder.AddJsonSerializer(isSupported, isSupported, options => options.Configure(o =>
        {
            if (jsonSerializerOptions is not null)
                o.SerializerOptions = jsonSerializerOptions;
        }));

    /// <summary>Sends the types that a predicate accepts as JSON text, and copies those that another accepts by it.</summary>
    public static ISerializerBuilder AddJsonSerializer(this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSerializable, Func<Type, bool>? isCopyable, Action<OptionsBuilder<JsonCodecOptions>>? configureOptions = null)
    {
        var services = serializerBuilder.Services;
        configureOptions?.Invoke(services.AddOptions<JsonCodecOptions>());
        if (isSerializable is not null)
            services.AddSingleton<ICodecSelector>(new DelegateCodecSelector { CodecName = JsonCodec.WellKnownAlias, IsSupportedTypeDelegate = isSerializable });
        if (isCopyable is not null)
            services.AddSingleton<ICopierSelector>(new DelegateCopierSelector { CopierName = JsonCodec.WellKnownAlias, IsSupportedTypeDelegate = isCopyable });
        if (services.Any(static s => s.ServiceType == typeof(JsonCodec)))
            return serializerBuilder;
        services.AddSingleton<JsonCodec>();
        services.AddSingleton<IGeneralizedCodec>(static provider => provider.GetRequiredService<JsonCodec>());
        services.AddSingleton<IGeneralizedCopier>(static provider => provider.GetRequiredService<JsonCodec>());
        services.AddSingleton<ITypeFilter>(static provider => provider.GetRequiredService<JsonCodec>());
        services.Configure<TypeManifestOptions>(static options => options.WellKnownTypeAliases[JsonCodec.WellKnownAlias] = typeof(JsonCodec));
        return serializerBuilder;
    }
}
