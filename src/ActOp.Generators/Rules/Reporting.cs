using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators.Rules;

/// <summary>Reports at a symbol's first place in the source.</summary>
internal static class Reporting
{
    public static void Report(this SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol symbol, params object[] arguments) =>
        context.ReportDiagnostic(Diagnostic.Create(rule, symbol.Locations.FirstOrDefault(static l => l.IsInSource) ?? Location.None, arguments));
}
