using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class QueueCodec<T> : SequenceCodec<Queue<T>, T>
{
    protected override Queue<T> ReadStart(ref WireReader reader, int capacity) => new(capacity);

    protected override Queue<T> CreateLike(Queue<T> collection) => new(collection.Count);

    protected override int Count(Queue<T> collection) => collection.Count;

    protected override void Add(Queue<T> collection, T item) => collection.Enqueue(item);
}
