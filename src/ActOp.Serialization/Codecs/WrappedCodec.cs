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
        var items = value.ToArray();
        for (var i = 0; i < items.Length; i++)
            items[i] = Codec<TItem>.Default.Copy(items[i], context);
        var copy = FromArray(items);
        context.RecordCopy(value, copy);
        return copy;
    }
}
