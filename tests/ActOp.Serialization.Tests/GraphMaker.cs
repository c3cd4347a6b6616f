using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using ActOp.Wire;
using Large = ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal));

namespace ActOp.Serialization.Tests;

/// <summary>Makes one graph of a seed: parts that refer to parts before, or after by cycles, and collections that have parts as keys.</summary>
internal sealed class GraphMaker(int seed)
{
    private const int Kinds = 46;

    /// <summary>Made once, because each takes 40 KB. Graphs are only written.</summary>
    private static readonly ConcurrentQueue<Large>[] EmptyQueues =
        [.. Enumerable.Range(0, 100).Select(static _ => new ConcurrentQueue<Large>())];

    private readonly Random _random = new(seed);
    private readonly List<object?> _parts = [1, "text", null];
    private int _near = 1;

    /// <summary>The keyed collections behind the parts.</summary>
    internal List<string> KeyedKinds { get; } = [];

    /// <summary>The parts as an array, then the keyed collections.</summary>
    internal byte[] Write()
    {
        var count = 1 << _random.Next(2, _random.Next(32) == 0 ? 14 : 8);
        _near = 1 << _random.Next(0, 5);
        // Few kinds make deep chains of one kind; all kinds make odd neighbours.
        var few = Enumerable.Range(0, _random.Next(1, 4)).Select(_ => _random.Next(Kinds)).ToArray();
        var isMixed = _random.Next(3) == 0;
        while (_parts.Count < count)
            _parts.Add(Make(isMixed ? _random.Next(Kinds) : few[_random.Next(few.Length)]));
        Close();
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        Codec<object?[]>.Default.Write(ref writer, Parts());
        for (var i = _random.Next(4); i > 0; i--)
        {
            KeyedKinds.Add(KeyedForms.Kinds[_random.Next(KeyedForms.Kinds.Length)]);
            KeyedForms.Write(ref writer, KeyedKinds[^1], [.. Enumerable.Range(0, _random.Next(1, 5)).Select(_ => Pick())]);
        }

        writer.Commit();
        var bytes = buffer.Written.ToArray();
        for (var at = bytes.AsSpan().IndexOf(StandIn); at >= 0; at = bytes.AsSpan().IndexOf(StandIn))
            Aggregate.CopyTo(bytes.AsSpan(at));
        return Damage(bytes);
    }

    private static ReadOnlySpan<byte> StandIn => "GraphFuzz.AggregateToBe10"u8;

    private static ReadOnlySpan<byte> Aggregate => "System.AggregateException"u8;

    private object? Pick() => _random.Next(12) == 0
        ? _parts[_random.Next(_parts.Count)] : _parts[Math.Max(0, _parts.Count - 1 - _random.Next(_near))];

    private object?[] Picks() => [.. Enumerable.Range(0, _random.Next(4)).Select(_ => Pick())];

    private Exception? PickException() => Enumerable.Range(0, 4).Select(_ => Pick()).OfType<Exception>().FirstOrDefault();

    /// <summary>In the order of their making, so that each is read before those that refer to it; or the last one only, by nesting.</summary>
    private object?[] Parts() => _random.Next(4) == 0 && _parts.Count < 500 ? [_parts[^1]] : [.. _parts];

    /// <summary>References to parts that came later.</summary>
    private void Close()
    {
        if (_random.Next(2) == 0)
            return;
        foreach (var part in _parts)
        {
            if (_random.Next(4) != 0)
                continue;
            switch (part)
            {
                case Visited visited:
                    visited.Two = Pick();
                    break;
                case Linked linked:
                    linked.Next = Pick() as Linked;
                    break;
                case Node<object> node:
                    node.Any = Pick();
                    break;
                case List<object?> list:
                    list.Add(Pick());
                    break;
                case object?[] { Length: > 0 } array when array.GetType() == typeof(object[]):
                    array[0] = Pick();
                    break;
                case TalkingException exception:
                    exception.Subject = Pick();
                    break;
            }
        }
    }

    private object Make(int kind) => kind switch
    {
        < 10 => MakeCompared(kind),
        < 16 => MakeException(kind),
        < 36 => MakeCollection(kind),
        _ => MakeEmpty(kind),
    };

    private object MakeCompared(int kind) => kind switch
    {
        0 => Tuple.Create(Pick(), Pick()),
        1 => (Pick(), Pick()),
        2 => new KeyValuePair<object, object?>(Pick() ?? 1, Pick()),
        3 => new Visited { One = Pick(), Two = Pick() },
        4 => new Linked { Name = "n", Next = Pick() as Linked },
        5 => (default(Large), Pick()),
        6 => Tuple.Create(default(Large?), Pick(), Pick()),
        7 => ImmutableArray.Create(Picks()),
        8 => new ArraySegment<object?>(Picks()),
        _ => Tuple.Create<int, int, int, int, int, int, int, object>(1, 2, 3, 4, 5, 6, 7, Tuple.Create(Pick())),
    };

    private object MakeException(int kind) => kind switch
    {
        10 => new GraphFuzz.AggregateToBe10("a", Enumerable.Range(0, _random.Next(1, 4)).Select(_ => PickException() ?? new TimeoutException())),
        11 => new InvalidOperationException("i", PickException()),
        12 => new TalkingException("t", PickException()) { Subject = Pick(), Chain = Pick() as Linked },
        13 => new Exception("d", PickException()) { Data = { ["a"] = Pick(), ["b"] = Pick() } },
        14 => new BadException("b", PickException()!, 1),
        _ => new PlainException("p"),
    };

    private object MakeCollection(int kind) => kind switch
    {
        16 => new List<object?>(Picks()),
        17 => Picks(),
        18 => new Dictionary<string, object?> { ["a"] = Pick(), ["b"] = Pick() },
        19 => new HashSet<object?>(Picks(), ReferenceEqualityComparer.Instance),
        20 => new LinkedList<object?>(Picks()),
        21 => new Queue<object?>(Picks()),
        22 => new Stack<object?>(Picks()),
        23 => new ConcurrentQueue<object?>(Picks()),
        24 => new ConcurrentStack<object?>(Picks()),
        25 => new Collection<object?>([.. Picks()]),
        26 => ImmutableList.Create(Picks()),
        27 => ImmutableDictionary<int, object?>.Empty.Add(1, Pick()),
        28 => ImmutableStack.Create(Picks()),
        29 => new ReadOnlyCollection<object?>(Picks()),
        30 => new ReadOnlyDictionary<string, object?>(Enumerable.Range(0, 4).Select(_ => Pick())
            .OfType<IDictionary<string, object?>>().FirstOrDefault() ?? new Dictionary<string, object?> { ["a"] = Pick() }),
        31 => new PriorityQueue<object?, int>([(Pick(), 1), (Pick(), 2)]),
        32 => new SortedList<int, object?> { [1] = Pick(), [2] = Pick() },
        33 => new Hashtable { ["a"] = Pick() },
        34 => new[,] { { Pick(), Pick() } },
        _ => new Node<object> { Value = Pick(), Any = Pick(), Next = Pick() as Node<object> },
    };

    private object MakeEmpty(int kind) => kind switch
    {
        36 => new ConcurrentQueue<Large>(),
        37 => EmptyQueues[.._random.Next(100)],
        38 => new Large?[_random.Next(300)],
        39 => new ConcurrentDictionary<int, Large>(),
        40 => new NameValueCollection(),
        41 => new Buffered(),
        42 => new ObservableCollection<Large?> { null },
        43 => new Stack<Large?>([null]),
        44 => new GrainState<object?>(Pick()),
        _ => new[] { Pick() }.ToFrozenSet<object?>(ReferenceEqualityComparer.Instance),
    };

    private byte[] Damage(byte[] bytes)
    {
        if (_random.Next(5) == 0)
        {
            for (var i = _random.Next(1, 4); i > 0; i--)
                bytes[_random.Next(bytes.Length)] = (byte)_random.Next(_random.Next(2) == 0 ? 8 : 256);
        }

        return bytes;
    }
}

/// <summary>Collections that hash and compare objects, as they are written; a sender need not have a collection that holds them.</summary>
internal static class KeyedForms
{
    private const byte Tracked = 3;
    private const byte Usual = 0;

    internal static string[] Kinds { get; } =
        ["set", "sorted", "map", "sortedmap", "sortedlist", "concurrent", "table", "frozen", "frozenmap", "immutable", "immutablesorted",
            "immutablemap", "immutablesortedmap", "queue"];

    internal static void Write(ref WireWriter writer, string kind, object?[] keys)
    {
        var comparers = kind switch
        {
            "immutable" or "immutablesorted" or "queue" or "frozen" or "frozenmap" => 1,
            "immutablemap" or "immutablesortedmap" => 2,
            _ => 0,
        };
        writer.WriteByte(kind is "frozen" or "frozenmap" ? (byte)1 : Tracked);
        for (var i = 0; i < comparers; i++)
            writer.WriteByte(Usual);
        writer.WriteVarUInt32((uint)keys.Length);
        if (comparers == 0 && kind != "table")
            writer.WriteByte(Usual);
        foreach (var key in keys)
        {
            if (kind == "queue")
                Codec<object?>.Default.Write(ref writer, null);
            Codec<object?>.Default.Write(ref writer, key);
            if (kind is "map" or "sortedmap" or "sortedlist" or "concurrent" or "table" or "frozenmap" or "immutablemap"
                or "immutablesortedmap")
            {
                Codec<object?>.Default.Write(ref writer, key);
            }
        }
    }

    /// <exception cref="Orleans.Serialization.SerializerException">It is refused.</exception>
    internal static object? Read(ref WireReader reader, string kind)
    {
        try
        {
            return kind switch
            {
                "set" => Codec<HashSet<object>>.Default.Read(ref reader),
                "sorted" => Codec<SortedSet<object>>.Default.Read(ref reader),
                "map" => Codec<Dictionary<object, object>>.Default.Read(ref reader),
                "sortedmap" => Codec<SortedDictionary<object, object>>.Default.Read(ref reader),
                "sortedlist" => Codec<SortedList<object, object>>.Default.Read(ref reader),
                "concurrent" => Codec<ConcurrentDictionary<object, object>>.Default.Read(ref reader),
                "table" => Codec<Hashtable>.Default.Read(ref reader),
                "frozen" => Codec<FrozenSet<object>>.Default.Read(ref reader),
                "frozenmap" => Codec<FrozenDictionary<object, object>>.Default.Read(ref reader),
                "immutable" => Codec<ImmutableHashSet<object>>.Default.Read(ref reader),
                "immutablesorted" => Codec<ImmutableSortedSet<object>>.Default.Read(ref reader),
                "immutablemap" => Codec<ImmutableDictionary<object, object>>.Default.Read(ref reader),
                "immutablesortedmap" => Codec<ImmutableSortedDictionary<object, object>>.Default.Read(ref reader),
                _ => Codec<PriorityQueue<object, object>>.Default.Read(ref reader),
            };
        }
        catch (Exception exception) when (exception is ArgumentException || exception.InnerException is ArgumentException)
        {
            // Objects of different classes, or of one without an order, cannot be sorted.
            throw new Orleans.Serialization.SerializerException("No order.", exception);
        }
    }
}
