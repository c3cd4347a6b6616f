using Microsoft.Extensions.Hosting;
using Orleans.Serialization;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>What would be lost or cut by plain System.Text.Json, and the forms of states.</summary>
public class StateJsonTests : IDisposable
{
    private readonly IHost _host = Host.CreateApplicationBuilder().UseOrleans(static silo => silo.UseLocalhostClustering()).Build();

    private IGrainStorageSerializer Json => _host.Services.GetRequiredService<SystemTextJsonGrainStorageSerializer>();

    public void Dispose()
    {
        _host.Dispose();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public void Fields_private_setters_private_constructors_and_special_numbers_are_kept()
    {
        var read = Round(Guarded.New(3, 4, double.NaN));
        Assert.Equal((3, 4, double.NaN), (read.Private, read.Field, read.Number));
        Assert.Equal(new Card("me", 5), Round(new Card("me", 5)));
    }

    [Fact]
    public void Derived_classes_keep_their_type_and_unknown_ones_are_refused()
    {
        var read = Round(new Zoo { First = new Cat { Name = "a", Lives = 9 }, All = [new Cat { Lives = 7 }, new Animal { Name = "b" }] });
        Assert.Equal((9, 7), (((Cat)read.First!).Lives, ((Cat)read.All[0]).Lives));
        Assert.Equal((typeof(Animal), "b"), (read.All[1].GetType(), read.All[1].Name));
        Assert.Throws<NotSupportedException>(() => Json.Serialize(new Zoo { First = new Dog { Name = "cut" } }));
    }

    [Fact]
    public async Task Both_forms_read_from_streams_what_they_write_to_them()
    {
        foreach (var serializer in new IGrainStorageStreamingSerializer[]
            {
                (IGrainStorageStreamingSerializer)Json,
                new OrleansGrainStorageSerializer(_host.Services.GetRequiredService<Serializer>()),
            })
        {
            var stream = new MemoryStream();
            await serializer.SerializeAsync(new Card("me", 5), stream);
            stream.Position = 0;
            Assert.Equal(new Card("me", 5), await serializer.DeserializeAsync<Card>(stream));
            Assert.Equal(new Card("me", 6), serializer.Deserialize<Card>(serializer.Serialize(new Card("me", 6)).ToMemory()));
        }
    }

    [Fact]
    public void A_second_serializer_reads_what_the_first_cannot()
    {
        var binary = new OrleansGrainStorageSerializer(_host.Services.GetRequiredService<Serializer>());
        var both = new GrainStorageSerializer(Json, binary);
        Assert.Equal(new Card("old", 1), both.Deserialize<Card>(binary.Serialize(new Card("old", 1))));
        Assert.Equal(new Card("new", 2), binary.Deserialize<Card>(new GrainStorageSerializer(binary, Json).Serialize(new Card("new", 2))));
        Assert.Throws<AggregateException>(() => both.Deserialize<Card>(new BinaryData("nonsense")));
    }

    private T Round<T>(T value) => Json.Deserialize<T>(Json.Serialize(value))!;
}

public sealed class Guarded
{
    public int Field;

    private Guarded()
    {
    }

    public int Private { get; private set; }

    public double Number { get; set; }

    public static Guarded New(int own, int field, double number) => new() { Private = own, Field = field, Number = number };
}

[GenerateSerializer]
public class Animal
{
    [Id(0)]
    public string Name { get; set; } = "";
}

[GenerateSerializer]
public sealed class Cat : Animal
{
    [Id(0)]
    public int Lives { get; set; }
}

/// <summary>Unknown to serialization.</summary>
public sealed class Dog : Animal;

public sealed class Zoo
{
    public Animal? First { get; set; }

    public List<Animal> All { get; set; } = [];
}
