using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>A collection that is filled item by item.</summary>
internal abstract class SequenceCodec<TCollection, TItem> : ReferenceCodec<TCollection>
    where TCollection : class, IEnumerable<TItem>
{
    /// <summary>Capacity that is believed before any item was read.</summary>
    private const int TrustedCapacity = 1024;

    private static readonly Codec<TItem> Item = Codec<TItem>.Default;

    protected virtual void WriteStart(ref WireWriter writer, TCollection collection)
    {
    }

    protected abstract TCollection ReadStart(ref WireReader reader, int capacity);

    protected abstract TCollection CreateLike(TCollection collection);

    protected abstract int Count(TCollection collection);

    protected abstract void Add(TCollection collection, TItem item);

    protected override void WriteBody(ref WireWriter writer, TCollection value)
    {
        var count = Count(value);
        writer.WriteVarUInt32((uint)count);
        WriteStart(ref writer, value);
        foreach (var item in value)
        {
            if (--count >= 0)
                Item.Write(ref writer, item);
        }

        if (count != 0)
            throw new InvalidOperationException("The collection was changed while it was written.");
    }

    protected override TCollection ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount();
        var collection = ReadStart(ref reader, Math.Min(count, TrustedCapacity));
        Record(ref reader, at, collection);
        for (var i = 0; i < count; i++)
            Add(collection, Item.Read(ref reader));
        return collection;
    }

    protected override TCollection CopyBody(TCollection value, CopyContext context)
    {
        var copy = CreateLike(value);
        context.RecordCopy(value, copy);
        foreach (var item in value)
            Add(copy, Item.Copy(item, context));
        return copy;
    }
}
