using ActOp.Serialization.Tests.Protobuf;
using ActOp.Wire;
using Google.Protobuf;
using Google.Protobuf.Collections;
using Google.Protobuf.WellKnownTypes;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Serializers;
using Empty = ActOp.Serialization.Tests.Protobuf.Empty;

namespace ActOp.Serialization.Tests;

/// <summary>Messages of Google.Protobuf.</summary>
public sealed class ProtobufTests : IDisposable
{
    /// <summary>The limits of a node by default: SerializationLimitOptions.</summary>
    private const int PerByte = 128;
    private const int PerMessage = 64 * 1024;

    private readonly ServiceProvider _services =
        new ServiceCollection().AddSerializer(static b => b.AddProtobufSerializer()).BuildServiceProvider();

    private Serializer Serializer => _services.GetRequiredService<Serializer>();

    private static Order Sample => new()
    {
        Id = 5,
        Customer = "Ada",
        Parts = { new Order { Id = 6, Cash = 2.5 }, new Order { Id = 7, Card = "1234" } },
        Counts = { ["a"] = 1, ["b"] = -2 },
        Raw = ByteString.CopyFromUtf8("bytes"),
        Numbers = { 1, 2, 300 },
    };

    public static TheoryData<IMessage> Bombs => new((IMessage[])
    [
        Repeated<Empties, Empty>(static all => all.Items, 100_000),
        Repeated<Maps, Maps>(static all => all.Items, 20_000),
        new ListValue { Values = { Enumerable.Range(0, 50_000).Select(static _ => new Value()) } },
        Inner(20_000),
    ]);

    public void Dispose() => _services.Dispose();

    [Fact]
    public void A_message_is_a_value_an_object_and_a_member()
    {
        Assert.Equal(Sample, Serializer.Deserialize<Order>(Serializer.SerializeToArray(Sample)));
        Assert.Equal(Sample, Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(Sample)));
        Assert.Equal(Sample, Serializer.Deserialize<IMessage>(Serializer.SerializeToArray<IMessage>(Sample)));
        Assert.Null(Serializer.Deserialize<Order?>(Serializer.SerializeToArray<Order?>(null)));
        var time = Timestamp.FromDateTime(DateTime.UnixEpoch.AddSeconds(5));
        Assert.Equal(time, Serializer.Deserialize<Timestamp>(Serializer.SerializeToArray(time)));
        var order = Sample;
        var held = Serializer.Deserialize<OrderHolder>(Serializer.SerializeToArray(
            new OrderHolder { Order = order, Any = order, All = [order, new Order()] }));
        Assert.Equal(order, held.Order);
        Assert.Equal(2, held.All.Count);
        Assert.Same(held.Order, held.Any);
        Assert.Same(held.Order, held.All[0]);
    }

    [Fact]
    public void A_copy_shares_nothing_that_can_change()
    {
        var order = Sample;
        var copier = _services.GetRequiredService<DeepCopier>();
        var copy = copier.Copy(order);
        Assert.Equal(order, copy);
        Assert.NotSame(order, copy);
        Assert.NotSame(order.Parts[0], copy.Parts[0]);
        var held = copier.Copy(new OrderHolder { Order = order, Any = order });
        Assert.Same(held.Order, held.Any);
        Assert.NotSame(order, held.Order);
        Assert.Null(copier.Copy<Order?>(null));
    }

    [Fact]
    public void What_stands_in_messages_can_stand_alone()
    {
        var bytes = ByteString.CopyFromUtf8("bytes");
        RepeatedField<Order> orders = [Sample, new Order { Id = 1 }];
        var map = new MapField<string, Order> { ["a"] = Sample };
        Assert.Equal(bytes, Serializer.Deserialize<ByteString>(Serializer.SerializeToArray(bytes)));
        Assert.Equal(orders, Serializer.Deserialize<RepeatedField<Order>>(Serializer.SerializeToArray(orders)));
        Assert.Equal(map, Serializer.Deserialize<MapField<string, Order>>(Serializer.SerializeToArray(map)));
        var copier = _services.GetRequiredService<DeepCopier>();
        Assert.Same(bytes, copier.Copy(bytes));
        var (ordersCopy, mapCopy) = (copier.Copy(orders), copier.Copy(map));
        Assert.Equal(orders, ordersCopy);
        Assert.Equal(map, mapCopy);
        Assert.NotSame(orders[0], ordersCopy[0]);
        Assert.NotSame(map["a"], mapCopy["a"]);
    }

    [Fact]
    public void Only_messages_that_the_application_accepts_are_served()
    {
        using var some = new ServiceCollection().AddSerializer(static b => b.AddProtobufSerializer(
            static type => type == typeof(Order) || type == typeof(NoMessage), static type => type == typeof(Order)))
            .BuildServiceProvider();
        var serializer = some.GetRequiredService<Serializer>();
        Assert.Equal(Sample, serializer.Deserialize<Order>(serializer.SerializeToArray(Sample)));
        Assert.ThrowsAny<SerializerException>(() => serializer.SerializeToArray(new Maps()));
        Assert.ThrowsAny<SerializerException>(() => serializer.SerializeToArray(new NoMessage()));
        var maps = Serializer.SerializeToArray<object>(new Maps());
        Assert.ThrowsAny<Exception>(() => serializer.Deserialize<object>(maps));
        using var none = new ServiceCollection().AddSerializer().BuildServiceProvider();
        Assert.ThrowsAny<Exception>(() => none.GetRequiredService<Serializer>().Deserialize<object>(maps));
    }

    [Fact]
    public void Fields_of_a_later_build_stay_in_the_message()
    {
        var later = new LaterOrder { Id = 5, Note = "new" };
        var read = Serializer.Deserialize<Order>(Serializer.SerializeToArray(Order.Parser.ParseFrom(later.ToByteArray())));
        Assert.Equal(5, read.Id);
        Assert.Equal(later, LaterOrder.Parser.ParseFrom(read.ToByteArray()));
        Assert.Equal(later, LaterOrder.Parser.ParseFrom(_services.GetRequiredService<DeepCopier>().Copy(read).ToByteArray()));
    }

    [Fact]
    public void A_message_may_be_written_by_hand()
    {
        var read = Serializer.Deserialize<ByHand>(Serializer.SerializeToArray(new ByHand { Number = 300 }));
        Assert.Equal(300, read.Number);
        Assert.Equal(300, _services.GetRequiredService<DeepCopier>().Copy(read).Number);
        var refused = Assert.Throws<SerializerException>(() => Serializer.Deserialize<Unmade>(Serializer.SerializeToArray(new Unmade(1))));
        Assert.Contains("neither a static property Parser nor a constructor", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Damaged_and_too_deep_messages_are_refused_with_the_name_of_their_class()
    {
        var bytes = Serializer.SerializeToArray(Sample);
        var start = bytes.AsSpan().IndexOf("Ada"u8) - 1;
        bytes[start] = 0x7F; // The length of the text.
        var damaged = Assert.Throws<SerializerException>(() => Serializer.Deserialize<Order>(bytes));
        Assert.Contains(typeof(Order).FullName!, damaged.Message, StringComparison.Ordinal);
        Assert.IsType<InvalidProtocolBufferException>(damaged.InnerException);

        var deep = new Order();
        for (var level = 0; level < 120; level++)
            deep = new Order { Parts = { deep } };
        var tooDeep = Assert.Throws<SerializerException>(() => Serializer.Deserialize<Order>(Serializer.SerializeToArray(deep)));
        Assert.Contains("nesting", tooDeep.Message, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Bombs))]
    public void What_needs_far_more_memory_than_its_bytes_is_refused_before_it_is_taken(IMessage bomb)
    {
        var bytes = Serializer.SerializeToArray<object>(bomb);
        Assert.NotNull(Serializer.Deserialize<object>(bytes));
        var limit = PerMessage + (16L * bytes.Length);
        var before = GC.GetAllocatedBytesForCurrentThread();
        var exception = Assert.Throws<SerializerException>(() => Read(bytes, limit));
        Assert.Contains("SerializationLimitOptions.MaxDecodedBytesPerByte", exception.Message, StringComparison.Ordinal);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (2 * bytes.Length) + (1 << 20));
    }

    [Fact]
    public void Usual_messages_fit_into_the_limit()
    {
        IMessage[] samples =
        [
            Sample, new Order { Parts = { Enumerable.Range(0, 10_000).Select(static i => new Order { Id = i }) } },
            new Order { Numbers = { Enumerable.Range(0, 100_000) } },
            new Order { Raw = ByteString.CopyFrom(new byte[100_000]), Customer = new string('a', 100_000) },
            new Struct { Fields = { Enumerable.Range(0, 1_000).ToDictionary(static i => "f" + i, static i => Value.ForNumber(i)) } },
            LaterOrder.Parser.ParseFrom(new Order { Id = 1, Customer = "unknown", Numbers = { 1, 2, 3 } }.ToByteArray()),
        ];
        foreach (var sample in samples)
        {
            var bytes = Serializer.SerializeToArray<object>(sample);
            Assert.Equal(sample, Read(bytes, PerMessage + ((long)PerByte * bytes.Length)));
        }
    }

    [Theory]
    [MemberData(nameof(Bombs))]
    public void What_is_counted_is_what_the_library_takes(IMessage message)
    {
        var bytes = message.ToByteArray();
        var parser = message.Descriptor.Parser;
        parser.ParseFrom(bytes);
        var before = GC.GetAllocatedBytesForCurrentThread();
        GC.KeepAlive(parser.ParseFrom(bytes));
        var taken = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.InRange(ActOp.Serialization.Protobuf.MessageMemory.BytesOf(message.Descriptor, bytes), taken * 2 / 3, taken * 3);
    }

    [Fact]
    public void Changed_bytes_are_read_or_refused()
    {
        var random = new Random(41);
        var (whole, message) = (Serializer.SerializeToArray<object>(Sample), Sample.ToByteArray());
        var refused = 0;
        for (var run = 0; run < 20_000; run++)
        {
            var bytes = Changed(whole, 1, random);
            try
            {
                Read(bytes, PerMessage + (PerByte * bytes.Length));
            }
            catch (Exception e) when (e is SerializerException or TypeLoadException or InvalidOperationException or OverflowException)
            {
                refused++;
            }

            // Of the message itself only the one exception is thrown, and what it takes is counted without any.
            bytes = Changed(message, 0, random);
            Assert.InRange(ActOp.Serialization.Protobuf.MessageMemory.BytesOf(Order.Descriptor, bytes), 1, 1_000 * (bytes.Length + 1));
            try
            {
                ActOp.Serialization.Protobuf.MessageClass.ClassOf(typeof(Order)).Parse(bytes);
            }
            catch (SerializerException)
            {
                refused++;
            }
        }

        Assert.InRange(refused, 10_000, 39_000);
    }

    private static byte[] Changed(byte[] original, int first, Random random)
    {
        var length = random.Next(4) == 0 ? random.Next(original.Length / 2, original.Length) : original.Length;
        var bytes = original.AsSpan(0, length).ToArray();
        for (var change = random.Next(1, 4); change > 0; change--)
            bytes[random.Next(first, bytes.Length)] = (byte)random.Next(256);
        return bytes;
    }

    private static TMessage Repeated<TMessage, TItem>(Func<TMessage, RepeatedField<TItem>> items, int count)
        where TMessage : new()
        where TItem : new()
    {
        var message = new TMessage();
        items(message).AddRange(Enumerable.Range(0, count).Select(static _ => new TItem()));
        return message;
    }

    /// <summary>Messages with one unknown field each.</summary>
    private static Empties Inner(int count)
    {
        var unknown = Empty.Parser.ParseFrom(new Order { Id = 1 }.ToByteArray());
        return new Empties { Items = { Enumerable.Repeat(unknown, count) } };
    }

    private object Read(byte[] bytes, long limit)
    {
        var session = new WireSession(null) { CodecProvider = _services.GetRequiredService<CodecProvider>() };
        session.LimitDecoded(limit);
        var reader = new WireReader(bytes, session);
        Assert.Equal(MarkedMessage.Mark, reader.ReadByte());
        return Codec<object>.Default.Read(ref reader);
    }

    public sealed class NoMessage;

    /// <summary>A message without generated code: one number.</summary>
    public sealed class ByHand : IMessage
    {
        public int Number { get; set; }

        public Google.Protobuf.Reflection.MessageDescriptor Descriptor => null!;

        public void MergeFrom(CodedInputStream input)
        {
            while (input.ReadTag() != 0)
                Number = input.ReadInt32();
        }

        public void WriteTo(CodedOutputStream output)
        {
            output.WriteTag(1, WireFormat.WireType.Varint);
            output.WriteInt32(Number);
        }

        public int CalculateSize() => 1 + CodedOutputStream.ComputeInt32Size(Number);
    }

    public sealed class Unmade(int number) : IMessage
    {
        public Google.Protobuf.Reflection.MessageDescriptor Descriptor => null!;

        public void MergeFrom(CodedInputStream input)
        {
        }

        public void WriteTo(CodedOutputStream output)
        {
        }

        public int CalculateSize() => 0 * number;
    }
}

[GenerateSerializer]
public sealed class OrderHolder
{
    [Id(0)]
    public Order? Order { get; set; }

    [Id(1)]
    public object? Any { get; set; }

    [Id(2)]
    public List<Order> All { get; set; } = [];
}
