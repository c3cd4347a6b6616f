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
            var at = 0;
            foreach (var line in File.ReadLines(path))
            {
                at++;
                var parts = line.Split((char[])[' ', '\t', ','], StringSplitOptions.RemoveEmptyEntries);
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
            if (parts.Length is 2
                || (parts.Length == 3 && double.TryParse(parts[2], CultureInfo.InvariantCulture, out weight) && weight > 0
                    && double.IsFinite(weight)))
            {
                return (Number(parts[0]), Number(parts[1]), weight);
            }

            throw new LabException($"The graph {path}, line {at}: \"{string.Join(' ', parts)}\" is no edge; expected two vertices and perhaps a weight above 0.");
        }

        int Number(string name)
        {
            if (!numbers.TryGetValue(name, out var number))
                numbers.Add(name, number = numbers.Count);
            return number;
        }
    }

    /// <summary>The share of the weight that crosses parts.</summary>
    public double CutShare(ReadOnlySpan<int> part)
    {
        double cut = 0;
        foreach ((var a, var b, var weight) in Edges)
        {
            if (part[a] != part[b])
                cut += weight;
        }

        return cut / TotalWeight;
    }
}

/// <summary>What the lab was given cannot be played; the message says why, for people.</summary>
internal sealed class LabException(string message, Exception? inner = null) : Exception(message, inner);

/// <summary>Graphs that nobody tuned for, of two kinds, each drawn from a seed: the same seed gives the same graph.</summary>
internal static class GraphGenerator
{
    /// <summary>The kinds by their names on the command line.</summary>
    public static IReadOnlyList<string> Kinds { get; } = ["communities", "powerlaw"];

    /// <summary>Draws a graph of a kind with the parameters of the lab.</summary>
    /// <exception cref="LabException">There are too few vertices for the kind, or no kind by that name.</exception>
    public static LabGraph Draw(string kind, int vertices, int seed) => kind switch
    {
        "communities" => Communities(vertices, seed),
        "powerlaw" => PowerLaw(vertices, seed),
        _ => throw new LabException($"There is no kind of graph named {kind}; there are {string.Join(" and ", Kinds)}."),
    };

    /// <summary>
    /// Planted communities (A. Condon and R. Karp 2001) of unequal size: sizes are uniform in [<paramref name="smallest"/>,
    /// <paramref name="largest"/>], the last one takes what is left. Each vertex draws half of its mean degree as edges; of these the share
    /// <paramref name="mixing"/> goes to any other vertex, the rest to a vertex of its community. Numbers of vertices are shuffled.
    /// </summary>
    /// <exception cref="LabException">There are fewer vertices than the smallest community has.</exception>
    public static LabGraph Communities(
        int vertices, int seed, int smallest = 40, int largest = 160, int degree = 16, double mixing = 0.2) =>
        new(vertices, CommunityEdges(vertices, smallest, degree, mixing, PlantCommunities(vertices, seed, smallest, largest), new(seed)));

    /// <summary>The community of each vertex of the graph that <see cref="Communities"/> draws from the same seed.</summary>
    public static int[] PlantCommunities(int vertices, int seed, int smallest = 40, int largest = 160)
    {
        Random random = new(~seed);
        var community = new int[vertices];
        for (int start = 0, number = 0; start < vertices; number++)
        {
            var size = random.Next(smallest, largest + 1);
            if (vertices - start - size < smallest)
                size = vertices - start;
            community.AsSpan(start, size).Fill(number);
            start += size;
        }

        random.Shuffle(community);
        return community;
    }

    /// <summary>
    /// A power law with clusters (P. Holme and B. J. Kim, Growing scale-free networks with tunable clustering, 2002): each new vertex is
    /// tied to <paramref name="links"/> different earlier ones. The first is chosen in proportion to its degree; each other one is, with
    /// probability <paramref name="triads"/>, a neighbour of the last that was chosen so, else chosen so itself. The share of vertices with
    /// degree d falls as d^-3. With <paramref name="triads"/> 0 it is the preferential attachment of A.-L. Barabasi and R. Albert 1999,
    /// which has no clusters. It starts with a clique of <paramref name="links"/> + 1 vertices. Numbers of vertices are shuffled.
    /// </summary>
    /// <exception cref="LabException">There are not more vertices than the first clique has.</exception>
    public static LabGraph PowerLaw(int vertices, int seed, int links = 4, double triads = 0.9)
    {
        if (vertices <= links + 1)
            throw new LabException($"--vertices must be at least {links + 2} for a power law, but is {vertices}.");
        Random random = new(seed);
        int[] name = [.. Enumerable.Range(0, vertices)];
        random.Shuffle(name);
        List<int>[] neighbours = [.. Enumerable.Range(0, vertices).Select(static _ => new List<int>())];
        // Every vertex is in here once per edge: a uniform choice prefers vertices by degree.
        List<int> ends = [];
        for (var vertex = 1; vertex < vertices; vertex++)
        {
            var tied = neighbours[vertex];
            if (vertex <= links)
                tied.AddRange(Enumerable.Range(0, vertex));
            for (var last = -1; tied.Count < Math.Min(vertex, links);)
            {
                int[] near = last < 0 || random.NextDouble() >= triads ? [] : [.. neighbours[last].Where(other => !tied.Contains(other))];
                var other = near.Length > 0 ? near[random.Next(near.Length)] : last = ends[random.Next(ends.Count)];
                if (!tied.Contains(other))
                    tied.Add(other);
            }

            foreach (var other in tied)
            {
                ends.AddRange([vertex, other]);
                neighbours[other].Add(vertex);
            }
        }

        return new(
            vertices, Enumerable.Range(0, vertices).SelectMany(a => neighbours[a].Where(b => b < a).Select(b => (name[a], name[b], 1.0))));
    }

    private static IEnumerable<(int A, int B, double Weight)> CommunityEdges(
        int vertices, int smallest, int degree, double mixing, int[] community, Random random)
    {
        if (vertices < smallest)
            throw new LabException($"--vertices must be at least {smallest} for planted communities, but is {vertices}.");
        int[][] members = [.. Enumerable.Range(0,
            vertices).GroupBy(v => community[v]).OrderBy(static g => g.Key).Select(static g => g.ToArray())];
        HashSet<(int, int)> seen = [];
        for (var vertex = 0; vertex < vertices; vertex++)
        {
            var own = members[community[vertex]];
            for (var i = 0; i < degree / 2; i++)
            {
                var other = random.NextDouble() < mixing ? random.Next(vertices) : own[random.Next(own.Length)];
                if (seen.Add((Math.Min(vertex, other), Math.Max(vertex, other))))
                    yield return (vertex, other, 1);
            }
        }
    }
}

/// <summary>
/// The Halo presence graph (paper section 3): games of 8 players, each player talks with its game. Vertices 0 to players - 1 are players,
/// the games follow. Churn: whole games end and their players meet in new ones.
/// </summary>
internal sealed class HaloGraph(int players, int seed)
{
    public const int GameSize = 8;

    private readonly Random _random = new(seed);
    private readonly int[] _seats = Shuffled(players, new Random(seed + 1));

    public int Players => players;

    public int Games => players / GameSize;

    public int VertexCount => players + Games;

    /// <summary>All edges now.</summary>
    public IEnumerable<(int Player, int Game)> Edges()
    {
        for (var seat = 0; seat < Games * GameSize; seat++)
            yield return (_seats[seat], players + (seat / GameSize));
    }

    /// <summary>Regroups the players of a share of the games.</summary>
    public void Churn(double share)
    {
        var count = (int)(share * Games);
        var games = new int[count];
        for (var i = 0; i < count; i++)
            games[i] = _random.Next(Games);
        for (var i = 0; i < count * GameSize; i++)
        {
            var a = (games[i / GameSize] * GameSize) + (i % GameSize);
            var b = (games[_random.Next(count)] * GameSize) + _random.Next(GameSize);
            (_seats[a], _seats[b]) = (_seats[b], _seats[a]);
        }
    }

    private static int[] Shuffled(int count, Random random)
    {
        int[] items = [.. Enumerable.Range(0, count)];
        random.Shuffle(items);
        return items;
    }
}
