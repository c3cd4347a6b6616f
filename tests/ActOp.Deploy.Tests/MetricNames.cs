using System.Text.RegularExpressions;

namespace ActOp.Deploy.Tests;

/// <summary>
/// The metrics of docs/observability.md under the names that Prometheus gets from the exporter of OpenTelemetry: dots become underscores,
/// the unit is added as a word, and "_total" to counters.
/// </summary>
internal static partial class MetricNames
{
    private static readonly Dictionary<string, string> Units = new()
    {
        ["s"] = "_seconds",
        ["ms"] = "_milliseconds",
        ["By"] = "_bytes",
        ["messages/s"] = "_messages_per_second",
    };

    /// <summary>Every series, with the buckets, sums and counts of histograms.</summary>
    public static HashSet<string> Series { get; } =
        [.. Row().Matches(Repository.Text("docs/observability.md")).SelectMany(static match => SeriesOf(
            match.Groups["name"].Value, match.Groups["kind"].Value, match.Groups["unit"].Value.Trim()))];

    /// <summary>The series of ActOp that an expression uses.</summary>
    public static IEnumerable<string> In(string expression) =>
        Used().Matches(expression).Select(static match => match.Value).Distinct();

    private static IEnumerable<string> SeriesOf(string name, string kind, string unit)
    {
        var text = name.Replace('.', '_').Replace('-', '_') + Units.GetValueOrDefault(unit, "");
        return kind switch
        {
            "counter" => [text + "_total"],
            "histogram" => [text + "_bucket", text + "_sum", text + "_count"],
            _ => [text],
        };
    }

    [GeneratedRegex(
        @"^\| `(?<name>actop\.[\w.-]+)` \| (?<kind>counter|up-down|gauge|histogram) \| ?(?<unit>[^|]*)\|", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(@"\bactop_\w+")]
    private static partial Regex Used();
}
