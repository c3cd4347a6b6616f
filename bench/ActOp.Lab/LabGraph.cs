using System.Globalization;

namespace ActOp.Lab;

/// <summary>An undirected graph with weighted edges, as adjacency arrays.</summary>
internal sealed class LabGraph
{
    /// <summary>Builds the graph; parallel edges add up, loops are dropped.</summary>
    public LabGraph(int vertexCount, IEnumerable<(int A, int B, double Weight)> edges)
    {
        VertexCount = vertexCount;
        Edges = edges.Where(static e => e.A != e.B)
            .Select(static e => e.A < e.B ? e : (A: e.B, B: e.A, e.Weight))
            .GroupBy(static e => (e.A, e.B))
            .Select(static g => (g.Key.A, g.Key.B, g.Sum(static e => e.Weight)))
            .ToArray();
        TotalWeight = Edges.Sum(static e => e.Weight);
    }

    public int VertexCount { get; }

    public (int A, int B, double Weight)[] Edges { get; }

    public double TotalWeight { get; }

    /// <summary>Reads "u v" or "u v weight" a line, '#' starts a comment; vertices are renumbered densely.</summary>
    /// <exception cref="LabException">The file cannot be read, a line is malformed, or there is no edge between two vertices.</exception>
    public static LabGraph Read(string path)
    {
        Dictionary<string, int> numbers = [];
        List<(int A, int B, double Weight)> edges = [];
        try
        {
            int at = 0;
            foreach (string line in File.ReadLines(path))
            {
                at++;
                string[] parts = line.Split((char[])[' ', '\t', ','], StringSplitOptions.RemoveEmptyEntries);
                if (parts.Length > 0 && !parts[0].StartsWith('#'))
                    edges.Add(Edge(parts, at));
            }
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new LabException($"The graph cannot be read: {exception.Message}", exception);
        }

        LabGraph graph = new(numbers.Count, edges);
        if (graph.Edges.Length == 0)
            throw new LabException($"The graph {path} has no edge between two vertices: there is nothing to cut.");
        return graph;

        (int, int, double) Edge(string[] parts, int at)
        {
            double weight = 1;
            if (parts.Length is 2 || (parts.Length == 3 && double.TryParse(parts[2], CultureInfo.InvariantCulture, out weight) && weight > 0 && double.IsFinite(weight)))
                return (Number(parts[0]), Number(parts[1]), weight);
            throw new LabException($"The graph {path}, line {at}: \"{string.Join(' ', parts)}\" is no edge; expected two vertices and perhaps a weight above 0.");
        }

        int Number(string name)
        {
            if (!numbers.TryGetValue(name, out int number))
                numbers.Add(name, number = numbers.Count);
            return number;
        }
    }

    /// <summary>The share of the weight that crosses parts.</summary>
    public double CutShare(ReadOnlySpan<int> part)
    {
        double cut = 0;
        foreach ((int a, int b, double weight) in Edges)
        {
            if (part[a] != part[b])
                cut += weight;
        }

        return cut / TotalWeight;
    }
}

/// <summary>What the lab was given cannot be played; the message says why, for people.</summary>
internal sealed class LabException(string message, Exception? inner = null) : Exception(message, inner);
