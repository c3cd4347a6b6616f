using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class ConcurrentQueueCodec<T> : SequenceCodec<System.Collections.Concurrent.ConcurrentQueue<T>, T>
{
    protected override System.Collections.Concurrent.ConcurrentQueue<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.Concurrent.ConcurrentQueue<T> CreateLike(System.Collections.Concurrent.ConcurrentQueue<T> collection) => [];

    protected override int Count(System.Collections.Concurrent.ConcurrentQueue<T> collection) => collection.Count;

    protected override void Add(System.Collections.Concurrent.ConcurrentQueue<T> collection, T item) => collection.Enqueue(item);
}
