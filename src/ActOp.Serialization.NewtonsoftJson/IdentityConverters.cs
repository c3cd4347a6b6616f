using System.Net;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Orleans.BroadcastChannel;
using Orleans.Runtime;

namespace Orleans.Serialization;

/// <summary>How identities of Orleans are written in JSON text. What Orleans itself has written is read as well.</summary>
internal static class IdentityConverters
{
    internal static JsonConverter[] All { get; } =
    [
        new IdentityConverter<IPAddress>(static v => v.ToString(), static t => IPAddress.Parse(Text(t))),
        new IdentityConverter<IPEndPoint>(static v => v.ToString(), static t => t is JObject
            ? new IPEndPoint(IPAddress.Parse(Text(t["Address"])), (int)t["Port"]!) : IPEndPoint.Parse(Text(t))),
        new IdentityConverter<GrainId>(static v => v.ToString(), GrainIdOf),
        new IdentityConverter<SiloAddress>(static v => v.ToParsableString(),
            static t => SiloAddress.FromParsableString(Text(t is JObject ? t["SiloAddress"] : t))),
        new IdentityConverter<GrainType>(static v => v.ToString()!, static t => GrainType.Create(Text(t))),
        new IdentityConverter<GrainInterfaceType>(static v => v.ToString()!, static t => GrainInterfaceType.Create(Text(t))),
        new IdentityConverter<IdSpan>(static v => v.ToString(), static t => IdSpan.Create(Text(t))),
        new IdentityConverter<ActivationId>(static v => v.ToParsableString(), static t => ActivationId.FromParsableString(Text(t))),
        new IdentityConverter<MembershipVersion>(static v => v.Value, static t => new MembershipVersion((long)t)),
        new IdentityConverter<GuidId>(static v => new JObject { ["Guid"] = v.Guid }, static t => GuidId.GetGuidId((Guid)t["Guid"]!)),
        new IdentityConverter<StreamId>(
            static v => KeyOf(v.FullKey, v.Namespace, v.GetHashCode()), static t => t is JObject ? Of(t, StreamId.Create) : default),
        new IdentityConverter<ChannelId>(
            static v => KeyOf(v.FullKey, v.Namespace, v.GetHashCode()), static t => t is JObject ? Of(t, ChannelId.Create) : default),
        new IdentityConverter<QualifiedStreamId>(
            static v => new JObject { ["pvn"] = v.ProviderName, ["sid"] = KeyOf(v.StreamId.FullKey, v.StreamId.Namespace,
                v.StreamId.GetHashCode()) },
            static t => new QualifiedStreamId(Text(t["pvn"]), Of(t["sid"]!, StreamId.Create))),
    ];

    private delegate T Create<T>(ReadOnlySpan<byte> ns, ReadOnlySpan<byte> key);

    /// <summary>Text, or an object with type and key.</summary>
    internal static GrainId GrainIdOf(JToken token) =>
        token is JObject ? GrainId.Create(Text(token["Type"]), Text(token["Key"])) : GrainId.Parse(Text(token));

    private static string Text(JToken? token) => token is JValue { Value: string text }
        ? text : throw new JsonSerializationException("An identity in JSON is not as it was written: " + token?.ToString(Formatting.None));

    /// <summary>The form of Orleans: namespace and key in one, the length of the namespace, and a hash.</summary>
    private static JToken KeyOf(ReadOnlyMemory<byte> full, ReadOnlyMemory<byte> ns, int hash) => full.IsEmpty
        ? JValue.CreateNull()
        : new JObject { ["fk"] = Convert.ToBase64String(full.Span), ["ki"] = ns.Length, ["fh"] = hash };

    private static T Of<T>(JToken token, Create<T> create)
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
