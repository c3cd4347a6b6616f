using System.Collections.Immutable;
using ActOp.Generators.Reading;
using ActOp.Generators.Rules;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators;

/// <summary>Reports grains that locality does not move, because a move would lose their state in memory.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class GrainStateAnalyzer : DiagnosticAnalyzer
{
    internal static readonly DiagnosticDescriptor HoldsState = new(
        "ACTOP0020",
        "The grain holds state but does not take part in migration",
        "The grain '{0}' holds state in '{1}' but does not take part in migration, so locality does not move it. Implement "
            + "IGrainMigrationParticipant to carry the state, or mark the class [Movable] or [Immovable].",
        "ActOp",
        DiagnosticSeverity.Info,
        isEnabledByDefault: true,
        helpLinkUri: Rule.Help("ACTOP0020"));

    private const string Participant = "Orleans.Runtime.IGrainMigrationParticipant";

    private static readonly HashSet<string> Marks = ["Orleans.Placement.ImmovableAttribute", "ActOp.Placement.MovableAttribute",
        "Orleans.Concurrency.StatelessWorkerAttribute"];

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = [HoldsState];

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.EnableConcurrentExecution();
        context.RegisterSymbolAction(static c => Type(c, (INamedTypeSymbol)c.Symbol), SymbolKind.NamedType);
    }

    private static void Type(SymbolAnalysisContext context, INamedTypeSymbol type)
    {
        if (!GrainStateReader.IsGrainClass(type) || !GrainStateReader.IsCallable(type)
            || type.AllInterfaces.Any(static i => i.ToDisplayString() == Participant) || IsMarked(type))
        {
            return;
        }

        if (GrainStateReader.Read(type, context.Compilation, context.CancellationToken).Member is { } member)
        {
            context.Report(HoldsState, SymbolEqualityComparer.Default.Equals(member.ContainingType, type) || member is IParameterSymbol
                ? member : type, type.Name, member.Name);
        }
    }

    private static bool IsMarked(INamedTypeSymbol type)
    {
        for (var current = type; current is not null; current = current.BaseType)
        {
            if (current.GetAttributes().Any(static a => a.AttributeClass is { } mark && Marks.Contains(mark.ToDisplayString())))
                return true;
        }

        return false;
    }
}
