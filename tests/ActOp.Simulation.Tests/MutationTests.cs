using System.Text.RegularExpressions;
using ActOp.Simulation.Mutations;

namespace ActOp.Simulation.Tests;

/// <summary>
/// The mutations fit the sources: else nobody knows whether the simulator still notices anything. Playing them takes long:
/// <c>--mutations</c>.
/// </summary>
public sealed partial class MutationTests
{
    [Fact]
    public void Every_mutation_changes_a_passage_that_stands_once_in_its_file() => Assert.Empty(MutantRun.Outdated(MutantRun.FindRoot()));

    [Fact]
    public void Every_mutation_has_a_number_of_its_own_and_a_switch()
    {
        Assert.True(Table.All.Length >= 25);
        Assert.Equal(Table.All.Length, Table.All.Select(static mutation => mutation.Number).Distinct().Count());
        Assert.All(Table.All, static mutation => Assert.Contains("PLANTED", mutation.Mutant, StringComparison.Ordinal));
        Assert.All(Table.All, static mutation => Assert.True(mutation.Budget > 0));
    }

    /// <summary>What the document says was found is what can be played.</summary>
    [Fact]
    public void The_table_of_the_document_has_the_mutations_of_the_sources_with_their_budgets()
    {
        var document = File.ReadAllText(Path.Combine(MutantRun.FindRoot(), "docs", "simulation.md"));
        Assert.Equal(
            Table.All.Select(static mutation => $"{mutation.Number} {mutation.Name}, {mutation.Budget}").Order(StringComparer.Ordinal),
            Row().Matches(document).Select(static row => $"{row.Groups[1]} {row.Groups[2]}, {row.Groups[3]}").Order(StringComparer.Ordinal));
    }

    [GeneratedRegex(@"^\| (\d+) \| ([^|]+) \| [^|]+ \| [^|]+ \| (\d+) \|$", RegexOptions.Multiline)]
    private static partial Regex Row();
}
