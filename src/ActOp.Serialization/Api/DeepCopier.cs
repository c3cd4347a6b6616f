using ActOp.Wire;

namespace Orleans.Serialization;

/// <summary>Makes deep copies; used from any thread.</summary>
public sealed class DeepCopier
{
    /// <summary>A deep copy; the value itself when it is immutable.</summary>
    /// <exception cref="CodecNotFoundException">There is no codec for a type.</exception>
    public T Copy<T>(T value) => Codec<T>.Default.IsImmutable ? value : Codec<T>.Default.Copy(value, new CopyContext());

    /// <summary>A copier for one type.</summary>
    public DeepCopier<T> GetCopier<T>() => new(this);
}
