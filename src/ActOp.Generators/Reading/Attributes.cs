using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>Looks attributes up by their full names.</summary>
internal static class Attributes
{
    public const string Alias = "Orleans.AliasAttribute";
    public const string Id = "Orleans.IdAttribute";
    public const string Immutable = "Orleans.ImmutableAttribute";
    public const string OneWay = "Orleans.Concurrency.OneWayAttribute";
    public const string ReadOnly = "Orleans.Concurrency.ReadOnlyAttribute";
    public const string AlwaysInterleave = "Orleans.Concurrency.AlwaysInterleaveAttribute";
    public const string Unordered = "Orleans.Concurrency.UnorderedAttribute";
    public const string ResponseTimeout = "Orleans.ResponseTimeoutAttribute";
    public const string GrainType = "Orleans.GrainTypeAttribute";
    public const string GrainInterfaceType = "Orleans.Runtime.GrainInterfaceTypeAttribute";
    public const string GenerateSerializer = "Orleans.GenerateSerializerAttribute";
    public const string RegisterConverter = "Orleans.RegisterConverterAttribute";
    public const string SuppressReferenceTracking = "Orleans.SuppressReferenceTrackingAttribute";
    public const string ApplicationPart = "Orleans.ApplicationPartAttribute";
    public const string GeneratedManifest = "ActOp.Serialization.GeneratedManifestAttribute";
    public const string GenerateCodeForDeclaringAssembly = "Orleans.GenerateCodeForDeclaringAssemblyAttribute";

    /// <summary>The attribute of that name, or null.</summary>
    public static AttributeData? Find(IEnumerable<AttributeData> attributes, string fullName)
    {
        foreach (var attribute in attributes)
        {
            if (attribute.AttributeClass is { } type && type.ToDisplayString() == fullName)
                return attribute;
        }

        return null;
    }

    public static AttributeData? Find(ISymbol symbol, string fullName) => Find(symbol.GetAttributes(), fullName);

    public static bool Has(ISymbol symbol, string fullName) => Find(symbol, fullName) is not null;

    /// <summary>The attribute's first argument if it is a string.</summary>
    public static string? Text(ISymbol symbol, string fullName) =>
        Find(symbol, fullName) is { ConstructorArguments: { Length: > 0 } arguments } ? arguments[0].Value as string : null;

    /// <summary>The number of an [Id], or null.</summary>
    public static uint? Number(ISymbol symbol) =>
        Find(symbol, Id) is { ConstructorArguments: { Length: > 0 } arguments } ? arguments[0].Value as uint? : null;
}
