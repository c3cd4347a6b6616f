using System.CommandLine;
using ActOp.Partitioning;

namespace ActOp.Lab;

/// <summary>The options that both commands have.</summary>
internal sealed class LabOptions(int rounds)
{
    public Option<int> Seed { get; } =
        new("--seed") { Description = "Seed of the random placement and of the order of silos.", DefaultValueFactory = static _ => 1 };

    public Option<double> Tolerance { get; } =
        new("--tolerance") { Description = "Largest part over the mean part, less 1.", DefaultValueFactory = static _ => 0.03 };

    public Option<int> Candidates { get; } =
        new("--candidates")
        {
            Description = "Candidates a side of an exchange (k).",
            DefaultValueFactory =
            static _ => new PartitioningOptions().CandidateCount
        };

    public Option<int> Growth { get; } =
        new("--growth")
        {
            Description = "Candidates at most while rounds gain nothing, as a multiple of k.",
            DefaultValueFactory = static _ => new PartitioningOptions().CandidateGrowth,
        };

    public Option<int> Rounds { get; } = new("--rounds") { Description = "Rounds at most.", DefaultValueFactory = _ => rounds };

    public Option<string> Algorithm { get; } = NewAlgorithm();

    public void AddTo(Command command)
    {
        command.Options.Add(Seed);
        command.Options.Add(Tolerance);
        command.Options.Add(Candidates);
        command.Options.Add(Growth);
        command.Options.Add(Rounds);
        command.Options.Add(Algorithm);
    }

    /// <summary>The first and the last seed of a range as 1-5, or one seed.</summary>
    /// <exception cref="LabException">It is none.</exception>
    public static (int First, int Last) ParseSeeds(string text)
    {
        var ends = text.Split('-');
        if (ends.Length is 1 or 2 && int.TryParse(ends[0], out var first) && int.TryParse(ends[^1], out var last) && first <= last)
            return (first, last);
        throw new LabException($"--seeds must be a range as 1-5, but is {text}.");
    }

    public PartitioningOptions Read(ParseResult result) => new PartitioningOptions
    {
        Tolerance = result.GetValue(Tolerance),
        CandidateCount = result.GetValue(Candidates),
        CandidateGrowth = result.GetValue(Growth),
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
        Option<string> option =
            new("--algorithm") { Description = "How an exchange chooses.", DefaultValueFactory = static _ => "look-ahead" };
        option.AcceptOnlyFromAmong("look-ahead", "plain", "one-sided");
        return option;
    }
}

/// <summary>Which graph the partition command plays: one from a file, or one drawn from a seed.</summary>
internal sealed class GraphOptions
{
    private const int DefaultVertices = 5_000;

    private readonly Option<FileInfo?> _graph = new("--graph") { Description = "Edge list: u v [weight] a line." };
    private readonly Option<string?> _generate = new("--generate") { Description = "Draws a graph of this kind instead of reading one." };
    private readonly Option<int> _vertices =
        new("--vertices") { Description = "Vertices of the graph that is drawn.", DefaultValueFactory = static _ => DefaultVertices };
    private readonly Option<int> _graphSeed =
        new("--graph-seed") { Description = "Seed of the graph that is drawn.", DefaultValueFactory = static _ => 1 };

    public GraphOptions() => _generate.AcceptOnlyFromAmong([.. GraphGenerator.Kinds]);

    public void AddTo(Command command)
    {
        command.Options.Add(_graph);
        command.Options.Add(_generate);
        command.Options.Add(_vertices);
        command.Options.Add(_graphSeed);
    }

    /// <exception cref="LabException">Not exactly one graph is named, or it cannot be had.</exception>
    public (string Name, LabGraph Graph) Read(ParseResult result)
    {
        var file = result.GetValue(_graph);
        var kind = result.GetValue(_generate);
        if ((file is null) == (kind is null))
            throw new LabException("Name one graph: --graph with a file, or --generate with a kind.");
        if (file is not null)
            return (file.Name, LabGraph.Read(file.FullName));
        var seed = result.GetValue(_graphSeed);
        return ($"{kind}, graph seed {seed}", GraphGenerator.Draw(kind!, result.GetValue(_vertices), seed));
    }
}
