using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class CollectionCodec<T> : SequenceCodec<System.Collections.ObjectModel.Collection<T>, T>
{
    protected override System.Collections.ObjectModel.Collection<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.ObjectModel.Collection<T> CreateLike(System.Collections.ObjectModel.Collection<T> collection) => [];

    protected override int Count(System.Collections.ObjectModel.Collection<T> collection) => collection.Count;

    protected override void Add(System.Collections.ObjectModel.Collection<T> collection, T item) => collection.Add(item);
}
