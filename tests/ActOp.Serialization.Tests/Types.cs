namespace ActOp.Serialization.Tests;

[GenerateSerializer]
public enum Color : ulong
{
    Red,
    Blue = ulong.MaxValue,
}

[GenerateSerializer]
public class Animal
{
    [Id(0)]
    public string? Name { get; set; }

    [Id(1)]
    private int _age;

    [Id(2)]
    public List<Animal> Friends = [];

    [NonSerialized]
    public int Secret;

    public int Age() => _age;

    public Animal WithAge(int age)
    {
        _age = age;
        return this;
    }
}

[GenerateSerializer]
[Alias("dog")]
public sealed class Dog : Animal
{
    [Id(0)]
    public required Color Color { get; init; }

    [Id(3)]
    public readonly double Weight;

    public Dog()
    {
    }

    [System.Diagnostics.CodeAnalysis.SetsRequiredMembers]
    public Dog(double weight) => Weight = weight;
}

[GenerateSerializer]
public sealed record Point(int X, int Y, string? Label)
{
    [Id(0)]
    public long Extra { get; init; }
}

[GenerateSerializer]
public sealed record Ten(int A, long B, double C, bool D, string E, Guid F, DateTime G, int H, uint I, Color J)
{
    [Id(0)]
    public byte[]? Mutable { get; set; }
}

[GenerateSerializer]
public struct Pair<TFirst, TSecond>
{
    [Id(0)]
    public TFirst First;

    [Id(1)]
    public TSecond Second { get; set; }
}

[GenerateSerializer]
public readonly record struct Money(decimal Amount, string Currency);

[GenerateSerializer]
public class Node<T>
{
    [Id(0)]
    public T? Value { get; set; }

    [Id(1)]
    public Node<T>? Next { get; set; }

    [Id(2)]
    public object? Any { get; set; }
}

[GenerateSerializer]
[Immutable]
public sealed class Frozen
{
    [Id(0)]
    public List<int> Items { get; set; } = [];
}

[GenerateSerializer]
[SuppressReferenceTracking]
public sealed class Loose
{
    [Id(0)]
    public Loose? Self { get; set; }

    [Id(1)]
    public int Number { get; set; }
}

[GenerateSerializer]
public sealed class BadException : Exception
{
    public BadException(string message, Exception inner, int code)
        : base(message, inner) => Code = code;

    [Id(0)]
    public int Code { get; private set; }
}

public sealed class PlainException(string text) : Exception("plain: " + text);

public sealed class Foreign(int number)
{
    public int Number { get; } = number;
}

[GenerateSerializer]
public struct ForeignSurrogate
{
    [Id(0)]
    public int Number;
}

[RegisterConverter]
public sealed class ForeignConverter : IConverter<Foreign, ForeignSurrogate>
{
    public Foreign ConvertFromSurrogate(in ForeignSurrogate surrogate) => new(surrogate.Number);

    public ForeignSurrogate ConvertToSurrogate(in Foreign value) => new() { Number = value.Number };
}

[GenerateSerializer]
public class VersionOne
{
    [Id(0)]
    public int Kept { get; set; }

    [Id(5)]
    public Animal? Last { get; set; }

    [Id(6)]
    public object? Any { get; set; }
}

[GenerateSerializer]
public class VersionTwo
{
    [Id(0)]
    public long Kept { get; set; }

    [Id(1)]
    public List<object>? Added { get; set; }

    [Id(2)]
    public string? Text { get; set; } = "default";

    [Id(3)]
    public Guid Id { get; set; }

    [Id(4)]
    public float Ratio { get; set; }

    [Id(5)]
    public Animal? Last { get; set; }

    [Id(6)]
    public object? Any { get; set; }
}
