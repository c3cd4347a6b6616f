using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class DictionaryCodec<TKey, TValue> : MapCodec<Dictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, Dictionary<TKey, TValue> map) => Comparers.Write(ref writer, map.Comparer);

    protected override Dictionary<TKey, TValue> ReadStart(ref WireReader reader, int capacity) => new(capacity, Comparers.Read<TKey>(ref reader));

    protected override Dictionary<TKey, TValue> CreateLike(Dictionary<TKey, TValue> map) => new(map.Count, map.Comparer);

    protected override int Count(Dictionary<TKey, TValue> map) => map.Count;

    protected override void Add(Dictionary<TKey, TValue> map, TKey key, TValue value) => map[key] = value;
}
