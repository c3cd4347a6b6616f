using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

public class HostileInputTests
{
    private static readonly Serializer Serializer = new();

    [Fact]
    public void Damaged_bytes_give_a_value_or_a_serializer_exception()
    {
        var random = new Random(4711);
        object[] samples =
        [
            new object[] { new Dog { Name = "d", Color = Color.Red, Friends = [new Animal()] }, new List<int> { 1, 2 },
                new Dictionary<string, object> { ["a"] = 1.5m }, (1, "b") },
            new Node<string> { Value = "v", Next = new Node<string>(), Any = new[,] { { 1, 2 } } },
            new VersionTwo { Added = [DateTime.MinValue, new Uri("http://x"), typeof(int)], Text = "t" },
            new BadException("m", new AggregateException(new TimeoutException()), 3),
            new object[] { DateTimeOffset.MaxValue, new DateOnly(1, 1, 1), 5m, new System.Text.Rune('a'), new HashSet<Guid> { Guid.Empty },
                new System.Collections.BitArray(9) },
        ];
        foreach (var sample in samples)
        {
            var bytes = Serializer.SerializeToArray(sample);
            for (var round = 0; round < 3000; round++)
                Expect(Damage(bytes, random));
        }
    }

    [Fact]
    public void Random_bytes_give_a_value_or_a_serializer_exception()
    {
        var random = new Random(815);
        for (var round = 0; round < 3000; round++)
        {
            var bytes = new byte[random.Next(1, 64)];
            random.NextBytes(bytes);
            bytes[0] = (byte)(bytes[0] % 5);
            if (round % 2 == 0)
                bytes = [MarkedMessage.Mark, .. bytes];
            Expect(bytes);
            ExpectAs<Animal>(bytes);
            ExpectAs<Exception>(bytes);
            ExpectAs<(byte, sbyte, short, ushort, char, Half, decimal)>(bytes);
            ExpectAs<(DateTime, TimeOnly, System.Net.IPEndPoint, Version, Orleans.Runtime.GrainAddress)>(bytes);
            ExpectAs<List<Dictionary<string, byte[]>>>(bytes);
        }
    }

    [Fact]
    public void Huge_counts_are_refused_before_memory_is_taken()
    {
        byte[] huge = [MarkedMessage.Mark, 3, 0xFF, 0xFF, 0xFF, 0x7F];
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<byte[]>(huge));
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<List<long>>(huge));
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<int[,]>(huge));
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<Dictionary<int, int>>(huge));
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<string>([MarkedMessage.Mark, .. huge[2..]]));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1 << 20);
    }

    [Fact]
    public void Deep_nesting_is_refused_on_both_sides()
    {
        var chain = new Node<int>();
        for (var i = 0; i < 100_000; i++)
            chain = new Node<int> { Next = chain };
        Assert.Throws<SerializerException>(() => Serializer.SerializeToArray(chain));
        Assert.Throws<SerializerException>(() => new DeepCopier().Copy(chain));
        byte[] bytes = [MarkedMessage.Mark, .. Enumerable.Repeat((byte)1, 1_000_000)];
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<object[]>(bytes));
    }

    [Fact]
    public void A_type_that_is_not_registered_is_never_made()
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        writer.WriteByte(MarkedMessage.Mark);
        writer.WriteByte(2);
        writer.WriteByte(0);
        writer.WriteString("System.Diagnostics.Process");
        writer.Commit();
        Assert.Contains(
            "System.Diagnostics.Process", Assert.Throws<SerializerException>(() => Serializer.Deserialize<object>(buffer.Written)).Message);
    }

    [Fact]
    public void A_type_name_cannot_be_nested_without_limit() =>
        Assert.Throws<SerializerException>(() => TypeManifest.TryGetType(
            string.Concat(Enumerable.Repeat("System.Collections.Generic.List`1<", 40)) + "System.Int32" + new string('>', 40), out _));

    [Fact]
    public void A_request_context_comes_back_and_a_damaged_one_is_refused()
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        ContextCodec.Write(ref writer, new Dictionary<string, object> { ["a"] = 1, ["b"] = new List<string> { "x" } });
        ContextCodec.Write(ref writer, null);
        writer.Commit();
        var reader = new WireReader(buffer.Written, new WireSession(null));
        var read = ContextCodec.Read(ref reader)!;
        Assert.Equal((1, "x"), (read["a"], ((List<string>)read["b"])[0]));
        Assert.Null(ContextCodec.Read(ref reader));
        Assert.Throws<SerializerException>(static () =>
        {
            var damaged = new WireReader([200, 1, 0], new WireSession(null));
            ContextCodec.Read(ref damaged);
        });
    }

    private static byte[] Damage(byte[] bytes, Random random)
    {
        var copy = bytes.ToArray();
        for (var i = random.Next(1, 4); i > 0; i--)
            copy[random.Next(copy.Length)] = random.Next(3) == 0 ? (byte)0xFF : (byte)random.Next(256);
        return random.Next(4) == 0 ? copy[..random.Next(copy.Length)] : copy;
    }

    private static void Expect(byte[] bytes) => ExpectAs<object>(bytes);

    private static void ExpectAs<T>(byte[] bytes)
    {
        try
        {
            Serializer.Deserialize<T>(bytes);
        }
        catch (Exception exception) when (exception is SerializerException or OverflowException)
        {
        }
    }
}
