using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators.Rules;

/// <summary>The diagnostics. Those that exist in Orleans have the same ids.</summary>
internal static class Rule
{
    public static readonly DiagnosticDescriptor InterleaveOnClass =
        Error("ORLEANS0001", "[AlwaysInterleave] must be on the interface",
            "[AlwaysInterleave] has no effect on '{0}': put it on the method of the grain interface");
    public static readonly DiagnosticDescriptor ByReference =
        Error("ORLEANS0002", "Parameters of grain methods are passed by value",
            "The parameter '{0}' of the grain method '{1}' cannot be ref, out, in or a ref struct");
    public static readonly DiagnosticDescriptor MissingId =
        Error("ORLEANS0004", "Serialized members must have ids",
            "The member '{0}' needs an [Id], or [NonSerialized] if it must not be serialized");
    public static readonly DiagnosticDescriptor MissingGenerateSerializer = Information(
        "ORLEANS0005", "[Serializable] types that are sent need [GenerateSerializer]",
        "The type '{0}' is [Serializable]; mark it with [GenerateSerializer] too if it is an argument, a result or a state of grains");
    public static readonly DiagnosticDescriptor AbstractMember = Error(
        "ORLEANS0006", "Abstract members cannot be serialized",
        "The member '{0}' is abstract and holds nothing: put the [Id] on the member of the derived type");
    public static readonly DiagnosticDescriptor Property = Error(
        "ORLEANS0008", "Grain interfaces have methods only", "The grain interface '{0}' cannot have the property or event '{1}'");
    public static readonly DiagnosticDescriptor ReturnType = Error(
        "ORLEANS0009", "Grain methods return tasks",
        "The grain method '{0}' must return Task, Task<T>, ValueTask, ValueTask<T>, IAsyncEnumerable<T>, void or a type "
            + "that [InvokableBaseType] maps to a usable request class");
    public static readonly DiagnosticDescriptor MissingAlias = Information(
        "ORLEANS0010", "Types and methods that are sent should have aliases",
        "'{0}' has no [Alias]: without one a new name breaks calls between silos of different versions");
    public static readonly DiagnosticDescriptor DuplicateAlias = Error(
        "ORLEANS0011", "Aliases are unique", "The alias '{0}' is also used by '{1}'");
    public static readonly DiagnosticDescriptor DuplicateId = Error("ORLEANS0012", "Ids are unique", "The id {0} is also used by '{1}'");
    public static readonly DiagnosticDescriptor AttributeOnGrain = Error(
        "ORLEANS0013", "Grain classes are not serialized and have no aliases",
        "[{0}] has no effect on the grain class '{1}': put [Alias] on its interfaces, and [GenerateSerializer] on the types that it sends");
    public static readonly DiagnosticDescriptor ConfigureAwait = new(
        "ORLEANS0014", "Code of a grain must stay on its activation",
        "'{0}' lets the rest of the method run beside the turns of the grain: leave it out, or pass true or ContinueOnCapturedContext",
        "ActOp", DiagnosticSeverity.Warning, isEnabledByDefault: true, helpLinkUri: Help("ORLEANS0014"));
    public static readonly DiagnosticDescriptor Mapping = Error("ORLEANS0026", "Invalid invokable base type mapping", "{0}");
    public static readonly DiagnosticDescriptor ManyTokens = Error(
        "ORLEANS0109", "At most one CancellationToken", "The grain method '{0}' has more than one CancellationToken parameter");
    public static readonly DiagnosticDescriptor Hidden =
        Error("ACTOP0003", "Generated code must be able to name the type",
            "The type '{0}' and its containing types must be public or internal, because code is generated for it");
    public static readonly DiagnosticDescriptor Lost = Error(
        "ACTOP0004", "All members of a serializable type must be serialized", "{0} would not be serialized with '{1}': {2}");
    public static readonly DiagnosticDescriptor DuplicateGrainType =
        Error("ACTOP0005", "Grain types are unique",
            "The grain class '{0}' has the same grain type \"{1}\" as '{2}': give one of them a [GrainType]");

    public static readonly DiagnosticDescriptor Hook = Error(
        "ACTOP0006", "Classes with hooks and activators must be usable by generated code",
        "The class '{0}' {1}");
    public static readonly DiagnosticDescriptor Unsupported = Error(
        "ACTOP0007", "An attribute must not be without effect", "The attribute [{0}] is not supported: {1}");

    /// <summary>Where the rule is described.</summary>
    internal static string Help(string id) => "https://github.com/actop/actop/blob/main/docs/analyzers.md#" + id.ToLowerInvariant();

    private static DiagnosticDescriptor Information(string id, string title, string message) =>
        new(id, title, message, "ActOp", DiagnosticSeverity.Info, isEnabledByDefault: true, helpLinkUri: Help(id));

    private static DiagnosticDescriptor Error(string id, string title, string message) =>
        new(id, title, message, "ActOp", DiagnosticSeverity.Error, isEnabledByDefault: true, helpLinkUri: Help(id));
}

/// <summary>Reports at a symbol's first place in the source.</summary>
internal static class Reporting
{
    public static void Report(this SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol symbol, params object[] arguments) =>
        context.ReportDiagnostic(
            Diagnostic.Create(rule, LocationOf(symbol), arguments));

    /// <summary>Reports as a warning what is an error elsewhere.</summary>
    public static void Warn(this SymbolAnalysisContext context, DiagnosticDescriptor rule, ISymbol symbol, params object[] arguments) =>
        context.ReportDiagnostic(Diagnostic.Create(rule, LocationOf(symbol), DiagnosticSeverity.Warning, null, null, arguments));

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

    private static Location LocationOf(ISymbol symbol) => symbol.Locations.FirstOrDefault(static l => l.IsInSource) ?? Location.None;
}
