using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace ActOp.House.Tests;

/// <summary>The public part of an assembly as text: a line per type and member, in a fixed order.</summary>
internal static class ApiText
{
    private static readonly SymbolDisplayFormat TypeFormat = new(
        globalNamespaceStyle: SymbolDisplayGlobalNamespaceStyle.Omitted,
        typeQualificationStyle: SymbolDisplayTypeQualificationStyle.NameAndContainingTypesAndNamespaces,
        genericsOptions: SymbolDisplayGenericsOptions.IncludeTypeParameters | SymbolDisplayGenericsOptions
            .IncludeTypeConstraints | SymbolDisplayGenericsOptions.IncludeVariance,
        kindOptions: SymbolDisplayKindOptions.IncludeTypeKeyword,
        memberOptions: SymbolDisplayMemberOptions.None,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes);

    private static readonly SymbolDisplayFormat MemberFormat = new(
        globalNamespaceStyle: SymbolDisplayGlobalNamespaceStyle.Omitted,
        typeQualificationStyle: SymbolDisplayTypeQualificationStyle.NameAndContainingTypesAndNamespaces,
        propertyStyle: SymbolDisplayPropertyStyle.ShowReadWriteDescriptor,
        genericsOptions: SymbolDisplayGenericsOptions.IncludeTypeParameters | SymbolDisplayGenericsOptions.IncludeTypeConstraints,
        memberOptions: SymbolDisplayMemberOptions.IncludeParameters | SymbolDisplayMemberOptions.IncludeType | SymbolDisplayMemberOptions
            .IncludeModifiers | SymbolDisplayMemberOptions.IncludeAccessibility | SymbolDisplayMemberOptions
                .IncludeRef | SymbolDisplayMemberOptions.IncludeConstantValue | SymbolDisplayMemberOptions.IncludeExplicitInterface,
        delegateStyle: SymbolDisplayDelegateStyle.NameAndSignature,
        kindOptions: SymbolDisplayKindOptions.IncludeMemberKeyword,
        parameterOptions: SymbolDisplayParameterOptions.IncludeType | SymbolDisplayParameterOptions
            .IncludeName | SymbolDisplayParameterOptions.IncludeDefaultValue | SymbolDisplayParameterOptions
                .IncludeParamsRefOut | SymbolDisplayParameterOptions.IncludeExtensionThis,
        miscellaneousOptions: SymbolDisplayMiscellaneousOptions.UseSpecialTypes | SymbolDisplayMiscellaneousOptions
            .IncludeNullableReferenceTypeModifier);

    /// <summary>The text of an assembly.</summary>
    public static string Of(string assemblyPath)
    {
        var own = MetadataReference.CreateFromFile(assemblyPath);
        var platform = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => Path.GetFileName(path) != Path.GetFileName(assemblyPath)).Select(
                static path => MetadataReference.CreateFromFile(path));
        var compilation = CSharpCompilation.Create("api", references: [own, .. platform]);
        var assembly = (IAssemblySymbol)compilation.GetAssemblyOrModuleSymbol(own)!;
        var text = new StringBuilder();
        foreach (
            var type in Types(assembly.GlobalNamespace).OrderBy(static type => type.ToDisplayString(TypeFormat), StringComparer.Ordinal))
        {
            Write(text, type);
        }

        return text.ToString();
    }

    private static IEnumerable<INamedTypeSymbol> Types(INamespaceOrTypeSymbol parent)
    {
        foreach (var member in parent.GetMembers())
        {
            // What the generator writes into an assembly is public for other assemblies' generated code, not for people.
            if (member is INamespaceSymbol { Name: not "ActOpGenerated" } space)
            {
                foreach (var type in Types(space))
                    yield return type;
            }
            else if (member is INamedTypeSymbol type && IsPublic(type))
            {
                yield return type;
                foreach (var nested in Types(type))
                    yield return nested;
            }
        }
    }

    private static void Write(StringBuilder text, INamedTypeSymbol type)
    {
        var parents = string.Join(", ", Parents(type).Select(static parent => parent.ToDisplayString(MemberFormat)));
        text.Append(Modifiers(type)).Append(type.ToDisplayString(TypeFormat)).Append(parents.Length > 0 ? " : " +
            parents : "").Append('\n');
        foreach (
            var line in type.GetMembers().Where(IsListed).Select(static member => member.ToDisplayString(MemberFormat))
                .Order(StringComparer.Ordinal))
        {
            text.Append("  ").Append(line).Append('\n');
        }
    }

    private static IEnumerable<INamedTypeSymbol> Parents(INamedTypeSymbol type)
    {
        if (type.TypeKind is TypeKind.Enum or TypeKind.Delegate)
            return [];
        IEnumerable<INamedTypeSymbol> interfaces = type.Interfaces.Where(IsPublic).OrderBy(
            static parent => parent.ToDisplayString(MemberFormat), StringComparer.Ordinal);
        return type.BaseType is { SpecialType: SpecialType.None } parent ? interfaces.Prepend(parent) : interfaces;
    }

    private static string Modifiers(INamedTypeSymbol type) => type switch
    {
        { IsStatic: true } => "static ",
        { TypeKind: TypeKind.Class, IsAbstract: true } => "abstract ",
        { TypeKind: TypeKind.Class, IsSealed: true } => "sealed ",
        { IsReadOnly: true } => "readonly ",
        _ => "",
    };

    private static bool IsListed(ISymbol member) =>
        member is not INamedTypeSymbol && IsPublic(member)
            && !member.GetAttributes().Any(static a => a.AttributeClass?.Name == "CompilerGeneratedAttribute")
        && member is not IMethodSymbol { MethodKind: MethodKind.PropertyGet or MethodKind.PropertySet or MethodKind.EventAdd or MethodKind.EventRemove }
        && member is not IMethodSymbol { MethodKind: MethodKind.Constructor, ContainingType.IsValueType: true, Parameters.Length: 0 };

    private static bool IsPublic(ISymbol symbol) =>
        symbol.DeclaredAccessibility is Accessibility.Public or Accessibility.Protected or Accessibility.ProtectedOrInternal;
}
