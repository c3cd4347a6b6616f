using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Generators.Contracts;

/// <summary>What the build says about OrleansContracts.txt. The names of properties and metadata are those of Orleans.</summary>
internal static class ContractsProject
{
    /// <summary>The property of a diagnostic that names its contract: <see cref="ContractEntry.Key"/>.</summary>
    public const string Key = "Contract";

    /// <summary>The property of a diagnostic that names a method of it: <see cref="ContractMember.Key"/>.</summary>
    public const string MemberKey = "Member";

    private const string DefaultName = "OrleansContracts.txt";

    /// <summary>True if the project set <c>EnableOrleansContractsAnalyzer</c>.</summary>
    public static bool IsEnabled(AnalyzerConfigOptionsProvider options) =>
        options.GlobalOptions.TryGetValue("build_property.EnableOrleansContractsAnalyzer", out var value)
            && value.Equals("true", StringComparison.OrdinalIgnoreCase);

    /// <summary>Where the file is, or is to be: <c>OrleansContractsPath</c>, or null if the build did not say.</summary>
    public static string? Path(AnalyzerConfigOptionsProvider options) =>
        options.GlobalOptions.TryGetValue("build_property.OrleansContractsPath", out var path) && path.Length > 0
            ? path.Replace('\\', '/') : null;

    public static string FileName(AnalyzerConfigOptionsProvider options) =>
        Path(options) is { } path ? path.Substring(path.LastIndexOf('/') + 1) : DefaultName;

    /// <summary>The file among the additional ones, or null if there is none on the disk.</summary>
    public static AdditionalText? File(AnalyzerOptions options)
    {
        var provider = options.AnalyzerConfigOptionsProvider;
        return options.AdditionalFiles.FirstOrDefault(
            file => Says(provider, file, "OrleansContractsFile", "true") || IsFile(file.Path, provider)) is { } found
                && !Says(provider, found, "OrleansContractsFileExists", "false") ? found : null;
    }

    /// <summary>True for the path of the file, whether it exists or not.</summary>
    public static bool IsFile(string? path, AnalyzerConfigOptionsProvider options)
    {
        var there = path?.Replace('\\', '/');
        return there is not null && (Path(options) is { } expected
            ? there == expected : there == DefaultName || there.EndsWith("/" + DefaultName, StringComparison.Ordinal));
    }

    private static bool Says(AnalyzerConfigOptionsProvider options, AdditionalText file, string name, string value) =>
        options.GetOptions(file).TryGetValue("build_metadata.AdditionalFiles." + name, out var found)
            && found.Equals(value, StringComparison.OrdinalIgnoreCase);
}
