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
    public void The_way_of_a_call_and_the_other_ways_with_steps_are_25_files_long_at_most()
    {
        string[] ways = [.. Repository.Text("docs/path.md").Split("\n## ")[1..].Where(static section => section.Contains("| step |"))];
        Assert.Equal(5, ways.Length);
        Assert.All(ways, static way => Assert.InRange(
            FileName().Matches(way).Select(static match => match.Groups[1].Value).Distinct().Count(), 8, 25));
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

    /// <summary>A claim about security without a test is a hope.</summary>
    [Fact]
    public void The_tests_that_the_claims_about_security_name_exist()
    {
        var table = Repository.Text("SECURITY.md").Split("### What shows it")[1].Split("\n## ")[0];
        string[] claims = [.. table.Split('\n').Where(static line => line.StartsWith("| ", StringComparison.Ordinal)).Skip(1)];
        Assert.InRange(claims.Length, 20, 200);
        Findings.None(claims.Where(static claim => !TestName().IsMatch(claim)));
        var methods = Repository.Files("tests", "*Tests.cs").SelectMany(static path => TestMethod().Matches(Repository.Text(path))
            .Select(match => Path.GetFileNameWithoutExtension(path) + "." + match.Groups[1].Value)).ToHashSet();
        Findings.None(TestName().Matches(table).Where(match => !methods.Contains(match.Groups[1].Value + "." + match.Groups[2].Value))
            .Select(static match => match.Value));
    }

    [Fact]
    public void Every_test_project_has_a_line_in_the_description_of_the_tests()
    {
        var description = Repository.Text("docs/testing.md");
        string[] projects = [.. Repository.Files("tests", "*.Tests.csproj").Select(Path.GetFileNameWithoutExtension)!];
        Findings.None(projects.Where(name => !description.Contains(name + "`", StringComparison.Ordinal)));
        // Whoever has changed something finds there what to run.
        var table = Repository.Text("CONTRIBUTING.md").Split("\n## Test")[1].Split("\n## ")[0];
        string[] named = [.. TestProject().Matches(table).Select(static match => match.Groups[1].Value).Distinct()];
        Findings.None(named.Except(projects).Concat(projects.Except(named)));
    }

    [GeneratedRegex("`((?:\\w+\\.)+Tests)`")]
    private static partial Regex TestProject();

    [GeneratedRegex("`(\\w+Tests)\\.(\\w+)`")]
    private static partial Regex TestName();

    [GeneratedRegex("public (?:async Task|void|Task) (\\w+)\\(")]
    private static partial Regex TestMethod();

    [GeneratedRegex("`([\\w./-]+\\.cs)`")]
    private static partial Regex FileName();

    [GeneratedRegex("^dotnet .*$", RegexOptions.Multiline)]
    private static partial Regex Command();
}
