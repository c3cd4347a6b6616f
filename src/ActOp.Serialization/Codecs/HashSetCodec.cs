using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class HashSetCodec<T> : SequenceCodec<HashSet<T>, T>
{
    protected override void WriteStart(ref WireWriter writer, HashSet<T> collection) => Comparers.Write(ref writer, collection.Comparer);

    protected override HashSet<T> ReadStart(ref WireReader reader, int capacity) => new(capacity, Comparers.Read<T>(ref reader));

    protected override HashSet<T> CreateLike(HashSet<T> collection) => new(collection.Count, collection.Comparer);

    protected override int Count(HashSet<T> collection) => collection.Count;

    protected override void Add(HashSet<T> collection, T item) => collection.Add(item);
}
