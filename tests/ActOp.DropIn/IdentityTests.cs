using Orleans.Metadata;

namespace DropIn;

public interface IGuidKeyed : IGrainWithGuidKey
{
    Task<string> Id();
}

public interface IIntegerKeyed : IGrainWithIntegerKey
{
    Task<string> Id();
}

public interface IGuidAndText : IGrainWithGuidCompoundKey
{
    Task<string> Id();
}

public interface IIntegerAndText : IGrainWithIntegerCompoundKey
{
    Task<string> Id();
}

public sealed class GuidKeyedGrain : Grain, IGuidKeyed
{
    public Task<string> Id() => Task.FromResult($"{this.GetPrimaryKey()} {this.GetGrainId()} {IdentityString.Length > 0}");
}

public sealed class IntegerKeyedGrain : Grain, IIntegerKeyed
{
    public Task<string> Id() => Task.FromResult($"{this.GetPrimaryKeyLong()} {this.GetGrainId()} {this.IsPrimaryKeyBasedOnLong()}");
}

public sealed class GuidAndTextGrain : Grain, IGuidAndText
{
    public Task<string> Id() => Task.FromResult($"{this.GetPrimaryKey(out var text)} {text} {this.GetGrainId()}");
}

public sealed class IntegerAndTextGrain : Grain, IIntegerAndText
{
    public Task<string> Id() => Task.FromResult($"{this.GetPrimaryKeyLong(out var text)} {text} {this.GetGrainId()}");
}

[Alias("dropin.aliased")]
public interface IAliased : IGrainWithStringKey
{
    [Alias("id")]
    Task<string> Id();
}

[GrainType("a-type-of-its-own")]
public sealed class AliasedGrain : Grain, IAliased
{
    public Task<string> Id() => Task.FromResult(this.GetGrainId().ToString());
}

/// <summary>No base class: what it needs comes by its constructor.</summary>
public sealed class BareGrain(IGrainContext context, IGrainFactory factory) : IGrainBase, IBare
{
    public IGrainContext GrainContext { get; } = context;

    public async Task<string> Id() =>
        $"{GrainContext.GrainId} {this.GetPrimaryKeyString()} {await factory.GetGrain<ICalls>("Bob").Text("asked")}";
}

public interface IBare : IGrainWithStringKey
{
    Task<string> Id();
}

public interface IAnimal : IGrainWithStringKey
{
    Task<string> Sound();
}

public interface ICat : IAnimal
{
    Task<string> Purr();
}

public interface IDog : IAnimal;

[DefaultGrainType("calm")]
public interface IDefaulted : IGrainWithStringKey
{
    Task<string> Sound();
}

public sealed class CatGrain : Grain, ICat
{
    public Task<string> Sound() => Task.FromResult("meow");

    public Task<string> Purr() => Task.FromResult("purr");
}

public sealed class DogGrain : Grain, IDog
{
    public Task<string> Sound() => Task.FromResult("woof");
}

[GrainType("calm")]
public sealed class CalmGrain : Grain, IDefaulted
{
    public Task<string> Sound() => Task.FromResult("calm");
}

[GrainType("loud")]
public sealed class LoudGrain : Grain, IDefaulted
{
    public Task<string> Sound() => Task.FromResult("loud");
}

public interface IBox<T> : IGrainWithStringKey
{
    Task Put(T value);

    Task<T?> Get();

    Task<string> Describe();
}

public class BoxGrain<T> : Grain, IBox<T>
{
    private T? _value;

    public Task Put(T value)
    {
        _value = value;
        return Task.CompletedTask;
    }

    public Task<T?> Get() => Task.FromResult(_value);

    public virtual Task<string> Describe() => Task.FromResult($"box of {typeof(T).Name}");
}

public interface IPairs<TLeft, TRight> : IGrainWithIntegerKey
{
    Task<KeyValuePair<TRight, TLeft>> Swap(TLeft left, TRight right);
}

public sealed class PairsGrain<TLeft, TRight> : Grain, IPairs<TLeft, TRight>
{
    public Task<KeyValuePair<TRight, TLeft>> Swap(TLeft left, TRight right) => Task.FromResult(KeyValuePair.Create(right, left));
}

public interface INumbers : IBox<int>
{
    Task<int> Twice();
}

public sealed class NumbersGrain : BoxGrain<int>, INumbers
{
    public async Task<int> Twice() => 2 * await Get();

    public override Task<string> Describe() => Task.FromResult("numbers");
}

/// <summary>Keys, ids and their texts; which class an interface means; generic grains.</summary>
public class IdentityTests(CommonCluster cluster)
{
    private static readonly Guid Key = Guid.Parse("01234567-89ab-cdef-0123-456789abcdef");

    [Fact]
    public async Task Grains_have_keys_of_all_kinds()
    {
        var client = cluster.Client;
        Assert.Equal($"{Key} guidkeyed/0123456789abcdef0123456789abcdef True", await client.GetGrain<IGuidKeyed>(Key).Id());
        Assert.Equal("255 integerkeyed/FF True", await client.GetGrain<IIntegerKeyed>(255).Id());
        Assert.Equal("-1 integerkeyed/FFFFFFFFFFFFFFFF True", await client.GetGrain<IIntegerKeyed>(-1).Id());
        Assert.Equal($"{Key} a+b guidandtext/0123456789abcdef0123456789abcdef+a+b", await client.GetGrain<IGuidAndText>(Key, "a+b").Id());
        Assert.Equal("0 x integerandtext/0+x", await client.GetGrain<IIntegerAndText>(0, "x").Id());
        Assert.Equal("a-type-of-its-own/key/with/ü", await client.GetGrain<IAliased>("key/with/ü").Id());
    }

    [Fact]
    public void Keys_are_read_from_references_and_ids()
    {
        var guid = cluster.Client.GetGrain<IGuidKeyed>(Key);
        Assert.Equal(Key, guid.GetPrimaryKey());
        Assert.False(guid.IsPrimaryKeyBasedOnLong());
        Assert.Equal("0123456789abcdef0123456789abcdef", guid.GetPrimaryKeyString());
        Assert.Throws<InvalidOperationException>(() => guid.GetPrimaryKeyLong());
        Assert.Throws<InvalidOperationException>(() => cluster.Client.GetGrain<IAliased>("text").GetPrimaryKey());
        var integer = cluster.Client.GetGrain<IIntegerAndText>(16, "x");
        Assert.Equal((16, "x"), (integer.GetPrimaryKeyLong(out var text), text));
        Assert.Equal("10+x", integer.GetPrimaryKeyString());
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IIntegerAndText>(16, " "));
        Assert.Throws<ArgumentException>(() => GrainId.Create("type", "text").GetGuidKey());
        Assert.Throws<ArgumentException>(() => GrainId.Create("type", "text").GetIntegerKey());
        var id = GrainId.Create("type", GrainIdKeyExtensions.CreateIntegerKey(9, "e").ToString()!);
        Assert.True(id.TryGetIntegerKey(out var number, out text));
        Assert.Equal((9, "e"), (number, text));
    }

    [Fact]
    public void Ids_are_written_and_read()
    {
        var id = GrainId.Create("type", "key/more");
        Assert.Equal("type/key/more", id.ToString());
        Assert.Equal(id, GrainId.Parse("type/key/more"));
        Assert.True(GrainId.TryParse("a/b", out var parsed));
        Assert.Equal(("a", "b"), (parsed.Type.ToString(), parsed.Key.ToString()));
        Assert.False(GrainId.TryParse("nothing", out _));
        Assert.Throws<ArgumentException>(() => GrainId.Parse("nothing"));
        Assert.True(default(GrainId).IsDefault);
        Assert.Equal(id.GetHashCode(), GrainId.Parse("type/key/more").GetHashCode());
        Assert.Equal(Stated.HashOfTypeAndKey, GrainId.Create("type", "key").GetUniformHashCode());
        Assert.Equal("S127.0.0.1:11111:42", SiloAddress.FromParsableString("127.0.0.1:11111@42").ToString());
        Assert.Equal("127.0.0.1:11111@42", SiloAddress.FromParsableString("127.0.0.1:11111@42").ToParsableString());
    }

    [Fact]
    public async Task A_reference_can_be_made_of_an_id_or_a_type()
    {
        var id = GrainId.Create("a-type-of-its-own", "x");
        Assert.Equal("a-type-of-its-own/x", await cluster.Client.GetGrain<IAliased>(id).Id());
        Assert.Equal("a-type-of-its-own/x", await cluster.Client.GetGrain(id).AsReference<IAliased>().Id());
        Assert.Equal("a-type-of-its-own/x", await ((IAliased)cluster.Client.GetGrain(typeof(IAliased), "x")).Id());
        Assert.Equal("255 integerkeyed/FF True", await ((IIntegerKeyed)cluster.Client.GetGrain(typeof(IIntegerKeyed), 255)).Id());
        var reference = (GrainReference)(object)cluster.Client.GetGrain<IAliased>("x");
        Assert.Equal(("dropin.aliased", id), (reference.InterfaceType.ToString(), reference.GrainId));
    }

    [Fact]
    public async Task A_class_without_a_base_class_is_a_grain() =>
        Assert.Equal("bare/x x asked", await cluster.Client.GetGrain<IBare>("x").Id());

    [Fact]
    public async Task An_interface_with_several_classes_needs_a_prefix_or_a_default()
    {
        var exception = Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IAnimal>("x"));
        Assert.Contains("DropIn.IAnimal", exception.Message, StringComparison.Ordinal);
        Assert.Equal("meow", await cluster.Client.GetGrain<IAnimal>("x", "DropIn.CatGrain").Sound());
        Assert.Equal("woof", await cluster.Client.GetGrain<IAnimal>("x", "DropIn.Dog").Sound());
        Assert.Throws<ArgumentException>(() => cluster.Client.GetGrain<IAnimal>("x", "DropIn.Cow"));
        Assert.Equal("calm", await cluster.Client.GetGrain<IDefaulted>("x").Sound());
        Assert.Equal("loud", await cluster.Client.GetGrain<IDefaulted>("x", "DropIn.Loud").Sound());
    }

    [Fact]
    public async Task A_reference_is_cast_to_the_interfaces_of_its_grain()
    {
        var cat = cluster.Client.GetGrain<ICat>("x");
        IAnimal animal = cat;
        Assert.Equal("meow", await animal.Sound());
        Assert.Equal("purr", await animal.AsReference<ICat>().Purr());
        Assert.Equal(cat, animal.AsReference<ICat>());
        Assert.Equal(cat, cat.Cast<IAnimal>());
        Assert.Throws<ArgumentException>(() => cat.AsReference<CatGrain>());
        // Nobody knows before the call that no dog purrs.
        var dog = cluster.Client.GetGrain<IDog>("x").AsReference<ICat>();
        await Assert.ThrowsAnyAsync<Exception>(() => dog.Purr());
    }

    [Fact]
    public async Task Generic_grains_are_as_many_as_their_types()
    {
        var (texts, numbers) = (cluster.Client.GetGrain<IBox<string>>("x"), cluster.Client.GetGrain<IBox<List<double>>>("x"));
        await texts.Put("a");
        await numbers.Put([1.5]);
        Assert.Equal("a", await texts.Get());
        Assert.Equal([1.5], (await numbers.Get())!);
        Assert.Equal("box of String", await texts.Describe());
        Assert.Equal(KeyValuePair.Create("r", 1), await cluster.Client.GetGrain<IPairs<int, string>>(1).Swap(1, "r"));
        Assert.Equal($"box`1[[{Stated.NameOfString}]]", texts.GetGrainId().Type.ToString());
    }

    [Fact]
    public async Task A_class_for_one_type_goes_before_the_generic_class()
    {
        var numbers = cluster.Client.GetGrain<INumbers>("x");
        await numbers.Put(4);
        Assert.Equal(8, await numbers.Twice());
        Assert.Equal("numbers", await numbers.Describe());
    }

    [Fact]
    public void The_manifest_knows_the_classes_and_their_properties()
    {
        var manifest = Assert.IsAssignableFrom<IClusterManifestProvider>(
            cluster.ServicesOf(0).GetService(typeof(IClusterManifestProvider))).Current;
        var properties = manifest.AllGrainManifests.Select(one => one.Grains.GetValueOrDefault(GrainType.Create("reentrantturns")))
            .OfType<GrainProperties>().First().Properties;
        Assert.Equal("DropIn.ReentrantTurnsGrain", properties[WellKnownGrainTypeProperties.FullTypeName]);
        Assert.Equal("ReentrantTurnsGrain", properties[WellKnownGrainTypeProperties.TypeName]);
        Assert.Equal("true", properties[WellKnownGrainTypeProperties.Reentrant]);
    }
}
