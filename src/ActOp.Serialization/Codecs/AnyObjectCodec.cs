using System.Collections.Concurrent;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// Values of a static type without objects of its own: an interface, an abstract class, or object. The actual type decides.
/// </summary>
internal sealed class AnyObjectCodec<T> : ReferenceCodec<T>
    where T : class
{
    /// <summary>A bare object has nothing but its identity.</summary>
    protected override void WriteBody(ref WireWriter writer, T value) => writer.WriteByte(0);

    protected override T ReadBody(ref WireReader reader, int at)
    {
        if (typeof(T) != typeof(object) || reader.ReadByte() != 0)
            throw new Orleans.Serialization.SerializerException("The wire has an object of the abstract type " + typeof(T) + ".");
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
