using System.Diagnostics;
using ActOp.Partitioning;

namespace ActOp.Lab;

/// <summary>
/// Silos in memory that exchange vertices through the code that real silos run; messages arrive at once, migrations succeed at once.
/// </summary>
internal sealed class LabCluster
{
    private readonly PartitioningOptions _options;
    private readonly HeavyEdgeTable<int>[] _tables;
    private readonly ExchangeProtocol<int>[] _protocols;
    private readonly int[] _counts;
    private readonly int[] _place;
    private readonly long[] _epochs;
    private readonly Random _random;
    private int _round;
    private TimeSpan _now;

    public LabCluster(int vertexCount, int silos, PartitioningOptions options, int seed)
    {
        _options = options;
        _random = new(seed);
        _counts = new int[silos];
        _place = new int[vertexCount];
        _epochs = new long[vertexCount];
        _tables = new HeavyEdgeTable<int>[silos];
        _protocols = new ExchangeProtocol<int>[silos];
        for (var silo = 0; silo < silos; silo++)
        {
            _tables[silo] = new(options.EdgeCapacity, silo);
            _protocols[silo] = new(_tables[silo], UniformTraits<int>.Instance, options, (ulong)silo, epoch: 1);
        }

        PlaceAtRandom();
    }

    /// <summary>The silo of each vertex.</summary>
    public ReadOnlySpan<int> Place => _place;

    /// <summary>How much fuller than the mean the fullest silo is: max / mean - 1.</summary>
    public double MaxImbalance => (_counts.Max() / Mean) - 1;

    /// <summary>Times of single exchanges that were decided: ranking, offer, decision. Cleared by the reader.</summary>
    public List<ExchangeTiming> Timings { get; } = [];

    private double Mean => (double)_place.Length / _counts.Length;

    /// <summary>Counts traffic on an edge at both of its ends.</summary>
    public void Add(int a, int b, double weight)
    {
        int x = _place[a], y = _place[b];
        _tables[x].Add(a, 0, b, y, 0, weight);
        if (x != y)
            _tables[y].Add(b, 0, a, x, 0, weight);
    }

    /// <summary>
    /// Traffic goes on: every silo sees the edges of its vertices that it does not know, because a migration carries only the heaviest
    /// along.
    /// </summary>
    public void See(LabGraph graph)
    {
        foreach ((var a, var b, var weight) in graph.Edges)
        {
            See(a, b, weight);
            if (_place[a] != _place[b])
                See(b, a, weight);
        }
    }

    /// <summary>Lets all known traffic age.</summary>
    public void Decay(double factor)
    {
        foreach (var table in _tables)
            table.Decay(factor);
    }

    /// <summary>One round: every silo starts once, in random order.</summary>
    public (int Moves, double Seconds) PlayRound(Action? step = null)
    {
        int[] order = [.. Enumerable.Range(0, _tables.Length)];
        _random.Shuffle(order);
        var start = Stopwatch.GetTimestamp();
        var moves = 0;
        if (_options.Algorithm == SelectionAlgorithm.OneSided)
            return (PlayOneSided(), Stopwatch.GetElapsedTime(start).TotalSeconds);
        for (var i = 0; i < order.Length; i++)
        {
            _now = TimeSpan.FromSeconds(_round + ((double)i / order.Length));
            moves += Exchange(order[i]);
            step?.Invoke();
        }

        _round++;
        return (moves, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }

    private void See(int local, int other, double weight)
    {
        var table = _tables[_place[local]];
        if (!table.TryGetEdge(local, other, out _))
            table.Add(local, _epochs[local], other, _place[other], _epochs[other], weight);
    }

    private int Exchange(int silo)
    {
        var start = Stopwatch.GetTimestamp();
        var step = _protocols[silo].BeginRound(_now, Load(silo));
        var offers = 0;
        while (step.Offer is { } offer)
        {
            offers++;
            var answer = _protocols[offer.To].Receive(offer, _now, Load(offer.To));
            step = _protocols[silo].Receive(answer.Reply!, _now, Load(silo));
            if (step.Moves is not { } moves)
                continue;
            Timings.Add(new(Stopwatch.GetElapsedTime(start).TotalSeconds, offers, _tables[silo].VertexCount, offer.Candidates.Count));
            Move(moves, silo, offer.To);
            Move(answer.Moves!, offer.To, silo);
            return moves.Count + answer.Moves!.Count;
        }

        return 0;
    }

    private int PlayOneSided()
    {
        List<(int From, int To, int[] Vertices)> chosen = [];
        for (var silo = 0; silo < _tables.Length; silo++)
        {
            var partners = _protocols[silo].Selection.RankPartners();
            if (partners.Count > 0)
                chosen.Add((silo, partners[0].Silo, _protocols[silo].Selection.Select(partners[0].Silo).Vertices));
        }

        _round++;
        foreach ((var from, var to, var vertices) in chosen)
        {
            foreach (var vertex in vertices)
            {
                var set = _protocols[from].Selection.Carry([vertex]);
                Relocate(vertex, from, to, set.Epochs[0] + 1);
                set.Adopt(0, _tables[to]);
            }
        }

        return chosen.Sum(static c => c.Vertices.Length);
    }

    private void Move(IReadOnlyList<int> vertices, int from, int to)
    {
        foreach (var vertex in vertices)
        {
            _tables[from].TryLocate(vertex, out _, out var epoch);
            if (!_protocols[from].Departed(vertex, out var report, out _))
                throw new InvalidOperationException($"Vertex {vertex} was moved but never promised.");
            _protocols[to].Receive(report);
            _protocols[to].Arrived(vertex);
            Relocate(vertex, from, to, epoch + 1);
        }
    }

    // What the location caches of all silos know by the next fold.
    private void Relocate(int vertex, int from, int to, long epoch)
    {
        _place[vertex] = to;
        _epochs[vertex] = epoch;
        _counts[from]--;
        _counts[to]++;
        foreach (var table in _tables)
            table.Locate(vertex, to, epoch);
    }

    private SiloLoad Load(int silo) => SiloLoad.Around(_counts[silo], Mean, _options.Tolerance);

    private void PlaceAtRandom()
    {
        for (var i = 0; i < _place.Length; i++)
            _place[i] = i % _counts.Length;
        _random.Shuffle(_place);
        foreach (var silo in _place)
            _counts[silo]++;
    }
}

/// <summary>The result of the partition command as it is written with --json.</summary>
internal sealed record PartitionReport(
    int Parts, int Seed, double Tolerance, string Algorithm, int Candidates, double CutShare, double MaxImbalanceShare,
    IReadOnlyList<RoundReport> Rounds, double? MetisCutShare, string? MetisProblem)
{
    /// <summary>This cut over that of METIS; null without one, or where METIS cuts nothing.</summary>
    public double? MetisRatio => MetisCutShare is > 0 and var reference ? CutShare / reference : null;
}

/// <summary>The result of the partition command with --seeds as it is written with --json.</summary>
internal sealed record SeedsReport(
    string Graph, int Vertices, int Edges, double MeanCutShare, double? MeanMetisRatio, IReadOnlyList<PartitionReport> Runs);

/// <summary>One round of exchanges.</summary>
internal sealed record RoundReport(double CutShare, double MaxImbalanceShare, int Moves, double Seconds);

/// <summary>How long one exchange took to agree on.</summary>
internal readonly record struct ExchangeTiming(double Seconds, int Offers, int Vertices, int Candidates);
