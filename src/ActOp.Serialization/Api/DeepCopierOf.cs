namespace Orleans.Serialization;

/// <summary>Makes deep copies of one type.</summary>
/// <typeparam name="T">The static type.</typeparam>
/// <param name="copier">What it copies with.</param>
public sealed class DeepCopier<T>(DeepCopier copier)
{
    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    public T Copy(T value) => copier.Copy(value);
}
