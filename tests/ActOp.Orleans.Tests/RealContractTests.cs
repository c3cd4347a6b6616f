using System.Reflection;
using ActOp.House.Tests;
using Microsoft.CodeAnalysis;

namespace ActOp.Orleans.Tests;

/// <summary>
/// The list of the programming model (Lists/orleans-api.txt), which the assemblies of ActOp are compared with, against the real assemblies
/// of Orleans: what it has exists there, and what it has not is left out for a reason. Both exceptions are lists in blocks, each below its
/// reason; a line that ends with * stands for all that begin so.
/// </summary>
public class RealContractTests
{
    private static readonly Lazy<Dictionary<string, List<INamedTypeSymbol>>> Real = new(static () => Contract.TypesIn(
        [.. Directory.GetFiles(AppContext.BaseDirectory, "Orleans.*.dll"), .. Downloaded()]));

    [Fact]
    public void What_the_list_has_exists_in_Orleans() => AreListed(Contract.Lacking(Real.Value), "orleans-api-otherwise.txt");

    [Fact]
    public void What_the_list_has_not_is_left_out_for_a_reason() => AreListed(
        Contract.Unlisted(Real.Value).Where(static line => !line.StartsWith("OrleansCodeGen.", StringComparison.Ordinal)),
        "orleans-api-left-out.txt");

    /// <summary>Assemblies of packages that nothing here uses. Those that others bring are beside the tests already.</summary>
    private static IEnumerable<string> Downloaded()
    {
        var packages = typeof(RealContractTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static one => one.Key == "Packages").Value!;
        return Directory.GetDirectories(packages, "microsoft.orleans.*")
            .Select(static package => Path.Combine(package, "10.4.2/lib/net10.0"))
            .Where(Directory.Exists)
            .SelectMany(static folder => Directory.GetFiles(folder, "Orleans.*.dll"))
            .Where(static path => !File.Exists(Path.Combine(AppContext.BaseDirectory, Path.GetFileName(path))));
    }

    private static void AreListed(IEnumerable<string> differences, string list)
    {
        var path = "tests/ActOp.House.Tests/Lists/" + list;
        string[] found = [.. differences.Distinct().Order(StringComparer.Ordinal)];
        var lines = Repository.Has(path) ? Repository.Text(path).Split('\n') : [];
        string[] listed = [.. lines.Where(static line => line.Length > 0 && line[0] != '#')];
        var exact = listed.Where(static line => line[^1] != '*').ToHashSet(StringComparer.Ordinal);
        string[] beginnings = [.. listed.Where(static line => line[^1] == '*').Select(static line => line[..^1])];
        string[] rest = [.. found.Where(line => !exact.Contains(line)
            && !beginnings.Any(begin => line.StartsWith(begin, StringComparison.Ordinal)))];
        if (Environment.GetEnvironmentVariable("ACTOP_UPDATE_API") == "1" && rest.Length > 0)
        {
            File.AppendAllText(
                Path.Combine(Repository.Root, path), "\n# Found by the update: to be sorted.\n" + string.Join('\n', rest) + "\n");
        }

        Findings.None(rest.Select(static line => "Has no reason: " + line)
            .Concat(exact.Except(found).Select(static line => "Is no difference any more: " + line))
            .Concat(beginnings.Where(begin => !found.Any(line => line.StartsWith(begin, StringComparison.Ordinal)))
                .Select(static begin => "Is no difference any more: " + begin + "*"))
            .Concat(WithoutReason(lines).Select(static line => "Has no reason above it: " + line)));
    }

    private static IEnumerable<string> WithoutReason(string[] lines)
    {
        var reason = false;
        foreach (var line in lines)
        {
            if (line.Length == 0)
                reason = false;
            else if (line[0] == '#')
                reason = !line.Contains("to be sorted", StringComparison.Ordinal);
            else if (!reason)
                yield return line;
        }
    }
}
