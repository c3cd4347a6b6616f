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
    public const string Channel = "ActOp.Channels.ChannelAttribute";
    public const string GenerateMethodSerializers = "Orleans.GenerateMethodSerializersAttribute";
    public const string InvokableBaseType = "Orleans.InvokableBaseTypeAttribute";
    public const string DefaultInvokableBaseType = "Orleans.DefaultInvokableBaseTypeAttribute";
    public const string InvokableCustomInitializer = "Orleans.InvokableCustomInitializerAttribute";
    public const string InvokeMethodName = "Orleans.InvokeMethodNameAttribute";
    public const string DefaultInvokeMethodName = "Orleans.DefaultInvokeMethodNameAttribute";
    public const string ReturnValueProxy = "Orleans.Invocation.ReturnValueProxyAttribute";
    public const string GeneratedActivatorConstructor = "Orleans.GeneratedActivatorConstructorAttribute";
    public const string OrleansConstructor = "Orleans.OrleansConstructorAttribute";
    public const string GrainType = "Orleans.GrainTypeAttribute";
    public const string GrainInterfaceType = "Orleans.Runtime.GrainInterfaceTypeAttribute";
    public const string GenerateSerializer = "Orleans.GenerateSerializerAttribute";
    public const string RegisterConverter = "Orleans.RegisterConverterAttribute";
    public const string RegisterActivator = "Orleans.RegisterActivatorAttribute";
    public const string RegisterSerializer = "Orleans.RegisterSerializerAttribute";
    public const string RegisterCopier = "Orleans.RegisterCopierAttribute";
    public const string UseActivator = "Orleans.UseActivatorAttribute";
    public const string OmitDefaultMemberValues = "Orleans.OmitDefaultMemberValuesAttribute";
    public const string SerializationCallbacks = "Orleans.SerializationCallbacksAttribute";
    public const string SerializerTransparent = "Orleans.SerializerTransparentAttribute";
    public const string CompoundTypeAlias = "Orleans.CompoundTypeAliasAttribute";
    public const string SuppressReferenceTracking = "Orleans.SuppressReferenceTrackingAttribute";
    public const string ApplicationPart = "Orleans.ApplicationPartAttribute";
    public const string GeneratedManifest = "ActOp.Serialization.GeneratedManifestAttribute";
    public const string GenerateCodeForDeclaringAssembly = "Orleans.GenerateCodeForDeclaringAssemblyAttribute";

    /// <summary>The attribute of that name, or null.</summary>
    public static AttributeData? FindAttribute(IEnumerable<AttributeData> attributes, string fullName)
    {
        foreach (var attribute in attributes)
        {
            if (attribute.AttributeClass is { } type && type.ToDisplayString() == fullName)
                return attribute;
        }

        return null;
    }

    public static AttributeData? FindAttribute(ISymbol symbol, string fullName) => FindAttribute(symbol.GetAttributes(), fullName);

    public static bool Has(ISymbol symbol, string fullName) => FindAttribute(symbol, fullName) is not null;

    /// <summary>The attribute's first argument if it is a string.</summary>
    public static string? Text(ISymbol symbol, string fullName) =>
        FindAttribute(symbol, fullName) is { ConstructorArguments: { Length: > 0 } arguments } ? arguments[0].Value as string : null;

    /// <summary>The name of a type on the wire: its alias, the parts of its compound alias, or its full name.</summary>
    public static string WireName(INamedTypeSymbol type) => Text(type, Alias) ?? CompoundAlias(type) ?? TypeText.FullName(type);

    private static string? CompoundAlias(INamedTypeSymbol type)
    {
        if (FindAttribute(type, CompoundTypeAlias) is not { ConstructorArguments: { Length: > 0 } arguments }
            || arguments[0].Kind != TypedConstantKind.Array)
        {
            return null;
        }

        return "compound|" + string.Join("|", arguments[0].Values.Select(static part =>
            part.Value is INamedTypeSymbol named ? WireName(named) : part.Value?.ToString() ?? ""));
    }

    /// <summary>The number of an [Id], or null.</summary>
    public static uint? Number(ISymbol symbol) =>
        FindAttribute(symbol, Id) is { ConstructorArguments: { Length: > 0 } arguments } ? arguments[0].Value as uint? : null;
}
