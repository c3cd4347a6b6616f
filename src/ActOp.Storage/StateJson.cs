using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using ActOp.Serialization;
using Orleans.GrainReferences;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Storage;

/// <summary>
/// States as JSON: what System.Text.Json would write and not read again, or leave out, is written and read, or refused.
/// </summary>
/// <remarks>Immutable; any thread. Errors are those of System.Text.Json: they name the member.</remarks>
internal static class StateJson
{
    private const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    internal static JsonSerializerOptions NewOptions() => new()
    {
        IncludeFields = true,
        NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals,
        AllowOutOfOrderMetadataProperties = true,
        MaxDepth = 256,
        TypeInfoResolver = new DefaultJsonTypeInfoResolver { Modifiers = { AddSetters, AddConstructor, AddDerivedTypes } },
    };

    /// <summary>Properties with private setters are read, too.</summary>
    private static void AddSetters(JsonTypeInfo info)
    {
        if (info.Kind != JsonTypeInfoKind.Object)
            return;
        foreach (var property in info.Properties)
        {
            if (property.Set is null && property.AttributeProvider is PropertyInfo { DeclaringType: { } owner } found
                && owner.GetProperty(found.Name, Own) is { } declared && declared.GetSetMethod(nonPublic: true) is not null)
            {
                property.Set = declared.SetValue;
            }
        }
    }

    /// <summary>A class without a public constructor is created with the private one that has no parameters.</summary>
    private static void AddConstructor(JsonTypeInfo info)
    {
        if (info is { Kind: JsonTypeInfoKind.Object, CreateObject: null } && !info.Type.IsAbstract
            && info.Type.GetConstructors().Length == 0 && info.Type.GetConstructor(Own, []) is { } constructor)
        {
            info.CreateObject = () => constructor.Invoke(null);
        }
    }

    /// <summary>
    /// Objects of derived classes have the name of their type, as in messages. Without it they would be cut to their declared type.
    /// </summary>
    private static void AddDerivedTypes(JsonTypeInfo info)
    {
        if (info.Kind != JsonTypeInfoKind.Object || info.PolymorphismOptions is not null || info.Type.IsSealed || info.Type.IsValueType
            || info.Type == typeof(object) || typeof(IAddressable).IsAssignableFrom(info.Type))
        {
            return;
        }

        var known = new JsonPolymorphismOptions { UnknownDerivedTypeHandling = JsonUnknownDerivedTypeHandling.FailSerialization };
        if (!info.Type.IsAbstract)
            known.DerivedTypes.Add(new JsonDerivedType(info.Type));
        foreach (var derived in TypeManifest.DerivedOf(info.Type))
            known.DerivedTypes.Add(new JsonDerivedType(derived, TypeManifest.NameOf(derived)));
        if (known.DerivedTypes.Count > 0)
            info.PolymorphismOptions = known;
    }
}

/// <summary>A grain reference in JSON: the grain and the interface.</summary>
/// <param name="references">Creates references.</param>
internal sealed class GrainReferenceJson(GrainReferenceActivator references) : JsonConverterFactory
{
    public override bool CanConvert(Type typeToConvert) => typeof(IAddressable).IsAssignableFrom(typeToConvert)
        && (typeToConvert.IsInterface || typeof(GrainReference).IsAssignableFrom(typeToConvert));

    public override JsonConverter CreateConverter(Type typeToConvert, JsonSerializerOptions options) =>
        (JsonConverter)Activator.CreateInstance(typeof(Converter<>).MakeGenericType(typeToConvert), references)!;

    private sealed class Converter<T>(GrainReferenceActivator references) : JsonConverter<T>
        where T : class, IAddressable
    {
        public override T Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
        {
            var parts = JsonSerializer.Deserialize<Dictionary<string, string>>(ref reader);
            if (parts is null || !parts.TryGetValue("grain", out var grain) || !parts.TryGetValue("interface", out var name))
                throw new JsonException("A reference to a grain has the members \"grain\" and \"interface\".");
            return (T)(object)references.CreateReference(GrainId.Parse(grain), GrainInterfaceType.Create(name));
        }

        public override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options)
        {
            var reference = value as GrainReference ?? throw new SerializerException(
                "A " + value.GetType() + " is no reference to a grain. Use AsReference to get one.");
            writer.WriteStartObject();
            writer.WriteString("grain", reference.GrainId.ToString());
            writer.WriteString("interface", reference.InterfaceType.ToString());
            writer.WriteEndObject();
        }
    }
}
