using System.Text.RegularExpressions;
using ActOp.Harness.Processes;

namespace ActOp.House.Tests;

/// <summary>The repository on disk, by paths relative to its root with forward slashes.</summary>
internal static partial class Repository
{
    private static readonly string[] Skipped = ["bin", "obj", "artifacts", "TestResults"];

    /// <summary>The directory of ActOp.sln.</summary>
    public static string Root { get; } = RepositoryFolder.Find();

    /// <summary>All C# files under the folders.</summary>
    public static IEnumerable<SourceFile> Sources(params string[] folders) =>
        folders.SelectMany(static folder => Files(folder, "*.cs")).Select(SourceFile.Read);

    /// <summary>All files under a folder that match, without build output.</summary>
    public static IEnumerable<string> Files(string folder, string pattern)
    {
        var start = Path.Combine(Root, folder);
        return Directory.Exists(start)
            ? Directory.EnumerateFiles(start, pattern, SearchOption.AllDirectories).Select(Relative)
            .Where(static path => !path.Split('/').Any(Skipped.Contains)).Order(StringComparer.Ordinal)
            : [];
    }

    /// <summary>The text of a file.</summary>
    public static string Text(string path) => File.ReadAllText(Path.Combine(Root, path));

    /// <summary>Whether a file or folder exists.</summary>
    public static bool Has(string path) => Path.Exists(Path.Combine(Root, path));

    /// <summary>
    /// A list beside the tests: first word of each line that is neither empty nor a comment, and the rest of the line as its reason.
    /// </summary>
    public static Dictionary<string, string> List(string name) =>
        File.ReadLines(Path.Combine(Root, "tests/ActOp.House.Tests/Lists", name))
            .Where(static line => line.Length > 0 && line[0] != '#')
            .Select(static line => Entry().Match(line))
            .ToDictionary(static match => match.Groups[1].Value, static match => match.Groups[2].Value, StringComparer.Ordinal);

    private static string Relative(string path) => Path.GetRelativePath(Root, path).Replace('\\', '/');

    [GeneratedRegex(@"^(\S+)\s*(.*)$")]
    private static partial Regex Entry();
}
