using ActOp.Experiments.Results;
using ActOp.Experiments.Running;

namespace ActOp.Experiments.Papers;

/// <summary>
/// The claims of the review of the ActOp paper (001), and the measures of other experiments that say whether they hold here. It measures
/// nothing itself.
/// </summary>
internal static class Review
{
    /// <summary>What stands for it in the list of figures.</summary>
    internal static Figure Claims { get; } = new("001 Review", "claims", "what the review says of such systems");

    private static readonly (string Claim, string Experiment, string Measure)[] All =
    [
        ("about 90 % of the messages between actors are remote with random placement", "actop/partitioning", "remote share, random placement"),
        ("locality brings that to about 12 %", "actop/partitioning", "remote share, locality"),
        ("the 99th percentile falls to less than a third", "actop/loads", "p99 at 75 % of the peak, locality / random"),
        ("the gain is greater as the load increases", "actop/loads", "p99 at 25 % of the peak, locality / random"),
        ("processor time falls by 25 % at low load", "actop/loads", "processor time at 25 % of the peak, locality / random"),
        ("processor time falls by 45 % at high load", "actop/loads", "processor time at 75 % of the peak, locality / random"),
        ("an exchange is practically linear in the vertices of a server", "actop/exchange", "time for a vertex, 100,000 players"),
        ("the worst allocation of threads has four times the latency of the best", "actop/threads", "worst / best allocation"),
        ("threads by queue length change all the time", "actop/queue-control", "thread changes, by queue length"),
        ("the model's threads lower the 99th percentile by 68 % at high load", "actop/heartbeat", "p99 at high load, model / a thread per core"),
        ("threads add 21 % to what locality gives the median", "actop/combined", "p50, locality and threads / locality"),
        ("threads add 9 % to what locality gives the 99th percentile", "actop/combined", "p99, locality and threads / locality"),
    ];

    internal static IReadOnlyList<string> Columns { get; } = ["claim", "experiment", "measured here", "paper", "verdict"];

    /// <summary>A line for each claim.</summary>
    internal static IEnumerable<IReadOnlyList<string>> Lines(IReadOnlyDictionary<string, ExperimentResult> results)
    {
        foreach (var (claim, experiment, name) in All)
        {
            var measure = results.GetValueOrDefault(experiment)?.Measures.FirstOrDefault(one => one.Name == name);
            yield return
            [
                claim, experiment, measure is null ? "not measured" : $"{name}: {measure.Range} {measure.Unit}".TrimEnd(),
                measure?.Paper ?? "", measure?.Holds switch { true => "holds", false => "misses", null when measure is null => "", _ => "shown" },
            ];
        }
    }
}
