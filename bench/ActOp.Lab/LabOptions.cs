using System.CommandLine;
using ActOp.Partitioning;

namespace ActOp.Lab;

/// <summary>The options that both commands have.</summary>
internal sealed class LabOptions(int rounds)
{
    public Option<int> Seed { get; } = new("--seed") { Description = "Seed of the random placement and of the order of silos.", DefaultValueFactory = static _ => 1 };

    public Option<double> Tolerance { get; } = new("--tolerance") { Description = "Largest part over the mean part, less 1.", DefaultValueFactory = static _ => 0.03 };

    public Option<int> Candidates { get; } = new("--candidates") { Description = "Candidates a side of an exchange (k).", DefaultValueFactory = static _ => new PartitioningOptions().CandidateCount };

    public Option<int> Rounds { get; } = new("--rounds") { Description = "Rounds at most.", DefaultValueFactory = _ => rounds };

    public Option<string> Algorithm { get; } = NewAlgorithm();

    public void AddTo(Command command)
    {
        command.Options.Add(Seed);
        command.Options.Add(Tolerance);
        command.Options.Add(Candidates);
        command.Options.Add(Rounds);
        command.Options.Add(Algorithm);
    }

    public PartitioningOptions Read(ParseResult result) => new PartitioningOptions
    {
        Tolerance = result.GetValue(Tolerance),
        CandidateCount = result.GetValue(Candidates),
        Algorithm = result.GetValue(Algorithm) switch
        {
            "plain" => SelectionAlgorithm.Plain,
            "one-sided" => SelectionAlgorithm.OneSided,
            _ => SelectionAlgorithm.LookAhead,
        },
        PartnersPerRound = int.MaxValue,
    }.Validate();

    private static Option<string> NewAlgorithm()
    {
        Option<string> option = new("--algorithm") { Description = "How an exchange chooses.", DefaultValueFactory = static _ => "look-ahead" };
        option.AcceptOnlyFromAmong("look-ahead", "plain", "one-sided");
        return option;
    }
}
