using System.Buffers;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Session;
using Orleans.Serialization.WireProtocol;

namespace ActOp.Serialization.Tests;

/// <summary>Constructors that get services, and codecs of fields that applications call by name.</summary>
public sealed class ConstructionTests : IDisposable
{
    private readonly ServiceProvider _services = Services("mine");

    public void Dispose() => _services.Dispose();

    [Fact]
    public void Objects_are_made_by_the_constructor_with_the_services_of_the_serializer()
    {
        using var other = Services("other");
        var original = new Lamp(new Socket("here")) { Watts = 7, Next = new Lamp(new Socket("here")) };
        var bytes = _services.GetRequiredService<Serializer>().SerializeToArray(original);
        var read = _services.GetRequiredService<Serializer>().Deserialize<Lamp>(bytes)!;
        Assert.Equal(("mine", 7, "mine"), (read.Place, read.Watts, read.Next!.Place));
        Assert.Equal("other", other.GetRequiredService<Serializer>().Deserialize<Lamp>(bytes)!.Place);
        var copy = _services.GetRequiredService<DeepCopier>().Copy(original);
        Assert.NotSame(original, copy);
        Assert.Equal(7, copy.Watts);
        Assert.Contains(copy.Place, new[] { "mine", "other" });
        var candle = _services.GetRequiredService<Serializer>().Deserialize<Candle>(
            _services.GetRequiredService<Serializer>().SerializeToArray(new Candle(new Socket("here")) { Height = 3 }))!;
        Assert.Equal(("mine", 3), (candle.Place, candle.Height));
    }

    [Fact]
    public void An_object_whose_constructor_asks_for_a_service_that_nobody_has_cannot_be_read()
    {
        var serializer = _services.GetRequiredService<Serializer>();
        var bytes = serializer.SerializeToArray(new Orphan(new Nothing()));
        var exception = Assert.Throws<SerializerException>(() => serializer.Deserialize<Orphan>(bytes));
        Assert.Contains(nameof(Nothing), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Hooks_may_get_services()
    {
        var serializer = _services.GetRequiredService<Serializer>();
        var read = serializer.Deserialize<Woken>(serializer.SerializeToArray(new Woken { Value = 3 }))!;
        Assert.Equal(("mine", 3), (read.Place, read.ValueAtWake));
        Assert.Equal("read at mine", read.Note);
        var copy = _services.GetRequiredService<DeepCopier>().Copy(read);
        Assert.Equal("copied", copy.Note[..6]);
    }

    [Fact]
    public void Exceptions_of_the_namespaces_that_the_options_name_keep_their_types()
    {
        var inner = new InvalidOperationException("inner");
        var original = Thrown(new FormatException("outer", inner) { Data = { ["key"] = "value" } });
        var read = Assert.IsType<FormatException>(Field(_services, original));
        Assert.Equal(("outer", original.HResult, "value"), (read.Message, read.HResult, read.Data["key"]));
        Assert.Equal("inner", Assert.IsType<InvalidOperationException>(read.InnerException).Message);
        Assert.Contains(nameof(Thrown), read.StackTrace, StringComparison.Ordinal);
        Assert.Null(Field(_services, null));

        var odd = Assert.IsType<UnavailableExceptionFallbackException>(Field(_services, new OddException("odd")));
        Assert.Equal("odd", odd.Message);
        Assert.Contains(nameof(OddException), odd.ExceptionType, StringComparison.Ordinal);
        using var byPrefix = Services("x", static options => options.SupportedNamespacePrefixes.Add("ActOp"));
        Assert.IsType<OddException>(Field(byPrefix, new OddException("odd")));
        using var byFilter =
            Services("x", static options => options.SupportedExceptionTypeFilter = static type => type == typeof(OddException));
        Assert.IsType<OddException>(Field(byFilter, new OddException("odd")));
    }

    [Fact]
    public void Base_properties_of_an_exception_can_be_set_and_copied()
    {
        var codec = _services.GetRequiredService<ExceptionCodec>();
        var value = new FormatException("before");
        Assert.Null(codec.GetDataProperty(value));
        codec.SetBaseProperties(value, "after", "at Somewhere", new InvalidOperationException(), 17, new() { ["a"] = 1 });
        Assert.Equal(("after", 17, 1), (value.Message, value.HResult, value.Data["a"]));
        var copy = new FormatException();
        codec.DeepCopy(value, copy, _services.GetRequiredService<Orleans.Serialization.Cloning.CopyContextPool>().GetContext());
        Assert.Equal(("after", 17, 1), (copy.Message, copy.HResult, copy.Data["a"]));
        Assert.IsType<InvalidOperationException>(copy.InnerException);
    }

    [Fact]
    public void Keys_and_addresses_have_codecs_of_fields()
    {
        var buffer = new ArrayBufferWriter<byte>();
        var sessions = _services.GetRequiredService<SerializerSessionPool>();
        var (keys, addresses) = (new IdSpanCodec(), new Orleans.Runtime.Serialization.SiloAddressCodec());
        var silo = SiloAddress.Parse("127.0.0.1:11111@7");
        using (var session = sessions.GetSession())
        {
            var writer = Writer.Create(buffer, session);
            keys.WriteField(ref writer, 0, typeof(IdSpan), IdSpan.Create("key"));
            keys.WriteField(ref writer, 1, typeof(object), default);
            addresses.WriteField(ref writer, 1, typeof(SiloAddress), silo);
            addresses.WriteField(ref writer, 1, typeof(SiloAddress), silo);
            addresses.WriteField(ref writer, 1, typeof(SiloAddress), null);
            writer.Commit();
        }

        using var reading = sessions.GetSession();
        var reader = Reader.Create(buffer.WrittenMemory, reading);
        Assert.Equal(IdSpan.Create("key"), keys.ReadValue(ref reader, reader.ReadFieldHeader()));
        Assert.True(keys.ReadValue(ref reader, reader.ReadFieldHeader()).IsDefault);
        var first = addresses.ReadValue(ref reader, reader.ReadFieldHeader());
        Assert.Equal(silo, first);
        Assert.Same(first, addresses.ReadValue(ref reader, reader.ReadFieldHeader()));
        Assert.Null(addresses.ReadValue(ref reader, reader.ReadFieldHeader()));
    }

    [Fact]
    public void A_codec_of_fields_may_implement_the_methods_without_the_type_only()
    {
        IFieldCodec<int> codec = new UntypedCodec();
        var buffer = new ArrayBufferWriter<byte>();
        var sessions = _services.GetRequiredService<SerializerSessionPool>();
        using (var session = sessions.GetSession())
        {
            var writer = Writer.Create(buffer, session);
            codec.WriteField(ref writer, 0, typeof(int), 5);
            writer.Commit();
        }

        using var reading = sessions.GetSession();
        var reader = Reader.Create(buffer.WrittenMemory, reading);
        Assert.Equal(5, codec.ReadValue(ref reader, reader.ReadFieldHeader()));
    }

    [Fact]
    public async Task States_are_written_as_text_by_the_serializer_of_orleans()
    {
        using var services = new ServiceCollection().AddSerializer().AddSingleton<OrleansJsonSerializer>().BuildServiceProvider();
        var serializer = new Orleans.Storage.JsonGrainStorageSerializer(services.GetRequiredService<OrleansJsonSerializer>());
        var state = new Dictionary<string, int> { ["a"] = 1 };
        var data = serializer.Serialize(state);
        Assert.Contains("\"a\":1", data.ToString(), StringComparison.Ordinal);
        Assert.Equal(1, serializer.Deserialize<Dictionary<string, int>>(data)!["a"]);
        var stream = new MemoryStream();
        await serializer.SerializeAsync(state, stream, TestContext.Current.CancellationToken);
        stream.Position = 0;
        Assert.Equal(1, (await serializer.DeserializeAsync<Dictionary<string, int>>(stream, TestContext.Current.CancellationToken))!["a"]);
    }

    private static ServiceProvider Services(string place, Action<ExceptionSerializationOptions>? configure = null) =>
        new ServiceCollection().AddSerializer().AddSingleton(new Socket(place)).Configure(configure ?? (static _ => { }))
            .BuildServiceProvider();

    private static Exception? Field(ServiceProvider services, Exception? value)
    {
        var codec = services.GetRequiredService<ExceptionCodec>();
        var buffer = new ArrayBufferWriter<byte>();
        var sessions = services.GetRequiredService<SerializerSessionPool>();
        using (var session = sessions.GetSession())
        {
            var writer = Writer.Create(buffer, session);
            codec.WriteField(ref writer, 0, typeof(Exception), value!);
            writer.Commit();
        }

        using var reading = sessions.GetSession();
        var reader = Reader.Create(buffer.WrittenMemory, reading);
        return codec.ReadValue(ref reader, reader.ReadFieldHeader());
    }

    private static Exception Thrown(Exception exception)
    {
        try
        {
            throw exception;
        }
        catch (Exception caught)
        {
            return caught;
        }
    }

    private sealed class UntypedCodec : IFieldCodec<int>
    {
        void IFieldCodec.WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object? value) =>
            Int32Codec.WriteField(ref writer, fieldIdDelta, (int)value!);

        object? IFieldCodec.ReadValue<TInput>(ref Reader<TInput> reader, Field field) => Int32Codec.ReadValue(ref reader, field);
    }
}

public sealed class OddException(string message) : Exception(message);

public sealed record Socket(string Place);

public sealed class Nothing;

[GenerateSerializer]
public sealed class Lamp
{
    [GeneratedActivatorConstructor]
    internal Lamp(Socket socket) => Socket = socket;

    [field: NonSerialized]
    public Socket Socket { get; }

    public string Place => Socket.Place;

    [Id(0)]
    public int Watts { get; set; }

    [Id(1)]
    public Lamp? Next { get; set; }
}

[GenerateSerializer]
[method: OrleansConstructor]
public sealed class Candle(Socket socket)
{
    public string Place => socket.Place;

    [Id(0)]
    public int Height { get; set; }
}

[GenerateSerializer]
[SerializationCallbacks(typeof(OnDeserializedCallbacks))]
[SerializationCallbacks(typeof(PlaceHooks))]
public sealed class Woken : IOnDeserialized
{
    [Id(0)]
    public int Value { get; set; }

    [NonSerialized]
    public string? Place;

    [NonSerialized]
    public int ValueAtWake;

    [NonSerialized]
    public string Note = "";

    public void OnDeserialized(DeserializationContext context)
    {
        Place = context.ServiceProvider.GetRequiredService<Socket>().Place;
        ValueAtWake = Value;
        Assert.Throws<InvalidOperationException>(() => context.RuntimeClient);
    }
}

public sealed class PlaceHooks(Socket socket)
{
    public void OnDeserialized(Woken value) => value.Note = "read at " + socket.Place;

    public void OnCopied(Woken original, Woken result) => result.Note = "copied " + original.Note + socket.Place;
}

[GenerateSerializer]
[method: OrleansConstructor]
public sealed class Orphan(Nothing nothing)
{
    [field: NonSerialized]
    public Nothing Nothing { get; } = nothing;
}
