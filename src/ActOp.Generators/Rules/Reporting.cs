using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators.Rules;

/// <summary>Reports at a symbol's first place in the source.</summary>
internal static class Reporting
{
    public static void Report(this SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol symbol, params object[] arguments) =>
        context.ReportDiagnostic(Diagnostic.Create(rule, symbol.Locations.FirstOrDefault(static l => l.IsInSource) ?? Location.None, arguments));

    /// <summary>
    /// True when the first symbol comes first in the source: of two that exclude each other the later one is reported, in whatever order
    /// they were analyzed.
    /// </summary>
    public static bool IsBefore(ISymbol a, ISymbol b)
    {
        Location first = a.Locations[0], second = b.Locations[0];
        var files = string.CompareOrdinal(first.SourceTree?.FilePath, second.SourceTree?.FilePath);
        return files < 0 || (files == 0 && first.SourceSpan.Start < second.SourceSpan.Start);
    }
}
