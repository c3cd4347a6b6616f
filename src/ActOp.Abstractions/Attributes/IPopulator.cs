namespace Orleans;

/// <summary>Fills an existing object from what was written in its place, so that types derived from it can be read.</summary>
/// <typeparam name="TValue">The type.</typeparam>
/// <typeparam name="TSurrogate">What is written in its place.</typeparam>
public interface IPopulator<TValue, TSurrogate>
    where TValue : class
    where TSurrogate : struct
{
    /// <summary>Fills <paramref name="value"/> from <paramref name="surrogate"/>.</summary>
    void Populate(in TSurrogate surrogate, TValue value);
}
