using System.Runtime.CompilerServices;

namespace ActOp.Partitioning;

/// <summary>What the selection asks about the vertices of this silo. Called once per vertex and round, so it must be cheap.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public interface IVertexTraits<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>False for what must stay: pinned, stateless, busy migrating, not here any more.</summary>
    /// <param name="vertex">A vertex that the table places on this silo.</param>
    /// <returns>Whether the vertex may move.</returns>
    bool CanMove(TVertex vertex);

    /// <summary>False if a silo cannot take the vertex, though others might.</summary>
    /// <param name="vertex">A vertex that may move.</param>
    /// <param name="silo">Another silo.</param>
    /// <returns>Whether the vertex may move there.</returns>
    bool CanMoveTo(TVertex vertex, int silo) => true;

    /// <summary>The size that counts for the candidate set's size limit, the migration cost and, if so chosen, the balance.</summary>
    /// <param name="vertex">A vertex that the table places on this silo.</param>
    /// <returns>A size above zero in any unit, for instance bytes of state; 1 where all are alike.</returns>
    double SizeOf(TVertex vertex);
}

/// <summary>Every vertex may move and has size 1: the paper's assumption (section 4.1).</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public sealed class UniformTraits<TVertex> : IVertexTraits<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>The only instance needed.</summary>
    public static UniformTraits<TVertex> Instance { get; } = new();

    /// <inheritdoc/>
    public bool CanMove(TVertex vertex) => true;

    /// <inheritdoc/>
    public double SizeOf(TVertex vertex) => 1;
}

/// <summary>
/// Interned vertices: key to dense number by open addressing (linear probing, backward-shift deletion), with the place of the vertex and
/// the head of its list of edges.
/// </summary>
internal sealed class VertexSet<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    private TVertex[] _keys = new TVertex[64];
    private int[] _hashes = new int[64];
    private int[] _silos = new int[64];
    private long[] _epochs = new long[64];
    private int[] _heads = new int[64];
    private int[] _buckets = NewBuckets(128);
    private int _free = -1;
    private int _used;

    public int Count { get; private set; }

    /// <summary>One more than the largest number in use.</summary>
    public int Bound => _used;

    public TVertex KeyOf(int id) => _keys[id];

    public int SiloOf(int id) => _silos[id];

    public long EpochOf(int id) => _epochs[id];

    public int HeadOf(int id) => _heads[id];

    public void SetHead(int id, int half) => _heads[id] = half;

    public int NumberOf(TVertex key)
    {
        var hash = key.GetHashCode();
        var mask = _buckets.Length - 1;
        for (var bucket = Home(hash, mask); ; bucket = (bucket + 1) & mask)
        {
            var id = _buckets[bucket];
            if (id < 0)
                return -1;
            if (_hashes[id] == hash && _keys[id].Equals(key))
                return id;
        }
    }

    /// <summary>Finds or adds a vertex, and takes over the place if it is not older than the known one.</summary>
    public int Intern(TVertex key, int silo, long epoch)
    {
        var id = NumberOf(key);
        if (id >= 0)
        {
            // An unknown place never overwrites a known one of the same age.
            if (silo != SiloNumber.Unknown)
                Locate(id, silo, epoch);
            return id;
        }

        if ((Count + 1) * 2 > _buckets.Length)
            Rehash();
        id = TakeNumber();
        _keys[id] = key;
        _hashes[id] = key.GetHashCode();
        _silos[id] = silo;
        _epochs[id] = epoch;
        _heads[id] = -1;
        Count++;
        Insert(id);
        Invariant.Holds(Count <= _used && Count * 2 <= _buckets.Length);
        return id;
    }

    public bool Locate(int id, int silo, long epoch)
    {
        if (epoch < _epochs[id])
            return false;
        _silos[id] = silo;
        _epochs[id] = epoch;
        return true;
    }

    public void Remove(int id)
    {
        Invariant.Holds(Count > 0 && id < _used);
        var mask = _buckets.Length - 1;
        var hole = Home(_hashes[id], mask);
        while (_buckets[hole] != id)
            hole = (hole + 1) & mask;
        for (var next = (hole + 1) & mask; _buckets[next] >= 0; next = (next + 1) & mask)
        {
            var home = Home(_hashes[_buckets[next]], mask);
            if (((next - home) & mask) < ((next - hole) & mask))
                continue;
            _buckets[hole] = _buckets[next];
            hole = next;
        }

        _buckets[hole] = -1;
        if (RuntimeHelpers.IsReferenceOrContainsReferences<TVertex>())
            _keys[id] = default!;
        _heads[id] = ~_free - 1;
        _free = id;
        Count--;
    }

    private static int Home(int hash, int mask) => (int)(((uint)hash * 0x9E3779B1u) >> 7) & mask;

    private static int[] NewBuckets(int size)
    {
        var buckets = new int[size];
        buckets.AsSpan().Fill(-1);
        return buckets;
    }

    // Free numbers are chained through _heads: the follower f is stored as ~f - 1, which is below -1 for f >= 0 and -1 for the end,
    // so a free number never looks like one that has edges.
    private int TakeNumber()
    {
        if (_free >= 0)
        {
            var id = _free;
            Invariant.Holds(_heads[id] < 0 && id < _used);
            _free = ~(_heads[id] + 1);
            return id;
        }

        if (_used == _keys.Length)
        {
            var size = _used * 2;
            Array.Resize(ref _keys, size);
            Array.Resize(ref _hashes, size);
            Array.Resize(ref _silos, size);
            Array.Resize(ref _epochs, size);
            Array.Resize(ref _heads, size);
        }

        return _used++;
    }

    private void Insert(int id)
    {
        var mask = _buckets.Length - 1;
        var bucket = Home(_hashes[id], mask);
        while (_buckets[bucket] >= 0)
            bucket = (bucket + 1) & mask;
        _buckets[bucket] = id;
    }

    private void Rehash()
    {
        var old = _buckets;
        _buckets = NewBuckets(old.Length * 2);
        foreach (var id in old)
        {
            if (id >= 0)
                Insert(id);
        }
    }
}
