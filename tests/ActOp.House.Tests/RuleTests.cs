using ActOp.Generators;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.House.Tests;

/// <summary>Who meets a rule of the analyzers finds out what it means.</summary>
public class RuleTests
{
    private const string Document = "docs/analyzers.md";

    [Fact]
    public void Every_rule_of_the_analyzers_is_described_where_its_link_leads()
    {
        var text = Repository.Text(Document);
        var rules = typeof(GrainInterfaceAnalyzer).Assembly.GetTypes()
            .Where(static type => type.IsSubclassOf(typeof(DiagnosticAnalyzer)))
            .SelectMany(static type => ((DiagnosticAnalyzer)Activator.CreateInstance(type)!).SupportedDiagnostics).ToArray();
        Assert.NotEmpty(rules);
        Findings.None(rules.Where(rule => !text.Contains("\n## " + rule.Id + "\n\n", StringComparison.Ordinal)
            || !text.Contains("| [" + rule.Id + "](#", StringComparison.Ordinal)
            || rule.HelpLinkUri != "https://github.com/actop/actop/blob/main/" + Document + "#" + rule.Id.ToLowerInvariant())
            .Select(static rule => rule.Id + ": " + rule.HelpLinkUri));
    }
}
