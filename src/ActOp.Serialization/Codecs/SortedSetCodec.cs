using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class SortedSetCodec<T> : SequenceCodec<SortedSet<T>, T>
{
    protected override void WriteStart(ref WireWriter writer, SortedSet<T> collection) => Comparers.WriteOrder(ref writer, collection.Comparer);

    protected override SortedSet<T> ReadStart(ref WireReader reader, int capacity) => new(Comparers.ReadOrder<T>(ref reader));

    protected override SortedSet<T> CreateLike(SortedSet<T> collection) => new(collection.Comparer);

    protected override int Count(SortedSet<T> collection) => collection.Count;

    protected override void Add(SortedSet<T> collection, T item) => collection.Add(item);
}
