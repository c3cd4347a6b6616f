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
                yield return assembly.Identity.Name;
        }
    }
}
