using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class ConcurrentDictionaryCodec<TKey, TValue> : MapCodec<System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map) => Comparers.Write(ref writer, map.Comparer);

    protected override System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> ReadStart(ref WireReader reader, int capacity) => new(Comparers.Read<TKey>(ref reader) ?? EqualityComparer<TKey>.Default);

    protected override System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> CreateLike(System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map) => new(map.Comparer);

    protected override int Count(System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map) => map.Count;

    protected override void Add(System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map, TKey key, TValue value) => map[key] = value;
}
