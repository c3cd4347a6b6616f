using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>
/// Finds the referenced assemblies that have generated code or application parts of their own, whether the code mentions them or not.
/// </summary>
internal static class ApplicationParts
{
    public static IEnumerable<string> Read(Compilation compilation, CancellationToken cancel)
    {
        if (compilation.GetTypeByMetadataName(Attributes.ApplicationPart) is null)
            yield break;
        foreach (var assembly in compilation.SourceModule.ReferencedAssemblySymbols)
        {
            cancel.ThrowIfCancellationRequested();
            if (assembly.GetAttributes().Any(static a =>
                a.AttributeClass is { Name: "GeneratedManifestAttribute" or "ApplicationPartAttribute" } type
                && type.ToDisplayString() is Attributes.GeneratedManifest or Attributes.ApplicationPart))
            {
                yield return assembly.Identity.Name;
            }
        }
    }
}

/// <summary>
/// Reads the assemblies that <c>[assembly: GenerateCodeForDeclaringAssembly(typeof(X))]</c> names: compiled without this generator,
/// generated for here.
/// </summary>
internal static class DeclaringAssemblies
{
    public static DeclaredElsewhere Read(Compilation compilation, CancellationToken cancel)
    {
        var interfaces = new List<InterfaceModel>();
        var classes = new List<ClassModel>();
        var codecs = new List<CodecModel>();
        foreach (var type in Types(compilation))
        {
            cancel.ThrowIfCancellationRequested();
            if (!compilation.IsSymbolAccessibleWithin(type, compilation.Assembly))
                continue;
            if (Attributes.Has(type, Attributes.GenerateSerializer) && IsWhole(type) && CodecReader.Read(type) is { } codec)
                codecs.Add(codec);
            if (type.TypeKind == TypeKind.Interface && new InterfaceReader(compilation).Read(type) is { } model)
                interfaces.Add(model);
            else if (type.TypeKind is TypeKind.Class or TypeKind.Enum && GrainClassReader.Read(type) is { IsEmpty: false } found)
                classes.Add(found);
        }

        return new DeclaredElsewhere(new(interfaces.ToArray()), new(classes.ToArray()), new(codecs.ToArray()));
    }

    /// <summary>
    /// False if a member with an id cannot be read and set from here: a codec would lose it in silence, while a type without one is an
    /// error.
    /// </summary>
    private static bool IsWhole(INamedTypeSymbol type) => CodecReader.WithIds(type).All(
        member => CodecReader.IsNotSerialized(member.Member) || CodecReader.Member(type, member.Member, member.Id) is not null);

    /// <summary>All types of the named assemblies.</summary>
    public static IEnumerable<INamedTypeSymbol> Types(Compilation compilation)
    {
        var assemblies = compilation.Assembly.GetAttributes()
            .Where(static a => a.AttributeClass?.ToDisplayString() == Attributes.GenerateCodeForDeclaringAssembly)
            .Select(static a => a.ConstructorArguments.FirstOrDefault().Value).OfType<INamedTypeSymbol>()
            .Select(static t => t.ContainingAssembly).Distinct<IAssemblySymbol>(SymbolEqualityComparer.Default);
        return assemblies.SelectMany(static a => InSpace(a.GlobalNamespace));
    }

    private static IEnumerable<INamedTypeSymbol> InSpace(INamespaceSymbol space) =>
        space.GetNamespaceMembers().SelectMany(InSpace).Concat(space.GetTypeMembers().SelectMany(InType));

    private static IEnumerable<INamedTypeSymbol> InType(INamedTypeSymbol type) =>
        new[] { type }.Concat(type.GetTypeMembers().SelectMany(InType));
}
