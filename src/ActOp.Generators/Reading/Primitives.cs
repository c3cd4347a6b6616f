using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>Types whose values are known to be immutable, and those that are written inline.</summary>
internal static class Primitives
{
    private static readonly HashSet<string> Shallow =
    [
        "System.Guid", "System.DateTime", "System.DateTimeOffset", "System.DateOnly", "System.TimeOnly", "System.TimeSpan", "System.Uri", "System.Version", "System.Type",
        "System.Half", "System.Int128", "System.UInt128", "System.Text.Rune", "System.Numerics.BigInteger", "System.Net.IPAddress", "System.Net.IPEndPoint",
        "System.Globalization.CultureInfo", "System.Threading.CancellationToken",
        "Orleans.Runtime.GrainId", "Orleans.Runtime.GrainType", "Orleans.Runtime.IdSpan", "Orleans.Runtime.GrainInterfaceType", "Orleans.Runtime.SiloAddress",
        "Orleans.Runtime.GrainAddress", "Orleans.Runtime.ActivationId", "Orleans.Runtime.MembershipVersion",
    ];

    /// <summary>The suffix of the inline writing methods for the type, or nothing.</summary>
    public static string Inline(ITypeSymbol type) => type.SpecialType switch
    {
        SpecialType.System_Boolean => "Boolean",
        SpecialType.System_Byte => "Byte",
        SpecialType.System_Int32 => "Int32",
        SpecialType.System_UInt32 => "UInt32",
        SpecialType.System_Int64 => "Int64",
        SpecialType.System_UInt64 => "UInt64",
        SpecialType.System_Double => "Double",
        SpecialType.System_String => "String",
        _ => "",
    };

    /// <summary>True when every value of the static type can be shared between grains.</summary>
    public static bool IsImmutable(ITypeSymbol type)
    {
        if (type.TypeKind == TypeKind.Enum || (type.SpecialType is >= SpecialType.System_Boolean and <= SpecialType.System_String))
            return true;
        if (type is not INamedTypeSymbol named)
            return false;
        if (named.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T)
            return IsImmutable(named.TypeArguments[0]);
        var name = named.OriginalDefinition.ToDisplayString();
        return Shallow.Contains(name) || name == "Orleans.Concurrency.Immutable<T>" || Attributes.Has(named.OriginalDefinition, Attributes.Immutable);
    }
}
