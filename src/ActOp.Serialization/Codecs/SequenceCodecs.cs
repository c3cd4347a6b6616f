using System.Numerics;
using System.Runtime.InteropServices;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>Reads what the collection around it hashes or compares at once: see <see cref="WireSession.EndKey"/>.</summary>
internal static class Keys<T>
{
    private const int TrustedCapacity = 1024;

    /// <summary>Values without members cost no more than their bytes.</summary>
    private static readonly bool IsPlain = Codec<T>.Default is PlainCodec<T> || typeof(T) == typeof(string);

    /// <summary>For a collection that hashes: once, and not at all if it goes by identity.</summary>
    internal static int WalksOfHash(IEqualityComparer<T>? comparer) => (object?)comparer is ReferenceEqualityComparer ? 0 : 1;

    /// <summary>For a collection of so many items that is sorted: a key is compared with those on its way.</summary>
    internal static int WalksOfOrder(int count) => BitOperations.Log2((uint)count) + 1;

    internal static T Read(ref WireReader reader, int walks)
    {
        if (IsPlain)
            return Codec<T>.Default.Read(ref reader);
        var session = reader.Session;
        var outer = session.Begin(reader.Position);
        var key = Codec<T>.Default.Read(ref reader);
        session.EndKey(outer, reader.Position, walks);
        return key;
    }

    /// <summary>Reads the items of a set that is made of all of them at once.</summary>
    internal static T[] ReadItems(ref WireReader reader, int count, int walks)
    {
        if (IsPlain || walks == 0)
            return Items.Read<T>(ref reader, count, -1);
        reader.Session.CountDecoded(Footprint.OfItems<T>(count));
        var items = new List<T>(Math.Min(count, TrustedCapacity));
        for (var i = 0; i < count; i++)
            items.Add(Read(ref reader, walks));
        return [.. items];
    }

    /// <summary>Reads the keys and values of a dictionary that is made of all of them at once.</summary>
    internal static KeyValuePair<T, TValue>[] ReadPairs<TValue>(ref WireReader reader, int count, int walks)
    {
        reader.Session.CountDecoded(Footprint.OfItems<KeyValuePair<T, TValue>>(count));
        var pairs = new List<KeyValuePair<T, TValue>>(Math.Min(count, TrustedCapacity));
        for (var i = 0; i < count; i++)
        {
            var key = walks > 0 ? Read(ref reader, walks) : Codec<T>.Default.Read(ref reader);
            if (key is null)
                throw new SerializerException("The message has a null key.");
            pairs.Add(new(key, Codec<TValue>.Default.Read(ref reader)));
        }

        return [.. pairs];
    }
}

/// <summary>
/// Counts how many keys of a collection that is read share a bucket with those before. Hash codes of numbers and the like are known to
/// all, so whoever chooses the keys can choose many with one bucket, and each key is compared with all those in it: what it is compared
/// with counts as memory does, so that the work stays in proportion to the length of the message. Texts have random hash codes.
/// </summary>
/// <remarks>By one thread, while one collection is read. Its tables go back to the garbage collector with it.</remarks>
internal struct HashRuns<T>
{
    /// <summary>Fewer keys cost nothing that is worth a look.</summary>
    private const int Least = 512;

    /// <summary>Keys in one bucket that chance explains.</summary>
    private const int Free = 16;

    /// <summary>What a comparison fetches: each key of a bucket is in another line of the cache.</summary>
    private const int BytesOfComparison = 64;

    private WireSession _session;
    private IEqualityComparer<T> _comparer;
    private List<int>? _hashes;
    private int[] _runs;

    internal readonly bool IsNeeded => _hashes is not null;

    internal static HashRuns<T> For(WireSession session, IEqualityComparer<T> comparer, int count) =>
        count < Least || !session.IsDecodedLimited || typeof(T) == typeof(string) || (object)comparer is ReferenceEqualityComparer
        ? default : new HashRuns<T> { _session = session, _comparer = comparer, _hashes = new(Least), _runs = [] };

    /// <summary>Counts a key that is about to be added.</summary>
    /// <param name="key">The key.</param>
    /// <param name="buckets">How many buckets the collection has now; 0 if that is not known: then only equal hash codes count.</param>
    internal void Add(T key, int buckets)
    {
        var hash = key is null ? 0 : _comparer.GetHashCode(key);
        if (buckets == 0)
            buckets = _hashes!.Count < _runs.Length ? _runs.Length : 2 * _hashes.Count + Least + 1;
        if (buckets != _runs.Length)
            CountAgain(buckets);
        _hashes!.Add(hash);
        var run = _runs[(uint)hash % (uint)buckets]++;
        if (run > Free)
            _session.CountDecoded((long)run * BytesOfComparison);
    }

    /// <summary>The collection has grown: its keys have other buckets.</summary>
    private void CountAgain(int buckets)
    {
        _runs = new int[buckets];
        foreach (var hash in _hashes!)
            _runs[(uint)hash % (uint)buckets]++;
    }
}

/// <summary>A collection that is filled item by item.</summary>
internal abstract class SequenceCodec<TCollection, TItem> : ReferenceCodec<TCollection>
    where TCollection : class, IEnumerable<TItem>
{
    /// <summary>Largest capacity before any item was read; limits the cost of a malicious count.</summary>
    private const int TrustedCapacity = 1024;

    private static readonly Codec<TItem> Item = Codec<TItem>.Default;

    protected virtual void WriteStart(ref WireWriter writer, TCollection collection)
    {
    }

    protected abstract TCollection ReadStart(ref WireReader reader, int capacity);

    protected abstract TCollection CreateLike(TCollection collection);

    protected abstract int Count(TCollection collection);

    protected abstract void Add(TCollection collection, TItem item);

    /// <summary>How often the members of an item are gone over when it is added to so many: 0 if it is not hashed or compared.</summary>
    protected virtual int Walks(TCollection collection, int count) => 0;

    /// <summary>Where the items of a collection by hash codes go; none for others.</summary>
    protected virtual HashRuns<TItem> RunsOf(WireSession session, TCollection collection, int count) => default;

    /// <summary>How many buckets it has for hash codes; 0 if it does not say so.</summary>
    protected virtual int BucketsOf(TCollection collection) => 0;

    protected override void WriteBody(ref WireWriter writer, TCollection value)
    {
        var count = Count(value);
        writer.WriteVarUInt32((uint)count);
        WriteStart(ref writer, value);
        foreach (var item in value)
        {
            if (--count >= 0)
                Item.Write(ref writer, item);
        }

        if (count != 0)
            throw new InvalidOperationException("The collection was changed while it was written.");
    }

    protected override TCollection ReadBody(ref WireReader reader, int at)
    {
        var count = reader.ReadCount();
        reader.Session.CountDecoded(Footprint.OfTable<TItem>(count));
        var collection = ReadStart(ref reader, Math.Min(count, TrustedCapacity));
        Record(ref reader, at, collection);
        var walks = Walks(collection, count);
        var runs = RunsOf(reader.Session, collection, count);
        for (var i = 0; i < count; i++)
        {
            var item = walks > 0 ? Keys<TItem>.Read(ref reader, walks) : Item.Read(ref reader);
            if (runs.IsNeeded)
                runs.Add(item, BucketsOf(collection));
            Add(collection, item);
        }

        return collection;
    }

    protected override TCollection CopyBody(TCollection value, CopyContext context)
    {
        var copy = CreateLike(value);
        context.RecordCopy(value, copy);
        foreach (var item in value)
            Add(copy, Item.Copy(item, context));
        return copy;
    }
}

/// <summary>Count and items.</summary>
internal sealed class ListCodec<T> : ReferenceCodec<List<T>>
{
    private const int TrustedCapacity = 4096;

    protected override void WriteBody(ref WireWriter writer, List<T> value)
    {
        var codec = Codec<T>.Default;
        writer.WriteVarUInt32((uint)value.Count);
        foreach (var item in value)
            codec.Write(ref writer, item);
    }

    protected override List<T> ReadBody(ref WireReader reader, int at)
    {
        var codec = Codec<T>.Default;
        var count = reader.ReadCount();
        reader.Session.CountDecoded(Footprint.OfItems<T>(count));
        var list = new List<T>(Math.Min(count, TrustedCapacity));
        Record(ref reader, at, list);
        for (var i = 0; i < count; i++)
            list.Add(codec.Read(ref reader));
        return list;
    }

    protected override List<T> CopyBody(List<T> value, CopyContext context)
    {
        var codec = Codec<T>.Default;
        var copy = new List<T>(value.Count);
        context.RecordCopy(value, copy);
        if (codec.IsImmutable)
        {
            copy.AddRange(CollectionsMarshal.AsSpan(value));
            return copy;
        }

        foreach (var item in value)
            copy.Add(codec.Copy(item, context));
        return copy;
    }
}

/// <summary>Count and items.</summary>
internal sealed class QueueCodec<T> : SequenceCodec<Queue<T>, T>
{
    protected override Queue<T> ReadStart(ref WireReader reader, int capacity) => new(capacity);

    protected override Queue<T> CreateLike(Queue<T> collection) => new(collection.Count);

    protected override int Count(Queue<T> collection) => collection.Count;

    protected override void Add(Queue<T> collection, T item) => collection.Enqueue(item);
}

/// <summary>Count and items.</summary>
internal sealed class LinkedListCodec<T> : SequenceCodec<LinkedList<T>, T>
{
    protected override LinkedList<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override LinkedList<T> CreateLike(LinkedList<T> collection) => [];

    protected override int Count(LinkedList<T> collection) => collection.Count;

    protected override void Add(LinkedList<T> collection, T item) => collection.AddLast(item);
}

/// <summary>Count and items.</summary>
internal sealed class CollectionCodec<T> : SequenceCodec<System.Collections.ObjectModel.Collection<T>, T>
{
    protected override System.Collections.ObjectModel.Collection<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.ObjectModel.Collection<T> CreateLike(System.Collections.ObjectModel.Collection<T> collection) =>
        [];

    protected override int Count(System.Collections.ObjectModel.Collection<T> collection) => collection.Count;

    protected override void Add(System.Collections.ObjectModel.Collection<T> collection, T item) => collection.Add(item);
}

/// <summary>Count and items.</summary>
internal sealed class ObservableCollectionCodec<T> : SequenceCodec<System.Collections.ObjectModel.ObservableCollection<T>, T>
{
    protected override System.Collections.ObjectModel.ObservableCollection<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.ObjectModel.ObservableCollection<T> CreateLike(
        System.Collections.ObjectModel.ObservableCollection<T> collection) => [];

    protected override int Count(System.Collections.ObjectModel.ObservableCollection<T> collection) => collection.Count;

    protected override void Add(System.Collections.ObjectModel.ObservableCollection<T> collection, T item) => collection.Add(item);
}

/// <summary>Count and items.</summary>
internal sealed class HashSetCodec<T> : SequenceCodec<HashSet<T>, T>
{
    protected override void WriteStart(ref WireWriter writer, HashSet<T> collection) => Comparers.Write(ref writer, collection.Comparer);

    protected override HashSet<T> ReadStart(ref WireReader reader, int capacity) => new(capacity, Comparers.Read<T>(ref reader));

    protected override HashSet<T> CreateLike(HashSet<T> collection) => new(collection.Count, collection.Comparer);

    protected override int Count(HashSet<T> collection) => collection.Count;

    protected override void Add(HashSet<T> collection, T item) => collection.Add(item);

    protected override int Walks(HashSet<T> collection, int count) => Keys<T>.WalksOfHash(collection.Comparer);

    protected override HashRuns<T> RunsOf(WireSession session, HashSet<T> collection, int count) =>
        HashRuns<T>.For(session, collection.Comparer, count);

    protected override int BucketsOf(HashSet<T> collection) => collection.Capacity;
}

/// <summary>Count and items.</summary>
internal sealed class SortedSetCodec<T> : SequenceCodec<SortedSet<T>, T>
{
    protected override void WriteStart(ref WireWriter writer, SortedSet<T> collection) =>
        Comparers.WriteOrder(ref writer, collection.Comparer);

    protected override SortedSet<T> ReadStart(ref WireReader reader, int capacity) => new(Comparers.ReadOrder<T>(ref reader));

    protected override SortedSet<T> CreateLike(SortedSet<T> collection) => new(collection.Comparer);

    protected override int Count(SortedSet<T> collection) => collection.Count;

    protected override void Add(SortedSet<T> collection, T item) => collection.Add(item);

    protected override int Walks(SortedSet<T> collection, int count) => Keys<T>.WalksOfOrder(count);
}

/// <summary>Count and items.</summary>
internal sealed class ConcurrentQueueCodec<T> : SequenceCodec<System.Collections.Concurrent.ConcurrentQueue<T>, T>
{
    protected override System.Collections.Concurrent.ConcurrentQueue<T> ReadStart(ref WireReader reader, int capacity) => [];

    protected override System.Collections.Concurrent.ConcurrentQueue<T> CreateLike(
        System.Collections.Concurrent.ConcurrentQueue<T> collection) => [];

    protected override int Count(System.Collections.Concurrent.ConcurrentQueue<T> collection) => collection.Count;

    protected override void Add(System.Collections.Concurrent.ConcurrentQueue<T> collection, T item) => collection.Enqueue(item);
}
