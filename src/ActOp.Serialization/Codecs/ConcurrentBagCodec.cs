using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class ConcurrentBagCodec<T> : SequenceCodec<System.Collections.Concurrent.ConcurrentBag<T>, T>
{
    protected override System.Collections.Concurrent.ConcurrentBag<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.Concurrent.ConcurrentBag<T> CreateLike(System.Collections.Concurrent.ConcurrentBag<T> collection) => [];

    protected override int Count(System.Collections.Concurrent.ConcurrentBag<T> collection) => collection.Count;

    protected override void Add(System.Collections.Concurrent.ConcurrentBag<T> collection, T item) => collection.Add(item);
}
