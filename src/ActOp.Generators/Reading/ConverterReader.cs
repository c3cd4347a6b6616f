using ActOp.Generators.Model;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Reading;

/// <summary>Reads the conversions of a class with [RegisterConverter].</summary>
internal static class ConverterReader
{
    public static IEnumerable<ConverterModel> Read(INamedTypeSymbol type)
    {
        if (TypeText.Accessibility(type) is null || TypeText.AllParameters(type).Count > 0)
            yield break;
        foreach (var i in type.AllInterfaces)
        {
            if (i.MetadataName == "IConverter`2" && i.ContainingNamespace.ToDisplayString() == "Orleans" && i.TypeArguments[0] is INamedTypeSymbol value)
                yield return new ConverterModel(TypeText.Of(type), TypeText.Of(value), TypeText.Of(i.TypeArguments[1]), TypeText.AllParameters(value).Count == 0 ? TypeText.FullName(value) : TypeText.Stable(value));
        }
    }
}
