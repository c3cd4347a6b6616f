namespace ActOp.Partitioning.Tests;

/// <summary>
/// Silos whose messages are delivered in any order, late, twice or never, driven by a seed. A migration is what it is in a silo: a
/// compare-and-swap in the directory, then the old silo knows that the vertex left, and sooner or later the new one that it arrived.
/// </summary>
internal sealed class Chaos
{
    private readonly Random _random;
    private readonly PartitioningOptions _options;
    private readonly List<Action> _mail = [];
    private readonly List<(int Vertex, int From, int To, TimeSpan Until)> _migrations = [];
    private readonly List<(int Vertex, int To)> _arrivals = [];
    private readonly int[] _directory;
    private readonly long[] _epochs;
    private readonly HeavyEdgeTable<int>[] _tables;
    private readonly ExchangeProtocol<int>[] _protocols;
    private readonly HashSet<ExchangeId> _started = [];
    private readonly List<(int A, int B)> _edges = [];
    private TimeSpan _now;

    public Chaos(Random random, PartitioningOptions options, int vertices, int silos)
    {
        _random = random;
        _options = options;
        _directory = [.. Enumerable.Range(0, vertices).Select(v => v % silos)];
        _epochs = new long[vertices];
        _tables = [.. Enumerable.Range(0, silos).Select(s => new HeavyEdgeTable<int>(1000, s))];
        _protocols = [.. _tables.Select(t => new ExchangeProtocol<int>(t, UniformTraits<int>.Instance, options, (ulong)t.Self, 1))];
        for (var i = 0; i < vertices * 3; i++)
            _edges.Add((random.Next(vertices), random.Next(vertices)));
        Fold();
    }

    public bool Faults { get; init; } = true;

    public double Cut => _edges.Count(e => _directory[e.A] != _directory[e.B]);

    public int Exchanges => _started.Count;

    public void Run(int steps)
    {
        for (var i = 0; i < steps; i++)
        {
            _now += TimeSpan.FromMilliseconds(_random.Next(60));
            var silo = _random.Next(_protocols.Length);
            switch (_random.Next(8))
            {
                case 0:
                    Handle(silo, _protocols[silo].BeginRound(_now, Load(silo)));
                    break;
                case 1:
                    Handle(silo, _protocols[silo].Tick(_now, Load(silo)));
                    break;
                case 2 or 3:
                    Migrate();
                    break;
                case 4:
                    Arrive();
                    break;
                default:
                    Deliver();
                    break;
            }

            if (i % 50 == 0)
                Fold();
            Assert.All(_protocols, static p => Assert.True(p.Outstanding <= 60));
        }
    }

    /// <summary>Lets everything under way end, and the time pass that forgets what never will.</summary>
    public void Settle()
    {
        for (var i = 0; i < 20; i++)
        {
            while (_mail.Count + _migrations.Count + _arrivals.Count > 0)
            {
                Deliver();
                Migrate();
                Arrive();
            }

            _now += _options.MigrationTimeout;
            for (var silo = 0; silo < _protocols.Length; silo++)
                Handle(silo, _protocols[silo].Tick(_now, Load(silo)));
        }
    }

    public void CheckQuiet()
    {
        Assert.All(_protocols, static p => Assert.Equal(ExchangeState.Idle, p.State));
        Assert.Equal(_directory.Length, Enumerable.Range(0, _protocols.Length).Sum(s => Load(s).Current));
        // Nobody believes to own what the directory gives to another: a table never holds a vertex "here" that has left.
        for (var silo = 0; silo < _tables.Length; silo++)
        {
            for (var vertex = 0; vertex < _directory.Length; vertex++)
            {
                if (_tables[silo].TryLocate(vertex, out var place, out var epoch) && epoch == _epochs[vertex] && place >= 0)
                    Assert.Equal(_directory[vertex], place);
            }
        }
    }

    public void CheckBalance()
    {
        for (var silo = 0; silo < _tables.Length; silo++)
            Assert.Equal(0, Load(silo).Violation(Load(silo).Current), 9);
    }

    // A vertex counts where it has arrived: what is on its way is a promise.
    private SiloLoad Load(int silo) =>
        SiloLoad.Around(_directory.Count(s => s == silo) - _arrivals.Count(a => a.To == silo && _directory[a.Vertex] == silo),
            (double)_directory.Length / _protocols.Length, _options.Tolerance);

    private void Handle(int silo, ExchangeStep<int> step)
    {
        if (step.Offer is { } offer)
            Post(() => Handle(offer.To, _protocols[offer.To].Receive(offer, _now, Load(offer.To)), offer.From));
        if (step.Moves is { } moves)
            Start(silo, moves, step.Target);
    }

    private void Handle(int silo, ExchangeStep<int> step, int asker)
    {
        Handle(silo, step);
        if (step.Reply is not { } reply)
            return;
        if (reply.Plan is not null && step.Moves is not null)
            Assert.True(_started.Add(reply.Id), "One offer was decided twice.");
        Post(() => Handle(asker, _protocols[asker].Receive(reply, _now, Load(asker))));
    }

    private void Start(int silo, IReadOnlyList<int> moves, int target)
    {
        foreach (var vertex in moves)
        {
            // A migration whose promise has run out was given up, and may be promised again.
            _migrations.RemoveAll(m => m.Vertex == vertex && m.From == silo && m.Until <= _now);
            Assert.DoesNotContain(_migrations, m => m.Vertex == vertex && m.From == silo);
            _migrations.Add((vertex, silo, target, _now + _options.MigrationTimeout));
        }
    }

    private void Post(Action message)
    {
        if (Faults && _random.Next(5) == 0)
            return;
        _mail.Add(message);
        if (Faults && _random.Next(5) == 0)
            _mail.Add(message);
    }

    private void Deliver()
    {
        if (_mail.Count == 0)
            return;
        var message = TakeAny(_mail);
        message();
    }

    private void Migrate()
    {
        if (_migrations.Count == 0)
            return;
        (var vertex, var from, var to, _) = TakeAny(_migrations);
        var busy = _directory[vertex] != from || (Faults && _random.Next(6) == 0);
        MoveReport<int> report;
        if (busy)
        {
            if (_protocols[from].Skipped(vertex, out report, out var partner))
                Post(() => _protocols[partner].Receive(report));
            return;
        }

        // A promise that ran out means that the silo gave the move up.
        if (!_protocols[from].Departed(vertex, out report, out var target))
            return;
        Assert.Equal(to, target);
        _directory[vertex] = to;
        _epochs[vertex]++;
        _arrivals.Add((vertex, to));
        Post(() => _protocols[to].Receive(report));
    }

    private void Arrive()
    {
        if (_arrivals.Count == 0)
            return;
        (var vertex, var to) = TakeAny(_arrivals);
        if (_directory[vertex] == to)
            _protocols[to].Arrived(vertex);
    }

    // Traffic goes on, seen at both ends, with the directory's knowledge.
    private void Fold()
    {
        foreach ((var a, var b) in _edges)
        {
            _tables[_directory[a]].Add(a, _epochs[a], b, _directory[b], _epochs[b], 0.5);
            _tables[_directory[b]].Add(b, _epochs[b], a, _directory[a], _epochs[a], 0.5);
        }
    }

    private T TakeAny<T>(List<T> list)
    {
        var index = _random.Next(list.Count);
        var item = list[index];
        list.RemoveAt(index);
        return item;
    }
}
