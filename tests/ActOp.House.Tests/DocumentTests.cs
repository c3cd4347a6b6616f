using System.Text.RegularExpressions;

namespace ActOp.House.Tests;

/// <summary>What the documents name is there.</summary>
public partial class DocumentTests
{
    [Fact]
    public void The_path_of_a_call_names_only_files_that_exist()
    {
        string[] named = [.. FileName().Matches(Repository.Text("docs/path.md")).Select(static match => match.Groups[1].Value).Distinct()];
        Assert.NotEmpty(named);
        Findings.None(named.Where(static path => !Repository.Has(path) && !Repository.Has("src/" + path)));
    }

    [Fact]
    public void The_way_to_another_silo_and_back_is_25_files_long_at_most()
    {
        var section = Repository.Text("docs/path.md").Split("\n## ")[1];
        string[] named = [.. FileName().Matches(section).Select(static match => match.Groups[1].Value).Distinct()];
        Assert.InRange(named.Length, 10, 25);
    }

    [Fact]
    public void Every_command_of_the_readme_is_run_by_the_pipeline()
    {
        var pipeline = Repository.Text(".ci/run");
        string[] commands =
            [.. Command().Matches(Repository.Text("README.md")).Select(static match => match.Value.Split('#')[0].Trim()).Distinct()];
        Assert.NotEmpty(commands);
        Findings.None(commands.Where(command => !pipeline.Contains(command, StringComparison.Ordinal)));
    }

    [Fact]
    public void Every_decision_says_context_decision_and_consequence()
    {
        string[] records = [.. Repository.Files("docs/adr", "*.md")];
        Assert.NotEmpty(records);
        var wrong = from path in records
                    let text = Repository.Text(path)
                    where new[] { "## Context", "## Decision",
                        "## Consequence" }.Any(part => !text.Contains(part, StringComparison.Ordinal))
                    select path;
        Findings.None(wrong);
    }

    [GeneratedRegex("`([\\w./-]+\\.cs)`")]
    private static partial Regex FileName();

    [GeneratedRegex("^dotnet .*$", RegexOptions.Multiline)]
    private static partial Regex Command();
}
