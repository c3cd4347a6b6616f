using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using ActOp.Wire;
using Orleans.Serialization;
using Large = ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal));

namespace ActOp.Serialization.Tests;

/// <summary>References make short messages deep and large for whoever does not know which objects he has seen: hash codes, texts.</summary>
public class ReachTests
{
    private const int PerByte = 128;
    private const int PerMessage = 64 * 1024;

    private static readonly Serializer Serializer = new();

    public static TheoryData<string> KeyedCollections =>
        ["set", "sorted", "map", "sortedmap", "concurrent", "table", "frozen", "frozenmap", "immutable", "immutablemap", "queue"];

    [Theory]
    [MemberData(nameof(KeyedCollections))]
    public void A_key_that_is_deep_by_references_is_refused(string kind)
    {
        Refused(Chain(250_000), kind);
        Refused(Chain(Reach.MaxHeight + 1), kind);
    }

    [Theory]
    [MemberData(nameof(KeyedCollections))]
    public void A_key_that_is_large_by_references_is_refused(string kind) => Refused(Doubled(64), kind);

    [Fact]
    public void Usual_keys_with_shared_parts_are_read()
    {
        var shared = Tuple.Create((object)new string('a', 1000), (object)1);
        var keys = Enumerable.Range(0, 50).Select(i => (object)Tuple.Create((object)shared, (object)i)).ToHashSet();
        var bytes = Serializer.SerializeToArray<object>(keys);
        Assert.Equal(50, ((HashSet<object>)Read(bytes)).Count);
        Assert.Equal(100, ((HashSet<object>)Read(Serializer.SerializeToArray<object>(Chain(100, last => new HashSet<object> { last })[^1])))
            .Select(Depth).Single());
    }

    [Fact]
    public void A_deep_chain_that_is_no_key_is_read()
    {
        var chain = Chain(20_000);
        Assert.Equal(20_000, ((object[])Read(Serializer.SerializeToArray<object>(chain))).Length);
    }

    [Fact]
    public void A_record_that_reaches_itself_is_no_key()
    {
        var pair = new Linked { Name = "a" };
        pair.Next = new Linked { Name = "b", Next = pair };
        Assert.Equal("a", ((Linked)Read(Serializer.SerializeToArray<object>(pair))).Next!.Next!.Name);
        // The set compares by references here, and by values there.
        var bytes = Written(
            (ref WireWriter writer) =>
            {
                writer.WriteByte(3);
                writer.WriteVarUInt32(1);
                writer.WriteByte(0);
                Codec<Linked>.Default.Write(ref writer, pair);
            });
        Assert.Throws<SerializerException>(() => ReadAs<HashSet<Linked>>(bytes));
        var set = new HashSet<Linked>(ReferenceEqualityComparer.Instance) { pair };
        Assert.Equal("b", Assert.Single((HashSet<Linked>)Read(Serializer.SerializeToArray<object>(set))).Next!.Name);
    }

    [Fact]
    public void A_class_that_is_compared_by_identity_may_be_a_key_in_any_graph()
    {
        var dog = new Dog { Name = "d", Color = Color.Red, Friends = [] };
        for (var i = 0; i < 100; i++)
            dog = new Dog { Name = "d" + i, Color = Color.Red, Friends = [dog, dog] };
        dog.Friends!.Add(dog);
        var read = (Dictionary<Animal, int>)Read(Serializer.SerializeToArray<object>(new Dictionary<Animal, int> { [dog] = 1 }));
        Assert.Equal("d99", ((Dog)Assert.Single(read).Key).Name);
    }

    [Fact]
    public void An_exception_that_is_deep_by_references_is_refused()
    {
        var bytes = Exceptions(20_000, shared: 1);
        Assert.Throws<SerializerException>(() => Read(bytes));
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<object>(bytes));
    }

    [Fact]
    public void An_exception_that_is_large_by_references_is_refused_and_takes_no_memory()
    {
        var bytes = Exceptions(40, shared: 2);
        Assert.InRange(bytes.Length, 1000, 4000);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<SerializerException>(() => Read(bytes));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 8 << 20);
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<object>(bytes));
    }

    [Theory]
    [InlineData("System.TimeoutException")]
    [InlineData("System.AggregateException")]
    [InlineData("Nobody.KnowsException")]
    public void An_exception_that_is_its_own_inner_one_is_refused(string type)
    {
        var bytes = Written(
            (ref WireWriter writer) =>
            {
                var at = writer.Position;
                WriteException(ref writer, type, 1);
                writer.WriteVarUInt32((uint)(writer.Position - at + 4));
                WriteEnd(ref writer);
            });
        Assert.Throws<SerializerException>(() => ReadAs<Exception>(bytes));
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<Exception>(bytes));
    }

    [Fact]
    public void Usual_exceptions_with_many_inner_ones_arrive_and_more_levels_are_left_out()
    {
        Exception chain = new TimeoutException("t");
        for (var i = 0; i < 200; i++)
            chain = i % 2 == 0 ? new AggregateException("a" + i, chain) : new InvalidOperationException("i" + i, chain);
        var read = (Exception)Read(Serializer.SerializeToArray<object>(chain));
        var levels = 0;
        for (var each = read; each is not null; each = each.InnerException)
            levels++;
        Assert.Equal(Reach.MaxInnerExceptions, levels);
        Assert.StartsWith("i199", read.Message);
        var same = new TimeoutException("same");
        var many = new AggregateException(Enumerable.Repeat(same, 50));
        Assert.Equal(50, ((AggregateException)Read(Serializer.SerializeToArray<object>(many))).InnerExceptions.Count);
        Assert.Same(read.GetType(), ((Exception)Read(Serializer.SerializeToArray<object>(read))).GetType());
    }

    [Fact]
    public void An_exception_that_refers_to_itself_in_its_data_arrives()
    {
        var exception = new Exception("t") { Data = { ["k"] = 1 } };
        exception.Data["self"] = exception;
        var read = (Exception)Read(Serializer.SerializeToArray<object>(exception));
        Assert.Same(read, read.Data["self"]);
    }

    public static TheoryData<object> EmptyCollections => new((object[])
    [
        Enumerable.Range(0, 3_000).Select(_ => new ConcurrentQueue<Large>()).ToArray(),
        Enumerable.Range(0, 3_000).Select(_ => new ConcurrentQueue<int>()).ToArray(),
        Enumerable.Range(0, 3_000).Select(_ => new ConcurrentDictionary<int, int>()).ToArray(),
        Enumerable.Range(0, 3_000).Select(_ => new System.Collections.Specialized.NameValueCollection()).ToArray(),
        Enumerable.Range(0, 3_000).Select(_ => new Buffered()).ToArray(),
    ]);

    [Theory]
    [MemberData(nameof(EmptyCollections))]
    public void Empty_objects_count_with_what_they_make_for_items_to_come(object bomb)
    {
        var bytes = Serializer.SerializeToArray(bomb);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.NotNull(Serializer.Deserialize<object>(bytes));
        Assert.True(GC.GetAllocatedBytesForCurrentThread() - before > LimitOf(bytes.Length), "The sample is no bomb.");
        before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<SerializerException>(() => Read(bytes));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, LimitOf(bytes.Length) + (1 << 20));
    }

    public static TheoryData<object, object> Chosen => new()
    {
        { Keyed(static number => (number << 32) | number), Keyed(static number => number * 4096) },
        { Keyed(static number => number * Prime), Keyed(static number => number * 7) },
        { Keyed(static number => (object)((number << 32) | number)), Keyed(static number => (object)number) },
        { Enumerable.Range(0, Keys).Select(static number => ((long)number << 32) | (uint)number).ToList(), Enumerable.Range(0, Keys)
            .Select(static number => (long)number).ToList() },
    };

    /// <summary>The places that a dictionary has which grows from 1,024 keys on to that many.</summary>
    private static readonly long Prime = Grown();

    private const int Keys = 20_000;

    /// <summary>Numbers have hash codes that everybody knows: a sender can choose keys that are all compared with each other.</summary>
    [Theory]
    [MemberData(nameof(Chosen))]
    public void Keys_that_share_a_place_are_refused_before_they_take_long(object chosen, object usual)
    {
        switch (chosen)
        {
            case KeyValuePair<long, byte>[] pairs:
                RefusedAsMap(pairs, (KeyValuePair<long, byte>[])usual);
                break;
            case KeyValuePair<object, byte>[] pairs:
                RefusedAsMap(pairs, (KeyValuePair<object, byte>[])usual);
                break;
            case List<long> items:
                Assert.Throws<SerializerException>(() => ReadAs<HashSet<long>>(ItemsOf(items)));
                Assert.Equal(Keys, ReadAs<HashSet<long>>(ItemsOf((List<long>)usual)).Count);
                break;
        }
    }

    [Fact]
    public void Keys_of_a_concurrent_dictionary_with_one_hash_code_are_refused()
    {
        var pairs = Keyed(static number => (number << 32) | number);
        Assert.Throws<SerializerException>(() => ReadAs<ConcurrentDictionary<long, byte>>(PairsOf(pairs)));
        Assert.Equal(Keys, ReadAs<ConcurrentDictionary<long, byte>>(PairsOf(Keyed(static number => number))).Count);
    }

    private static void RefusedAsMap<TKey>(KeyValuePair<TKey, byte>[] chosen, KeyValuePair<TKey, byte>[] usual)
        where TKey : notnull
    {
        Assert.Throws<SerializerException>(() => ReadAs<Dictionary<TKey, byte>>(PairsOf(chosen)));
        Assert.Equal(Keys, ReadAs<Dictionary<TKey, byte>>(PairsOf(usual)).Count);
    }

    private static KeyValuePair<TKey, byte>[] Keyed<TKey>(Func<long, TKey> key) =>
        [.. Enumerable.Range(0, Keys).Select(number => KeyValuePair.Create(key(number), (byte)1))];

    private static long Grown()
    {
        var map = new Dictionary<int, byte>(1024);
        for (var number = 0; number < Keys; number++)
            map[number] = 1;
        return map.Capacity;
    }

    private static byte[] PairsOf<TKey>(KeyValuePair<TKey, byte>[] pairs) => Written(
        (ref WireWriter writer) =>
        {
            writer.WriteByte(3);
            writer.WriteVarUInt32((uint)pairs.Length);
            writer.WriteByte(0);
            foreach (var (key, value) in pairs)
            {
                Codec<TKey>.Default.Write(ref writer, key);
                Codec<byte>.Default.Write(ref writer, value);
            }
        });

    private static byte[] ItemsOf(List<long> items) => Written(
        (ref WireWriter writer) =>
        {
            writer.WriteByte(3);
            writer.WriteVarUInt32((uint)items.Count);
            writer.WriteByte(0);
            foreach (var item in items)
                Codec<long>.Default.Write(ref writer, item);
        });

    public static TheoryData<object> Boxes => new((object[])
    [
        (1, (object)"a"), ImmutableArray.Create<object>("a"), new KeyValuePair<string, object>("a", 1), new ArraySegment<object>(["a"]),
        FrozenSet.ToFrozenSet<object>(["a"]), new System.Text.Json.Nodes.JsonArray(1, 2),
    ]);

    [Theory]
    [MemberData(nameof(Boxes))]
    public void A_boxed_value_that_occurs_twice_is_one_object_after_a_copy_and_on_the_wire(object box)
    {
        object[] twice = [box, box];
        var copy = new DeepCopier().Copy(twice);
        Assert.Same(copy[0], copy[1]);
        var read = (object[])Read(Serializer.SerializeToArray<object>(twice));
        Assert.Same(read[0], read[1]);
    }

    [Fact]
    public void Boxed_values_that_contain_each_other_are_copied_and_written_once()
    {
        object box = (1, (object)"a");
        for (var i = 0; i < 60; i++)
            box = (box, box);
        var bytes = Serializer.SerializeToArray(box);
        Assert.InRange(bytes.Length, 1, 2000);
        var read = Read(bytes);
        Assert.Equal(bytes.Length, Serializer.SerializeToArray(read).Length);
        Assert.NotNull(new DeepCopier().Copy(read));
    }

    [Fact]
    public void Names_of_unknown_exceptions_are_searched_once_and_a_peer_may_cause_some_searches_only()
    {
        var before = Codecs.ExceptionTypes.Searches;
        for (var i = 0; i < 5; i++)
            Assert.Null(Codecs.ExceptionTypes.FindType("Nobody.HasThisException" + (before % 7)));
        Assert.InRange(Codecs.ExceptionTypes.Searches - before, 1, 3);
        try
        {
            TypeShare.Current = new TypeShare(20, isClient: true);
            for (var i = 0; i < TypeShare.MaxSearches; i++)
                Codecs.ExceptionTypes.FindType("Nobody.HasException" + i);
            before = Codecs.ExceptionTypes.Searches;
            Assert.Null(Codecs.ExceptionTypes.FindType("Nobody.HasThisEither"));
            Assert.Equal(before, Codecs.ExceptionTypes.Searches);
        }
        finally
        {
            TypeShare.Current = null;
        }
    }

    private delegate void Writing(ref WireWriter writer);

    private static void Refused(object[] parts, string kind)
    {
        // Two objects: the parts, each of which refers to the one before, and the last one as a key.
        var bytes = Written(
            (ref WireWriter writer) =>
            {
                foreach (var part in parts)
                    Codec<object>.Default.Write(ref writer, part);
                WriteKeyed(ref writer, kind, parts[^1]);
            });
        var session = new WireSession(null);
        var exception = Assert.Throws<SerializerException>(() => ReadKeyed(bytes, parts.Length, kind, session));
        Assert.Contains("key", exception.Message, StringComparison.Ordinal);
    }

    private static void WriteKeyed(ref WireWriter writer, string kind, object key)
    {
        // As the codecs write: what a sender says need not be what an honest collection holds.
        switch (kind)
        {
            case "set" or "sorted" or "concurrent" or "map" or "sortedmap":
                writer.WriteByte(3);
                writer.WriteVarUInt32(1);
                writer.WriteByte(0);
                break;
            case "table":
                writer.WriteByte(3);
                writer.WriteVarUInt32(1);
                break;
            case "frozen" or "frozenmap":
                writer.WriteByte(1);
                writer.WriteByte(0);
                writer.WriteVarUInt32(1);
                break;
            case "immutable":
                writer.WriteByte(3);
                writer.WriteByte(0);
                writer.WriteVarUInt32(1);
                break;
            case "immutablemap":
                writer.WriteByte(3);
                writer.WriteByte(0);
                writer.WriteByte(0);
                writer.WriteVarUInt32(1);
                break;
            default:
                writer.WriteByte(3);
                writer.WriteByte(0);
                writer.WriteVarUInt32(1);
                writer.WriteByte(0);
                break;
        }

        Codec<object>.Default.Write(ref writer, key);
        Codec<object?>.Default.Write(ref writer, null);
    }

    private static object? ReadKeyed(byte[] bytes, int parts, string kind, WireSession session)
    {
        var reader = new WireReader(bytes, session);
        reader.ReadByte();
        for (var i = 0; i < parts; i++)
            Codec<object>.Default.Read(ref reader);
        return kind switch
        {
            "set" => Codec<HashSet<object>>.Default.Read(ref reader),
            "sorted" => Codec<SortedSet<object>>.Default.Read(ref reader),
            "map" => Codec<Dictionary<object, object>>.Default.Read(ref reader),
            "sortedmap" => Codec<SortedDictionary<object, object>>.Default.Read(ref reader),
            "concurrent" => Codec<ConcurrentDictionary<object, object>>.Default.Read(ref reader),
            "table" => Codec<System.Collections.Hashtable>.Default.Read(ref reader),
            "frozen" => Codec<FrozenSet<object>>.Default.Read(ref reader),
            "frozenmap" => Codec<FrozenDictionary<object, object>>.Default.Read(ref reader),
            "immutable" => Codec<ImmutableHashSet<object>>.Default.Read(ref reader),
            "immutablemap" => Codec<ImmutableDictionary<object, object>>.Default.Read(ref reader),
            _ => Codec<PriorityQueue<object, object>>.Default.Read(ref reader),
        };
    }

    /// <summary>Tuples each of which refers to the one before.</summary>
    private static object[] Chain(int length, Func<object, object>? last = null)
    {
        var chain = new List<object> { Tuple.Create<object?, object?>(null, 0) };
        while (chain.Count < length)
            chain.Add(Tuple.Create<object?, object?>(chain[^1], 0));
        if (last is not null)
            chain.Add(last(chain[^1]));
        return [.. chain];
    }

    private static int Depth(object tuple)
    {
        var depth = 0;
        for (var each = tuple as Tuple<object?, object?>; each is not null; each = each.Item1 as Tuple<object?, object?>)
            depth++;
        return depth;
    }

    private static object[] Doubled(int levels)
    {
        var parts = new List<object> { Tuple.Create<object?, object?>(null, null) };
        while (parts.Count < levels)
            parts.Add(Tuple.Create<object?, object?>(parts[^1], parts[^1]));
        return [.. parts];
    }

    /// <summary>An array of aggregate exceptions whose inner ones are references to the one before.</summary>
    private static byte[] Exceptions(int length, int shared) => Written(
        (ref WireWriter writer) =>
        {
            writer.WriteByte(4);
            writer.WriteByte(0);
            writer.WriteString(TypeManifest.NameOf(typeof(Exception[])));
            writer.WriteVarUInt32((uint)length);
            var before = writer.Position;
            WriteException(ref writer, "System.TimeoutException", 0);
            WriteEnd(ref writer);
            for (var i = 1; i < length; i++)
            {
                var at = writer.Position;
                WriteException(ref writer, "System.AggregateException", (uint)shared);
                for (var each = 0; each < shared; each++)
                    writer.WriteVarUInt32((uint)(writer.Position - before + 4));
                WriteEnd(ref writer);
                before = at;
            }
        });

    private static void WriteException(ref WireWriter writer, string type, uint inners)
    {
        writer.WriteByte(3);
        writer.WriteString(type);
        writer.WriteNullableString("m");
        writer.WriteByte(1);
        writer.WriteNullableString("n");
        writer.WriteNullableString(null);
        writer.WriteVarInt32(0);
        writer.WriteVarUInt32(inners);
    }

    private static void WriteEnd(ref WireWriter writer)
    {
        writer.WriteFixed32(0);
        writer.WriteFixed32(0);
    }

    private static byte[] Written(Writing write)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        writer.WriteByte(MarkedMessage.Mark);
        write(ref writer);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    private static long LimitOf(int bytes) => PerMessage + ((long)PerByte * bytes);

    private static object Read(byte[] bytes) => ReadAs<object>(bytes);

    private static T ReadAs<T>(byte[] bytes)
    {
        var session = new WireSession(null);
        session.LimitDecoded(LimitOf(bytes.Length));
        var reader = new WireReader(bytes, session);
        Assert.Equal(MarkedMessage.Mark, reader.ReadByte());
        return Codec<T>.Default.Read(ref reader);
    }
}

[GenerateSerializer]
public sealed record Linked
{
    [Id(0)]
    public string? Name { get; set; }

    [Id(1)]
    public Linked? Next { get; set; }
}

[GenerateSerializer]
public sealed class Buffered
{
    [NonSerialized]
    private readonly byte[] _buffer = new byte[4096];

    [Id(0)]
    public int Length { get; set; }

    public int Room => _buffer.Length - Length;
}
