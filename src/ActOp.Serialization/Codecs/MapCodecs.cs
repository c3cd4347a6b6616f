using System.Collections.ObjectModel;
using System.Runtime.CompilerServices;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>A collection of keys and values that is filled pair by pair.</summary>
internal abstract class MapCodec<TMap, TKey, TValue> : ReferenceCodec<TMap>
    where TMap : class, IEnumerable<KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    private const int TrustedCapacity = 1024;

    private static readonly Codec<TKey> Key = Codec<TKey>.Default;
    private static readonly Codec<TValue> Value = Codec<TValue>.Default;

    protected abstract void WriteStart(ref WireWriter writer, TMap map);

    protected abstract TMap ReadStart(ref WireReader reader, int capacity);

    protected abstract TMap CreateLike(TMap map);

    protected abstract int Count(TMap map);

    protected abstract void Add(TMap map, TKey key, TValue value);

    /// <summary>What it costs to add a key, beyond its memory, in bytes that are moved.</summary>
    protected virtual long CostOf(TMap map, TKey key) => 0;

    /// <summary>How often the members of a key are gone over when it is added to so many: 0 if it is not hashed or compared.</summary>
    protected abstract int Walks(TMap map, int count);

    /// <summary>Where the keys of a collection by hash codes go; none for others.</summary>
    protected virtual HashRuns<TKey> RunsOf(WireSession session, TMap map, int count) => default;

    /// <summary>How many buckets it has for hash codes; 0 if it does not say so.</summary>
    protected virtual int BucketsOf(TMap map) => 0;

    protected override void WriteBody(ref WireWriter writer, TMap value)
    {
        var count = Count(value);
        writer.WriteVarUInt32((uint)count);
        WriteStart(ref writer, value);
        foreach (var pair in value)
        {
            if (--count < 0)
                break;
            Key.Write(ref writer, pair.Key);
            Value.Write(ref writer, pair.Value);
        }

        if (count != 0)
            throw new InvalidOperationException("The collection was changed while it was written.");
    }

    protected override TMap ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount(2);
        reader.Session.CountDecoded(Footprint.OfTable<KeyValuePair<TKey, TValue>>(count));
        var map = ReadStart(ref reader, Math.Min(count, TrustedCapacity));
        Record(ref reader, at, map);
        var walks = Walks(map, count);
        var runs = RunsOf(reader.Session, map, count);
        for (var i = 0; i < count; i++)
        {
            var key = (walks > 0 ? Keys<TKey>.Read(ref reader, walks) : Key.Read(ref reader))
                ?? throw new SerializerException("The message has a null key.");
            var value = Value.Read(ref reader);
            reader.Session.CountDecoded(CostOf(map, key));
            if (runs.IsNeeded)
                runs.Add(key, BucketsOf(map));
            Add(map, key, value);
        }

        return map;
    }

    protected override TMap CopyBody(TMap value, CopyContext context)
    {
        var copy = CreateLike(value);
        context.RecordCopy(value, copy);
        foreach (var pair in value)
            Add(copy, Key.Copy(pair.Key, context), Value.Copy(pair.Value, context));
        return copy;
    }
}

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class DictionaryCodec<TKey, TValue> : MapCodec<Dictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, Dictionary<TKey, TValue> map) => Comparers.Write(ref writer, map.Comparer);

    protected override Dictionary<TKey, TValue> ReadStart(ref WireReader reader, int capacity) =>
        new(capacity, Comparers.Read<TKey>(ref reader));

    protected override Dictionary<TKey, TValue> CreateLike(Dictionary<TKey, TValue> map) => new(map.Count, map.Comparer);

    protected override int Count(Dictionary<TKey, TValue> map) => map.Count;

    protected override void Add(Dictionary<TKey, TValue> map, TKey key, TValue value) => map[key] = value;

    protected override int Walks(Dictionary<TKey, TValue> map, int count) => Keys<TKey>.WalksOfHash(map.Comparer);

    protected override HashRuns<TKey> RunsOf(WireSession session, Dictionary<TKey, TValue> map, int count) =>
        HashRuns<TKey>.For(session, map.Comparer, count);

    protected override int BucketsOf(Dictionary<TKey, TValue> map) => map.Capacity;
}

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class SortedDictionaryCodec<TKey, TValue> : MapCodec<SortedDictionary<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, SortedDictionary<TKey, TValue> map) =>
        Comparers.WriteOrder(ref writer, map.Comparer);

    protected override SortedDictionary<TKey, TValue> ReadStart(ref WireReader reader, int capacity) =>
        new(Comparers.ReadOrder<TKey>(ref reader));

    protected override SortedDictionary<TKey, TValue> CreateLike(SortedDictionary<TKey, TValue> map) => new(map.Comparer);

    protected override int Count(SortedDictionary<TKey, TValue> map) => map.Count;

    protected override void Add(SortedDictionary<TKey, TValue> map, TKey key, TValue value) => map[key] = value;

    protected override int Walks(SortedDictionary<TKey, TValue> map, int count) => Keys<TKey>.WalksOfOrder(count);
}

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class SortedListCodec<TKey, TValue> : MapCodec<SortedList<TKey, TValue>, TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, SortedList<TKey, TValue> map) =>
        Comparers.WriteOrder(ref writer, map.Comparer);

    protected override SortedList<TKey, TValue> ReadStart(ref WireReader reader, int capacity) =>
        new(Comparers.ReadOrder<TKey>(ref reader));

    protected override SortedList<TKey, TValue> CreateLike(SortedList<TKey, TValue> map) => new(map.Comparer);

    protected override int Count(SortedList<TKey, TValue> map) => map.Count;

    protected override void Add(SortedList<TKey, TValue> map, TKey key, TValue value) => map[key] = value;

    protected override int Walks(SortedList<TKey, TValue> map, int count) => Keys<TKey>.WalksOfOrder(count);

    /// <summary>It was written in order. A key out of order moves the others, which would take very long for many keys.</summary>
    protected override long CostOf(SortedList<TKey, TValue> map, TKey key) =>
        map.Count > 64 && map.Comparer.Compare(map.GetKeyAtIndex(map.Count - 1), key) > 0 ? map.Count / 16 : 0;
}

/// <summary>The comparer of strings, count, keys and values.</summary>
internal sealed class ConcurrentDictionaryCodec<TKey, TValue> : MapCodec<System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue>,
    TKey, TValue>
    where TKey : notnull
{
    protected override void WriteStart(ref WireWriter writer, System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map) =>
        Comparers.Write(ref writer, map.Comparer);

    protected override System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> ReadStart(ref WireReader reader, int capacity) =>
        new(Comparers.Read<TKey>(ref reader) ?? EqualityComparer<TKey>.Default);

    protected override System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> CreateLike(
        System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map) => new(map.Comparer);

    protected override int Count(System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map) => map.Count;

    protected override void Add(System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map, TKey key, TValue value) =>
        map[key] = value;

    protected override int Walks(System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map, int count) =>
        Keys<TKey>.WalksOfHash(map.Comparer);

    protected override HashRuns<TKey> RunsOf(
        WireSession session, System.Collections.Concurrent.ConcurrentDictionary<TKey, TValue> map, int count) =>
        HashRuns<TKey>.For(session, map.Comparer, count);
}

/// <summary>The dictionary behind it, which knows its comparer.</summary>
internal sealed class ReadOnlyDictionaryCodec<TKey, TValue> : ReferenceCodec<ReadOnlyDictionary<TKey, TValue>>
    where TKey : notnull
{
    private const int MaxLevels = 8;

    private static readonly Codec<IDictionary<TKey, TValue>> Behind = Codec<IDictionary<TKey, TValue>>.Default;

    protected override void WriteBody(ref WireWriter writer, ReadOnlyDictionary<TKey, TValue> value) =>
        Behind.Write(ref writer, DictionaryOf(value));

    protected override ReadOnlyDictionary<TKey, TValue> ReadBody(ref WireReader reader, int at)
    {
        var behind = Behind.Read(ref reader)
            ?? throw new SerializerException("The message has a read-only dictionary without its inner dictionary.");
        CheckLevels(behind);
        var value = new ReadOnlyDictionary<TKey, TValue>(behind);
        Record(ref reader, at, value);
        return value;
    }

    /// <summary>Each member of a read-only dictionary calls that of the one behind it: references could make a chain without end.</summary>
    private static void CheckLevels(IDictionary<TKey, TValue> behind)
    {
        for (var level = 0; behind is ReadOnlyDictionary<TKey, TValue> inner; behind = DictionaryOf(inner))
        {
            if (++level > MaxLevels)
                throw Parsing.Invalid("read-only dictionary");
        }
    }

    protected override ReadOnlyDictionary<TKey, TValue> CopyBody(ReadOnlyDictionary<TKey, TValue> value, CopyContext context)
    {
        var copy = new ReadOnlyDictionary<TKey, TValue>(Behind.Copy(DictionaryOf(value), context));
        context.RecordCopy(value, copy);
        return copy;
    }

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "get_Dictionary")]
    private static extern IDictionary<TKey, TValue> DictionaryOf(ReadOnlyDictionary<TKey, TValue> value);
}
