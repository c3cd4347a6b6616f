using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// Values of a static type without objects of its own: an interface, an abstract class, or object. The actual type decides.
/// </summary>
internal sealed class AnyObjectCodec<T> : ReferenceCodec<T>
    where T : class
{
    /// <summary>An instance of object itself has only its identity.</summary>
    protected override void WriteBody(ref WireWriter writer, T value) => writer.WriteByte(0);

    protected override T ReadBody(ref WireReader reader, int at)
    {
        if (typeof(T) != typeof(object) || reader.ReadByte() != 0)
            throw new Orleans.Serialization.SerializerException("The message has an object of the abstract type " + typeof(T) + ".");
        var value = new object();
        Record(ref reader, at, value);
        return (T)value;
    }

    protected override T CopyBody(T value, CopyContext context)
    {
        var copy = new object();
        context.RecordCopy(value, copy);
        return (T)copy;
    }
}

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

/// <summary>Interfaces that a list implements.</summary>
internal sealed class ListInterfaceCodec<T, TItem> : CollectionInterfaceCodec<T>
    where T : class, IEnumerable<TItem>
{
    protected override T Replace(T value) => (T)(object)new List<TItem>(value);
}

/// <summary>Interfaces that a set implements.</summary>
internal sealed class SetInterfaceCodec<T, TItem> : CollectionInterfaceCodec<T>
    where T : class, IEnumerable<TItem>
{
    protected override T Replace(T value) => (T)(object)new HashSet<TItem>(value);
}

/// <summary>Interfaces that a dictionary implements.</summary>
internal sealed class MapInterfaceCodec<T, TKey, TValue> : CollectionInterfaceCodec<T>
    where T : class, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override T Replace(T value) => (T)(object)new Dictionary<TKey, TValue>(value);
}
