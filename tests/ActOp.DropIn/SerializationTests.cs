using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace DropIn;

[GenerateSerializer]
public abstract class Shape
{
    [Id(0)]
    public string Name { get; init; } = "";
}

[GenerateSerializer]
public sealed class Circle : Shape
{
    [Id(0)]
    public double Radius { get; init; }
}

[GenerateSerializer]
[Alias("square")]
public sealed class Square : Shape
{
    [Id(0)]
    private readonly int _side;

    [NonSerialized]
    private int _uses;

    public Square(int side) => _side = side;

    public int Side => _side + 0 * _uses++;

    public int Uses => _uses;
}

[GenerateSerializer]
public record Person(string Name, int Age)
{
    [Id(0)]
    public string? Town { get; init; }
}

[GenerateSerializer]
public record struct Point([property: Id(0)] int X, [property: Id(1)] int Y);

[GenerateSerializer]
public sealed class Wrapped<T>
{
    [Id(0)]
    public T? Value { get; set; }

    [Id(1)]
    public required List<Wrapped<T>> More { get; init; }
}

/// <summary>The first version of a contract.</summary>
[GenerateSerializer]
public sealed class OrderOfOldVersion
{
    [Id(0)]
    public string Name { get; set; } = "";

    [Id(1)]
    public int Count { get; set; }

    [Id(2)]
    public string? Removed { get; set; }
}

/// <summary>The second: a member is gone, one is wider, one is new.</summary>
[GenerateSerializer]
public sealed class OrderOfNewVersion
{
    [Id(1)]
    public long Count { get; set; }

    [Id(0)]
    public string Title { get; set; } = "";

    [Id(3)]
    public string Added { get; set; } = "default";
}

/// <summary>Of a library that knows nothing of grains.</summary>
public sealed class Money(decimal amount, string currency)
{
    public decimal Amount { get; } = amount;

    public string Currency { get; } = currency;
}

[GenerateSerializer]
public struct MoneySurrogate
{
    [Id(0)]
    public decimal Amount;

    [Id(1)]
    public string Currency;
}

[RegisterConverter]
public sealed class MoneyConverter : IConverter<Money, MoneySurrogate>
{
    public Money ConvertFromSurrogate(in MoneySurrogate surrogate) => new(surrogate.Amount, surrogate.Currency);

    public MoneySurrogate ConvertToSurrogate(in Money value) => new() { Amount = value.Amount, Currency = value.Currency };
}

public sealed class HookCounter
{
    public void OnSerializing(Hooked value) => value.Calls += "s";

    public void OnSerialized(Hooked value) => value.Calls += "S";

    public void OnDeserializing(Hooked value) => value.Calls += "d";

    public void OnDeserialized(Hooked value) => value.Calls += "D";

    public void OnCopying(Hooked value, Hooked copy) => value.Calls += "c";

    public void OnCopied(Hooked value, Hooked copy) => value.Calls += "C";
}

[GenerateSerializer]
[SerializationCallbacks(typeof(HookCounter))]
public sealed class Hooked
{
    [NonSerialized]
    public string Calls = "";

    [Id(0)]
    public int Value { get; set; }
}

/// <summary>Values, as they are written, read and copied.</summary>
public class SerializationTests(CommonCluster cluster)
{
    private Serializer Serializer => cluster.ServicesOf(0).GetRequiredService<Serializer>();

    private T Back<T>(T value) => Back<T, T>(value);

    private TResult Back<T, TResult>(T value) => Serializer.Deserialize<TResult>(Serializer.SerializeToArray(value))!;

    private DeepCopier Copier => cluster.ServicesOf(0).GetRequiredService<DeepCopier>();

    public static TheoryData<object?> Values =>
    [
        true, (byte)1, (sbyte)-1, (short)-2, (ushort)2, -3, 3u, -4L, 4UL, 1.5f, 2.5, 3.5m, 'x', "text", (Half)1.5, (Int128)7, (UInt128)8,
        Guid.Parse("01234567-89ab-cdef-0123-456789abcdef"), new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc), TimeSpan.FromSeconds(7),
        new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.FromHours(2)), new DateOnly(2020, 1, 2), new TimeOnly(3, 4), DayOfWeek.Friday,
        new Uri("http://localhost/x"), new Version(1, 2, 3), IPAddress.Parse("10.0.0.1"), new IPEndPoint(IPAddress.Parse("10.0.0.1"), 7),
        typeof(List<int>),
        new int[] { 1, 2 }, new byte[] { 1, 2 }, new List<string?> { "a", null }, new Dictionary<string, int> { ["a"] = 1 },
        new HashSet<int> { 1, 2 }, new Queue<int>([1, 2]), new Stack<int>([1, 2]), new SortedDictionary<int, string> { [1] = "a" },
        ImmutableArray.Create(1, 2), ImmutableList.Create("a"), ImmutableDictionary<string, int>.Empty.Add("a", 1), (1, "two", 3.0),
        Tuple.Create(1, "b"), KeyValuePair.Create(1, "c"), new Point(1, 2), new Person("Ada", 36) { Town = "London" }, new int?(5),
        new object?[] { 1, "a", null }, new SortedSet<int> { 2, 1 }, CompareInfo, new int[,] { { 1, 2 }, { 3, 4 } },
    ];

    private static System.Globalization.CompareInfo CompareInfo => System.Globalization.CultureInfo.InvariantCulture.CompareInfo;

    [Theory]
    [MemberData(nameof(Values))]
    public void A_value_comes_back_as_it_was(object? value)
    {
        var back = Back<object>(value!);
        Assert.Equal(value!.GetType(), back.GetType());
        Assert.Equal(value, back);
        Assert.Equal(value, Copier.Copy<object?>(value));
    }

    [Fact]
    public void Null_comes_back_as_null() => Assert.Null(Serializer.Deserialize<object>(Serializer.SerializeToArray<object?>(null)));

    [Fact]
    public void Derived_classes_come_back_with_private_and_inherited_members()
    {
        Shape[] shapes = [new Circle { Name = "c", Radius = 1.5 }, new Square(3) { Name = "s" }];
        Assert.Equal(3, ((Square)shapes[1]).Side);
        var back = Back(shapes);
        Assert.Equal(("c", 1.5), (back[0].Name, Assert.IsType<Circle>(back[0]).Radius));
        var square = Assert.IsType<Square>(back[1]);
        Assert.Equal(("s", 0, 3), (square.Name, square.Uses, square.Side));
    }

    [Fact]
    public void Generic_and_recursive_classes_come_back()
    {
        var value = new Wrapped<string> { Value = "a", More = [new() { Value = "b", More = [] }] };
        value.More.Add(value);
        var back = Back(value);
        Assert.Equal(("a", "b"), (back.Value, back.More[0].Value));
        Assert.Same(back, back.More[1]);
    }

    [Fact]
    public void Contracts_of_two_versions_read_each_other()
    {
        var old = new OrderOfOldVersion { Name = "tea", Count = 3, Removed = "x" };
        var read = Back<OrderOfOldVersion, OrderOfNewVersion>(old);
        Assert.Equal(("tea", 3L, "default"), (read.Title, read.Count, read.Added));
        var back = Back<OrderOfNewVersion, OrderOfOldVersion>(new OrderOfNewVersion { Title = "t", Count = 4 });
        Assert.Equal(("t", 4, null), (back.Name, back.Count, back.Removed));
        var large = Serializer.SerializeToArray(new OrderOfNewVersion { Count = long.MaxValue });
        Assert.Throws<OverflowException>(() => Serializer.Deserialize<OrderOfOldVersion>(large));
    }

    [Fact]
    public void A_surrogate_stands_for_a_class_of_another_library()
    {
        var money = Back(new Money(1.5m, "EUR"));
        Assert.Equal((1.5m, "EUR"), (money.Amount, money.Currency));
        var nested = Copier.Copy(new List<Money> { money, money });
        Assert.Same(nested[0], nested[1]);
        Assert.NotSame(money, nested[0]);
    }

    [Fact]
    public void Hooks_are_called_before_and_after()
    {
        var value = new Hooked { Value = 7 };
        var back = Back(value);
        Assert.Equal(("sS", "dD", 7), (value.Calls, back.Calls, back.Value));
        Copier.Copy(value);
        Assert.Equal("sScC", value.Calls);
    }

    [Fact]
    public void Copies_are_deep_unless_the_type_is_immutable()
    {
        var basket = new Basket { Items = ["a"], Other = new Basket() };
        var copy = Copier.Copy(basket);
        Assert.NotSame(basket.Items, copy.Items);
        Assert.NotSame(basket.Other, copy.Other);
        var label = new Label("x");
        Assert.Same(label, Copier.Copy(label));
        Assert.Same("x", Copier.Copy("x"));
    }

    [Fact]
    public void What_has_no_code_is_refused_by_its_name()
    {
        Assert.False(Serializer.CanSerialize<Unsendable>());
        Assert.True(Serializer.CanSerialize<Basket>());
        var exception = Assert.Throws<CodecNotFoundException>(() => Serializer.SerializeToArray(new Unsendable()));
        Assert.Contains("DropIn.Unsendable", exception.Message, StringComparison.Ordinal);
        Assert.Throws<CodecNotFoundException>(() => Copier.Copy(new Unsendable()));
    }

    [Fact]
    public void Exceptions_are_values_too()
    {
        var exception = Back<Exception>(new OrderException("x", 9));
        Assert.Equal(("x", 9), (exception.Message, Assert.IsType<OrderException>(exception).Order));
    }

    [Fact]
    public void References_of_grains_are_values()
    {
        var grain = cluster.FactoryOf(0).GetGrain<ICalls>("x");
        var back = Back(new List<ICalls> { grain });
        Assert.Equal(grain, back.Single());
        Assert.Equal(GrainId.Parse("a/b"), Back(GrainId.Parse("a/b")));
    }

    [Fact]
    public void Bytes_that_are_no_value_are_refused() =>
        Assert.ThrowsAny<Exception>(() => Serializer.Deserialize<Basket>(new byte[] { 1, 2, 3 }));
}
