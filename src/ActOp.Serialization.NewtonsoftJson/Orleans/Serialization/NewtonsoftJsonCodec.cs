using System.Text;
using ActOp.Serialization.Fields.Bridging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Newtonsoft.Json;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
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

    private readonly TextObjects _objects;

    /// <summary>Creates the codec; selectors with its name say which types it serves.</summary>
    public NewtonsoftJsonCodec(
        IEnumerable<ICodecSelector> serializableTypeSelectors, IEnumerable<ICopierSelector> copyableTypeSelectors,
        IOptions<NewtonsoftJsonCodecOptions> options)
    {
        var use = options.Value;
        _objects = new TextObjects(
            typeof(NewtonsoftJsonCodec),
            value => Encoding.UTF8.GetBytes(JsonConvert.SerializeObject(value, value.GetType(), use.SerializerSettings)),
            (text, type) => JsonConvert.DeserializeObject(Encoding.UTF8.GetString(text), type, use.SerializerSettings),
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
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSupported,
        Action<OptionsBuilder<NewtonsoftJsonCodecOptions>>? configureOptions) =>
        serializerBuilder.AddNewtonsoftJsonSerializer(isSupported, isSupported, configureOptions);

    /// <summary>Sends the types that a predicate accepts as JSON text, and copies those that another accepts by it.</summary>
    public static ISerializerBuilder AddNewtonsoftJsonSerializer(
        this ISerializerBuilder serializerBuilder, Func<Type, bool>? isSerializable, Func<Type, bool>? isCopyable,
        Action<OptionsBuilder<NewtonsoftJsonCodecOptions>>? configureOptions)
    {
        ArgumentNullException.ThrowIfNull(serializerBuilder);
        var services = serializerBuilder.Services;
        configureOptions?.Invoke(services.AddOptions<NewtonsoftJsonCodecOptions>());
        TextObjects.Register<NewtonsoftJsonCodec>(services, NewtonsoftJsonCodec.WellKnownAlias, isSerializable, isCopyable);
        return serializerBuilder;
    }
}
