using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Orleans.Runtime;

/// <summary>An identity as a JSON string, also as the key of a dictionary.</summary>
/// <typeparam name="T">The identity.</typeparam>
public abstract class IdentityJsonConverter<T> : JsonConverter<T>
    where T : notnull
{
    private protected IdentityJsonConverter()
    {
    }

    /// <inheritdoc/>
    public sealed override T Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.TokenType == JsonTokenType.String
            ? Parse(reader.GetString()!) : throw new JsonException("A " + typeof(T).Name + " is a string in JSON.");

    /// <inheritdoc/>
    public sealed override T ReadAsPropertyName(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        Parse(reader.GetString()!);

    /// <inheritdoc/>
    public sealed override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options) =>
        writer.WriteStringValue(Format(value));

    /// <inheritdoc/>
    public sealed override void WriteAsPropertyName(Utf8JsonWriter writer, [DisallowNull] T value, JsonSerializerOptions options) =>
        writer.WritePropertyName(Format(value));

    private protected abstract string Format(T value);

    private protected abstract bool TryParse(string text, [NotNullWhen(true)] out T? value);

    /// <summary>The default value is not equal to a span that was made from no text.</summary>
    private protected static IdSpan Span(string text) => text.Length == 0 ? default : IdSpan.Create(text);

    private T Parse(string text) =>
        TryParse(text, out var value) ? value : throw new JsonException("\"" + text + "\" is no " + typeof(T).Name + ".");
}

/// <summary>A grain id in JSON: <c>"type/key"</c>, empty for the default value.</summary>
public sealed class GrainIdJsonConverter : IdentityJsonConverter<GrainId>
{
    private protected override string Format(GrainId value) => value.Type.AsSpan().Contains((byte)'/')
        ? throw new JsonException("The grain type " + value.Type + " has a slash: the id would be read as another one.")
        : value.ToString();

    private protected override bool TryParse(string text, out GrainId value)
    {
        var slash = text.IndexOf('/', StringComparison.Ordinal);
        value = slash < 0 ? default : new GrainId(new GrainType(Span(text[..slash])), Span(text[(slash + 1)..]));
        return slash >= 0 || text.Length == 0;
    }
}

/// <summary>A grain type in JSON: its name, empty for the default value.</summary>
public sealed class GrainTypeJsonConverter : IdentityJsonConverter<GrainType>
{
    private protected override string Format(GrainType value) => value.ToString();

    private protected override bool TryParse(string text, out GrainType value)
    {
        value = new GrainType(Span(text));
        return true;
    }
}

/// <summary>The type of a grain interface in JSON: its name, empty for the default value.</summary>
public sealed class GrainInterfaceTypeJsonConverter : IdentityJsonConverter<GrainInterfaceType>
{
    private protected override string Format(GrainInterfaceType value) => value.ToString();

    private protected override bool TryParse(string text, out GrainInterfaceType value)
    {
        value = new GrainInterfaceType(Span(text));
        return true;
    }
}

/// <summary>A key in JSON: its text, empty for the default value.</summary>
public sealed class IdSpanJsonConverter : IdentityJsonConverter<IdSpan>
{
    private protected override string Format(IdSpan value) => value.ToString();

    private protected override bool TryParse(string text, out IdSpan value)
    {
        value = Span(text);
        return true;
    }
}

/// <summary>The id of an activation in JSON: <c>@</c> and 32 hex digits.</summary>
public sealed class ActivationIdJsonConverter : IdentityJsonConverter<ActivationId>
{
    private protected override string Format(ActivationId value) => value.ToParsableString();

    private protected override bool TryParse(string text, out ActivationId value)
    {
        value = default;
        if (text.Length != 33 || text[0] != '@' || !Guid.TryParseExact(text.AsSpan(1), "N", out var key))
            return false;
        value = new ActivationId(key);
        return true;
    }
}

/// <summary>The address of a silo in JSON: <c>"ip:port@generation"</c>.</summary>
public sealed class SiloAddressJsonConverter : IdentityJsonConverter<SiloAddress>
{
    private protected override string Format(SiloAddress value) => value.ToParsableString();

    private protected override bool TryParse(string text, [NotNullWhen(true)] out SiloAddress? value) =>
        SiloAddress.TryParse(text, out value);
}

/// <summary>The number of a membership view in JSON: a number.</summary>
public sealed class MembershipVersionJsonConverter : JsonConverter<MembershipVersion>
{
    /// <inheritdoc/>
    public override MembershipVersion Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out var number)
            ? new(number) : throw new JsonException("A MembershipVersion is a whole number in JSON.");

    /// <inheritdoc/>
    public override MembershipVersion ReadAsPropertyName(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        long.TryParse(reader.GetString(), CultureInfo.InvariantCulture, out var number)
            ? new(number) : throw new JsonException("A MembershipVersion is a whole number in JSON.");

    /// <inheritdoc/>
    public override void Write(Utf8JsonWriter writer, MembershipVersion value, JsonSerializerOptions options) =>
        writer.WriteNumberValue(value.Value);

    /// <inheritdoc/>
    public override void WriteAsPropertyName(
        Utf8JsonWriter writer, [DisallowNull] MembershipVersion value, JsonSerializerOptions options) =>
        writer.WritePropertyName(value.Value.ToString(CultureInfo.InvariantCulture));
}
