namespace Orleans;

/// <summary>Writes and reads a type that cannot be marked, by way of one that is.</summary>
/// <typeparam name="TValue">The type.</typeparam>
/// <typeparam name="TSurrogate">What is written in its place.</typeparam>
public interface IConverter<TValue, TSurrogate>
    where TSurrogate : struct
{
    /// <summary>The value that <paramref name="surrogate"/> stands for.</summary>
    TValue ConvertFromSurrogate(in TSurrogate surrogate);

    /// <summary>What is written for <paramref name="value"/>.</summary>
    TSurrogate ConvertToSurrogate(in TValue value);
}
