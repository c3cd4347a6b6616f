using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class LinkedListCodec<T> : SequenceCodec<LinkedList<T>, T>
{
    protected override LinkedList<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override LinkedList<T> CreateLike(LinkedList<T> collection) => [];

    protected override int Count(LinkedList<T> collection) => collection.Count;

    protected override void Add(LinkedList<T> collection, T item) => collection.AddLast(item);
}
