using System.Buffers;
using System.IO.Pipelines;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Activators;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.Session;
using Orleans.Serialization.Utilities;
using Orleans.Serialization.WireProtocol;

[assembly: Orleans.Serialization.Configuration.TypeManifestProvider(typeof(ActOp.Serialization.Tests.TestManifest))]

namespace ActOp.Serialization.Tests;

/// <summary>Codecs that an application wrote for the interfaces of Orleans, alone and as values in messages of ours.</summary>
public sealed class ApplicationCodecTests : IDisposable
{
    private readonly ServiceProvider _services = new ServiceCollection().AddSerializer(static builder => builder.Configure(static options =>
    {
        options.FieldCodecs.Add(typeof(TemperatureCodec));
        options.FieldCodecs.Add(typeof(BoxCodec<>));
        options.Serializers.Add(typeof(RoomCodec));
        options.Copiers.Add(typeof(RoomCopier));
    })).BuildServiceProvider();

    public void Dispose() => _services.Dispose();

    [Fact]
    public void A_serializer_without_services_uses_those_of_no_host()
    {
        using var services = new ServiceCollection().AddSerializer().BuildServiceProvider();
        var ofHost = services.GetRequiredService<SerializerSessionPool>();
        var value = new Serializer(ofHost).Deserialize<int>(new Serializer().SerializeToArray(7));
        Assert.Equal(7, value);
        Assert.NotSame(ofHost, new Serializer().SessionPool);
        Assert.NotSame(ofHost.CodecProvider, new Serializer().SessionPool.CodecProvider);
    }

    [Fact]
    public void A_field_codec_writes_and_reads_through_pipes_and_sessions()
    {
        Assert.Equal(21.5, Field(new Temperature(21.5)).Degrees);
        Assert.Null(Field<Temperature?>(null));
        Assert.Equal([1, 2, 3], Field(new List<int> { 1, 2, 3 }));
        Assert.Equal("a,,a", string.Join(",", Field(new string[] { "a", null!, "a" })));
        Assert.Equal(Color.Blue, Field(Color.Blue));
        Assert.Equal(5, Field<object>(5));
        Assert.Equal(new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), Field(new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)));
        Assert.Equal(typeof(Dictionary<string, int[]>), Field(typeof(Dictionary<string, int[]>)));
    }

    [Fact]
    public void A_type_with_a_generated_codec_is_one_opaque_field()
    {
        var dog = new Dog { Name = "d", Color = Color.Blue, Friends = [new Animal()] };
        Assert.Equal(Color.Blue, Assert.IsType<Dog>(Field<Animal>(dog)).Color);
        Assert.Equal("d", Assert.IsType<Dog>(Field<object>(dog)).Name);
        Assert.Equal(1, Field(new Dictionary<string, int> { ["a"] = 1 })["a"]);
        Assert.Equal(1.5m, Field(new Money(1.5m, "EUR")).Amount);
    }

    [Fact]
    public void A_codec_of_members_handles_cycles_and_unknown_fields()
    {
        var room = new Room { Name = "r", Temperature = new Temperature(20), Any = new Dog { Name = "d", Color = Color.Red } };
        room.Next = room;
        var read = Field(room);
        Assert.Same(read, read.Next);
        Assert.Equal(("r", 20.0, "d"), (read.Name, read.Temperature!.Degrees, Assert.IsType<Dog>(read.Any).Name));
        var old = _services.GetRequiredService<SerializerSessionPool>();
        using var write = old.GetSession();
        var writer = Writer.CreatePooled(write);
        new RoomCodec(_services.GetRequiredService<ICodecProvider>()).Serialize(ref writer, room);
        writer.WriteEndObject();
        writer.Commit();
        using var session = old.GetSession();
        var reader = Reader.Create(writer.Output.ToArray(), session);
        for (var field = reader.ReadFieldHeader(); !field.IsEndObject; field = reader.ReadFieldHeader())
            reader.ConsumeUnknownField(field);
        Assert.Equal(0, reader.Remaining);
        writer.Dispose();
    }

    [Fact]
    public void A_generic_codec_serves_every_argument() => Assert.Equal("x", Field(new Box<string>("x")).Value);

    [Fact]
    public void Values_in_our_messages_are_written_by_codecs_of_the_application()
    {
        var serializer = _services.GetRequiredService<Serializer>();
        var temperature = new Temperature(3);
        var read = serializer.Deserialize<List<Temperature>>(
            serializer.SerializeToArray(new List<Temperature> { temperature, temperature }));
        Assert.Equal(3, read[0].Degrees);
        Assert.Same(read[0], read[1]);
        Assert.Equal(
            4, Assert.IsType<Temperature>(serializer.Deserialize<object>(serializer.SerializeToArray<object>(new Temperature(4)))).Degrees);
        var room = serializer.Deserialize<Room>(serializer.SerializeToArray(new Room { Name = "n" }));
        Assert.Equal("n", room.Name);
        var marked = serializer.Deserialize<Holder>(serializer.SerializeToArray(new Holder { Marked = new Marked(8) }));
        Assert.Equal(8, marked.Marked!.Number);
    }

    [Fact]
    public void A_codec_that_is_marked_needs_no_configuration()
    {
        var serializer = new Serializer();
        Assert.Equal(9, serializer.Deserialize<Marked>(serializer.SerializeToArray(new Marked(9))).Number);
        Assert.Equal(9, Assert.IsType<Marked>(serializer.Deserialize<object>(serializer.SerializeToArray<object>(new Marked(9)))).Number);
        Assert.Equal(10, new DeepCopier().Copy(new Marked(9)).Number);
    }

    [Fact]
    public void Copiers_of_the_application_are_used()
    {
        var copier = _services.GetRequiredService<DeepCopier>();
        var room = new Room { Name = "r", Any = new List<int> { 1 } };
        room.Next = room;
        var copy = copier.Copy(new List<Room> { room, room });
        Assert.NotSame(room, copy[0]);
        Assert.Same(copy[0], copy[1]);
        Assert.Same(copy[0], copy[0].Next);
        Assert.Equal("r (copy)", copy[0].Name);
        Assert.Equal("r (copy)", _services.GetRequiredService<DeepCopier<Room>>().Copy(room).Name);
        Assert.Equal(2, copier.Copy(new Temperature(2)).Degrees);
    }

    [Fact]
    public void Serializers_write_fields_to_writers_and_messages_to_arrays()
    {
        var serializer = _services.GetRequiredService<Serializer<Animal>>();
        var pool = _services.GetRequiredService<SerializerSessionPool>();
        using var session = pool.GetSession();
        var bytes = new byte[1000];
        var writer = Writer.Create(bytes, session);
        serializer.Serialize(new Animal { Name = "a" }, ref writer);
        using var second = pool.GetSession();
        Assert.NotEmpty(BitStreamFormatter.Format(bytes.AsSpan(0, writer.Position).ToArray(), second));
        using var third = pool.GetSession();
        var reader = Reader.Create(bytes, third);
        Assert.Equal("a", serializer.Deserialize(ref reader).Name);
        Assert.Equal("a", serializer.Deserialize(serializer.SerializeToArray(new Animal { Name = "a" })).Name);
        var objects = _services.GetRequiredService<ObjectSerializer>();
        Assert.Equal(
            "o", ((Animal)objects.Deserialize(objects.SerializeToArray(new Animal { Name = "o" }, typeof(Animal)), typeof(Animal))).Name);
        var values = _services.GetRequiredService<ValueSerializer<Money>>();
        var money = new Money(2, "X");
        Money result = default;
        values.Deserialize(values.SerializeToArray(ref money), ref result);
        Assert.Equal(money, result);
    }

    [Fact]
    public void What_is_written_to_a_writer_is_read_from_bytes_and_the_other_way()
    {
        var serializer = _services.GetRequiredService<Serializer<Animal>>();
        var objects = _services.GetRequiredService<ObjectSerializer>();
        using var session = _services.GetRequiredService<SerializerSessionPool>().GetSession();
        var stream = new MemoryStream();
        var writer = Writer.CreatePooled(stream, session);
        serializer.Serialize(new Animal { Name = "field" }, ref writer);
        writer.Dispose();
        Assert.Equal("field", serializer.Deserialize(stream.ToArray()).Name);
        Assert.Equal("field", ((Animal)objects.Deserialize(stream.ToArray(), typeof(Animal))).Name);
        Assert.Equal("field", _services.GetRequiredService<Serializer>().Deserialize<Animal>(stream.ToArray()).Name);
        byte[] message = [.. serializer.SerializeToArray(new Animal { Name = "message" }), .. stream.ToArray()];
        session.Reset();
        var reader = Reader.Create(new MemoryStream(message), session);
        Assert.Equal("message", serializer.Deserialize(ref reader).Name);
        Assert.Equal("field", ((Animal)objects.Deserialize(ref reader, typeof(Animal))).Name);
        session.Reset();
        reader = Reader.Create(new MemoryStream(message), session);
        Assert.Equal("message", ((Animal)objects.Deserialize(ref reader, typeof(Animal))).Name);
        session.Reset();
        Assert.Contains("[Message]", BitStreamFormatter.Format(message, session), StringComparison.Ordinal);
    }

    [Fact]
    public void A_type_with_a_copier_and_no_codec_is_copied_inside_of_others_and_not_written()
    {
        using var services = new ServiceCollection().AddSerializer(
            static builder => builder.Configure(static options => options.Copiers.Add(typeof(BoatCopier)))).BuildServiceProvider();
        var boat = new Boat { Name = "b" };
        var (first, second) = services.GetRequiredService<DeepCopier<(Boat, object)>>().Copy((boat, boat));
        Assert.NotSame(boat, first);
        Assert.Same(first, second);
        Assert.Equal("b (copy)", first.Name);
        Assert.Equal("b (copy)", services.GetRequiredService<DeepCopier<List<Boat>>>().Copy([boat])[0].Name);
        var refused = Assert.Throws<CodecNotFoundException>(() => services.GetRequiredService<Serializer>().SerializeToArray((boat, boat)));
        Assert.Contains(nameof(Boat), refused.Message);
    }

    [Fact]
    public void A_damaged_name_of_a_type_in_a_field_is_an_error_of_serialization()
    {
        using var session = _services.GetRequiredService<SerializerSessionPool>().GetSession();
        var writer = Writer.CreatePooled(session);
        writer.WriteByte((byte)WireType.VarInt | (byte)SchemaType.Encoded);
        writer.WriteVarUInt32(3);
        writer.Write("a`<"u8);
        writer.WriteVarUInt32(1);
        writer.Commit();
        var bytes = writer.Output.ToArray();
        writer.Dispose();
        Assert.Throws<SerializerException>(() => _services.GetRequiredService<Serializer>().Deserialize<object>(bytes));
    }

    [Fact]
    public void Numbers_of_every_length_come_back_and_narrow_ones_overflow()
    {
        using var session = _services.GetRequiredService<SerializerSessionPool>().GetSession();
        for (var bits = 0; bits < 64; bits++)
        {
            foreach (var value in new[] { 1UL << bits, (1UL << bits) - 1, ulong.MaxValue >> bits })
            {
                var writer = Writer.Create(new MemoryStream(), session);
                writer.WriteVarUInt64(value);
                writer.WriteVarInt64((long)value);
                writer.Commit();
                var buffer = new PooledBuffer();
                var pooled = Writer.Create(buffer, session);
                pooled.WriteVarUInt64(value);
                pooled.WriteVarInt64((long)value);
                pooled.Commit();
                var reader = Reader.Create(pooled.Output.ToArray(), session);
                Assert.Equal(value, reader.ReadVarUInt64());
                Assert.Equal((long)value, reader.ReadVarInt64());
                Assert.Equal(writer.Position, pooled.Position);
                pooled.Dispose();
            }
        }

        Assert.Throws<OverflowException>(() => As<long, int>(1L << 40));
        Assert.Equal(7, As<long, short>(7));
        Assert.Equal(1.5, As<float, double>(1.5f));
        Assert.Throws<OverflowException>(() => As<double, float>(1e300));
    }

    [Fact]
    public void References_are_counted_alike_on_both_sides()
    {
        var pool = _services.GetRequiredService<SerializerSessionPool>();
        using var write = pool.GetSession();
        using var read = pool.GetSession();
        var stream = new MemoryStream();
        var writer = Writer.Create(stream, write);
        var codec = _services.GetRequiredService<ICodecProvider>().GetCodec<string>();
        foreach (var value in new[] { "a", null!, "b" })
        {
            var before = writer.Session.ReferencedObjects.CurrentReferenceId;
            codec.WriteField(ref writer, 0, typeof(string), value);
            writer.Commit();
            Assert.Equal(before + 1, writer.Session.ReferencedObjects.CurrentReferenceId);
        }

        stream.Position = 0;
        var reader = Reader.Create(stream, read);
        foreach (var value in new[] { "a", null, "b" })
            Assert.Equal(value, codec.ReadValue(ref reader, reader.ReadFieldHeader()));
        Assert.Equal(write.ReferencedObjects.CurrentReferenceId, read.ReferencedObjects.CurrentReferenceId);
    }

    [Fact]
    public void An_assembly_may_add_codecs_by_a_provider()
    {
        using var services = new ServiceCollection().AddSerializer(static builder => builder.AddAssembly(typeof(TestManifest).Assembly))
            .BuildServiceProvider();
        Assert.Equal(typeof(Temperature), services.GetRequiredService<TypeConverter>().Parse("(\"temperature\")"));
    }

    [Fact]
    public void Interfaces_are_checked_and_activators_and_converters_used()
    {
        using var services = new ServiceCollection().AddSerializer(static builder => builder.Configure(static options =>
        {
            options.Interfaces.Add(typeof(IUnsendable));
            options.EnableConfigurationAnalysis = true;
            options.Activators.Add(typeof(RoomActivator));
            options.Serializers.Add(typeof(RoomCodec));
            options.FieldCodecs.Add(typeof(TemperatureCodec));
            options.Converters.Add(typeof(DegreesConverter));
            options.Serializers.Add(typeof(DegreesSurrogateCodec));
        })).BuildServiceProvider();
        var provider = services.GetRequiredService<CodecProvider>();
        var complaint = Assert.Single(SerializerConfigurationAnalyzer.AnalyzeSerializerAvailability(
            provider, services.GetRequiredService<Microsoft.Extensions.Options.IOptions<Orleans.Serialization.Configuration.TypeManifestOptions>>().Value));
        Assert.Equal(typeof(System.Text.StringBuilder), complaint.Key);
        Assert.Contains("StringBuilder", Assert.Throws<CodecNotFoundException>(() => ((ICodecScope)provider).CheckOptions()).Message);
        Assert.Equal("made", provider.GetActivator<Room>().Create().Name);
        var serializer = services.GetRequiredService<Serializer>();
        Assert.Equal(5, serializer.Deserialize<Degrees>(serializer.SerializeToArray(new Degrees(5))).Value);
    }

    private TOut As<TIn, TOut>(TIn value)
    {
        var pool = _services.GetRequiredService<SerializerSessionPool>();
        using var session = pool.GetSession();
        var provider = _services.GetRequiredService<CodecProvider>();
        var writer = Writer.CreatePooled(session);
        provider.GetCodec<TIn>().WriteField(ref writer, 0, typeof(TIn), value);
        writer.Commit();
        session.Reset();
        var reader = Reader.Create(writer.Output.ToArray(), session);
        return provider.GetCodec<TOut>().ReadValue(ref reader, reader.ReadFieldHeader());
    }

    private T Field<T>(T value)
    {
        var pool = _services.GetRequiredService<SerializerSessionPool>();
        using var write = pool.GetSession();
        using var read = pool.GetSession();
        var pipe = new Pipe();
        var codec = _services.GetRequiredService<CodecProvider>().GetCodec<T>();
        var writer = Writer.Create(pipe.Writer, write);
        codec.WriteField(ref writer, 0, typeof(T), value);
        writer.Commit();
        _ = pipe.Writer.FlushAsync().AsTask().GetAwaiter().GetResult();
        pipe.Writer.Complete();
        Assert.True(pipe.Reader.TryRead(out var result));
        var reader = Reader.Create(result.Buffer, read);
        var back = codec.ReadValue(ref reader, reader.ReadFieldHeader());
        Assert.Equal(result.Buffer.Length, reader.Position);
        pipe.Reader.AdvanceTo(result.Buffer.End);
        return back;
    }
}

public sealed class Temperature(double degrees)
{
    public double Degrees { get; } = degrees;
}

public sealed class TemperatureCodec : IFieldCodec<Temperature>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Temperature value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(Temperature), WireType.Fixed64);
        writer.WriteInt64(BitConverter.DoubleToInt64Bits(value.Degrees));
    }

    public Temperature ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.WireType == WireType.Reference)
            return ReferenceCodec.ReadReference<Temperature, TInput>(ref reader, field);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = new Temperature(BitConverter.Int64BitsToDouble(reader.ReadInt64()));
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}

public sealed class Box<T>(T value)
{
    public T Value { get; } = value;
}

public sealed class BoxCodec<T>(IFieldCodec<T> item) : IFieldCodec<Box<T>>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Box<T> value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(Box<T>), WireType.TagDelimited);
        item.WriteField(ref writer, 0, typeof(T), value.Value);
        writer.WriteEndObject();
    }

    public Box<T> ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<Box<T>, TInput>(ref reader, field);
        var id = ReferenceCodec.CreateRecordPlaceholder(reader.Session);
        var value = new Box<T>(item.ReadValue(ref reader, reader.ReadFieldHeader()));
        Assert.True(reader.ReadFieldHeader().IsEndObject);
        ReferenceCodec.RecordObject(reader.Session, value, id);
        return value;
    }
}

public sealed class Room
{
    public string? Name { get; set; }

    public Temperature? Temperature { get; set; }

    public Room? Next { get; set; }

    public object? Any { get; set; }
}

public sealed class RoomCodec(ICodecProvider provider) : IBaseCodec<Room>
{
    private IFieldCodec<Room> Rooms => field ??= provider.GetCodec<Room>();

    private IFieldCodec<Temperature?> Temperatures => field ??= provider.GetCodec<Temperature?>();

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, Room value)
        where TBufferWriter : IBufferWriter<byte>
    {
        StringCodec.WriteField(ref writer, 0, value.Name!);
        Temperatures.WriteField(ref writer, 1, typeof(Temperature), value.Temperature);
        Rooms.WriteField(ref writer, 1, typeof(Room), value.Next!);
        ObjectCodec.WriteField(ref writer, 10, value.Any);
    }

    public void Deserialize<TInput>(ref Reader<TInput> reader, Room value)
    {
        uint id = 0;
        while (true)
        {
            var field = reader.ReadFieldHeader();
            if (field.IsEndBaseOrEndObject)
                break;
            id += field.FieldIdDelta;
            switch (id)
            {
                case 0:
                    value.Name = StringCodec.ReadValue(ref reader, field);
                    break;
                case 1:
                    value.Temperature = Temperatures.ReadValue(ref reader, field);
                    break;
                case 2:
                    value.Next = Rooms.ReadValue(ref reader, field);
                    break;
                case 12:
                    value.Any = ObjectCodec.ReadValue(ref reader, field);
                    break;
                default:
                    reader.ConsumeUnknownField(field);
                    break;
            }
        }
    }
}

public sealed class Boat
{
    public string? Name { get; set; }
}

public sealed class BoatCopier : IDeepCopier<Boat>
{
    public Boat DeepCopy(Boat input, Orleans.Serialization.Cloning.CopyContext context)
    {
        if (context.TryGetCopy<Boat>(input, out var found))
            return found!;
        var copy = new Boat { Name = input.Name + " (copy)" };
        context.RecordCopy(input, copy);
        return copy;
    }
}

public sealed class RoomCopier : IDeepCopier<Room>
{
    public Room DeepCopy(Room input, Orleans.Serialization.Cloning.CopyContext context)
    {
        if (context.TryGetCopy<Room>(input, out var found))
            return found!;
        var copy = new Room { Name = input.Name + " (copy)", Temperature = input.Temperature };
        context.RecordCopy(input, copy);
        copy.Next = context.DeepCopy(input.Next);
        copy.Any = context.DeepCopy(input.Any);
        return copy;
    }
}

public sealed class Marked(int number)
{
    public int Number { get; } = number;
}

[RegisterSerializer]
public sealed class MarkedCodec : IFieldCodec<Marked>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Marked value)
        where TBufferWriter : IBufferWriter<byte>
    {
        if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
            return;
        writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(Marked), WireType.VarInt);
        writer.WriteVarInt32(value.Number);
    }

    public Marked ReadValue<TInput>(ref Reader<TInput> reader, Field field)
    {
        if (field.IsReference)
            return ReferenceCodec.ReadReference<Marked, TInput>(ref reader, field);
        var value = new Marked(reader.ReadInt32(field.WireType));
        ReferenceCodec.RecordObject(reader.Session, value);
        return value;
    }
}

[RegisterCopier]
public sealed class MarkedCopier : IDeepCopier<Marked>
{
    public Marked DeepCopy(Marked input, Orleans.Serialization.Cloning.CopyContext context) => new(input.Number + 1);
}

[GenerateSerializer]
public sealed class Holder
{
    [Id(0)]
    public Marked? Marked { get; set; }
}

public sealed class TestManifest : Orleans.Serialization.Configuration.TypeManifestProviderBase
{
    protected override void ConfigureInner(Orleans.Serialization.Configuration.TypeManifestOptions options) =>
        options.WellKnownTypeAliases["temperature"] = typeof(Temperature);
}

public interface IUnsendable
{
    Task<int> Send(System.Text.StringBuilder text, Dog dog, CancellationToken cancellation);
}

public sealed class RoomActivator : IActivator<Room>
{
    public Room Create() => new() { Name = "made" };
}

public sealed class Degrees(int value)
{
    public int Value { get; } = value;
}

public struct DegreesSurrogate
{
    public int Value;
}

public sealed class DegreesConverter : IConverter<Degrees, DegreesSurrogate>
{
    public Degrees ConvertFromSurrogate(in DegreesSurrogate surrogate) => new(surrogate.Value);

    public DegreesSurrogate ConvertToSurrogate(in Degrees value) => new() { Value = value.Value };
}

public sealed class DegreesSurrogateCodec : IValueSerializer<DegreesSurrogate>, IDeepCopier<DegreesSurrogate>
{
    public DegreesSurrogate DeepCopy(DegreesSurrogate input, Orleans.Serialization.Cloning.CopyContext context) => input;

    public void Serialize<TBufferWriter>(ref Writer<TBufferWriter> writer, scoped ref DegreesSurrogate value)
        where TBufferWriter : IBufferWriter<byte> => Int32Codec.WriteField(ref writer, 0, value.Value);

    public void Deserialize<TInput>(ref Reader<TInput> reader, scoped ref DegreesSurrogate value)
    {
        for (var field = reader.ReadFieldHeader(); !field.IsEndBaseOrEndObject; field = reader.ReadFieldHeader())
            value.Value = Int32Codec.ReadValue(ref reader, field);
    }
}
