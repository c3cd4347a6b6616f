using System.Text;
using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>Types as source text and as names that are the same in every build.</summary>
internal static class TypeText
{
    private static readonly SymbolDisplayFormat Source = new(
        SymbolDisplayGlobalNamespaceStyle.Included,
        SymbolDisplayTypeQualificationStyle.NameAndContainingTypesAndNamespaces,
        SymbolDisplayGenericsOptions.IncludeTypeParameters,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.EscapeKeywordIdentifiers | SymbolDisplayMiscellaneousOptions
            .UseSpecialTypes | SymbolDisplayMiscellaneousOptions.ExpandValueTuple);

    /// <summary>The type with type arguments, fit for code of any namespace.</summary>
    public static string SourceOf(ITypeSymbol type) => type.TypeKind == TypeKind.Dynamic
        ? "object"
        : string.Concat(type.ToDisplayParts(Source).Select(static part =>
            part.Symbol is ITypeParameterSymbol { TypeParameterKind: TypeParameterKind.Method } parameter ? NameOf(parameter)
                : part.ToString()));

    /// <summary>
    /// The name of a type parameter in generated code. Those of methods get other names, because they may hide those of the interface, and
    /// generated code needs both.
    /// </summary>
    public static string NameOf(ITypeParameterSymbol parameter) =>
        parameter.TypeParameterKind == TypeParameterKind.Method ? "TOfMethod" + parameter.Ordinal : parameter.Name;

    /// <summary>The unbound generic type, fit for typeof.</summary>
    public static string Open(INamedTypeSymbol type) => AllParameters(type).Count == 0 ? SourceOf(type) : SourceOf(OpenNested(type));

    /// <summary>Type parameters of the type and the types around it, outermost first.</summary>
    public static List<ITypeParameterSymbol> AllParameters(INamedTypeSymbol type)
    {
        var all = type.ContainingType is { } outer ? AllParameters(outer) : [];
        all.AddRange(type.TypeParameters);
        return all;
    }

    /// <summary>Type arguments of the type and the types around it, outermost first.</summary>
    public static List<ITypeSymbol> AllArguments(INamedTypeSymbol type)
    {
        var all = type.ContainingType is { } outer ? AllArguments(outer) : [];
        all.AddRange(type.TypeArguments);
        return all;
    }

    /// <summary><c>&lt;A, B&gt;</c>, or nothing.</summary>
    public static string List(IEnumerable<string> names)
    {
        var text = string.Join(", ", names);
        return text.Length == 0 ? "" : "<" + text + ">";
    }

    /// <summary>The name as reflection gives it: <c>Namespace.Outer+Inner`1</c>.</summary>
    public static string FullName(INamedTypeSymbol type)
    {
        if (type.ContainingType is { } outer)
            return FullName(outer) + "+" + type.MetadataName;
        return type.ContainingNamespace is { IsGlobalNamespace: false } space
            ? space.ToDisplayString() + "." + type.MetadataName : type.MetadataName;
    }

    /// <summary>A name with type arguments that does not depend on the names of type parameters.</summary>
    public static string Stable(ITypeSymbol type)
    {
        switch (type)
        {
            case IArrayTypeSymbol array:
                return Stable(array.ElementType) + "[" + new string(',', array.Rank - 1) + "]";
            case ITypeParameterSymbol { TypeParameterKind: TypeParameterKind.Method } parameter:
                return "!!" + parameter.Ordinal;
            case ITypeParameterSymbol parameter:
                return "!" + parameter.Ordinal;
            case INamedTypeSymbol named:
                var arguments = AllArguments(named.IsTupleType && named.TupleUnderlyingType is { } plain ? plain : named);
                return FullName(named) + (arguments.Count == 0 ? "" : "[" + string.Join(",", arguments.Select(Stable)) + "]");
            default:
                return "System.Object";
        }
    }

    /// <summary>The name as an identifier.</summary>
    public static string Mangle(string name)
    {
        var text = new StringBuilder(name.Length);
        foreach (var c in name)
            text.Append(char.IsLetterOrDigit(c) ? c : '_');
        if (name.IndexOf('_') >= 0)
            text.Append('_').Append(StableHash.HashOf(name).ToString("x16")); // A.B_C and A_B.C must not meet.
        return text.ToString();
    }

    /// <summary>The where clauses of the parameters, in source text.</summary>
    public static string Constraints(IEnumerable<ITypeParameterSymbol> parameters)
    {
        var text = new StringBuilder();
        foreach (var parameter in parameters)
        {
            var parts = new List<string>();
            if (parameter.HasUnmanagedTypeConstraint)
                parts.Add("unmanaged");
            else if (parameter.HasValueTypeConstraint)
                parts.Add("struct");
            else if (parameter.HasReferenceTypeConstraint)
                parts.Add("class");
            else if (parameter.HasNotNullConstraint)
                parts.Add("notnull");
            parts.AddRange(parameter.ConstraintTypes.Select(SourceOf));
            if (parameter.HasConstructorConstraint)
                parts.Add("new()");
            if (parts.Count > 0)
                text.Append(" where ").Append(NameOf(parameter)).Append(" : ").Append(string.Join(", ", parts));
        }

        return text.ToString();
    }

    /// <summary>"public", "internal", or null when generated code cannot name the type.</summary>
    public static string? Accessibility(INamedTypeSymbol type)
    {
        var result = "public";
        for (var current = type; current is not null; current = current.ContainingType)
        {
            switch (current.DeclaredAccessibility)
            {
                case Microsoft.CodeAnalysis.Accessibility.Public:
                    break;
                case Microsoft.CodeAnalysis.Accessibility.Internal or Microsoft.CodeAnalysis.Accessibility.ProtectedOrInternal:
                    result = "internal";
                    break;
                default:
                    return null;
            }

            if (current.IsFileLocal)
                return null;
        }

        return result;
    }

    private static INamedTypeSymbol OpenNested(INamedTypeSymbol type) =>
        type.ContainingType is { } outer && AllParameters(outer).Count > 0 && type.TypeParameters.Length == 0
        ? OpenNested(outer).GetTypeMembers(type.Name, 0).First()
        : type.IsGenericType ? type.ConstructUnboundGenericType() : type;
}

/// <summary>Types whose values are known to be immutable, and those that are written inline.</summary>
internal static class Primitives
{
    private static readonly HashSet<string> Shallow =
    [
        "System.Guid", "System.DateTime", "System.DateTimeOffset", "System.DateOnly", "System.TimeOnly", "System.TimeSpan", "System.Uri",
        "System.Version", "System.Type",
        "System.Half", "System.Int128", "System.UInt128", "System.Text.Rune", "System.Numerics.BigInteger", "System.Net.IPAddress",
        "System.Net.IPEndPoint",
        "System.Globalization.CultureInfo", "System.Threading.CancellationToken",
        "Orleans.Runtime.GrainId", "Orleans.Runtime.GrainType", "Orleans.Runtime.IdSpan", "Orleans.Runtime.GrainInterfaceType",
        "Orleans.Runtime.SiloAddress",
        "Orleans.Runtime.GrainAddress", "Orleans.Runtime.ActivationId", "Orleans.Runtime.MembershipVersion",
    ];

    /// <summary>The suffix of the inline writing methods for the type, or nothing.</summary>
    public static string Inline(ITypeSymbol type) => InterfaceReader.IsToken(type) ? ArgumentModel.Token : type.SpecialType switch
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
        return Shallow.Contains(name) || name == "Orleans.Concurrency.Immutable<T>"
            || Attributes.Has(named.OriginalDefinition, Attributes.Immutable);
    }
}

/// <summary>FNV-1a with 64 bits over UTF-8: the same in every build and process.</summary>
internal static class StableHash
{
    public static ulong HashOf(string text)
    {
        var hash = 14695981039346656037UL;
        foreach (var b in Encoding.UTF8.GetBytes(text))
            hash = unchecked((hash ^ b) * 1099511628211UL);
        return hash;
    }
}
