namespace Orleans.Concurrency;

/// <summary>Makes immutable values.</summary>
public static class ImmutableExtensions
{
    /// <summary>Promises that <paramref name="value"/> is not changed any more.</summary>
    public static Immutable<T> AsImmutable<T>(this T value) => new(value);
}
