using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using ActOp.Floors;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;
using ActOp.Peers.Shapes;

namespace ActOp.Peers;

/// <summary>What one runtime has shown in one measure.</summary>
/// <param name="Shape">The shape.</param>
/// <param name="Measure">What was measured.</param>
/// <param name="Unit">In which unit.</param>
/// <param name="IsRate">Whether more is better.</param>
/// <param name="Runtime">Of which runtime.</param>
/// <param name="Values">One value for each round.</param>
internal sealed record PeerValue(string Shape, string Measure, string Unit, bool IsRate, string Runtime, List<double> Values)
{
    internal Spread Spread => Spread.Of(Values);
}

/// <summary>Why a runtime has no value.</summary>
internal sealed record PeerFailure(string Shape, string Runtime, string Why);

/// <summary>One run of the command on one machine.</summary>
internal sealed record PeerResults
{
    public string Machine { get; init; } = RuntimeInformation.OSDescription + ", " + RuntimeInformation.FrameworkDescription;

    public int Processors { get; init; } = Environment.ProcessorCount;

    public DateTimeOffset Date { get; init; } = TimeProvider.System.GetUtcNow();

    public required int Rounds { get; init; }

    public required int Milliseconds { get; init; }

    public List<string> Runtimes { get; init; } = [];

    public List<PeerValue> Values { get; init; } = [];

    public List<PeerFailure> Failures { get; init; } = [];

    internal void Add(string shape, string runtime, Measure measure)
    {
        var value = Find(measure.Name, runtime);
        if (value is null)
            Values.Add(value = new PeerValue(shape, measure.Name, measure.Unit, measure.IsRate, runtime, []));
        value.Values.Add(measure.Value);
    }

    internal void Fail(string shape, string runtime, string why)
    {
        if (!Failures.Exists(one => one.Shape == shape && one.Runtime == runtime && one.Why == why))
            Failures.Add(new PeerFailure(shape, runtime, why));
    }

    internal IEnumerable<string> Measures => Values.Select(static value => value.Measure).Distinct();

    internal PeerValue? Find(string measure, string runtime) => Values.Find(one => one.Measure == measure && one.Runtime == runtime);

    /// <summary>How many times better the first is by its median; null if one has no value, or none can be said.</summary>
    internal double? Ratio(string measure, string one, string other)
    {
        if (Find(measure, one) is not { } first || Find(measure, other) is not { } second)
            return null;
        var (a, b) = first.IsRate ? (first.Spread.Median, second.Spread.Median) : (second.Spread.Median, first.Spread.Median);
        return b > 0 ? a / b : null;
    }

    /// <summary>Reads what <c>--append</c> has written.</summary>
    /// <exception cref="JsonException">The file is something else.</exception>
    internal static List<PeerResults> Read(string path) =>
        File.Exists(path) ? JsonSerializer.Deserialize<List<PeerResults>>(File.ReadAllText(path), JsonLines.File)! : [];

    internal static void Write(string path, List<PeerResults> all) => ReportFile.WriteJson(path, all);

    /// <summary>The table: a line for each measure, a column for each runtime with median and range, and who is ahead.</summary>
    internal void Print()
    {
        Console.WriteLine(Title);
        TextTable.Print(Columns, Lines());
        foreach (var failure in Failures)
            Console.WriteLine($"{failure.Shape}, {failure.Runtime}: {failure.Why}");
    }

    internal string Title => string.Create(CultureInfo.InvariantCulture,
        $"{Date:yyyy-MM-dd}, {Processors} processors, {Machine}; {Rounds} rounds in turn, {Milliseconds} ms each; median (min to max)");

    internal IReadOnlyList<string> Columns =>
        ["", "unit", .. Runtimes.Select(static name => name), PeerKind.Ours + " / " + PeerKind.Baseline, "ahead"];

    internal IEnumerable<IReadOnlyList<string>> Lines()
    {
        foreach (var measure in Measures)
        {
            var unit = Values.Find(one => one.Measure == measure)!.Unit;
            var ratio = Ratio(measure, PeerKind.Ours, PeerKind.Baseline);
            yield return
            [
                measure, unit, .. Runtimes.Select(runtime => Text(measure, runtime)), ratio is { } times ? Text(times) + "x" : "-",
                Ahead(measure) ?? "-",
            ];
        }
    }

    /// <summary>Who has the best median; nobody if only one was measured.</summary>
    private string? Ahead(string measure)
    {
        var peers = Values.FindAll(one => one.Measure == measure && one.Runtime != PeerKind.Floor);
        return peers.Count < 2 ? null
            : (peers[0].IsRate ? peers.MaxBy(static one => one.Spread.Median) : peers.MinBy(static one => one.Spread.Median))!.Runtime;
    }

    private string Text(string measure, string runtime)
    {
        if (Find(measure, runtime) is not { } value)
            return "-";
        var (min, median, max) = value.Spread;
        return value.Values.Count == 1 ? Text(median) : $"{Text(median)} ({Text(min)} to {Text(max)})";
    }

    private static string Text(double value) =>
        value.ToString(value >= 1000 ? "N0" : value >= 10 ? "0.0" : "0.00", CultureInfo.InvariantCulture);
}
