using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// A collection interface: the actual type decides; an object of a type that cannot be named (a LINQ query, a collection expression)
/// is sent as a plain collection with the same items.
/// </summary>
internal abstract class CollectionInterfaceCodec<T> : Codec<T>
    where T : class
{
    private static readonly AnyObjectCodec<T> Actual = new();

    public override bool IsImmutable => false;

    public override T Copy(T value, CopyContext context) => Actual.Copy(Plain(value), context);

    public override void Write(ref WireWriter writer, T value) => Actual.Write(ref writer, Plain(value));

    public override T Read(ref WireReader reader) => Actual.Read(ref reader);

    protected abstract T Replace(T value);

    private T Plain(T value) => value is null || AnyCodec.CanWrite(value.GetType()) ? value! : Replace(value);
}
