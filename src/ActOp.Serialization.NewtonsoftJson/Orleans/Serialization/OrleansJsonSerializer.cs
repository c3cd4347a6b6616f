using System.Net;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Newtonsoft.Json.Serialization;
using Orleans.BroadcastChannel;
using Orleans.Runtime;
using Orleans.Serialization.TypeSystem;

namespace Orleans.Serialization;

/// <summary>How <see cref="OrleansJsonSerializer"/> writes and reads.</summary>
public class OrleansJsonSerializerOptions
{
    /// <summary>The settings; see <see cref="OrleansJsonSerializerSettings"/> for the defaults.</summary>
    public JsonSerializerSettings JsonSerializerSettings { get; set; } = OrleansJsonSerializerSettings.Defaults();

    /// <summary>True when text may name any class of the loaded assemblies.</summary>
    public bool AllowAllTypes { get; set; }
}

/// <summary>Sets the defaults of options that have none.</summary>
public class ConfigureOrleansJsonSerializerOptions : IPostConfigureOptions<OrleansJsonSerializerOptions>
{
    private readonly IServiceProvider _services;

    /// <summary>Creates the step with the services of references and types.</summary>
    public ConfigureOrleansJsonSerializerOptions(IServiceProvider serviceProvider) => _services = serviceProvider;

    /// <inheritdoc/>
    public void PostConfigure(string? name, OrleansJsonSerializerOptions options) =>
        OrleansJsonSerializerSettings.Complete(_services, options.JsonSerializerSettings, options.AllowAllTypes);
}

/// <summary>Writes objects as JSON text with the names of their classes, and reads them.</summary>
public class OrleansJsonSerializer
{
    /// <summary>The name of a setting.</summary>
    public const string UseFullAssemblyNamesProperty = "UseFullAssemblyNames";

    /// <summary>The name of a setting.</summary>
    public const string IndentJsonProperty = "IndentJSON";

    /// <summary>The name of a setting.</summary>
    public const string TypeNameHandlingProperty = "TypeNameHandling";

    private readonly JsonSerializer _serializer;

    /// <summary>Creates a serializer.</summary>
    public OrleansJsonSerializer(IOptions<OrleansJsonSerializerOptions> options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _serializer = JsonSerializer.Create(options.Value.JsonSerializerSettings);
    }

    /// <summary>The object that the text holds; null for no text.</summary>
    public object? Deserialize(Type expectedType, string? input)
    {
        if (string.IsNullOrWhiteSpace(input))
            return null;
        using var reader = new JsonTextReader(new StringReader(input));
        return _serializer.Deserialize(reader, expectedType);
    }

    /// <summary>The object that the text in the stream holds; the stream stays open.</summary>
    public object? Deserialize(Type expectedType, Stream input)
    {
        using var text = new StreamReader(input, Encoding.UTF8, leaveOpen: true);
        using var reader = new JsonTextReader(text);
        return _serializer.Deserialize(reader, expectedType);
    }

    /// <summary>The object as text.</summary>
    public string Serialize(object? item, Type expectedType)
    {
        var text = new StringWriter(System.Globalization.CultureInfo.InvariantCulture);
        using var writer = new JsonTextWriter(text);
        _serializer.Serialize(writer, item, expectedType);
        writer.Flush();
        return text.ToString();
    }

    /// <summary>Writes the object as text; the stream stays open.</summary>
    public void Serialize(object? item, Type expectedType, Stream destination)
    {
        using var text = new StreamWriter(destination, new UTF8Encoding(encoderShouldEmitUTF8Identifier: false), leaveOpen: true);
        using var writer = new JsonTextWriter(text);
        _serializer.Serialize(writer, item, expectedType);
    }
}

/// <summary>The settings of <see cref="OrleansJsonSerializer"/>.</summary>
public static class OrleansJsonSerializerSettings
{
    /// <summary>Settings that keep identity, the classes of objects and references to grains.</summary>
    public static JsonSerializerSettings GetDefaultSerializerSettings(IServiceProvider services)
    {
        var settings = Defaults();
        Complete(services, settings, allowAllTypes: false);
        return settings;
    }

    /// <summary>Changes what configuration may change.</summary>
    public static JsonSerializerSettings UpdateSerializerSettings(
        JsonSerializerSettings settings, bool useFullAssemblyNames, bool indentJson, TypeNameHandling? typeNameHandling)
    {
        if (useFullAssemblyNames)
            settings.TypeNameAssemblyFormatHandling = TypeNameAssemblyFormatHandling.Full;
        if (indentJson)
            settings.Formatting = Formatting.Indented;
        if (typeNameHandling is { } handling)
            settings.TypeNameHandling = handling;
        return settings;
    }

    /// <summary>What an application may change before the serializer is made.</summary>
    internal static JsonSerializerSettings Defaults() => new()
    {
        TypeNameHandling = TypeNameHandling.All,
        PreserveReferencesHandling = PreserveReferencesHandling.Objects,
        DateFormatHandling = DateFormatHandling.IsoDateFormat,
        DefaultValueHandling = DefaultValueHandling.Ignore,
        MissingMemberHandling = MissingMemberHandling.Ignore,
        NullValueHandling = NullValueHandling.Ignore,
        ConstructorHandling = ConstructorHandling.AllowNonPublicDefaultConstructor,
        TypeNameAssemblyFormatHandling = TypeNameAssemblyFormatHandling.Simple,
        Formatting = Formatting.None,
    };

    internal static void Complete(IServiceProvider services, JsonSerializerSettings settings, bool allowAllTypes)
    {
        if (settings.SerializationBinder is null && services.GetService<TypeResolver>() is { } resolver
            && services.GetService<TypeConverter>() is { } types)
        {
            settings.SerializationBinder = new OrleansJsonSerializationBinder(types, resolver, allowAllTypes);
        }

        foreach (var converter in IdentityConverters.All)
            settings.Converters.Add(converter);
        settings.Converters.Add(new GrainReferenceConverter(services));
    }
}

/// <summary>Finds the classes that text names among those that are allowed.</summary>
public class OrleansJsonSerializationBinder : DefaultSerializationBinder
{
    private readonly TypeConverter? _types;
    private readonly TypeResolver _resolver;

    /// <summary>Creates a binder that allows every class of the loaded assemblies.</summary>
    public OrleansJsonSerializationBinder(TypeResolver typeResolver) => _resolver = typeResolver;

    /// <summary>Creates a binder that allows what the converter allows.</summary>
    /// <param name="typeConverter">Knows the allowed classes.</param>
    /// <param name="typeResolver">Finds classes if all are allowed.</param>
    /// <param name="allowAllTypes">True when text may name any class of the loaded assemblies. Who can write text can then create any
    /// object.</param>
    public OrleansJsonSerializationBinder(TypeConverter typeConverter, TypeResolver typeResolver, bool allowAllTypes = false)
    {
        _types = allowAllTypes ? null : typeConverter;
        _resolver = typeResolver;
    }

    /// <inheritdoc/>
    /// <exception cref="JsonSerializationException">No loaded assembly has the type, or it is not allowed.</exception>
    public override Type BindToType(string? assemblyName, string typeName)
    {
        var name = string.IsNullOrEmpty(assemblyName) ? typeName : typeName + "," + assemblyName;
        try
        {
            if (_types is null ? _resolver.TryResolveType(name, out var type)
                : _types.TryParse(name, out type) && _types.AllowsItself(type) && IsState(type))
            {
                return type;
            }
        }
        catch (Exception exception) when (exception is InvalidOperationException or TypeLoadException or SerializerException)
        {
            throw Refused(name, exception);
        }

        throw Refused(name, null);
    }

    /// <summary>
    /// A provider has a name, so that calls can say which one they mean (<see cref="Orleans.Providers.IControllable"/>). It is no state.
    /// </summary>
    private static bool IsState(Type type) => !typeof(Orleans.Providers.IControllable).IsAssignableFrom(type)
        && Array.TrueForAll(type.GetGenericArguments(), IsState) && (type.GetElementType() is not { } element || IsState(element));

    private static JsonSerializationException Refused(string name, Exception? reason)
    {
        var text = "The text names the type " + name + ", which no loaded assembly has or which is not allowed. To allow it, mark it "
            + "with [GenerateSerializer], or add it to TypeManifestOptions.AllowedTypes. OrleansJsonSerializerOptions.AllowAllTypes "
            + "allows every type, also to those who can change what is stored.";
        return reason is null ? new JsonSerializationException(text) : new JsonSerializationException(text, reason);
    }
}

/// <summary>A reference to a grain: its id and its interface.</summary>
internal sealed class GrainReferenceConverter(IServiceProvider services) : JsonConverter
{
    public override bool CanConvert(Type objectType) => typeof(IAddressable).IsAssignableFrom(objectType);

    public override void WriteJson(JsonWriter writer, object? value, JsonSerializer serializer)
    {
        var reference = value is null ? null : value as GrainReference
            ?? throw new JsonSerializationException("A grain cannot be written; write a reference to it (AsReference).");
        if (reference is null)
        {
            writer.WriteNull();
            return;
        }

        writer.WriteStartObject();
        writer.WritePropertyName("Id");
        IdentityConverters.TokenOf(reference.GrainId).WriteTo(writer);
        writer.WritePropertyName("Interface");
        writer.WriteValue(reference.InterfaceType.ToString());
        writer.WriteEndObject();
    }

    public override object? ReadJson(JsonReader reader, Type objectType, object? existingValue, JsonSerializer serializer)
    {
        if (reader.TokenType == JsonToken.Null)
            return null;
        var text = JObject.Load(reader);
        var id = IdentityConverters.GrainIdOf(text["Id"] ?? throw new JsonSerializationException("A reference to a grain has no Id."));
        var factory = services.GetRequiredService<IGrainFactory>();
        return (string?)text["Interface"] is { Length: > 0 } name
            ? factory.GetGrain(id, GrainInterfaceType.Create(name)) : factory.GetGrain(id);
    }
}

/// <summary>
/// How identities of Orleans are written in JSON text: as Orleans does, which reads them back. Texts of earlier versions are read as well.
/// </summary>
internal static class IdentityConverters
{
    internal static JsonConverter[] All { get; } =
    [
        new IdentityConverter<IPAddress>(static v => v.ToString(), static t => IPAddress.Parse(Text(t))),
        new IdentityConverter<IPEndPoint>(
            static v => new JObject { ["Address"] = v.Address.ToString(), ["Port"] = v.Port },
            static t => t is JObject ? new IPEndPoint(IPAddress.Parse(Text(t["Address"])), (int)t["Port"]!) : IPEndPoint.Parse(Text(t))),
        new IdentityConverter<GrainId>(TokenOf, GrainIdOf),
        new IdentityConverter<SiloAddress>(static v => v.ToParsableString(),
            static t => SiloAddress.FromParsableString(Text(t is JObject ? t["SiloAddress"] : t))),
        new IdentityConverter<GrainType>(static v => v.ToString()!, static t => GrainType.Create(Text(t))),
        new IdentityConverter<GrainInterfaceType>(static v => v.ToString()!, static t => GrainInterfaceType.Create(Text(t))),
        new IdentityConverter<IdSpan>(static v => v.ToString(), static t => IdSpan.Create(Text(t))),
        new IdentityConverter<ActivationId>(static v => v.ToParsableString(), static t => ActivationId.FromParsableString(Text(t))),
        new IdentityConverter<MembershipVersion>(static v => v.Value, static t => new MembershipVersion((long)t)),
        new IdentityConverter<GuidId>(static v => new JObject { ["Guid"] = v.Guid }, static t => GuidId.GetGuidId((Guid)t["Guid"]!)),
        new IdentityConverter<StreamId>(
            static v => KeyOf(v.FullKey, v.Namespace, v.GetHashCode()),
            static t => t is JObject ? IdentityOf(t, StreamId.Create) : default),
        new IdentityConverter<ChannelId>(
            static v => KeyOf(v.FullKey, v.Namespace, v.GetHashCode()),
            static t => t is JObject ? IdentityOf(t, ChannelId.Create) : default),
        new IdentityConverter<QualifiedStreamId>(
            static v => new JObject { ["pvn"] = v.ProviderName, ["sid"] = KeyOf(v.StreamId.FullKey, v.StreamId.Namespace,
                v.StreamId.GetHashCode()) },
            static t => new QualifiedStreamId(Text(t["pvn"]), IdentityOf(t["sid"]!, StreamId.Create))),
    ];

    private delegate T Create<T>(ReadOnlySpan<byte> ns, ReadOnlySpan<byte> key);

    /// <summary>Text, or an object with type and key.</summary>
    internal static GrainId GrainIdOf(JToken token) =>
        token is JObject ? GrainId.Create(Text(token["Type"]), Text(token["Key"])) : GrainId.Parse(Text(token));

    internal static JToken TokenOf(GrainId id) => new JObject { ["Type"] = id.Type.ToString(), ["Key"] = id.Key.ToString() };

    private static string Text(JToken? token) => token is JValue { Value: string text }
        ? text : throw new JsonSerializationException("An identity in JSON is not as it was written: " + token?.ToString(Formatting.None));

    /// <summary>The form of Orleans: namespace and key in one, the length of the namespace, and a hash.</summary>
    private static JToken KeyOf(ReadOnlyMemory<byte> full, ReadOnlyMemory<byte> ns, int hash) => full.IsEmpty
        ? JValue.CreateNull()
        : new JObject { ["fk"] = Convert.ToBase64String(full.Span), ["ki"] = ns.Length, ["fh"] = hash };

    private static T IdentityOf<T>(JToken token, Create<T> create)
        where T : struct
    {
        // Beside the name of its class, an array of bytes is inside an object.
        var bytes = Convert.FromBase64String(Text(token["fk"] is JObject named ? named["$value"] : token["fk"]));
        var length = (int)(token["ki"] ?? 0);
        return length >= 0 && length < bytes.Length
            ? create(bytes.AsSpan(0, length), bytes.AsSpan(length))
            : throw new JsonSerializationException("An identity in JSON has a namespace of " + length + " of " + bytes.Length + " bytes.");
    }
}

/// <summary>A value that is written as one token.</summary>
internal sealed class IdentityConverter<T>(Func<T, JToken> write, Func<JToken, T> read) : JsonConverter
{
    public override bool CanConvert(Type objectType) =>
        typeof(T).IsAssignableFrom(objectType) || Nullable.GetUnderlyingType(objectType) == typeof(T);

    public override void WriteJson(JsonWriter writer, object? value, JsonSerializer serializer)
    {
        if (value is null)
            writer.WriteNull();
        else
            write((T)value).WriteTo(writer);
    }

    public override object? ReadJson(JsonReader reader, Type objectType, object? existingValue, JsonSerializer serializer)
    {
        if (reader.TokenType == JsonToken.Null)
            return default(T) is not null && Nullable.GetUnderlyingType(objectType) is null ? default(T) : null;
        var dates = reader.DateParseHandling;
        // A key may look like a date.
        reader.DateParseHandling = DateParseHandling.None;
        try
        {
            return read(JToken.Load(reader));
        }
        catch (Exception exception) when (exception is FormatException or ArgumentException or InvalidCastException)
        {
            throw new JsonSerializationException("A " + typeof(T).Name + " in JSON is not as it was written.", exception);
        }
        finally
        {
            reader.DateParseHandling = dates;
        }
    }
}
