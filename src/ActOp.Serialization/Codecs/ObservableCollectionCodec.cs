using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>Count and items.</summary>
internal sealed class ObservableCollectionCodec<T> : SequenceCodec<System.Collections.ObjectModel.ObservableCollection<T>, T>
{
    protected override System.Collections.ObjectModel.ObservableCollection<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.ObjectModel.ObservableCollection<T> CreateLike(System.Collections.ObjectModel.ObservableCollection<T> collection) => [];

    protected override int Count(System.Collections.ObjectModel.ObservableCollection<T> collection) => collection.Count;

    protected override void Add(System.Collections.ObjectModel.ObservableCollection<T> collection, T item) => collection.Add(item);
}
