using System.Collections.Immutable;
using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>The comparers, and the pairs as an array.</summary>
internal sealed class ImmutableDictionaryCodec<TKey, TValue> : ComparedCodec<ImmutableDictionary<TKey, TValue>, KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableDictionary<TKey, TValue> value)
    {
        Comparers.Write(ref writer, value.KeyComparer);
        Comparers.Write(ref writer, value.ValueComparer);
    }

    protected override ImmutableDictionary<TKey, TValue> ReadEmpty(ref WireReader reader) => ImmutableDictionary.Create(Comparers.Read<TKey>(ref reader), Comparers.Read<TValue>(ref reader));

    protected override ImmutableDictionary<TKey, TValue> Clear(ImmutableDictionary<TKey, TValue> value) => value.Clear();

    protected override ImmutableDictionary<TKey, TValue> AddRange(ImmutableDictionary<TKey, TValue> empty, KeyValuePair<TKey, TValue>[] items) => empty.AddRange(items);
}

/// <summary>The comparers, and the pairs as an array.</summary>
internal sealed class ImmutableSortedDictionaryCodec<TKey, TValue> : ComparedCodec<ImmutableSortedDictionary<TKey, TValue>, KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableSortedDictionary<TKey, TValue> value)
    {
        Comparers.WriteOrder(ref writer, value.KeyComparer);
        Comparers.Write(ref writer, value.ValueComparer);
    }

    protected override ImmutableSortedDictionary<TKey, TValue> ReadEmpty(ref WireReader reader) => ImmutableSortedDictionary.Create(Comparers.ReadOrder<TKey>(ref reader), Comparers.Read<TValue>(ref reader));

    protected override ImmutableSortedDictionary<TKey, TValue> Clear(ImmutableSortedDictionary<TKey, TValue> value) => value.Clear();

    protected override ImmutableSortedDictionary<TKey, TValue> AddRange(ImmutableSortedDictionary<TKey, TValue> empty, KeyValuePair<TKey, TValue>[] items) => empty.AddRange(items);
}

/// <summary>The comparer, and the items as an array.</summary>
internal sealed class ImmutableHashSetCodec<T> : ComparedCodec<ImmutableHashSet<T>, T>
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableHashSet<T> value) => Comparers.Write(ref writer, value.KeyComparer);

    protected override ImmutableHashSet<T> ReadEmpty(ref WireReader reader) => ImmutableHashSet.Create(Comparers.Read<T>(ref reader));

    protected override ImmutableHashSet<T> Clear(ImmutableHashSet<T> value) => value.Clear();

    protected override ImmutableHashSet<T> AddRange(ImmutableHashSet<T> empty, T[] items) => empty.Union(items);
}

/// <summary>The comparer, and the items as an array.</summary>
internal sealed class ImmutableSortedSetCodec<T> : ComparedCodec<ImmutableSortedSet<T>, T>
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableSortedSet<T> value) => Comparers.WriteOrder(ref writer, value.KeyComparer);

    protected override ImmutableSortedSet<T> ReadEmpty(ref WireReader reader) => ImmutableSortedSet.Create(Comparers.ReadOrder<T>(ref reader));

    protected override ImmutableSortedSet<T> Clear(ImmutableSortedSet<T> value) => value.Clear();

    protected override ImmutableSortedSet<T> AddRange(ImmutableSortedSet<T> empty, T[] items) => empty.Union(items);
}
