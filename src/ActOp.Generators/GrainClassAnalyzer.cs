using System.Collections.Concurrent;
using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators;

/// <summary>Reports grain classes that would not be found: two with one grain type, and those that generated code cannot name.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class GrainClassAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [Rule.DuplicateGrainType, Rule.Hidden];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterCompilationStartAction(static start =>
        {
            var grains = new ConcurrentDictionary<string, INamedTypeSymbol>();
            start.RegisterSymbolAction(c => Class(c, (INamedTypeSymbol)c.Symbol, grains), SymbolKind.NamedType);
        });
    }

    private static void Class(SymbolAnalysisContext context, INamedTypeSymbol type, ConcurrentDictionary<string, INamedTypeSymbol> grains)
    {
        if (!GrainClassReader.IsGrain(type))
            return;
        if (TypeText.Accessibility(type) is null)
        {
            // A private class that only implements the interface may be a test double. One that derives from Grain is more often meant to
            // be found, but may be made by a test itself, as it can in Orleans: this is a warning.
            if (type.AllInterfaces.Any(static i => i.Name == "IGrainBase" && i.ToDisplayString() == "Orleans.IGrainBase"))
                context.Warn(Rule.Hidden, type, type.Name);
            return;
        }

        var grainType = GrainClassReader.GrainType(type);
        var first = grains.GetOrAdd(grainType, type);
        if (SymbolEqualityComparer.Default.Equals(type, first))
            return;
        var (later, earlier) = Reporting.IsBefore(type, first) ? (first, type) : (type, first);
        context.Report(Rule.DuplicateGrainType, later, later.ToDisplayString(), grainType, earlier.ToDisplayString());
    }
}
