using ActOp.Generators.Reading;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Writing;

/// <summary>Registers the grain classes, and their bases, that hold no state in memory: those may move without losing anything.</summary>
internal static class StatelessSource
{
    /// <summary>The call on the type manifest, or null when the class holds state, is no grain or cannot be named.</summary>
    public static string? Registration(INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        if (!GrainStateReader.IsGrainClass(type) || TypeText.Accessibility(type) is null)
            return null;
        var state = GrainStateReader.Read(type, compilation, cancellation);
        if (state.Member is not null || (state.OtherBase is { } other && TypeText.Accessibility(other) is null))
            return null;
        var vouching = state.OtherBase is { } known ? ", typeof(" + TypeText.Open(known) + ")" : "";
        return "AddStatelessClass(typeof(" + TypeText.Open(type) + ")" + vouching + ");";
    }
}
