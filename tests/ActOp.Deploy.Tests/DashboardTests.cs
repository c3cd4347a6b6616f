using System.Text.Json.Nodes;

namespace ActOp.Deploy.Tests;

/// <summary>The dashboards of Grafana show metrics that exist, wherever their data is.</summary>
public class DashboardTests
{
    private static readonly string Folder = Path.Combine(Repository.Chart, "files", "dashboards");

    public static TheoryData<string> Dashboards =>
        [.. Directory.GetFiles(Folder, "*.json").Select(static path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Dashboards))]
    public void A_dashboard_uses_metrics_that_exist(string name)
    {
        var dashboard = Read(name);
        var expressions = dashboard["panels"]!.AsArray().SelectMany(static panel => panel!["targets"]!.AsArray())
            .Select(static target => (string)target!["expr"]!)
            .Concat(dashboard["templating"]!["list"]!.AsArray().Where(static one => (string)one!["type"]! == "query")
                .Select(static one => (string)one!["query"]!["query"]!)).ToArray();
        Assert.True(expressions.Length > 10);
        Assert.Empty(expressions.SelectMany(MetricNames.In).Except(MetricNames.Series));
        Assert.All(expressions, static text =>
        {
            foreach (var (open, close) in new[] { ('(', ')'), ('{', '}'), ('[', ']') })
                Assert.Equal(text.Count(open), text.Count(close));
        });
    }

    [Theory]
    [MemberData(nameof(Dashboards))]
    public void A_dashboard_depends_on_no_source_of_its_author(string name)
    {
        var dashboard = Read(name);
        Assert.Equal(Path.GetFileNameWithoutExtension(name), (string)dashboard["uid"]!);
        var panels = dashboard["panels"]!.AsArray();
        Assert.Equal(panels.Count, panels.Select(static panel => (int)panel!["id"]!).Distinct().Count());
        Assert.All(panels, static panel => Assert.Equal("${datasource}", (string)panel!["datasource"]!["uid"]!));
        // No panel lies on another.
        var cells = panels.SelectMany(static panel => Cells(panel!["gridPos"]!)).ToArray();
        Assert.Equal(cells.Length, cells.Distinct().Count());
        Assert.All(cells, static cell => Assert.InRange(cell.X, 0, 23));
    }

    private static IEnumerable<(int X, int Y)> Cells(JsonNode position) =>
        from x in Enumerable.Range((int)position["x"]!, (int)position["w"]!)
        from y in Enumerable.Range((int)position["y"]!, (int)position["h"]!)
        select (x, y);

    private static JsonNode Read(string name) => JsonNode.Parse(File.ReadAllText(Path.Combine(Folder, name)))!;
}
