using System.Collections;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.Specialized;
using System.Text.Json;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Session;
using Orleans.Serialization.Utilities;

namespace ActOp.Serialization.Tests;

/// <summary>Damaged data of every kind end in a value or an exception, within their memory; whole ones come back.</summary>
public sealed class FuzzTests : IDisposable
{
    private readonly ServiceProvider _services = new ServiceCollection().AddSerializer(static builder => builder.AddJsonSerializer(
        static type => type.Name.StartsWith("JsonOrder", StringComparison.Ordinal)).Configure(static options =>
    {
        options.FieldCodecs.Add(typeof(TemperatureCodec));
        options.Serializers.Add(typeof(RoomCodec));
    })).BuildServiceProvider();

    private static object[] Samples { get; } =
    [
        JsonNode.Parse("""{"a":[1,2.5,null,"x"],"b":{"c":true}}""")!, JsonDocument.Parse("[1,{\"a\":2}]"), new[] { 1, 2, 3 }.ToFrozenSet(),
        new Dictionary<string, Dog> { ["a"] = new(1) { Name = "d" } }.ToFrozenDictionary(), new ArrayList { 1, "a", null, 2.5m },
        new Hashtable { ["k"] = 1 }, new NameValueCollection { { "a", "1" }, { "b", "2" } }, Tuple.Create(1, 2, 3, 4, 5, 6, 7, "8"),
        new PriorityQueue<string, int>([("a", 1)]), ImmutableDictionary.Create<string, int>(StringComparer.OrdinalIgnoreCase).Add("a", 1),
        new CodedException("m", 3), new AggregateException("a", new CodedException("b", 1)), new Temperature(3),
        new Room { Name = "r", Temperature = new Temperature(4), Any = new List<object> { new Dog(2), 1 } }, new Marked(4),
        new JsonOrder { Id = 2 },
        new List<Room> { new() { Any = new JsonOrder() } }, new Floats { A = 1 }, new Point(1, 2, "p"), (1, "b", 2.5m, (Half)1),
        new object[] { new SortedDictionary<int, string> { [1] = "a" }, new LinkedList<int>([1]), new BitArray(3), new Money(1, "E") },
    ];

    public void Dispose() => _services.Dispose();

    [Fact]
    public void Damaged_messages_end_in_a_value_or_an_exception_within_their_memory()
    {
        var serializer = _services.GetRequiredService<Serializer>();
        var random = new Random(1234);
        foreach (var sample in Samples)
        {
            var bytes = serializer.SerializeToArray<object>(sample);
            for (var cut = 0; cut < bytes.Length; cut++)
                Bounded(() => serializer.Deserialize<object>(bytes.AsSpan(0, cut)));
            for (var round = 0; round < 400; round++)
            {
                var damaged = Damage(bytes, random);
                Bounded(() => serializer.Deserialize<object>(damaged));
            }
        }
    }

    [Fact]
    public void Damaged_fields_end_in_a_value_or_an_exception_within_their_memory()
    {
        var pool = _services.GetRequiredService<SerializerSessionPool>();
        var random = new Random(4321);
        foreach (var sample in Samples)
        {
            var bytes = Field(sample);
            for (var round = 0; round < 400; round++)
            {
                var damaged = Damage(bytes, random);
                Bounded(() =>
                {
                    using var session = pool.GetSession();
                    var reader = Reader.Create(damaged, session);
                    ObjectCodec.ReadValue(ref reader, reader.ReadFieldHeader());
                });
                Bounded(() =>
                {
                    using var session = pool.GetSession();
                    BitStreamFormatter.Format(damaged, session);
                });
            }
        }
    }

    [Fact]
    public void Nested_fields_end_in_an_exception()
    {
        var pool = _services.GetRequiredService<SerializerSessionPool>();
        var bytes = Enumerable.Repeat((byte)0x21, 1 << 20).ToArray();
        using var session = pool.GetSession();
        Assert.Throws<SerializerException>(() =>
        {
            var reader = Reader.Create(bytes, session);
            reader.ReadFieldHeader();
            reader.SkipField(new Orleans.Serialization.WireProtocol.Field(new Orleans.Serialization.WireProtocol.Tag(0x20)));
        });
        Assert.Throws<SerializerException>(() => Field(Nest(1_000_000)));
    }

    [Fact]
    public void Whole_messages_of_any_shape_come_back()
    {
        var serializer = _services.GetRequiredService<Serializer>();
        var copier = _services.GetRequiredService<DeepCopier>();
        var random = new Random(99);
        for (var round = 0; round < 2000; round++)
        {
            var value = Make(random, 0);
            var expected = Text(value);
            Assert.Equal(expected, Text(serializer.Deserialize<object>(serializer.SerializeToArray<object>(value!))));
            Assert.Equal(expected, Text(copier.Copy<object>(value!)));
            if (round % 4 == 0)
                Assert.Equal(expected, Text(Unfield(Field(value!))));
        }
    }

    private static List<object> Nest(int depth)
    {
        var list = new List<object>();
        for (var i = 0; i < depth; i++)
            list = [list];
        return list;
    }

    private static object? Make(Random random, int depth) => random.Next(depth > 4 ? 9 : 20) switch
    {
        0 => null,
        1 => random.Next(),
        2 => random.NextInt64() - (long.MaxValue / 2),
        3 => random.NextDouble(),
        4 => new string((char)random.Next('a', 'z'), random.Next(300)),
        5 => Guid.NewGuid(),
        6 => new DateTime(random.NextInt64(DateTime.MaxValue.Ticks), DateTimeKind.Utc),
        7 => (decimal)random.NextDouble(),
        8 => Color.Blue,
        9 => Enumerable.Range(0, random.Next(4)).Select(_ => Make(random, depth + 1)).ToArray(),
        10 => Enumerable.Range(0, random.Next(4)).Select(_ => Make(random, depth + 1)).ToList(),
        11 => Enumerable.Range(0, random.Next(4)).ToDictionary(i => "k" + i, _ => Make(random, depth + 1)),
        12 => (Make(random, depth + 1), random.Next(), Make(random, depth + 1)),
        13 => Tuple.Create(Make(random, depth + 1), Make(random, depth + 1)),
        14 => ImmutableList.Create(Make(random, depth + 1)),
        15 => new Node<object> { Value = Make(random, depth + 1), Any = Make(random, depth + 1), Next = new Node<object>() },
        16 => new VersionTwo { Kept = random.Next(), Added = [Make(random, depth + 1)!], Any = Make(random, depth + 1) },
        17 => new ArrayList { Make(random, depth + 1) },
        18 => new Room { Name = "r" + random.Next(), Any = Make(random, depth + 1) },
        _ => new Temperature(random.Next()),
    };

    private static string Text(object? value) => value switch
    {
        null => "null",
        string text => text,
        Node<object> node => "node(" + Text(node.Value) + "," + Text(node.Any) + "," + Text(node.Next) + ")",
        VersionTwo two => "two(" + two.Kept + "," + Text(two.Added) + "," + Text(two.Any) + ")",
        Room room => "room(" + room.Name + "," + Text(room.Any) + ")",
        Temperature temperature => "t" + temperature.Degrees,
        System.Runtime.CompilerServices.ITuple tuple =>
            value.GetType().Name + "(" + string.Join(",", Enumerable.Range(0, tuple.Length).Select(i => Text(tuple[i]))) + ")",
        IDictionary map => "map(" + string.Join(",", map.Keys.Cast<string>().Order().Select(k => k + "=" + Text(map[k]))) + ")",
        IEnumerable items => value.GetType().Name + "[" + string.Join(",", items.Cast<object?>().Select(Text)) + "]",
        IFormattable number => number.ToString(null, System.Globalization.CultureInfo.InvariantCulture),
        _ => value.ToString()!,
    };

    private byte[] Field(object value)
    {
        using var session = _services.GetRequiredService<SerializerSessionPool>().GetSession();
        var writer = Writer.CreatePooled(session);
        ObjectCodec.WriteField(ref writer, 0, value);
        writer.Commit();
        var bytes = writer.Output.ToArray();
        writer.Dispose();
        return bytes;
    }

    private object? Unfield(byte[] bytes)
    {
        using var session = _services.GetRequiredService<SerializerSessionPool>().GetSession();
        var reader = Reader.Create(bytes, session);
        return ObjectCodec.ReadValue(ref reader, reader.ReadFieldHeader());
    }

    private static byte[] Damage(byte[] bytes, Random random)
    {
        var copy = bytes.ToArray();
        for (var i = random.Next(1, 4); i > 0; i--)
            copy[random.Next(copy.Length)] = random.Next(3) == 0 ? (byte)0xFF : (byte)random.Next(256);
        return random.Next(4) == 0 ? copy[..random.Next(copy.Length)] : copy;
    }

    /// <summary>Any exception is an answer; a megabyte for a few hundred bytes is none.</summary>
    private static void Bounded(Action action)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        try
        {
            action();
        }
        catch (Exception exception) when (exception is not (OutOfMemoryException or NullReferenceException or AccessViolationException))
        {
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 8 << 20);
    }
}
