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
    public void The_json_serializer_of_Orleans_keeps_every_kind_of_identity()
    {
        using var services = Json();
        var serializer = services.GetRequiredService<OrleansJsonSerializer>();
        var written = new JsonIdentities
        {
            Stream = StreamId.Create("ns", "key"),
            Bare = StreamId.Create(null, "key only"),
            Qualified = new QualifiedStreamId("provider", StreamId.Create("ns", Guid.NewGuid())),
            Channel = Orleans.BroadcastChannel.ChannelId.Create("news", "key"),
            Subscription = GuidId.GetNewGuidId(),
            Grain = GrainId.Create("t", "2026-11-23T18:00:00Z"),
            Type = GrainType.Create("t"),
            Interface = GrainInterfaceType.Create("i"),
            Key = IdSpan.Create("k"),
            Activation = ActivationId.NewId(),
            Version = new MembershipVersion(7),
            Silo = SiloAddress.FromParsableString("127.0.0.1:11@12"),
            EndPoint = new System.Net.IPEndPoint(System.Net.IPAddress.IPv6Loopback, 3),
        };
        foreach (var type in new[] { typeof(JsonIdentities), typeof(object) })
        {
            var text = serializer.Serialize(written, type);
            Assert.Equal(written, Assert.IsType<JsonIdentities>(serializer.Deserialize(type, text)));
        }

        Assert.Equal(new JsonIdentities(),
            serializer.Deserialize(typeof(JsonIdentities), serializer.Serialize(new JsonIdentities(), typeof(JsonIdentities))));
    }

    [Fact]
    public void Identities_that_Orleans_has_written_are_read_and_damaged_ones_are_an_error_of_the_text()
    {
        using var services = Json();
        var serializer = services.GetRequiredService<OrleansJsonSerializer>();
        var read = (JsonIdentities)serializer.Deserialize(typeof(JsonIdentities), """
            {
              "Stream": { "$type": "Orleans.Runtime.StreamId, Orleans.Streaming",
                "fk": { "$type": "System.Byte[], System.Private.CoreLib", "$value": "bnNrZXk=" }, "ki": 2, "fh": 5 },
              "Qualified": { "$type": "Orleans.Runtime.QualifiedStreamId, Orleans.Streaming", "pvn": "provider",
                "sid": { "fk": "bnNrZXk=", "ki": 2 } },
              "Grain": { "Type": "t", "Key": "2026-11-23T18:00:00Z" },
              "Silo": { "SiloAddress": "127.0.0.1:11@12" },
              "EndPoint": { "Address": "::1", "Port": 3 }
            }
            """)!;
        Assert.Equal(StreamId.Create("ns", "key"), read.Stream);
        Assert.Equal(new QualifiedStreamId("provider", StreamId.Create("ns", "key")), read.Qualified);
        Assert.Equal(GrainId.Create("t", "2026-11-23T18:00:00Z"), read.Grain);
        Assert.Equal(SiloAddress.FromParsableString("127.0.0.1:11@12"), read.Silo);
        Assert.Equal(new System.Net.IPEndPoint(System.Net.IPAddress.IPv6Loopback, 3), read.EndPoint);
        foreach (var damaged in new[]
            {
                """{"Stream":{"fk":"bnNrZXk=","ki":5}}""", """{"Stream":{"fk":"bnNrZXk=","ki":-1}}""", """{"Stream":{"fk":"?","ki":0}}""",
                """{"Stream":{}}""", """{"Grain":{"Type":"t"}}""", """{"Silo":7}""", """{"Version":"x"}""",
                """{"Subscription":{"Guid":"x"}}""",
            })
        {
            Assert.Throws<Newtonsoft.Json.JsonSerializationException>(() => serializer.Deserialize(typeof(JsonIdentities), damaged));
        }
    }

    [Fact]
    public void Identities_are_written_in_the_form_that_Orleans_reads()
    {
        using var services = Json();
        var serializer = services.GetRequiredService<OrleansJsonSerializer>();
        var text = serializer.Serialize(
            new JsonIdentities
            {
                Grain = GrainId.Create("t", "k"),
                EndPoint = new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, 3),
            },
            typeof(JsonIdentities));
        Assert.Contains("""
            "Grain":{"Type":"t","Key":"k"}
            """.Trim(), text, StringComparison.Ordinal);
        Assert.Contains("""
            "EndPoint":{"Address":"127.0.0.1","Port":3}
            """.Trim(), text, StringComparison.Ordinal);
        // As earlier versions of ActOp have written them.
        var read = (JsonIdentities)serializer.Deserialize(typeof(JsonIdentities), """{"Grain":"t/k","EndPoint":"127.0.0.1:3"}""")!;
        Assert.Equal((GrainId.Create("t", "k"), 3), (read.Grain, read.EndPoint!.Port));
    }

    [Fact]
    public void The_application_changes_settings_of_the_json_serializer_of_Orleans()
    {
        using var services = new ServiceCollection().AddSerializer(
            static b => b.Configure(static o => o.AddAllowedAssembly(typeof(JsonTests).Assembly)))
            .Configure<OrleansJsonSerializerOptions>(static o => OrleansJsonSerializerSettings.UpdateSerializerSettings(
                o.JsonSerializerSettings, useFullAssemblyNames: false, indentJson: true, Newtonsoft.Json.TypeNameHandling.None))
            .AddSingleton<OrleansJsonSerializer>()
            .AddSingleton<IPostConfigureOptions<OrleansJsonSerializerOptions>, ConfigureOrleansJsonSerializerOptions>()
            .BuildServiceProvider();
        var text = services.GetRequiredService<OrleansJsonSerializer>().Serialize(new JsonOrder { Id = 2 }, typeof(JsonOrder));
        Assert.DoesNotContain("$type", text, StringComparison.Ordinal);
        Assert.Contains("\n", text.ReplaceLineEndings("\n"), StringComparison.Ordinal);
    }

    [Fact]
    public void Text_names_only_types_that_are_allowed()
    {
        using var services = new ServiceCollection().AddSerializer(static b => b.Configure(
            static o => o.AllowedTypes.Add(typeof(JsonOrder).FullName!))).BuildServiceProvider();
        var (types, resolver) = (services.GetRequiredService<Orleans.Serialization.TypeConverter>(),
            services.GetRequiredService<Orleans.Serialization.TypeSystem.TypeResolver>());
        var strict = new OrleansJsonSerializationBinder(types, resolver);
        foreach (var allowed in new[] { typeof(JsonOrder), typeof(JsonHolder), typeof(List<JsonHolder>), typeof(JsonOrder[]) })
            Assert.Equal(allowed, Bind(strict, allowed));
        foreach (var refused in new[]
            {
                typeof(JsonAnything), typeof(List<JsonAnything>), typeof(JsonAnything[]), typeof(JsonProvider), typeof(JsonProvider[]),
                typeof(List<JsonProvider>), typeof(System.Diagnostics.Process), typeof(FileInfo),
            })
        {
            var exception = Assert.Throws<Newtonsoft.Json.JsonSerializationException>(() => Bind(strict, refused));
            Assert.Contains(nameof(OrleansJsonSerializerOptions.AllowAllTypes), exception.Message);
            Assert.Equal(refused, Bind(new OrleansJsonSerializationBinder(types, resolver, allowAllTypes: true), refused));
            Assert.Equal(refused, Bind(new OrleansJsonSerializationBinder(resolver), refused));
        }

        Assert.Throws<Newtonsoft.Json.JsonSerializationException>(() => strict.BindToType("Nowhere", "No.Such.Type"));

        static Type Bind(OrleansJsonSerializationBinder binder, Type type) =>
            binder.BindToType(type.Assembly.GetName().Name, type.FullName!);
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

    private static ServiceProvider Json() => new ServiceCollection().AddSerializer(
        static b => b.Configure(static o => o.AddAllowedAssembly(typeof(JsonTests).Assembly)))
        .AddSingleton<OrleansJsonSerializer>()
        .AddSingleton<IPostConfigureOptions<OrleansJsonSerializerOptions>, ConfigureOrleansJsonSerializerOptions>()
        .BuildServiceProvider();

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

public sealed record JsonIdentities
{
    public StreamId Stream { get; set; }

    public StreamId Bare { get; set; }

    public QualifiedStreamId Qualified { get; set; }

    public Orleans.BroadcastChannel.ChannelId Channel { get; set; }

    public GuidId? Subscription { get; set; }

    public GrainId Grain { get; set; }

    public GrainType Type { get; set; }

    public GrainInterfaceType Interface { get; set; }

    public IdSpan Key { get; set; }

    public ActivationId Activation { get; set; }

    public MembershipVersion Version { get; set; }

    public SiloAddress? Silo { get; set; }

    public System.Net.IPEndPoint? EndPoint { get; set; }
}

/// <summary>Calls may say which provider they mean, but nobody else creates one.</summary>
public sealed class JsonProvider : Orleans.Providers.IControllable
{
    public Task<object?> ExecuteCommand(int command, object? arg) => Task.FromResult<object?>(null);
}

[GenerateSerializer]
public sealed class JsonHolder
{
    [Id(0)]
    public JsonOrder? Order { get; set; }

    [Id(1)]
    public object? Any { get; set; }
}
