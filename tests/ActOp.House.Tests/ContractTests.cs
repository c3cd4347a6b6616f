using Microsoft.CodeAnalysis;

namespace ActOp.House.Tests;

/// <summary>
/// The public programming model that applications compile against. Lists/orleans-api.txt has every type and member of it, a line each;
/// Lists/orleans-api-missing.txt has what our assemblies lack, under a line that says why. With ACTOP_UPDATE_API=1 the second
/// list loses the lines of what exists by now, and gets those of what is missing besides. That the first list is the API of the real
/// assemblies is a test beside them (ActOp.Orleans.Tests).
/// </summary>
public class ContractTests
{
    private const string MissingPath = "tests/ActOp.House.Tests/Lists/orleans-api-missing.txt";

    [Fact]
    public void What_the_contract_lists_exists_or_is_listed_as_missing_with_a_reason()
    {
        var lacking = Contract.Lacking(OwnTypes()).ToHashSet(StringComparer.Ordinal);
        var lines = Repository.Text(MissingPath).Split('\n');
        string[] listed = [.. lines.Where(static line => line.Length > 0 && line[0] != '#')];
        if (Environment.GetEnvironmentVariable("ACTOP_UPDATE_API") == "1")
        {
            var kept = string.Join('\n', lines.Where(line => line.Length == 0 || line[0] == '#' || lacking.Contains(line)));
            string[] found = [.. lacking.Except(listed).Order(StringComparer.Ordinal)];
            File.WriteAllText(Path.Combine(Repository.Root, MissingPath),
                found.Length == 0 ? kept : kept + "\n# Found by the update: to be sorted.\n" + string.Join('\n', found) + "\n");
            listed = [.. listed.Where(lacking.Contains), .. found];
        }

        Findings.None(lacking.Except(listed).Order(StringComparer.Ordinal).Select(static line => "Missing: " + line)
            .Concat(listed.Except(lacking).Select(static line => "Listed as missing, and exists: " + line))
            .Concat(listed.GroupBy(static line => line).Where(static group => group.Count() > 1).Select(static group => "Twice: "
                + group.Key)));
    }

    [Fact]
    public void Whatever_is_missing_stands_under_a_reason()
    {
        var reason = false;
        foreach (var line in Repository.Text(MissingPath).Split('\n'))
        {
            if (line.Length == 0)
                reason = false;
            else if (line[0] == '#')
                reason = line.Contains(": ", StringComparison.Ordinal);
            else
                Assert.True(reason, line + " has no reason above it.");
        }
    }

    private static Dictionary<string, List<INamedTypeSymbol>> OwnTypes() => Contract.TypesIn(
        [.. Directory.GetFiles(AppContext.BaseDirectory, "ActOp.*.dll").Where(
            static path => Repository.Has("src/" + Path.GetFileNameWithoutExtension(path)))]);
}
