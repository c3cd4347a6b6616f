namespace ActOp.Wire;

/// <summary>Writes, reads and deep-copies values whose static type is <typeparamref name="T"/>. Stateless; used from any thread.</summary>
/// <typeparam name="T">The static type: for a class that is not sealed, or an interface, the codec writes the actual type too.</typeparam>
public abstract class Codec<T>
{
    private static Codec<T>? s_default;

    /// <summary>The codec of <typeparamref name="T"/>.</summary>
    /// <exception cref="Orleans.Serialization.CodecNotFoundException">No codec is registered for the type.</exception>
    public static Codec<T> Default => s_default ??= (Codec<T>)CodecSource.Resolve(typeof(T));

    /// <summary>True when values can be shared between grains without a copy.</summary>
    public abstract bool IsImmutable { get; }

    /// <summary>A deep copy; <paramref name="value"/> itself when <see cref="IsImmutable"/>.</summary>
    public abstract T Copy(T value, CopyContext context);

    /// <summary>Writes the whole value, null included.</summary>
    public abstract void Write(ref WireWriter writer, T value);

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    public abstract T Read(ref WireReader reader);
}
