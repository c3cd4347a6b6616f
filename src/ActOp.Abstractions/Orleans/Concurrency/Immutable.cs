namespace Orleans.Concurrency;

/// <summary>A value that is not modified any more: it is shared between grains instead of copied.</summary>
/// <typeparam name="T">The value's type.</typeparam>
[GenerateSerializer]
[Immutable]
public readonly record struct Immutable<T>
{
    /// <summary>The value.</summary>
    [Id(0)]
    public readonly T Value;

    /// <summary>Promises that <paramref name="value"/> is not changed any more.</summary>
    public Immutable(T value) => Value = value;
}

/// <summary>Makes immutable values.</summary>
public static class ImmutableExtensions
{
    /// <summary>Promises that <paramref name="value"/> is not changed any more.</summary>
    public static Immutable<T> AsImmutable<T>(this T value) => new(value);
}
