using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Rules;

/// <summary>What differs between the source and OrleansContracts.txt. Ids, texts and category are those of Orleans 10.4.2.</summary>
internal static class ContractRule
{
    /// <summary>The ids whose fix writes the file, as the commands in texts name them.</summary>
    public const string Fixed =
        "ORLEANS0016 ORLEANS0017 ORLEANS0018 ORLEANS0019 ORLEANS0020 ORLEANS0022 ORLEANS0023 ORLEANS0024";

    private const string Details = " See https://aka.ms/orleans/OrleansContracts.txt for details.";
    private const string Regenerate = " Run the regeneration command in the file header for the owning project";
    private const string Review = Regenerate + ", then review the diff for wire compatibility." + Details;

    public static readonly DiagnosticDescriptor Interface = Warning(
        "ORLEANS0016", "Grain interface is not active in OrleansContracts.txt",
        "Grain interface '{0}' does not have an active declaration in OrleansContracts.txt." + Review);
    public static readonly DiagnosticDescriptor Version = Warning(
        "ORLEANS0017", "Grain interface version mismatch",
        "Grain interface '{0}' has [Version({1})] in OrleansContracts.txt but [Version({2})] in code." + Review);
    public static readonly DiagnosticDescriptor Member = Warning(
        "ORLEANS0018", "Grain interface member not declared in OrleansContracts.txt",
        "Grain interface source member '{0}' with effective wire identity '{1}' is not declared in OrleansContracts.txt for interface "
            + "'{2}'." + Review);
    public static readonly DiagnosticDescriptor RemovedInterface = Warning(
        "ORLEANS0019", "Removed grain interface not marked as retired",
        "Grain interface '{0}' is declared in OrleansContracts.txt but no longer exists in code." + Regenerate
            + " to preserve it as *RETIRED*, then review the diff for wire compatibility." + Details,
        WellKnownDiagnosticTags.CompilationEnd);
    public static readonly DiagnosticDescriptor NoFile = new(
        "ORLEANS0020", "OrleansContracts.txt file is missing",
        "The project contains Orleans contracts but no {0} file. From the repository root, run 'dotnet format PATH_TO_PROJECT.csproj "
            + "analyzers --severity info --diagnostics " + Fixed
            + "'. Run the command once per contract project; do not pass a .sln or .slnx path. Review the "
            + "generated baseline." + Details,
        "Versioning", DiagnosticSeverity.Info, isEnabledByDefault: true, helpLinkUri: Rule.Help("ORLEANS0020"),
        customTags: WellKnownDiagnosticTags.CompilationEnd);
    public static readonly DiagnosticDescriptor DuplicateInterface = Warning(
        "ORLEANS0021", "Duplicate grain interface declaration",
        "Grain interface '{0}' is declared multiple times in OrleansContracts.txt");
    public static readonly DiagnosticDescriptor Class = Warning(
        "ORLEANS0022", "Grain class is not active in OrleansContracts.txt",
        "Grain class '{0}' does not have an active declaration in OrleansContracts.txt." + Review);
    public static readonly DiagnosticDescriptor GrainType = Warning(
        "ORLEANS0023", "Grain class alias mismatch",
        "Grain class '{0}' has alias '{1}' in OrleansContracts.txt but alias '{2}' in code." + Review);
    public static readonly DiagnosticDescriptor RemovedClass = Warning(
        "ORLEANS0024", "Removed grain class not marked as retired",
        "Grain class '{0}' is declared in OrleansContracts.txt but no longer exists in code." + Regenerate
            + " to preserve it as *RETIRED*, then review the diff for wire compatibility." + Details,
        WellKnownDiagnosticTags.CompilationEnd);
    public static readonly DiagnosticDescriptor DuplicateClass = Warning(
        "ORLEANS0025", "Duplicate grain class declaration", "Grain class '{0}' is declared multiple times in OrleansContracts.txt");
    public static readonly DiagnosticDescriptor RemovedMember = Warning(
        "ORLEANS0027", "Grain interface member removed from source",
        "Grain interface member '{0}' is declared in OrleansContracts.txt for interface '{1}' but is absent from source. Restore the "
            + "method or explicitly remove the manifest entry after reviewing the wire break." + Details,
        WellKnownDiagnosticTags.CompilationEnd);

    private static DiagnosticDescriptor Warning(string id, string title, string message, params string[] tags) =>
        new(id, title, message, "Versioning", DiagnosticSeverity.Warning, isEnabledByDefault: true, helpLinkUri: Rule.Help(id),
            customTags: tags);
}
