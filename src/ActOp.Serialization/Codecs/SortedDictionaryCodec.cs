using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class SortedDictionaryCodec<TKey, TValue> : MapCodec<SortedDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, SortedDictionary<TKey, TValue> map) => Comparers.WriteOrder(ref writer, map.Comparer);

    protected override SortedDictionary<TKey, TValue> ReadStart(ref WireReader reader, int capacity) => new(Comparers.ReadOrder<TKey>(ref reader));

    protected override SortedDictionary<TKey, TValue> CreateLike(SortedDictionary<TKey, TValue> map) => new(map.Comparer);

    protected override int Count(SortedDictionary<TKey, TValue> map) => map.Count;

    protected override void Add(SortedDictionary<TKey, TValue> map, TKey key, TValue value) => map[key] = value;
}
