using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;

namespace ActOp.Experiments.Results;

/// <summary>What came of an experiment.</summary>
/// <param name="Measures">The numbers.</param>
/// <param name="Charts">The charts.</param>
/// <param name="Notes">What a reader must know: where and why it differs from the paper.</param>
internal sealed record Outcome(IReadOnlyList<Measure> Measures, IReadOnlyList<Chart> Charts, params IReadOnlyList<string> Notes);

/// <summary>An experiment that has been run, as it is written to JSON.</summary>
internal sealed record ExperimentResult
{
    internal const string Failed = "failed: ";

    /// <summary>The name that the command line takes.</summary>
    public required string Name { get; init; }

    /// <summary>The paper and its figures.</summary>
    public required string Source { get; init; }

    /// <summary>"holds" if all bars hold, "misses: ..." with those that do not, "shown" without bars, "failed: ..." with the error.</summary>
    public required string Verdict { get; init; }

    public IReadOnlyList<Measure> Measures { get; init; } = [];

    public IReadOnlyList<Chart> Charts { get; init; } = [];

    public IReadOnlyList<string> Notes { get; init; } = [];

    /// <summary>How to run it again.</summary>
    public required string Command { get; init; }

    /// <summary>The commands of the programs that were run for it.</summary>
    public IReadOnlyList<string> Programs { get; init; } = [];

    /// <summary>How long it took.</summary>
    public required double Seconds { get; init; }

    public required DateTimeOffset Date { get; init; }

    public string Machine { get; init; } =
        $"{Environment.ProcessorCount} processors, {RuntimeInformation.OSDescription}, {RuntimeInformation.FrameworkDescription}";

    /// <summary>The version of ActOp that was built.</summary>
    public string Version { get; init; } = Versions.Find();

    internal bool HasFailed => Verdict.StartsWith(Failed, StringComparison.Ordinal);

    internal bool Misses => HasFailed || Measures.Any(static measure => measure.Holds == false);

    internal static string VerdictOf(IReadOnlyList<Measure> measures)
    {
        var missed = measures.Where(static measure => measure.Holds == false).Select(static measure => measure.Name).ToList();
        return missed.Count > 0 ? "misses: " + string.Join("; ", missed)
            : measures.Any(static measure => measure.Holds == true) ? "holds" : "shown";
    }

    /// <summary>The results in a folder, by their names.</summary>
    internal static Dictionary<string, ExperimentResult> ReadAll(string folder)
    {
        var found = new Dictionary<string, ExperimentResult>();
        if (!Directory.Exists(folder))
            return found;
        foreach (var file in Directory.GetFiles(folder, "*.json").Order(StringComparer.Ordinal))
        {
            if (TryRead(file) is { } result)
                found[result.Name] = result;
        }

        return found;
    }

    /// <summary>As JSON, with the numbers as CSV and as a page beside it. JSON last: it says that the result is there.</summary>
    internal void WriteTo(string folder)
    {
        ReportFile.Write(Path.Combine(folder, FileName(".csv")), ResultCsv.Of(this));
        ReportFile.Write(Path.Combine(folder, FileName(".html")), Book.Render(this));
        ReportFile.WriteJson(Path.Combine(folder, FileName(".json")), this);
    }

    internal string FileName(string ending) => Name.Replace('/', '-') + ending;

    /// <summary>Null if the file is something else, or was cut off.</summary>
    private static ExperimentResult? TryRead(string file)
    {
        try
        {
            return JsonSerializer.Deserialize<ExperimentResult>(File.ReadAllText(file), JsonLines.File);
        }
        catch (JsonException)
        {
            return null;
        }
    }
}

/// <summary>Measures and curves for a spreadsheet: one number a line (RFC 4180).</summary>
internal static class ResultCsv
{
    internal static string Of(ExperimentResult result)
    {
        List<string> lines = ["experiment,kind,name,line,x,value,unit,min,max,rounds,bar,holds"];
        foreach (var measure in result.Measures)
        {
            lines.Add(Line(result.Name, "measure", measure.Name, "", "", Text(measure.Value), measure.Unit, Text(measure.Spread.Min),
                Text(measure.Spread.Max), Text(measure.Rounds), measure.Bar ?? "", measure.Holds?.ToString() ?? ""));
        }

        foreach (var (chart, curve) in result.Charts.SelectMany(static chart => chart.Curves.Select(curve => (chart, curve))))
        {
            foreach (var point in curve.Points)
                lines.Add(Line(result.Name, "chart", chart.Title, curve.Name, Text(point.X), Text(point.Y), "", "", "", "", "", ""));
        }

        return string.Join("\r\n", lines) + "\r\n";
    }

    private static string Line(params IEnumerable<string> cells) => string.Join(',', cells.Select(Quote));

    private static string Quote(string cell) =>
        cell.AsSpan().ContainsAny(",\"\r\n") ? '"' + cell.Replace("\"", "\"\"", StringComparison.Ordinal) + '"' : cell;

    private static string Text(double value) => value.ToString("R", CultureInfo.InvariantCulture);
}

/// <summary>Which version of ActOp the programs were built from.</summary>
internal static class Versions
{
    /// <summary>The commit that HEAD of the repository names, or "unknown" outside of one.</summary>
    internal static string Find()
    {
        var git = Path.Combine(RepositoryFolder.Find(), ".git");
        if (!File.Exists(Path.Combine(git, "HEAD")))
            return "unknown";
        var head = File.ReadAllText(Path.Combine(git, "HEAD")).Trim();
        if (!head.StartsWith("ref: ", StringComparison.Ordinal))
            return Short(head);
        var reference = Path.Combine(git, head[5..]);
        return File.Exists(reference) ? Short(File.ReadAllText(reference).Trim()) : "unknown";
    }

    private static string Short(string commit) => commit[..Math.Min(12, commit.Length)];
}
