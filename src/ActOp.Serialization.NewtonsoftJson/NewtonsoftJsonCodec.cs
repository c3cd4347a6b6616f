using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Newtonsoft.Json;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>Which types are sent as JSON text, and how.</summary>
public class NewtonsoftJsonCodecOptions
{
    /// <summary>How text is written and read; null for the defaults of the library.</summary>
    public JsonSerializerSettings? SerializerSettings { get; set; }

    /// <summary>Which types are sent; null for no opinion.</summary>
    public Func<Type, bool?>? IsSerializableType { get; set; }

    /// <summary>Which types are copied by writing and reading them; null for no opinion.</summary>
    public Func<Type, bool?>? IsCopyableType { get; set; }
}

/// <summary>
/// Sends objects as JSON text beside the name of their class. For types that an application names; generated codecs come first. Any thread.
/// </summary>
public class NewtonsoftJsonCodec : IGeneralizedCodec, IGeneralizedCopier, ITypeFilter
{
    /// <summary>The name of the codec in the data.</summary>
    public const string WellKnownAlias = "json.net";

    private static readonly Type SelfType = typeof(NewtonsoftJsonCodec);

    private readonly ICodecSelector[] _codecs;
    private readonly ICopierSelector[] _copiers;
    private readonly NewtonsoftJsonCodecOptions _options;

    /// <summary>Creates the codec; selectors with its name say which types it serves.</summary>
    public NewtonsoftJsonCodec(
        IEnumerable<ICodecSelector> serializableTypeSelectors, IEnumerable<ICopierSelector> copyableTypeSelectors, IOptions<NewtonsoftJsonCodecOptions> options)
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
        writer.WriteFieldHeaderExpected(0, WireType.LengthPrefixed);
        writer.Session.TypeCodec.WriteLengthPrefixed(ref writer, value!.GetType());
        var text = Encoding.UTF8.GetBytes(JsonConvert.SerializeObject(value, value.GetType(), _options.SerializerSettings));
        writer.WriteFieldHeaderExpected(1, WireType.LengthPrefixed);
        writer.WriteVarUInt32((uint)text.Length);
        writer.Write(text);
        writer.WriteEndObject();
    }

    object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference(ref reader, field.FieldType);
        field.EnsureWireTypeTagDelimited();
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        Type? type = null;
        string? text = null;
        uint at = 0;
        for (var inner = reader.ReadFieldHeader(); !inner.IsEndBaseOrEndObject; inner = reader.ReadFieldHeader())
        {
            at += inner.FieldIdDelta;
            if (at == 0)
                type = reader.Session.TypeCodec.ReadLengthPrefixed(ref reader);
            else if (at == 1)
                text = Encoding.UTF8.GetString(reader.ReadBytes(reader.ReadVarUInt32()));
            else
                reader.ConsumeUnknownField(ref inner);
        }

        if (type is null || text is null)
            throw new RequiredFieldMissingException("Serialized value is missing its type or payload field.");
        if (!((IGeneralizedCodec)this).IsSupportedType(type))
            throw new IllegalTypeException(type.FullName ?? type.Name);
        var value = JsonConvert.DeserializeObject(text, type, _options.SerializerSettings);
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
        var text = JsonConvert.SerializeObject(input, input.GetType(), _options.SerializerSettings);
        var copy = JsonConvert.DeserializeObject(text, input.GetType(), _options.SerializerSettings)!;
        context.RecordCopy(input, copy);
        return copy;
    }

    bool? ITypeFilter.IsTypeAllowed(Type type) => ((IGeneralizedCodec)this).IsSupportedType(type) ? true : null;
}

/// <summary>Adds the codec that sends objects as JSON text.</summary>
public static class SerializationHostingExtensions
{
    /// <summary>Sends the types that a predicate accepts as JSON text.</summary>
    public static ISerializerBuilder AddNewtonsoftJsonSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSupported, JsonSerializerSettings? jsonSerializerSettings = null) =>
        serializerBuilder.AddNewtonsoftJsonSerializer(isSupported, isSupported, options => options.Configure(o =>
        {
            if (jsonSerializerSettings is not null)
                o.SerializerSettings = jsonSerializerSettings;
        }));

    /// <summary>Sends the types that a predicate accepts as JSON text.</summary>
    public static ISerializerBuilder AddNewtonsoftJsonSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSupported, Action<OptionsBuilder<NewtonsoftJsonCodecOptions>>? configureOptions) =>
        serializerBuilder.AddNewtonsoftJsonSerializer(isSupported, isSupported, configureOptions);

    /// <summary>Sends the types that a predicate accepts as JSON text, and copies those that another accepts by it.</summary>
    public static ISerializerBuilder AddNewtonsoftJsonSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSerializable, Func<Type, bool>? isCopyable, Action<OptionsBuilder<NewtonsoftJsonCodecOptions>>? configureOptions)
    {
        ArgumentNullException.ThrowIfNull(serializerBuilder);
        var services = serializerBuilder.Services;
        configureOptions?.Invoke(services.AddOptions<NewtonsoftJsonCodecOptions>());
        if (isSerializable is not null)
            services.AddSingleton<ICodecSelector>(new DelegateCodecSelector { CodecName = NewtonsoftJsonCodec.WellKnownAlias, IsSupportedTypeDelegate = isSerializable });
        if (isCopyable is not null)
            services.AddSingleton<ICopierSelector>(new DelegateCopierSelector { CopierName = NewtonsoftJsonCodec.WellKnownAlias, IsSupportedTypeDelegate = isCopyable });
        if (services.Any(static s => s.ServiceType == typeof(NewtonsoftJsonCodec)))
            return serializerBuilder;
        services.AddSingleton<NewtonsoftJsonCodec>();
        services.AddSingleton<IGeneralizedCodec>(static provider => provider.GetRequiredService<NewtonsoftJsonCodec>());
        services.AddSingleton<IGeneralizedCopier>(static provider => provider.GetRequiredService<NewtonsoftJsonCodec>());
        services.AddSingleton<ITypeFilter>(static provider => provider.GetRequiredService<NewtonsoftJsonCodec>());
        services.Configure<TypeManifestOptions>(
            static options => options.WellKnownTypeAliases[NewtonsoftJsonCodec.WellKnownAlias] = typeof(NewtonsoftJsonCodec));
        return serializerBuilder;
    }
}
