using Orleans.Concurrency;

namespace ActOp.Bench.Grains;

/// <summary>A grain that hands its argument to the next one, as it is or as a copy.</summary>
/// <typeparam name="T">The argument.</typeparam>
public interface IPassGrain<T> : IGrainWithIntegerKey
{
    /// <summary>The silo that the grain runs on.</summary>
    ValueTask<string> Where();

    /// <summary>Calls <see cref="Take"/> of the next one, which gets a copy.</summary>
    ValueTask Pass(long next, T value);

    /// <summary>Calls <see cref="TakeAsItIs"/> of the next one, which gets the same object if it is on the same silo.</summary>
    ValueTask PassAsItIs(long next, Immutable<T> value);

    /// <summary>Takes a copy.</summary>
    ValueTask Take(T value);

    /// <summary>Takes the object.</summary>
    ValueTask TakeAsItIs(Immutable<T> value);
}

/// <summary>The grain of the price of isolation.</summary>
[Orleans.Placement.RandomPlacement]
public sealed class PassGrain<T>(ILocalSiloDetails silo) : Grain, IPassGrain<T>
{
    /// <inheritdoc/>
    public ValueTask<string> Where() => new(silo.SiloAddress.ToParsableString());

    /// <inheritdoc/>
    public ValueTask Pass(long next, T value) => GrainFactory.GetGrain<IPassGrain<T>>(next).Take(value);

    /// <inheritdoc/>
    public ValueTask PassAsItIs(long next, Immutable<T> value) => GrainFactory.GetGrain<IPassGrain<T>>(next).TakeAsItIs(value);

    /// <inheritdoc/>
    public ValueTask Take(T value) => default;

    /// <inheritdoc/>
    public ValueTask TakeAsItIs(Immutable<T> value) => default;
}

/// <summary>An element that may be changed, so a copy of its dictionary copies each of them.</summary>
[GenerateSerializer]
public sealed class Item
{
    /// <summary>A text.</summary>
    [Id(0)]
    public string Name { get; set; } = "";

    /// <summary>A number.</summary>
    [Id(1)]
    public long Count { get; set; }

    /// <summary>Some numbers.</summary>
    [Id(2)]
    public List<int> Places { get; set; } = [];
}
