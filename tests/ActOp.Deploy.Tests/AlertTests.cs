using System.Text.RegularExpressions;

namespace ActOp.Deploy.Tests;

/// <summary>Alerts use metrics that exist, and each has a runbook.</summary>
public partial class AlertTests
{
    private const string Runbooks = "docs/runbooks.md";

    [Fact]
    public async Task Alerts_use_metrics_that_exist()
    {
        var wrong = from rule in await AlertsAsync()
                    let used = MetricNames.In(rule.Expr).ToArray()
                    where used.Length == 0 || used.Except(MetricNames.Series).Any()
                    select rule.Alert + ": " + string.Join(", ", used.Except(MetricNames.Series));
        Assert.Empty(wrong);
    }

    [Fact]
    public async Task Each_alert_has_a_runbook_and_says_how_urgent_it_is()
    {
        var rules = await AlertsAsync();
        Assert.Equal(rules.Select(static rule => rule.Alert), Heading().Matches(Repository.Text(Runbooks)).Select(
            static match => match.Groups[1].Value));
        Assert.All(rules, static rule =>
        {
            Assert.Equal($"https://github.com/actop/actop/blob/main/{Runbooks}#{rule.Alert.ToLowerInvariant()}",
                rule.Annotations["runbook_url"]);
            Assert.Contains(rule.Labels["severity"], new[] { "warning", "critical" });
            Assert.True(rule.Annotations["summary"].Length > 10);
            // Brackets of an expression, and of the labels in its summary, are in pairs.
            foreach (var (open, close) in new[] { ('(', ')'), ('{', '}'), ('[', ']') })
                Assert.All(new[] { rule.Expr, rule.Annotations["summary"] }, text => Assert.Equal(text.Count(open), text.Count(close)));
        });
    }

    [Fact]
    public void A_runbook_says_what_it_means_where_to_look_and_what_to_do() => Assert.All(
        Repository.Text(Runbooks).Split("\n## ")[1..],
        static section => Assert.All(new[] { "**Means:**", "**Look:**", "**Do:**" }, part => Assert.Contains(part, section)));

    /// <summary>The labels of a summary are those by which its expression is grouped; otherwise they are empty.</summary>
    [Fact]
    public async Task A_summary_uses_only_labels_that_its_alert_has()
    {
        var wrong = from rule in await AlertsAsync()
                    let labels = Grouping().Matches(rule.Expr).SelectMany(static match => match.Groups[1].Value.Split(',')).Select(
                        static label => label.Trim()).ToHashSet()
                    from Match match in Label().Matches(rule.Annotations["summary"])
                    where !labels.Contains(match.Groups[1].Value)
                    select rule.Alert + ": " + match.Value;
        Assert.Empty(wrong);
    }

    private static async Task<List<AlertRule>> AlertsAsync()
    {
        var (yaml, refusal) = await Helm.TemplateAsync(Repository.ValuesPath("Values", "production"));
        Assert.Equal("", refusal);
        var rules = KubernetesObjects.Read(yaml, out _).Only<PrometheusRule>().Spec.Groups.SelectMany(static group => group.Rules).ToList();
        Assert.True(rules.Count >= 10);
        return rules;
    }

    [GeneratedRegex("^## (\\w+)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex(@"\bby \(([^)]*)\)")]
    private static partial Regex Grouping();

    [GeneratedRegex(@"\$labels\.(\w+)")]
    private static partial Regex Label();
}
