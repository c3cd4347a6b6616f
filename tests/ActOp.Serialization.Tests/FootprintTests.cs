using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using System.Runtime.CompilerServices;
using ActOp.Wire;
using Orleans.Serialization;
using Large = ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal));

namespace ActOp.Serialization.Tests;

/// <summary>What a collection takes, with what it makes for items to come, is counted when it is read.</summary>
public class FootprintTests
{
    private const int Count = 300;

    /// <summary>
    /// The tables of the session for an object that may be referred to again are not counted. What is only needed while a collection is made
    /// may take half of what is counted beside it.
    /// </summary>
    private const int TableBytes = 64;

    private static readonly Serializer Serializer = new();

    private static readonly Dictionary<string, Func<object>[]> Makers = new()
    {
        ["old"] = [() => new Hashtable(), () => new Hashtable { [1] = null }, () => new ArrayList(), () => new ArrayList { null },
            () => new NameValueCollection(), () => new NameValueCollection { { "a", "b" } }, () => new BitArray(1), () => new Buffered(),
            () => new object()],
        ["empty, small"] = Empty<int>(),
        ["empty, large"] = Empty<Large?>(),
        ["small"] = Filled(1),
        ["large"] = Filled<Large?>(null),
        ["object"] = Filled<object?>(null),
    };

    public static TheoryData<string> Kinds => [.. Makers.Keys];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void What_collections_take_is_counted(string kind) => Assert.Empty(Makers[kind].Select(Compare).OfType<string>());

    /// <summary>Null, or which type takes more than is counted.</summary>
    private static string? Compare(Func<object> make)
    {
        var bytes = Serializer.SerializeToArray<object>(Enumerable.Range(0, Count).Select(_ => make()).ToArray());
        var session = new WireSession(null);
        for (var round = 0; ; round++)
        {
            session.Reset();
            var reader = new WireReader(bytes, session);
            reader.ReadByte();
            var before = GC.GetAllocatedBytesForCurrentThread();
            Assert.NotNull(Codec<object>.Default.Read(ref reader));
            var taken = GC.GetAllocatedBytesForCurrentThread() - before;
            var counted = ((long.MaxValue - Decodable(session)) * 3 / 2) + (TableBytes * Count);
            if (round == 2) // Classes are initialized, tables are made.
                return taken <= counted ? null : make().GetType() + " takes " + taken + ", counted are " + counted;
        }
    }

    private static Func<object>[] Empty<T>() =>
    [
        () => new List<T>(), () => new HashSet<T>(), () => new SortedSet<T>(), () => new Queue<T>(), () => new Stack<T>(),
        () => new LinkedList<T>(), () => new Collection<T>(), () => new ObservableCollection<T>(), () => new ReadOnlyCollection<T>([]),
        () => new ReadOnlyObservableCollection<T>([]), () => new ConcurrentQueue<T>(), () => new ConcurrentStack<T>(),
        () => new PriorityQueue<T, int>(), () => new Dictionary<int, T>(),
        () => new SortedDictionary<int, T>(), () => new SortedList<int, T>(), () => new ConcurrentDictionary<int, T>(),
        () => new ReadOnlyDictionary<int, T>(new Dictionary<int, T>()), () => ImmutableList<T>.Empty.Add(default!).Clear(),
        () => ImmutableDictionary<int, T>.Empty, () => ImmutableSortedDictionary<int, T>.Empty, () => Array.Empty<T>(),
        () => ImmutableHashSet<T>.Empty, () => new Node<T>(), () => ImmutableArray<T>.Empty, () => Tuple.Create(default(T)),
    ];

    private static Func<object>[] Filled<T>(T item) =>
    [
        () => new List<T> { item }, () => new Queue<T>([item]), () => new Stack<T>([item]), () => new LinkedList<T>([item]),
        () => new Collection<T> { item }, () => new ObservableCollection<T> { item }, () => new ReadOnlyCollection<T>([item]),
        () => new ReadOnlyObservableCollection<T>([item]), () => new ConcurrentQueue<T>([item]), () => new ConcurrentStack<T>([item]),
        () => new PriorityQueue<T, int>([(item, 1)]), () => new Dictionary<int, T> { [1] = item },
        () => new SortedDictionary<int, T> { [1] = item }, () => new SortedList<int, T> { [1] = item },
        () => new ConcurrentDictionary<int, T> { [1] = item }, () => new ReadOnlyDictionary<int, T>(new Dictionary<int, T> { [1] = item }),
        () => ImmutableList.Create(item), () => ImmutableQueue.Create(item), () => ImmutableStack.Create(item),
        () => ImmutableDictionary<int, T>.Empty.Add(1, item), () => ImmutableSortedDictionary<int, T>.Empty.Add(1, item),
        () => new[] { item }, () => new T[1, 1], () => ImmutableArray.Create(item), () => new HashSet<T> { item },
        () => new SortedSet<T> { item }, () => FrozenDictionary.ToFrozenDictionary([KeyValuePair.Create(1, item)]),
        () => new Node<T> { Value = item }, () => Tuple.Create(item), () => new GrainState<T>(item),
    ];

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_decodable")]
    private static extern ref long Decodable(WireSession session);
}
