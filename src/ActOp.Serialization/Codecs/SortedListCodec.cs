using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class SortedListCodec<TKey, TValue> : MapCodec<SortedList<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, SortedList<TKey, TValue> map) => Comparers.WriteOrder(ref writer, map.Comparer);

    protected override SortedList<TKey, TValue> ReadStart(ref WireReader reader, int capacity) => new(Comparers.ReadOrder<TKey>(ref reader));

    protected override SortedList<TKey, TValue> CreateLike(SortedList<TKey, TValue> map) => new(map.Comparer);

    protected override int Count(SortedList<TKey, TValue> map) => map.Count;

    protected override void Add(SortedList<TKey, TValue> map, TKey key, TValue value) => map[key] = value;
}
