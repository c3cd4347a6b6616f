using System.Collections;
using System.Collections.Frozen;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using System.Globalization;
using System.Runtime.Serialization;
using System.Text.Json;
using System.Text.Json.Nodes;
using Orleans.Serialization;

#pragma warning disable SYSLIB0050, SYSLIB0051, CS0672

namespace ActOp.Serialization.Tests;

/// <summary>Types of the framework beyond the common ones, and numbers whose type changed.</summary>
public class BreadthTests
{
    private static readonly Serializer Serializer = new();

    [Fact]
    public void Json_values_come_back_as_the_class_that_they_were()
    {
        var node = JsonNode.Parse("""{"a":[1,2.5,null,"x"],"b":{"c":true}}""")!;
        Assert.True(JsonNode.DeepEquals(node, Trip(node)));
        Assert.True(JsonNode.DeepEquals(node, Assert.IsType<JsonObject>(Trip<object>(node))));
        Assert.Equal(2, Assert.IsType<JsonArray>(Trip<object>(new JsonArray(1, 2))).Count);
        Assert.Equal(5, Trip<JsonValue>(JsonValue.Create(5)).GetValue<int>());
        Assert.Equal("""{"k":1}""", Trip(JsonDocument.Parse("""{"k":1}""").RootElement).GetRawText());
        Assert.Equal(JsonValueKind.Undefined, Trip(default(JsonElement)).ValueKind);
        Assert.Equal(7, Trip(JsonDocument.Parse("[7]")).RootElement[0].GetInt32());
        var copy = new DeepCopier().Copy(node);
        Assert.NotSame(node, copy);
        Assert.True(JsonNode.DeepEquals(node, copy));
        Assert.Null(Trip<JsonNode?>(null));
    }

    [Fact]
    public void Frozen_collections_keep_their_comparers()
    {
        var set = Trip(new[] { "A" }.ToFrozenSet(StringComparer.OrdinalIgnoreCase));
        Assert.Contains("a", (IReadOnlySet<string>)set);
        var map = Trip<object>(new Dictionary<string, int> { ["A"] = 1 }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase));
        Assert.Equal(1, Assert.IsAssignableFrom<FrozenDictionary<string, int>>(map)["a"]);
        Assert.Equal([1, 2], Trip(new[] { 1, 2 }.ToFrozenSet()).Order());
        Assert.NotSame(Trip(new[] { new Animal() }.ToFrozenSet()), null);
    }

    [Fact]
    public void Older_collections_come_back()
    {
        Assert.Equal(new object?[] { 1, "a", null }, Trip(new ArrayList { 1, "a", null }).ToArray());
        Assert.Equal("v", Trip(new Hashtable { ["k"] = "v" })["k"]);
        var values = Trip(new NameValueCollection { { "a", "1" }, { "a", "2" }, { "b", null } });
        Assert.Equal(["1", "2"], values.GetValues("a")!);
        Assert.Equal(2, values.Count);
        Assert.Equal(5, Trip(new BitVector32(5)).Data);
        Assert.Equal(CultureInfo.InvariantCulture.CompareInfo, Trip(CultureInfo.InvariantCulture.CompareInfo));
        Assert.Equal([1], Trip(new ReadOnlyObservableCollection<int>([1])));
        var queue = Trip(new PriorityQueue<string, int>([("late", 2), ("early", 1)]));
        Assert.Equal("early", queue.Dequeue());
    }

    [Fact]
    public void Tuples_of_every_length_come_back()
    {
        Assert.Equal(default, Trip(default(ValueTuple)));
        var eight = Tuple.Create(1, "b", 3, 4, 5, 6, 7, 8);
        Assert.Equal(eight, Trip(eight));
        Assert.Equal((object)eight, Trip<object>(eight));
        var nine = new Tuple<int, int, int, int, int, int, int, Tuple<int, int>>(1, 2, 3, 4, 5, 6, 7, Tuple.Create(8, 9));
        Assert.Equal(nine, Trip(nine));
    }

    [Fact]
    public void Floats_may_be_widened_and_narrowed_if_they_fit()
    {
        Assert.Equal((1.5, 2.5, 3.5f), Pick(As<Floats, WideFloats>(new Floats { A = 1.5f, B = 2.5f, C = 3.5 })));
        Assert.Equal((1.5f, 2.5f),
            (As<WideFloats, Floats>(new WideFloats { A = 1.5, B = 2.5m }).A, As<WideFloats, Floats>(new WideFloats { B = 2.5m }).B));
        Assert.Throws<OverflowException>(() => As<WideFloats, Floats>(new WideFloats { A = 1e300 }));
        static (double, double, float) Pick(WideFloats value) => (value.A, (double)value.B, value.C);
    }

    [Fact]
    public void Integers_may_be_narrowed_if_they_fit()
    {
        var small = As<Longs, Shorts>(new Longs { A = -5, B = 7, C = 9, D = 3, E = 4 });
        Assert.Equal((-5, 7u, (short)9, (byte)3, (ushort)4), (small.A, small.B, small.C, small.D, small.E));
        Assert.Throws<OverflowException>(() => As<Longs, Shorts>(new Longs { A = 1L << 40 }));
        Assert.Throws<OverflowException>(() => As<Longs, Shorts>(new Longs { B = 1UL << 40 }));
        Assert.Throws<OverflowException>(() => As<Longs, Shorts>(new Longs { C = 40_000 }));
        Assert.Throws<OverflowException>(() => As<Longs, Shorts>(new Longs { D = 256 }));
        Assert.Throws<OverflowException>(() => As<Longs, Shorts>(new Longs { E = ulong.MaxValue }));
    }

    [Fact]
    public void Parameters_of_a_record_can_be_left_out()
    {
        var read = Trip(new Unsent(5, "n") { Sent = "s" });
        Assert.Equal((0, null, "s"), (read.Number, read.Name, read.Sent));
    }

    [Fact]
    public void Members_that_code_must_not_use_any_more_are_still_sent()
    {
        var read = Trip(new Old(3));
        Assert.Equal(3, read.Sum());
    }

    [Fact]
    public void An_exception_with_a_message_of_its_own_members_has_it_once()
    {
        var read = Trip<Exception>(new CodedException("text", 7));
        Assert.Equal("text (code 7)", read.Message);
        Assert.Equal("text (Parameter 'p')", Trip<Exception>(new ArgumentException("text", "p")).Message);
        Assert.Equal(new InvalidOperationException().Message, Trip<Exception>(new InvalidOperationException()).Message);
    }

    [Fact]
    public void A_serializable_type_writes_itself_with_its_callbacks()
    {
        var value = new Recorded { Payload = "p" };
        var read = Trip(value);
        Assert.Equal(["serializing", "written", "serialized"], value.History);
        Assert.Equal(["deserializing", "constructed", "deserialized", "complete"], read.History);
        Assert.Equal("p", read.Payload);
        Assert.Equal("p", Assert.IsType<Recorded>(Trip<object>(value)).Payload);
        Assert.Equal("p", new DeepCopier().Copy(value).Payload);
        Assert.Equal(4, Trip(new RecordedStruct(4)).Number);
    }

    [Fact]
    public void An_exception_with_a_serialization_constructor_keeps_its_members()
    {
        var read = Assert.IsType<RecordedException>(Trip<Exception>(new RecordedException("m", new TimeoutException("t"), "extra")));
        Assert.Equal(("m", "extra", "t"), (read.Message, read.Extra, read.InnerException!.Message));
    }

    [Fact]
    public void A_serializable_type_of_a_library_cannot_be_named()
    {
        Assert.Throws<CodecNotFoundException>(() => Serializer.SerializeToArray<object>(new System.Security.Claims.ClaimsPrincipal()));
        Assert.False(TypeManifest.TryGetType("serializable:System.Private.CoreLib:System.Collections.Hashtable", out _));
    }

    private static T Trip<T>(T value) => Serializer.Deserialize<T>(Serializer.SerializeToArray(value));

    private static TOut As<TIn, TOut>(TIn value) => Serializer.Deserialize<TOut>(Serializer.SerializeToArray(value));

    [Serializable]
    private sealed class Recorded : ISerializable, IDeserializationCallback
    {
        public Recorded()
        {
        }

        private Recorded(SerializationInfo info, StreamingContext context)
        {
            History!.Add("constructed");
            Payload = info.GetString("p");
        }

        public List<string> History { get => field ??= []; }

        public string? Payload { get; init; }

        public void GetObjectData(SerializationInfo info, StreamingContext context)
        {
            History.Add("written");
            info.AddValue("p", Payload);
        }

        void IDeserializationCallback.OnDeserialization(object? sender) => History.Add("complete");

        [OnSerializing]
        private void Serializing(StreamingContext context) => History.Add("serializing");

        [OnSerialized]
        private void Serialized(StreamingContext context) => History.Add("serialized");

        [OnDeserializing]
        private void Deserializing(StreamingContext context) => History.Add("deserializing");

        [OnDeserialized]
        private void Deserialized(StreamingContext context) => History.Add("deserialized");
    }

    [Serializable]
    private readonly struct RecordedStruct : ISerializable
    {
        public RecordedStruct(int number) => Number = number;

        private RecordedStruct(SerializationInfo info, StreamingContext context) => Number = info.GetInt32("n");

        public int Number { get; }

        public void GetObjectData(SerializationInfo info, StreamingContext context) => info.AddValue("n", Number);
    }

    [Serializable]
    private sealed class RecordedException : Exception
    {
        public RecordedException(string message, Exception inner, string extra)
            : base(message, inner) => Extra = extra;

        private RecordedException(SerializationInfo info, StreamingContext context)
            : base(info, context) => Extra = info.GetString("extra");

        public string? Extra { get; }

        public override void GetObjectData(SerializationInfo info, StreamingContext context)
        {
            base.GetObjectData(info, context);
            info.AddValue("extra", Extra);
        }
    }
}

[GenerateSerializer]
public sealed class CodedException(string message, int code) : Exception(message)
{
    [Id(0)]
    public int Code { get; } = code;

    public override string Message => base.Message + " (code " + Code + ")";
}

[GenerateSerializer(IncludePrimaryConstructorParameters = false)]
public sealed record Unsent(int Number, string? Name)
{
    [Id(0)]
    public string? Sent { get; set; }
}

[GenerateSerializer]
public sealed class Old(int number)
{
    [Id(0)]
    [Obsolete("Not any more.", error: true)]
    public int Number { get; set; } = number;

    [Id(1)]
    [Obsolete("Not any more.", error: true)]
    public int Field;

    [Obsolete("May use the others.")]
    private int Both() => Number + Field;

#pragma warning disable CS0618
    public int Sum() => Both();
#pragma warning restore CS0618
}

[GenerateSerializer]
public sealed class Floats
{
    [Id(0)]
    public float A { get; set; }

    [Id(1)]
    public float B { get; set; }

    [Id(2)]
    public double C { get; set; }
}

[GenerateSerializer]
public sealed class WideFloats
{
    [Id(0)]
    public double A { get; set; }

    [Id(1)]
    public decimal B { get; set; }

    [Id(2)]
    public float C { get; set; }
}

[GenerateSerializer]
public sealed class Longs
{
    [Id(0)]
    public long A { get; set; }

    [Id(1)]
    public ulong B { get; set; }

    [Id(2)]
    public int C { get; set; }

    [Id(3)]
    public uint D { get; set; }

    [Id(4)]
    public ulong E { get; set; }
}

[GenerateSerializer]
public sealed class Shorts
{
    [Id(0)]
    public int A { get; set; }

    [Id(1)]
    public uint B { get; set; }

    [Id(2)]
    public short C { get; set; }

    [Id(3)]
    public byte D { get; set; }

    [Id(4)]
    public ushort E { get; set; }
}

/// <summary>A class of a library that cannot be marked.</summary>
public class Unmarked
{
    private int _secret;

    public int Secret() => _secret;

    public void Hide(int value) => _secret = value;
}

[GenerateSerializer]
public struct UnmarkedSurrogate
{
    [Id(0)]
    public int Secret;
}

[RegisterConverter]
public sealed class UnmarkedConverter : IConverter<Unmarked, UnmarkedSurrogate>, IPopulator<Unmarked, UnmarkedSurrogate>
{
    public Unmarked ConvertFromSurrogate(in UnmarkedSurrogate surrogate)
    {
        var value = new Unmarked();
        Populate(surrogate, value);
        return value;
    }

    public UnmarkedSurrogate ConvertToSurrogate(in Unmarked value) => new() { Secret = value.Secret() };

    public void Populate(in UnmarkedSurrogate surrogate, Unmarked value) => value.Hide(surrogate.Secret);
}

[GenerateSerializer]
public sealed class DerivedFromUnmarked : Unmarked
{
    [Id(0)]
    public string? Name { get; set; }
}

public class PopulatorTests
{
    [Fact]
    public void A_class_may_derive_from_one_that_a_converter_fills()
    {
        var value = new DerivedFromUnmarked { Name = "n" };
        value.Hide(7);
        var serializer = new Orleans.Serialization.Serializer();
        var read = Assert.IsType<DerivedFromUnmarked>(serializer.Deserialize<Unmarked>(serializer.SerializeToArray<Unmarked>(value)));
        Assert.Equal((7, "n"), (read.Secret(), read.Name));
        var copy = new Orleans.Serialization.DeepCopier().Copy(value);
        Assert.Equal((7, "n"), (copy.Secret(), copy.Name));
    }
}
