using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.Session;

namespace ActOp.Serialization.Tests;

/// <summary>Types without a generated codec, as JSON text.</summary>
public class JsonTests
{
    public static TheoryData<bool> Both => [true, false];

    [Theory]
    [MemberData(nameof(Both))]
    public void A_type_that_the_application_names_is_sent_as_text(bool newtonsoft)
    {
        using var services = Services(newtonsoft);
        var serializer = services.GetRequiredService<Serializer>();
        var order = new JsonOrder { Id = 5, Lines = { ["a"] = 1 }, Next = new JsonOrder { Id = 6 } };
        var read = serializer.Deserialize<JsonOrder>(serializer.SerializeToArray(order));
        Assert.Equal((5, 1, 6), (read.Id, read.Lines["a"], read.Next!.Id));
        Assert.Equal(5, Assert.IsType<JsonOrder>(serializer.Deserialize<object>(serializer.SerializeToArray<object>(order))).Id);
        var inside = serializer.Deserialize<JsonHolder>(serializer.SerializeToArray(new JsonHolder { Order = order, Any = order }));
        Assert.Same(inside.Order, inside.Any);
        Assert.Null(serializer.Deserialize<JsonOrder?>(serializer.SerializeToArray<JsonOrder?>(null)));
        var copy = services.GetRequiredService<DeepCopier>().Copy(order);
        Assert.NotSame(order, copy);
        Assert.Equal(6, copy.Next!.Id);
    }

    [Theory]
    [MemberData(nameof(Both))]
    public void A_field_says_its_type_and_others_are_refused(bool newtonsoft)
    {
        using var services = Services(newtonsoft);
        var provider = services.GetRequiredService<CodecProvider>();
        Assert.NotNull(provider.TryGetCodec<JsonOrder>());
        Assert.Null(provider.TryGetCodec<System.Text.StringBuilder>());
        using var session = services.GetRequiredService<SerializerSessionPool>().GetSession();
        var writer = Orleans.Serialization.Buffers.Writer.CreatePooled(session);
        provider.GetCodec<object>().WriteField(ref writer, 0, typeof(object), new JsonOrder { Id = 3 });
        writer.Commit();
        using var second = services.GetRequiredService<SerializerSessionPool>().GetSession();
        var reader = Orleans.Serialization.Buffers.Reader.Create(writer.Output.ToArray(), second);
        Assert.Equal(3,
            Assert.IsType<JsonOrder>(provider.GetCodec<object>()
                .ReadValue(ref reader, Orleans.Serialization.Codecs.FieldHeaderCodec.ReadFieldHeader(ref reader))).Id);
        writer.Dispose();
    }

    [Fact]
    public async Task States_are_written_as_text_with_the_names_of_their_classes()
    {
        var token = TestContext.Current.CancellationToken;
        using var services =
            new ServiceCollection().AddSerializer(static b => b.Configure(static o => o.AddAllowedAssembly(typeof(JsonTests).Assembly)))
            .AddSingleton<OrleansJsonSerializer>()
            .AddSingleton<IPostConfigureOptions<OrleansJsonSerializerOptions>, ConfigureOrleansJsonSerializerOptions>()
            .BuildServiceProvider();
        var states = new Orleans.Storage.JsonGrainStorageSerializer(services.GetRequiredService<OrleansJsonSerializer>());
        var state = new JsonAnything { Value = new JsonOrder { Id = 2 } };
        Assert.Equal(2, Assert.IsType<JsonOrder>(states.Deserialize<JsonAnything>(states.Serialize(state))!.Value).Id);
        using var stream = new MemoryStream();
        await states.SerializeAsync(state, stream, token);
        stream.Position = 0;
        Assert.Equal(2, Assert.IsType<JsonOrder>((await states.DeserializeAsync<JsonAnything>(stream, token))!.Value).Id);
        Assert.Null(states.Deserialize<JsonAnything>(states.Serialize<JsonAnything>(null)));
    }

    [Fact]
    public void The_json_serializer_of_Orleans_keeps_classes_identity_and_identities()
    {
        using var services =
            new ServiceCollection().AddSerializer(static b => b.Configure(static o => o.AddAllowedAssembly(typeof(JsonTests).Assembly)))
            .AddSingleton<OrleansJsonSerializer>()
            .AddSingleton<IPostConfigureOptions<OrleansJsonSerializerOptions>, ConfigureOrleansJsonSerializerOptions>()
            .BuildServiceProvider();
        var serializer = services.GetRequiredService<OrleansJsonSerializer>();
        var text = serializer.Serialize(
            new JsonAnything { Value = new JsonOrder { Id = 2 }, Grain = GrainId.Create("t", "k") }, typeof(JsonAnything));
        var read = Assert.IsType<JsonAnything>(serializer.Deserialize(typeof(JsonAnything), text));
        Assert.Equal((2, GrainId.Create("t", "k")), (Assert.IsType<JsonOrder>(read.Value).Id, read.Grain));
        Assert.Throws<Newtonsoft.Json.JsonSerializationException>(() =>
            serializer.Deserialize(typeof(object), """{"$type":"System.Diagnostics.Process, System.Diagnostics.Process"}"""));
    }

    [Fact]
    public void Options_say_how_text_is_written()
    {
        using var services =
            new ServiceCollection().AddSerializer(
                static builder => builder.AddJsonSerializer(null, null, static options => options.Configure(static o =>
        {
            o.SerializerOptions =
                new System.Text.Json.JsonSerializerOptions { PropertyNamingPolicy = System.Text.Json.JsonNamingPolicy.CamelCase };
            o.WriterOptions = new System.Text.Json.JsonWriterOptions { Indented = true };
            o.ReaderOptions = new System.Text.Json.JsonReaderOptions { MaxDepth = 3 };
            o.IsSerializableType = static type => type == typeof(JsonOrder);
            o.IsCopyableType = static type => type == typeof(JsonOrder);
        }))).BuildServiceProvider();
        var serializer = services.GetRequiredService<Serializer>();
        var bytes = serializer.SerializeToArray(new JsonOrder { Id = 4 });
        Assert.Contains("\n  \"id\": 4", System.Text.Encoding.UTF8.GetString(bytes));
        Assert.Equal(4, serializer.Deserialize<JsonOrder>(bytes).Id);
        var deep = new JsonOrder { Next = new JsonOrder { Next = new JsonOrder { Next = new JsonOrder() } } };
        Assert.Throws<System.Text.Json.JsonException>(() => serializer.Deserialize<JsonOrder>(serializer.SerializeToArray(deep)));
        Assert.NotNull(services.GetRequiredService<CodecProvider>().TryGetDeepCopier<JsonOrder>());
    }

    private static ServiceProvider Services(bool newtonsoft) => new ServiceCollection().AddSerializer(builder =>
    {
        static bool Supports(Type type) => type.Name.StartsWith("JsonOrder", StringComparison.Ordinal);
        if (newtonsoft)
            builder.AddNewtonsoftJsonSerializer(Supports);
        else
            builder.AddJsonSerializer(Supports);
    }).BuildServiceProvider();
}

public sealed class JsonOrder
{
    public int Id { get; set; }

    public Dictionary<string, int> Lines { get; set; } = [];

    public JsonOrder? Next { get; set; }
}

public sealed class JsonAnything
{
    public object? Value { get; set; }

    public GrainId Grain { get; set; }
}

[GenerateSerializer]
public sealed class JsonHolder
{
    [Id(0)]
    public JsonOrder? Order { get; set; }

    [Id(1)]
    public object? Any { get; set; }
}
