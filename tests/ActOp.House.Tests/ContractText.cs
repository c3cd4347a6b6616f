using System.Globalization;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace ActOp.House.Tests;

/// <summary>
/// Signatures in one form, from the text of the list and from an assembly. Types lose their namespaces, type parameters are numbered.
/// In the form of an assembly a <c>~</c> stands where a <c>?</c> may stand in the list: annotations of reference types don't count.
/// </summary>
internal static class ContractText
{
    /// <summary>Whether the form of a member in an assembly is the one of the list.</summary>
    internal static bool Matches(string listed, string actual)
    {
        var at = 0;
        foreach (var letter in actual)
        {
            if (letter == '~')
                at += at < listed.Length && listed[at] == '?' ? 1 : 0;
            else if (at >= listed.Length || listed[at++] != letter)
                return false;
        }

        return at == listed.Length;
    }

    /// <summary>A listed member: static or not, type, name, parameters.</summary>
    internal static string Of(MemberDeclarationSyntax member, Func<string, string> typeName) => member switch
    {
        MethodDeclarationSyntax method => Method(method, typeName),
        ConstructorDeclarationSyntax made => ".ctor" + Parameters(made.ParameterList.Parameters, typeName),
        PropertyDeclarationSyntax property => Static(property) + Type(property.Type, typeName) + " " + property.Identifier.Text,
        IndexerDeclarationSyntax indexer => Type(indexer.Type, typeName) + " this" + Parameters(indexer.ParameterList.Parameters, typeName),
        FieldDeclarationSyntax field => Static(field) + Type(field.Declaration.Type, typeName) + " "
            + field.Declaration.Variables[0].Identifier.Text,
        EventFieldDeclarationSyntax occurs => Static(occurs) + "event " + Type(occurs.Declaration.Type, typeName) + " "
            + occurs.Declaration.Variables[0].Identifier.Text,
        ConversionOperatorDeclarationSyntax conversion => "static operator " + Type(conversion.Type, typeName)
            + Parameters(conversion.ParameterList.Parameters, typeName),
        DelegateDeclarationSyntax @delegate => Type(@delegate.ReturnType, Numbered(@delegate.TypeParameterList, "!", typeName)) + " Invoke"
            + Parameters(@delegate.ParameterList.Parameters, Numbered(@delegate.TypeParameterList, "!", typeName)),
        EnumMemberDeclarationSyntax value => value.Identifier.Text + (value.EqualsValue is { } set ? "=" + set.Value : ""),
        _ => throw new FormatException($"The list has a member of the kind {member.Kind()}: {member}"),
    };

    /// <summary>A member of an assembly in the same form.</summary>
    /// <param name="member">The member.</param>
    /// <param name="withDefaults">Whether optional parameters have their values.</param>
    internal static string Of(ISymbol member, bool withDefaults = true) => member switch
    {
        IMethodSymbol { MethodKind: MethodKind.Constructor } made => ".ctor" + Parameters(made.Parameters, withDefaults),
        IMethodSymbol { MethodKind: MethodKind.Conversion } conversion => "static operator " + Type(conversion.ReturnType)
            + Parameters(conversion.Parameters, withDefaults),
        IMethodSymbol method => Static(method) + (method.ReturnsByRef || method.ReturnsByRefReadonly ? "ref " : "")
            + Type(method.ReturnType) + " " + method.Name
            + (method.Arity > 0 ? "`" + method.Arity : "") + Parameters(method.Parameters, withDefaults),
        IPropertySymbol { IsIndexer: true } indexer => Type(indexer.Type) + " this" + Parameters(indexer.Parameters, withDefaults),
        IPropertySymbol property => Static(property) + Type(property.Type) + " " + property.Name,
        IFieldSymbol { ContainingType.TypeKind: TypeKind.Enum } value => value.Name + "="
            + Convert.ToString(value.ConstantValue, CultureInfo.InvariantCulture),
        IFieldSymbol field => Static(field) + Type(field.Type) + " " + field.Name,
        IEventSymbol occurs => Static(occurs) + "event " + Type(occurs.Type) + " " + occurs.Name,
        _ => "",
    };

    /// <summary>A listed type without its namespace.</summary>
    internal static string Type(TypeSyntax type, Func<string, string> typeName) => type switch
    {
        NullableTypeSyntax nullable => Type(nullable.ElementType, typeName) + "?",
        ArrayTypeSyntax array => Type(array.ElementType, typeName) + string.Concat(array.RankSpecifiers),
        RefTypeSyntax reference => "ref " + Type(reference.Type, typeName),
        ScopedTypeSyntax scoped => Type(scoped.Type, typeName),
        QualifiedNameSyntax qualified => Type(qualified.Right, typeName),
        AliasQualifiedNameSyntax alias => Type(alias.Name, typeName),
        GenericNameSyntax generic => generic.Identifier.Text + "<"
            + string.Join(",", generic.TypeArgumentList.Arguments.Select(argument => Type(argument, typeName))) + ">",
        IdentifierNameSyntax name => typeName(name.Identifier.Text),
        TupleTypeSyntax tuple => "(" + string.Join(",", tuple.Elements.Select(element => Type(element.Type, typeName))) + ")",
        _ => type.ToString(),
    };

    /// <summary>A type of an assembly in the same form.</summary>
    internal static string Type(ITypeSymbol type) => type switch
    {
        INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable =>
            Type(nullable.TypeArguments[0]) + "?",
        INamedTypeSymbol { IsTupleType: true } tuple => "(" + string.Join(",", tuple.TupleElements.Select(static element =>
            Type(element.Type))) + ")",
        IArrayTypeSymbol array => Type(array.ElementType) + "[" + new string(',', array.Rank - 1) + "]~",
        ITypeParameterSymbol { DeclaringMethod: not null } parameter => "!!" + parameter.Ordinal + "~",
        ITypeParameterSymbol parameter => "!" + parameter.Ordinal + "~",
        INamedTypeSymbol { Arity: > 0 } generic => generic.Name + "<" + string.Join(",", generic.TypeArguments.Select(Type)) + ">"
            + Mark(generic),
        { SpecialType: not SpecialType.None } special when Keyword(special) is { } keyword => keyword + Mark(special),
        _ => type.Name + Mark(type),
    };

    /// <summary>Names of types with the type parameters of a declaration numbered.</summary>
    internal static Func<string, string> Numbered(TypeParameterListSyntax? list, string prefix, Func<string, string> outer)
    {
        if (list is null)
            return outer;
        string[] names = [.. list.Parameters.Select(static parameter => parameter.Identifier.Text)];
        return name => Array.IndexOf(names, name) is var at and >= 0 ? prefix + at : outer(name);
    }

    private static string Method(MethodDeclarationSyntax method, Func<string, string> typeName)
    {
        var names = Numbered(method.TypeParameterList, "!!", typeName);
        return Static(method) + Type(method.ReturnType, names) + " " + method.Identifier.Text
            + (method.TypeParameterList is { } list ? "`" + list.Parameters.Count : "")
                + Parameters(method.ParameterList.Parameters, names);
    }

    private static string Parameters(SeparatedSyntaxList<ParameterSyntax> parameters, Func<string, string> typeName) =>
        "(" + string.Join(", ", parameters.Select(parameter =>
            string.Concat(parameter.Modifiers.Where(static word => !word.IsKind(SyntaxKind.ScopedKeyword)).Select(static word =>
                word.Text + " "))
            + Type(parameter.Type!, typeName) + " " + parameter.Identifier.ValueText
            + (parameter.Default is { } given ? "=" + Value(given.Value) : ""))) + ")";

    private static string Parameters(IEnumerable<IParameterSymbol> parameters, bool withDefaults) =>
        "(" + string.Join(", ", parameters.Select(parameter =>
            (parameter is { Ordinal: 0, ContainingSymbol: IMethodSymbol { IsExtensionMethod: true } } ? "this " : "")
            + (parameter.IsParams ? "params " : "")
            + parameter.RefKind switch { RefKind.Ref => "ref ", RefKind.Out => "out ", RefKind.In => "in ", _ => "" }
            + Type(parameter.Type) + " " + parameter.Name + (withDefaults && parameter.HasExplicitDefaultValue ? "=" + Value(parameter) : ""))) + ")";

    private static string Value(ExpressionSyntax value) => value switch
    {
        LiteralExpressionSyntax { Token.ValueText: "null" or "default" } => "default",
        LiteralExpressionSyntax literal => Convert.ToString(literal.Token.Value, CultureInfo.InvariantCulture) ?? "default",
        MemberAccessExpressionSyntax member => member.Name.Identifier.Text,
        _ => value.ToString(),
    };

    internal static string Value(IParameterSymbol parameter)
    {
        if (parameter.ExplicitDefaultValue is not { } value)
            return "default";
        var type = parameter.Type is INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable
            ? nullable.TypeArguments[0]
            : parameter.Type;
        return type.TypeKind == TypeKind.Enum && type.GetMembers().OfType<IFieldSymbol>().FirstOrDefault(
            field => Equals(field.ConstantValue, value)) is { } named ? named.Name : Convert.ToString(value, CultureInfo.InvariantCulture)!;
    }

    private static string Static(MemberDeclarationSyntax member) =>
        member.Modifiers.Any(SyntaxKind.StaticKeyword) || member.Modifiers.Any(SyntaxKind.ConstKeyword) ? "static " : "";

    private static string Static(ISymbol member) => member.IsStatic ? "static " : "";

    private static string Mark(ITypeSymbol type) => type.IsReferenceType ? "~" : "";

    private static string? Keyword(ITypeSymbol type)
    {
        var text = type.ToDisplayString(new SymbolDisplayFormat(miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes));
        return SyntaxFacts.GetKeywordKind(text) != SyntaxKind.None ? text : null;
    }
}
