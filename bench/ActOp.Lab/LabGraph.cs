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
    public static LabGraph Read(string path)
    {
        Dictionary<string, int> numbers = [];
        List<(int, int, double)> edges = [];
        foreach (string line in File.ReadLines(path))
        {
            string[] parts = line.Split((char[])[' ', '\t', ','], StringSplitOptions.RemoveEmptyEntries);
            if (parts.Length < 2 || parts[0].StartsWith('#'))
                continue;
            double weight = parts.Length > 2 ? double.Parse(parts[2]) : 1;
            edges.Add((Number(parts[0]), Number(parts[1]), weight));
        }

        return new(numbers.Count, edges);

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

        return TotalWeight == 0 ? 0 : cut / TotalWeight;
    }
}
