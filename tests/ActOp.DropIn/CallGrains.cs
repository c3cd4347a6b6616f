using Orleans.Concurrency;
using Orleans.Placement;

namespace DropIn;

/// <summary>Signatures of all kinds.</summary>
public interface ICalls : IGrainWithStringKey
{
    Task Nothing();

    ValueTask NothingSoon();

    Task<string?> Text(string? value);

    ValueTask<int> Sum(int left, int right);

    Task<string> Over(int value);

    Task<string> Over(string value);

    Task<string> Over(string value, int times);

    Task<T> Echo<T>(T value);

    Task<string> Kinds<TLeft, TRight>(TLeft left, TRight right);

    Task<string> Defaulted() => Task.FromResult("the interface answers");

    Task<string> Optional(string value = "the default", params int[] numbers);

    Task<ICalls> Self();

    Task<bool> IsThis(ICalls other);

    Task<string?> Through(ICalls other, string? value);

    Task<string> Describe(object? value);

    Task<(int Count, string First)> Pair(List<string> values);
}

[PreferLocalPlacement]
public sealed class CallsGrain : Grain, ICalls
{
    public Task Nothing() => Task.CompletedTask;

    public ValueTask NothingSoon() => default;

    public Task<string?> Text(string? value) => Task.FromResult(value);

    public ValueTask<int> Sum(int left, int right) => new(left + right);

    public Task<string> Over(int value) => Task.FromResult("int " + value);

    public Task<string> Over(string value) => Task.FromResult("string " + value);

    public Task<string> Over(string value, int times) => Task.FromResult("both " + value + times);

    public Task<T> Echo<T>(T value) => Task.FromResult(value);

    public Task<string> Kinds<TLeft, TRight>(TLeft left, TRight right) => Task.FromResult($"{typeof(TLeft).Name} {typeof(TRight).Name}");

    public Task<string> Optional(string value, params int[] numbers) => Task.FromResult(value + numbers.Sum());

    public Task<ICalls> Self() => Task.FromResult<ICalls>(this);

    public Task<bool> IsThis(ICalls other) =>
        Task.FromResult(other.GetGrainId() == this.GetGrainId() && this.AsReference<ICalls>().Equals(other));

    public async Task<string?> Through(ICalls other, string? value) => await other.Text(value + " by " + this.GetPrimaryKeyString());

    public Task<string> Describe(object? value) => Task.FromResult(value switch
    {
        null => "null",
        System.Collections.IEnumerable items and not string => $"{value.GetType().Name} of {items.Cast<object>().Count()}",
        _ => $"{value.GetType().Name} {value}",
    });

    public Task<(int Count, string First)> Pair(List<string> values) => Task.FromResult((values.Count, values[0]));
}

/// <summary>An object that a call may share with its caller, or not.</summary>
[GenerateSerializer]
public sealed class Basket
{
    [Id(0)]
    public List<string> Items { get; set; } = [];

    [Id(1)]
    public Basket? Other { get; set; }
}

[GenerateSerializer, Immutable]
public sealed record Label([property: Id(0)] string Text);

public interface IBaskets : IGrainWithStringKey
{
    Task<string> GiveAway(IBaskets to);

    Task<string> TakeBack(IBaskets from);

    Task<string> Take(Basket basket, Label label, Immutable<Basket> wrapped, [Immutable] Basket promised);

    Task<Basket> Stock();

    Task<bool> AreOne(Basket left, Basket right);

    Task<bool> IsRing(Basket basket);
}

/// <summary>Grains that call each other in one silo, where copies are the only thing that isolates them.</summary>
[PreferLocalPlacement]
public sealed class BasketsGrain : Grain, IBaskets
{
    private readonly Basket _stock = new() { Items = ["stock"] };
    private static object?[] s_given = [];

    public async Task<string> GiveAway(IBaskets to)
    {
        Basket basket = new() { Items = ["one"] }, wrapped = new(), promised = new();
        var label = new Label("shared");
        s_given = [basket, label, wrapped, promised];
        var taken = await to.Take(basket, label, new Immutable<Basket>(wrapped), promised);
        return $"{taken}; left: {string.Join(',', basket.Items)}";
    }

    public Task<string> Take(Basket basket, Label label, Immutable<Basket> wrapped, Basket promised)
    {
        basket.Items.Add("two");
        bool[] same = [ReferenceEquals(basket, s_given[0]), ReferenceEquals(label, s_given[1]), ReferenceEquals(wrapped.Value, s_given[2]),
            ReferenceEquals(promised, s_given[3])];
        return Task.FromResult($"{string.Join(' ', same)}; took: {string.Join(',', basket.Items)}");
    }

    public async Task<string> TakeBack(IBaskets from)
    {
        var first = await from.Stock();
        first.Items.Add("stolen");
        return string.Join(',', (await from.Stock()).Items);
    }

    public Task<Basket> Stock() => Task.FromResult(_stock);

    public Task<bool> AreOne(Basket left, Basket right) => Task.FromResult(ReferenceEquals(left, right));

    public Task<bool> IsRing(Basket basket) => Task.FromResult(ReferenceEquals(basket, basket.Other!.Other));
}
