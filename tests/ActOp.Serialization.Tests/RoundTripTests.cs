using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Globalization;
using System.Net;
using System.Numerics;
using FsCheck;
using FsCheck.Fluent;
using Orleans.Concurrency;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

public class RoundTripTests
{
    private static readonly Serializer Serializer = new();

    public static IEnumerable<TheoryDataRow<object>> Values { get; } = new object[]
    {
        true, (byte)200, (sbyte)-5, (short)-300, (ushort)65535, int.MinValue, uint.MaxValue, long.MinValue, ulong.MaxValue, 'ä', 1.5f,
        double.NaN, -12.345m, "text ☃", (Half)2.5,
        Guid.Parse("00112233-4455-6677-8899-aabbccddeeff"), new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc),
        new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.FromHours(-7)), new DateOnly(2020, 2, 29),
        new TimeOnly(23, 59), TimeSpan.FromTicks(-1), Int128.MinValue, UInt128.MaxValue, new System.Text.Rune(0x1F600),
        BigInteger.Pow(7, 100), new Uri("http://a/b?c"), new Version(1, 2, 3), typeof(List<int>),
        CultureInfo.GetCultureInfo(""), IPAddress.Parse("10.1.2.3"), IPAddress.IPv6Loopback, new IPEndPoint(IPAddress.Loopback, 80),
        Color.Blue, DayOfWeek.Friday,
        new byte[] { 1, 2 }, new sbyte[] { -1 }, new[] { 1, 2 }, new string?[] { "a", null }, new[,] { { 1, 2, 3 }, { 4, 5, 6 } },
        new[] { new[] { 1 }, [] }, new List<string> { "x" }, new Dictionary<string, int> { ["a"] = 1 },
        new HashSet<int> { 1, 2 }, new Queue<int>([1, 2, 3]), new Stack<int>([1, 2, 3]), new SortedSet<int> { 3, 1 },
        new SortedDictionary<string, int> { ["z"] = 1, ["a"] = 2 }, new SortedList<int, string> { [2] = "b" },
        new LinkedList<int>([1, 2]), new ConcurrentDictionary<int, string>([new(1, "a")]), new ConcurrentQueue<int>([1, 2]),
        new ConcurrentStack<int>([1, 2]), new List<int> { 1 }.AsReadOnly(),
        ImmutableArray.Create(1, 2), ImmutableList.Create("a"), ImmutableHashSet.Create(1), ImmutableDictionary.Create<int, int>()
            .Add(1, 2), ImmutableQueue.Create(1, 2), ImmutableStack.Create(1, 2), ImmutableSortedSet.Create(2, 1),
        new KeyValuePair<int, string>(1, "a"), (1, "b"), (1, 2, 3, 4, 5, 6, 7, 8, 9), Tuple.Create(1, "c", 2.0), new Money(1.5m, "EUR"),
        new Point(1, -2, null) { Extra = 9 }, new BitArray([true, false, true]),
        new object[] { 1, "a", null!, 2.5 }, new Immutable<int>(4), GrainId.Create("a", "b"), GrainType.Create("t"), IdSpan.Create("s"),
        SiloAddress.New(IPAddress.Loopback, 1, 2), ActivationId.NewId(),
    }.Select(static value => new TheoryDataRow<object>(value));

    [Theory]
    [MemberData(nameof(Values), DisableDiscoveryEnumeration = true)]
    public void A_built_in_value_keeps_its_content_and_type(object value)
    {
        var read = Serializer.Deserialize<object>(Serializer.SerializeToArray(value));
        var copy = new DeepCopier().Copy(value);
        if (value is not IPAddress)
            Assert.Equal(value.GetType(), read.GetType());
        if (value is not IEnumerable || value is string)
            Assert.Equal(value, read);
        else
            Assert.Equal(((IEnumerable)value).Cast<object>(), ((IEnumerable)read).Cast<object>());
        Assert.Equal(value.GetType(), copy.GetType());
    }

    [Fact]
    public void Any_numbers_and_text_come_back() => Prop.ForAll<(int, long, ulong, double), string?, decimal>((numbers, text, money) =>
        Same(numbers) && (text is null || !text.Any(char.IsSurrogate) ? Same(text) : true) && Same(money)).QuickCheckThrowOnFailure();

    [Fact]
    public void Any_collections_come_back() => Prop.ForAll<List<int>, Dictionary<int, bool>, byte[]>((list, map, bytes) =>
        Trip(list).SequenceEqual(list) && Trip(map).OrderBy(p => p.Key).SequenceEqual(map.OrderBy(p => p.Key))
            && Trip(bytes).AsSpan().SequenceEqual(bytes)).QuickCheckThrowOnFailure();

    [Fact]
    public void A_large_array_comes_back()
    {
        var numbers = Enumerable.Range(0, 10_000).ToArray();
        Assert.Equal(numbers, Trip(numbers));
        Assert.Equal(numbers.Select(n => n.ToString()), Trip(numbers.Select(n => n.ToString()).ToArray()));
    }

    [Fact]
    public void Private_init_required_and_readonly_members_come_back()
    {
        var dog = Trip(new Dog(2.5) { Name = "Rex", Color = Color.Blue, Secret = 4 }.WithAge(3));
        Assert.Equal((3, 2.5, Color.Blue, "Rex", 0), (dog.Age(), ((Dog)dog).Weight, ((Dog)dog).Color, dog.Name, dog.Secret));
    }

    [Fact]
    public void A_derived_object_keeps_its_type_behind_its_base()
    {
        Animal animal = new() { Name = "a", Friends = [new Dog { Color = Color.Red, Name = "d" }, new Animal()] };
        var read = Trip(animal);
        Assert.IsType<Dog>(read.Friends[0]);
        Assert.IsType<Animal>(read.Friends[1]);
    }

    [Fact]
    public void Identity_and_cycles_are_kept()
    {
        var node = new Node<string> { Value = "v" };
        node.Next = node;
        node.Any = new object[] { node, node };
        foreach (var other in new[] { Trip(node), new DeepCopier().Copy(node) })
        {
            Assert.NotSame(node, other);
            Assert.Same(other, other.Next);
            Assert.Same(other, ((object[])other.Any!)[1]);
        }
    }

    [Fact]
    public void Objects_without_tracking_are_written_each_time()
    {
        var shared = new Loose { Number = 1 };
        var read = Trip(new[] { shared, shared });
        Assert.NotSame(read[0], read[1]);
        shared.Self = shared;
        Assert.Throws<SerializerException>(() => Trip(shared));
    }

    [Fact]
    public void A_copy_is_isolated_and_immutable_values_are_shared()
    {
        var copier = new DeepCopier();
        var animal = new Animal { Friends = [new Animal()] };
        var copy = copier.Copy(animal);
        Assert.NotSame(animal.Friends, copy.Friends);
        Assert.NotSame(animal.Friends[0], copy.Friends[0]);
        var frozen = new Frozen();
        Assert.Same(frozen, copier.Copy(frozen));
        var point = new Point(1, 2, "p");
        Assert.Same(point, copier.Copy(point));
        var immutable = new Immutable<List<int>>([1]);
        Assert.Same(immutable.Value, copier.Copy(immutable).Value);
        var list = ImmutableList.Create(1);
        Assert.Same(list, copier.Copy(list));
        Assert.NotSame(animal, copier.Copy(ImmutableList.Create(animal))[0]);
    }

    [Fact]
    public void A_generic_struct_and_nullables_come_back()
    {
        var pair = Trip(new Pair<int?, List<string>> { First = null, Second = ["a"] });
        Assert.Null(pair.First);
        Assert.Equal(["a"], pair.Second);
        Assert.Equal(4, Trip<int?>(4));
    }

    [Fact]
    public void A_converter_stands_in_for_a_foreign_type()
    {
        Assert.Equal(7, Trip(new Foreign(7)).Number);
        Assert.Equal(8, ((Foreign)Trip<object>(new Foreign(8))).Number);
    }

    [Fact]
    public void Comparers_of_strings_are_kept()
    {
        var map = Trip(new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase) { ["A"] = 1 });
        Assert.Equal(1, map["a"]);
        Assert.Contains("x", new DeepCopier().Copy(new HashSet<string>(StringComparer.OrdinalIgnoreCase) { "X" }));
    }

    [Fact]
    public void A_query_behind_a_collection_interface_is_sent_as_a_list()
    {
        Assert.Equal([2, 3], Trip<IEnumerable<int>>(new[] { 1, 2 }.Select(n => n + 1)));
        IReadOnlyList<int> expression = [1, 2, 3];
        Assert.Equal(expression, Trip(expression));
        Assert.IsType<int[]>(Trip<IReadOnlyList<int>>(new[] { 1 }));
    }

    [Fact]
    public void A_type_without_a_codec_is_refused_by_name()
    {
        var error = Assert.Throws<CodecNotFoundException>(() => Serializer.SerializeToArray(new System.Text.StringBuilder()));
        Assert.Contains("StringBuilder", error.Message);
        Assert.False(Serializer.CanSerialize<System.Text.StringBuilder>());
    }

    /// <summary>Each thread keeps what it has added to a bag, and so the bag itself if an item refers to it: a leak for each message.</summary>
    [Fact]
    public void A_concurrent_bag_has_no_codec()
    {
        var error = Assert.Throws<CodecNotFoundException>(
            () => Serializer.SerializeToArray(new System.Collections.Concurrent.ConcurrentBag<object>()));
        Assert.Contains("ConcurrentBag", error.Message);
    }

    [Fact]
    public void A_grain_reference_is_bound_to_the_reading_runtime()
    {
        var runtime = new DirectRuntime(new TestGrain());
        var serializer = new Serializer(runtime);
        var grain = runtime.Reference<IListGrain<string>>();
        var read = serializer.Deserialize<IListGrain<string>>(serializer.SerializeToArray(grain));
        Assert.Equal((GrainReference)grain, (GrainReference)(object)read);
        Assert.IsAssignableFrom<IListGrain<string>>(serializer.Deserialize<object>(serializer.SerializeToArray<object>(grain)));
        Assert.Same(grain, new DeepCopier().Copy(grain));
        Assert.Throws<GrainReferenceNotBoundException>(
            () => Serializer.Deserialize<IListGrain<string>>(serializer.SerializeToArray(grain)));
    }

    [Fact]
    public void A_raw_observer_is_refused() =>
        Assert.Throws<NotSupportedException>(() => Serializer.SerializeToArray<IObserver>(new TestGrain()));

    private static bool Same<T>(T value) => EqualityComparer<T>.Default.Equals(Trip(value), value);

    private static T Trip<T>(T value) => Serializer.Deserialize<T>(Serializer.SerializeToArray(value));
}
