using System.CommandLine;

namespace ActOp.Lab;

/// <summary>Which graph the partition command plays: one from a file, or one drawn from a seed.</summary>
internal sealed class GraphOptions
{
    private const int DefaultVertices = 5_000;

    private readonly Option<FileInfo?> _graph = new("--graph") { Description = "Edge list: u v [weight] a line." };
    private readonly Option<string?> _generate = new("--generate") { Description = "Draws a graph of this kind instead of reading one." };
    private readonly Option<int> _vertices = new("--vertices") { Description = "Vertices of the graph that is drawn.", DefaultValueFactory = static _ => DefaultVertices };
    private readonly Option<int> _graphSeed = new("--graph-seed") { Description = "Seed of the graph that is drawn.", DefaultValueFactory = static _ => 1 };

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
        FileInfo? file = result.GetValue(_graph);
        string? kind = result.GetValue(_generate);
        if ((file is null) == (kind is null))
            throw new LabException("Name one graph: --graph with a file, or --generate with a kind.");
        if (file is not null)
            return (file.Name, LabGraph.Read(file.FullName));
        int seed = result.GetValue(_graphSeed);
        return ($"{kind}, graph seed {seed}", GraphGenerator.Draw(kind!, result.GetValue(_vertices), seed));
    }
}
