using System.Collections.Immutable;
using ActOp.Wire;
using Orleans.Serialization;
using Large = ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal));

namespace ActOp.Serialization.Tests;

/// <summary>Memory for what is read of a message is limited by its length; types that its sender may name, by its share.</summary>
public class DecodeLimitTests
{
    private static readonly Serializer Serializer = new();

    /// <summary>The limits of a node by default: SerializationLimitOptions.</summary>
    private const int PerByte = 128;
    private const int PerMessage = 64 * 1024;

    public static TheoryData<object> Bombs => new((object[])
    [
        new Large?[40_000],
        Enumerable.Repeat<Large?>(null, 40_000).ToList(),
        Enumerable.Repeat<Large?>(null, 40_000).ToImmutableArray(),
        Enumerable.Repeat<Large?>(null, 40_000).ToImmutableList(),
        new LinkedList<Large?>(Enumerable.Repeat<Large?>(null, 40_000)),
        Enumerable.Range(0, 40_000).ToDictionary(number => number, _ => (Large?)null),
        new Large?[200, 200],
        Enumerable.Range(0, 40_000).Select(_ => new Node<Large?>()).ToArray(),
    ]);

    [Theory]
    [MemberData(nameof(Bombs))]
    public void What_needs_far_more_memory_than_its_bytes_is_refused_before_it_is_taken(object bomb)
    {
        var bytes = Serializer.SerializeToArray(bomb);
        Assert.NotNull(Serializer.Deserialize<object>(bytes));
        var limit = LimitOf(bytes.Length);
        var before = GC.GetAllocatedBytesForCurrentThread();
        var exception = Assert.Throws<SerializerException>(() => Read(bytes, limit));
        var taken = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.Contains("SerializationLimitOptions.MaxDecodedBytesPerByte", exception.Message, StringComparison.Ordinal);
        // The table of objects that may be referred to again is not counted.
        Assert.InRange(taken, 0, limit + (2 << 20));
    }

    [Fact]
    public void Usual_data_need_far_less_than_the_limit()
    {
        object[] samples =
        [
            new int[100_000], new long?[100_000], new decimal[100_000], new string?[100_000], new object?[100_000], new Guid[10_000],
            Enumerable.Repeat("", 100_000).ToList(), Enumerable.Range(0, 100_000).Select(number => number.ToString()).ToArray(),
            Enumerable.Range(0, 100_000).ToDictionary(number => number, number => (byte)number), Enumerable.Range(0, 100_000).ToHashSet(),
            Enumerable.Range(0, 50_000).Select(_ => new Animal()).ToArray(), Enumerable.Range(0, 50_000).Select(_ => new object())
                .ToArray(),
            Enumerable.Range(0, 50_000).Select(_ => new Dog { Name = "d", Color = Color.Red, Friends = [] }).ToList(),
            Enumerable.Range(0, 100_000).ToImmutableSortedDictionary(number => number, _ => false),
            new SortedList<int, bool>(Enumerable.Range(0, 100_000).ToDictionary(number => number, _ => false)),
            new DateTime[100_000], new bool[300, 300], new TimeSpan?[100_000], new (int, int, int, int)[50_000], new Large(),
            Enumerable.Range(0, 20_000).Select(_ => new List<int>()).ToArray(),
            new AggregateException(Enumerable.Range(0, 500).Select(_ => new TimeoutException("t"))),
        ];
        foreach (var sample in samples)
        {
            var bytes = Serializer.SerializeToArray<object>(sample);
            Assert.NotNull(Read(bytes, LimitOf(bytes.Length / 2)));
        }
    }

    [Fact]
    public void A_sorted_list_out_of_order_is_refused_before_it_takes_long()
    {
        var backwards = new SortedList<int, bool>(Comparer<int>.Create((x, y) => y.CompareTo(x)));
        // Each at the end of the list.
        for (var number = 300_000; number > 0; number--)
            backwards.Add(number, true);
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        // As the codec writes it, with the name of the usual comparer.
        writer.WriteByte(MarkedMessage.Mark);
        writer.WriteByte(1);
        writer.WriteVarUInt32(300_000);
        Codecs.Comparers.WriteOrder(ref writer, Comparer<int>.Default);
        foreach (var number in backwards.Keys)
        {
            Codec<int>.Default.Write(ref writer, number);
            Codec<bool>.Default.Write(ref writer, true);
        }

        writer.Commit();
        var bytes = buffer.Written.ToArray();
        Assert.Throws<SerializerException>(() => ReadAs<SortedList<int, bool>>(bytes, LimitOf(bytes.Length)));
        Assert.Equal(300_000,
            ReadAs<SortedList<int, bool>>(
                Serializer.SerializeToArray(new SortedList<int, bool>(backwards, null)), LimitOf(bytes.Length)).Count);
    }

    [Fact]
    public void A_culture_that_does_not_exist_is_not_made() =>
        Assert.Throws<SerializerException>(() => Codecs.Parsing.Culture("qq-made-up"));

    [Fact]
    public void What_one_peer_has_used_up_another_still_has()
    {
        // Known to the process before, whichever test runs first.
        Assert.True(TypeManifest.TryGetType("System.Collections.Generic.List`1<System.Int32>", out _));
        try
        {
            TypeShare.Current = new TypeShare(20, isClient: true);
            var exception = Assert.Throws<SerializerException>(() => NameMany("First", 100));
            Assert.Contains("This peer has named more than 20", exception.Message, StringComparison.Ordinal);
            Assert.True(TypeManifest.TryGetType("System.Collections.Generic.List`1<System.Int32>", out _));
            TypeShare.Current = new TypeShare(2_000, isClient: false);
            NameMany("Second", 100);
        }
        finally
        {
            TypeShare.Current = null;
        }
    }

    /// <summary>An alias and the full name are two names of one type.</summary>
    [Fact]
    public void Another_name_of_a_known_type_costs_nothing()
    {
        try
        {
            Assert.True(
                TypeManifest.TryGetType("System.Collections.Generic.Queue`1<" + TypeManifest.NameOf(typeof(Dog)) + ">", out var type));
            var share = TypeShare.Current = new TypeShare(20, isClient: true);
            Assert.True(TypeManifest.TryGetType("System.Collections.Generic.Queue`1<" + typeof(Dog).FullName + ">", out var same));
            Assert.Equal((type, 0), (same, share.Used));
        }
        finally
        {
            TypeShare.Current = null;
        }
    }

    [Fact]
    public void Types_that_this_process_has_named_itself_cost_a_peer_nothing()
    {
        var name = TypeManifest.NameOf(typeof(Stack<Stack<Stack<Half>>>));
        try
        {
            var share = TypeShare.Current = new TypeShare(0, isClient: true);
            Assert.True(TypeManifest.TryGetType(name, out var type));
            Assert.Equal((typeof(Stack<Stack<Stack<Half>>>), 0), (type, share.Used));
        }
        finally
        {
            TypeShare.Current = null;
        }
    }

    private static long LimitOf(int bytes) => PerMessage + ((long)PerByte * bytes);

    private static object Read(byte[] bytes, long limit) => ReadAs<object>(bytes, limit);

    private static T ReadAs<T>(byte[] bytes, long limit)
    {
        var session = new WireSession(null);
        session.LimitDecoded(limit);
        var reader = new WireReader(bytes, session);
        Assert.Equal(MarkedMessage.Mark, reader.ReadByte());
        return Codec<T>.Default.Read(ref reader);
    }

    /// <summary>Arrays of arrays of different ranks: as many types as one likes.</summary>
    private static void NameMany(string kind, int count)
    {
        var element = kind == "First" ? "System.Int16" : "System.UInt16";
        for (var number = 0; number < count; number++)
        {
            var name = element;
            for (var rest = number + 1024; rest > 0; rest /= 4)
                name += "[" + new string(',', rest % 4) + "]";
            TypeManifest.TryGetType(name, out _);
        }
    }
}
