using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>A collection that is made from an array of its items.</summary>
internal abstract class WrappedCodec<TCollection, TItem> : ReferenceCodec<TCollection>
    where TCollection : class, IEnumerable<TItem>
{
    /// <summary>True when the collection itself cannot change.</summary>
    protected abstract bool IsWrapperImmutable { get; }

    protected override bool IsExactImmutable => IsWrapperImmutable && Codec<TItem>.Default.IsImmutable;

    protected abstract TCollection FromArray(TItem[] items);

    protected override void WriteBody(ref WireWriter writer, TCollection value)
    {
        var items = value.ToArray();
        writer.WriteVarUInt32((uint)items.Length);
        foreach (var item in items)
            Codec<TItem>.Default.Write(ref writer, item);
    }

    protected override TCollection ReadBody(ref WireReader reader, int at)
    {
        var collection = FromArray(Items.Read<TItem>(ref reader, reader.ReadCount(), -1));
        Record(ref reader, at, collection);
        return collection;
    }

    protected override TCollection CopyBody(TCollection value, CopyContext context)
    {
        var copy = FromArray(CopyItems(value, context));
        context.RecordCopy(value, copy);
        return copy;
    }

    protected static TItem[] CopyItems(TCollection value, CopyContext context)
    {
        var items = value.ToArray();
        for (var i = 0; i < items.Length; i++)
            items[i] = Codec<TItem>.Default.Copy(items[i], context);
        return items;
    }
}

/// <summary>
/// An immutable collection with comparers: they are written first, and what is read or copied is added to an empty one that has them.
/// </summary>
internal abstract class ComparedCodec<TCollection, TItem> : WrappedCodec<TCollection, TItem>
    where TCollection : class, IEnumerable<TItem>
{
    protected sealed override bool IsWrapperImmutable => true;

    protected abstract void WriteComparers(ref WireWriter writer, TCollection value);

    protected abstract TCollection ReadEmpty(ref WireReader reader);

    /// <summary>An empty one with the same comparers.</summary>
    protected abstract TCollection Clear(TCollection value);

    protected abstract TCollection AddRange(TCollection empty, TItem[] items);

    protected sealed override TCollection FromArray(TItem[] items) => throw new NotSupportedException("A collection with comparers is not made from items alone.");

    protected override void WriteBody(ref WireWriter writer, TCollection value)
    {
        WriteComparers(ref writer, value);
        base.WriteBody(ref writer, value);
    }

    protected override TCollection ReadBody(ref WireReader reader, int at)
    {
        var empty = ReadEmpty(ref reader);
        var collection = AddRange(empty, Items.Read<TItem>(ref reader, reader.ReadCount(), -1));
        Record(ref reader, at, collection);
        return collection;
    }

    protected override TCollection CopyBody(TCollection value, CopyContext context)
    {
        var copy = AddRange(Clear(value), CopyItems(value, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}
