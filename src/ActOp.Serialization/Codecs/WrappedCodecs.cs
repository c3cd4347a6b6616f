using System.Collections.Immutable;
using System.Runtime.InteropServices;
using ActOp.Wire;
using Orleans.Concurrency;

namespace ActOp.Serialization.Codecs;

/// <summary>A collection that is made from an array of its items.</summary>
internal abstract class WrappedCodec<TCollection, TItem> : ReferenceCodec<TCollection>
    where TCollection : class, IEnumerable<TItem>
{
    /// <summary>True when the collection itself cannot change.</summary>
    protected abstract bool IsWrapperImmutable { get; }

    protected override bool IsExactImmutable => IsWrapperImmutable && Codec<TItem>.Default.IsImmutable;

    protected abstract TCollection FromArray(TItem[] items);

    protected override void WriteBody(ref WireWriter writer, TCollection value)
    {
        var items = value.ToArray();
        writer.WriteVarUInt32((uint)items.Length);
        foreach (var item in items)
            Codec<TItem>.Default.Write(ref writer, item);
    }

    protected override TCollection ReadBody(ref WireReader reader, int at)
    {
        var collection = FromArray(ReadItems(ref reader));
        Record(ref reader, at, collection);
        return collection;
    }

    protected override TCollection CopyBody(TCollection value, CopyContext context)
    {
        var copy = FromArray(CopyItems(value, context));
        context.RecordCopy(value, copy);
        return copy;
    }

    protected static TItem[] ReadItems(ref WireReader reader)
    {
        var count = reader.ReadCount();
        reader.Session.CountDecoded(Footprint.OfMade<TItem>(count));
        return Items.Read<TItem>(ref reader, count, -1);
    }

    /// <summary>For stacks, whose first item is pushed last. The array is nobody else's.</summary>
    protected static TItem[] Reversed(TItem[] items)
    {
        Array.Reverse(items);
        return items;
    }

    protected static TItem[] CopyItems(TCollection value, CopyContext context)
    {
        var items = value.ToArray();
        for (var i = 0; i < items.Length; i++)
            items[i] = Codec<TItem>.Default.Copy(items[i], context);
        return items;
    }
}

/// <summary>
/// An immutable collection with comparers: they are written first, and what is read or copied is added to an empty one that has them.
/// </summary>
internal abstract class ComparedCodec<TCollection, TItem> : WrappedCodec<TCollection, TItem>
    where TCollection : class, IEnumerable<TItem>
{
    protected sealed override bool IsWrapperImmutable => true;

    protected abstract void WriteComparers(ref WireWriter writer, TCollection value);

    protected abstract TCollection ReadEmpty(ref WireReader reader);

    /// <summary>Reads so many items, the keys of which are about to be hashed or compared.</summary>
    protected abstract TItem[] ReadKeyed(ref WireReader reader, TCollection empty, int count);

    /// <summary>An empty one with the same comparers.</summary>
    protected abstract TCollection Clear(TCollection value);

    protected abstract TCollection AddRange(TCollection empty, TItem[] items);

    protected sealed override TCollection FromArray(TItem[] items) =>
        throw new NotSupportedException("A collection with a comparer cannot be created from items alone.");

    protected override void WriteBody(ref WireWriter writer, TCollection value)
    {
        WriteComparers(ref writer, value);
        base.WriteBody(ref writer, value);
    }

    protected override TCollection ReadBody(ref WireReader reader, int at)
    {
        var empty = ReadEmpty(ref reader);
        var count = reader.ReadCount();
        reader.Session.CountDecoded(Footprint.OfMade<TItem>(count));
        var collection = AddRange(empty, ReadKeyed(ref reader, empty, count));
        Record(ref reader, at, collection);
        return collection;
    }

    protected override TCollection CopyBody(TCollection value, CopyContext context)
    {
        var copy = AddRange(Clear(value), CopyItems(value, context));
        context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>The items as an array.</summary>
internal sealed class StackCodec<T> : WrappedCodec<Stack<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override Stack<T> FromArray(T[] items) => new(Reversed(items));
}

/// <summary>The items as an array.</summary>
internal sealed class ConcurrentStackCodec<T> : WrappedCodec<System.Collections.Concurrent.ConcurrentStack<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override System.Collections.Concurrent.ConcurrentStack<T> FromArray(T[] items) => new(Reversed(items));
}

/// <summary>The items as an array.</summary>
internal sealed class ReadOnlyCollectionCodec<T> : WrappedCodec<System.Collections.ObjectModel.ReadOnlyCollection<T>, T>
{
    protected override bool IsWrapperImmutable => false;

    protected override System.Collections.ObjectModel.ReadOnlyCollection<T> FromArray(T[] items) => new(items);
}

/// <summary>0 for the default value; count plus one, and the items.</summary>
internal sealed class ImmutableArrayCodec<T> : Codec<ImmutableArray<T>>
{
    public override bool IsImmutable => Codec<T>.Default.IsImmutable;

    public override ImmutableArray<T> Copy(ImmutableArray<T> value, CopyContext context)
    {
        if (value.IsDefaultOrEmpty || IsImmutable)
            return value;
        var items = value.AsSpan().ToArray();
        for (var i = 0; i < items.Length; i++)
            items[i] = Codec<T>.Default.Copy(items[i], context);
        return ImmutableCollectionsMarshal.AsImmutableArray(items);
    }

    public override void Write(ref WireWriter writer, ImmutableArray<T> value)
    {
        writer.WriteVarUInt32(value.IsDefault ? 0 : (uint)value.Length + 1);
        if (value.IsDefault)
            return;
        foreach (var item in value)
        {
            if (item is byte b)
                writer.WriteByte(b);
            else
                Codec<T>.Default.Write(ref writer, item);
        }
    }

    public override ImmutableArray<T> Read(ref WireReader reader)
    {
        var count = reader.ReadVarUInt32();
        if (count == 0)
            return default;
        if (count - 1 > (uint)reader.Remaining)
            throw Parsing.Invalid("array length");
        return ImmutableCollectionsMarshal.AsImmutableArray(Items.Read<T>(ref reader, (int)count - 1, -1));
    }
}

/// <summary>The items as an array.</summary>
internal sealed class ImmutableListCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableList<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableList<T> FromArray(T[] items) => [.. items];
}

/// <summary>The items as an array.</summary>
internal sealed class ImmutableQueueCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableQueue<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableQueue<T> FromArray(T[] items) => [.. items];
}

/// <summary>The items as an array.</summary>
internal sealed class ImmutableStackCodec<T> : WrappedCodec<System.Collections.Immutable.ImmutableStack<T>, T>
{
    protected override bool IsWrapperImmutable => true;

    protected override System.Collections.Immutable.ImmutableStack<T> FromArray(T[] items) =>
        System.Collections.Immutable.ImmutableStack.CreateRange(Reversed(items));
}

/// <summary>
/// Finds all values alike while pairs are added. Immutable dictionaries compare the values of equal keys, which only a hostile message has.
/// </summary>
internal sealed class AnyValue<T> : IEqualityComparer<T>
{
    internal static AnyValue<T> Instance { get; } = new();

    public bool Equals(T? x, T? y) => true;

    public int GetHashCode(T value) => 0;
}

/// <summary>The comparers, and the pairs as an array.</summary>
internal sealed class ImmutableDictionaryCodec<TKey, TValue> : ComparedCodec<ImmutableDictionary<TKey, TValue>, KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableDictionary<TKey, TValue> value)
    {
        Comparers.Write(ref writer, value.KeyComparer);
        Comparers.Write(ref writer, value.ValueComparer);
    }

    protected override ImmutableDictionary<TKey, TValue> ReadEmpty(ref WireReader reader) =>
        ImmutableDictionary.Create(Comparers.Read<TKey>(ref reader), Comparers.Read<TValue>(ref reader));

    protected override ImmutableDictionary<TKey, TValue> Clear(ImmutableDictionary<TKey, TValue> value) => value.Clear();

    protected override ImmutableDictionary<TKey, TValue> AddRange(
        ImmutableDictionary<TKey, TValue> empty, KeyValuePair<TKey, TValue>[] items) =>
        empty.WithComparers(empty.KeyComparer, AnyValue<TValue>.Instance).AddRange(items)
            .WithComparers(empty.KeyComparer, empty.ValueComparer);

    protected override KeyValuePair<TKey, TValue>[] ReadKeyed(
        ref WireReader reader, ImmutableDictionary<TKey, TValue> empty, int count) =>
        Keys<TKey>.ReadPairs<TValue>(ref reader, count, Keys<TKey>.WalksOfHash(empty.KeyComparer));
}

/// <summary>The comparers, and the pairs as an array.</summary>
internal sealed class ImmutableSortedDictionaryCodec<TKey, TValue> : ComparedCodec<ImmutableSortedDictionary<TKey, TValue>,
    KeyValuePair<TKey, TValue>>
    where TKey : notnull
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableSortedDictionary<TKey, TValue> value)
    {
        Comparers.WriteOrder(ref writer, value.KeyComparer);
        Comparers.Write(ref writer, value.ValueComparer);
    }

    protected override ImmutableSortedDictionary<TKey, TValue> ReadEmpty(ref WireReader reader) =>
        ImmutableSortedDictionary.Create(Comparers.ReadOrder<TKey>(ref reader), Comparers.Read<TValue>(ref reader));

    protected override ImmutableSortedDictionary<TKey, TValue> Clear(ImmutableSortedDictionary<TKey, TValue> value) => value.Clear();

    protected override ImmutableSortedDictionary<TKey, TValue> AddRange(
        ImmutableSortedDictionary<TKey, TValue> empty, KeyValuePair<TKey, TValue>[] items) =>
        empty.WithComparers(empty.KeyComparer, AnyValue<TValue>.Instance).AddRange(items)
            .WithComparers(empty.KeyComparer, empty.ValueComparer);

    protected override KeyValuePair<TKey, TValue>[] ReadKeyed(
        ref WireReader reader, ImmutableSortedDictionary<TKey, TValue> empty, int count)
    {
        reader.Session.CountDecoded(Footprint.OfMade<KeyValuePair<TKey, TValue>>(count)); // They are sorted apart first.
        return Keys<TKey>.ReadPairs<TValue>(ref reader, count, Keys<TKey>.WalksOfOrder(count));
    }
}

/// <summary>The comparer, and the items as an array.</summary>
internal sealed class ImmutableHashSetCodec<T> : ComparedCodec<ImmutableHashSet<T>, T>
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableHashSet<T> value) =>
        Comparers.Write(ref writer, value.KeyComparer);

    protected override ImmutableHashSet<T> ReadEmpty(ref WireReader reader) => ImmutableHashSet.Create(Comparers.Read<T>(ref reader));

    protected override ImmutableHashSet<T> Clear(ImmutableHashSet<T> value) => value.Clear();

    protected override ImmutableHashSet<T> AddRange(ImmutableHashSet<T> empty, T[] items) => empty.Union(items);

    protected override T[] ReadKeyed(ref WireReader reader, ImmutableHashSet<T> empty, int count) =>
        Keys<T>.ReadItems(ref reader, count, Keys<T>.WalksOfHash(empty.KeyComparer));
}

/// <summary>The comparer, and the items as an array.</summary>
internal sealed class ImmutableSortedSetCodec<T> : ComparedCodec<ImmutableSortedSet<T>, T>
{
    protected override void WriteComparers(ref WireWriter writer, ImmutableSortedSet<T> value) =>
        Comparers.WriteOrder(ref writer, value.KeyComparer);

    protected override ImmutableSortedSet<T> ReadEmpty(ref WireReader reader) =>
        ImmutableSortedSet.Create(Comparers.ReadOrder<T>(ref reader));

    protected override ImmutableSortedSet<T> Clear(ImmutableSortedSet<T> value) => value.Clear();

    protected override ImmutableSortedSet<T> AddRange(ImmutableSortedSet<T> empty, T[] items) => empty.Union(items);

    protected override T[] ReadKeyed(ref WireReader reader, ImmutableSortedSet<T> empty, int count) =>
        Keys<T>.ReadItems(ref reader, count, Keys<T>.WalksOfOrder(count));
}

/// <summary>The value; never copied.</summary>
internal sealed class ImmutableCodec<T> : Codec<Immutable<T>>
{
    public override bool IsImmutable => true;

    public override Immutable<T> Copy(Immutable<T> value, CopyContext context) => value;

    public override void Write(ref WireWriter writer, Immutable<T> value) => Codec<T>.Default.Write(ref writer, value.Value);

    public override Immutable<T> Read(ref WireReader reader) => new(Codec<T>.Default.Read(ref reader));
}
