using System.Runtime.CompilerServices;

namespace ActOp.Partitioning;

/// <summary>
/// The edge counter of one activation: a Space-Saving summary (Metwally et al.) of constant size over (other vertex, messages, bytes).
/// It is used by one activation only, so it takes no lock, and it allocates nothing after construction (paper section 4.3:
/// "we keep the relevant counters locally at each actor").
/// </summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public sealed class EdgeSketch<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>Enough for a game with its players or a room with its busiest members.</summary>
    public const int DefaultCapacity = 16;

    private readonly int[] _hashes;
    private readonly TVertex[] _others;
    private readonly long[] _messages;
    private readonly long[] _errors;
    private readonly long[] _bytes;
    private int _count;

    /// <summary>Creates an empty sketch.</summary>
    /// <param name="capacity">The number of counters, at least 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is below 1.</exception>
    public EdgeSketch(int capacity = DefaultCapacity)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(capacity, 1);
        _hashes = new int[capacity];
        _others = new TVertex[capacity];
        _messages = new long[capacity];
        _errors = new long[capacity];
        _bytes = new long[capacity];
    }

    /// <summary>The number of edges that are counted now.</summary>
    public int Count => _count;

    /// <summary>When the owner started to count, in units of the owner; the sketch itself does not use it.</summary>
    public int Since { get; set; }

    /// <summary>The number of counters.</summary>
    public int Capacity => _hashes.Length;

    /// <summary>
    /// Counts traffic with another vertex. When all counters are taken, the smallest one is handed to <paramref name="other"/>
    /// and its value becomes the error bound of the new edge. Cost: one vectorised scan of the hashes.
    /// </summary>
    /// <param name="other">The other end of the edge.</param>
    /// <param name="messages">Messages sent or received, at least 0.</param>
    /// <param name="bytes">Bytes sent or received, at least 0.</param>
    public void Add(TVertex other, long messages, long bytes)
    {
        var hash = other.GetHashCode();
        var slot = IndexOf(hash, other);
        if (slot < 0)
            slot = AddOrReplace(hash, other);
        _messages[slot] += messages;
        _bytes[slot] += bytes;
    }

    /// <summary>Counts traffic with another vertex as long as no other edge has to give up its counter for it.</summary>
    /// <inheritdoc cref="Add"/>
    /// <param name="other">The other end of the edge.</param>
    /// <param name="messages">Messages sent or received, at least 0.</param>
    /// <param name="bytes">Bytes sent or received, at least 0.</param>
    /// <returns>False when all counters are taken by others: nothing was counted.</returns>
    public bool TryAdd(TVertex other, long messages, long bytes)
    {
        var hash = other.GetHashCode();
        var slot = IndexOf(hash, other);
        if (slot < 0)
        {
            if (_count == _hashes.Length)
                return false;
            slot = AddOrReplace(hash, other);
        }

        _messages[slot] += messages;
        _bytes[slot] += bytes;
        return true;
    }

    /// <summary>Hands every counted edge to <paramref name="sink"/> and empties the sketch. Called by the periodic fold.</summary>
    /// <typeparam name="TSink">A struct, so that the call is direct.</typeparam>
    /// <param name="sink">Receives the edges.</param>
    public void Drain<TSink>(ref TSink sink)
#if NET9_0_OR_GREATER
        where TSink : IEdgeSink<TVertex>, allows ref struct
#else
        where TSink : IEdgeSink<TVertex>
#endif
    {
        for (var i = 0; i < _count; i++)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(_errors[i] <= _messages[i] && _bytes[i] >= 0);
            sink.Receive(_others[i], _messages[i], _errors[i], _bytes[i]);
        }

        Clear();
    }

    /// <summary>Empties the sketch.</summary>
    public void Clear()
    {
        if (RuntimeHelpers.IsReferenceOrContainsReferences<TVertex>())
            Array.Clear(_others, 0, _count);
        _count = 0;
    }

    private int IndexOf(int hash, TVertex other)
    {
        var from = 0;
        while (true)
        {
            var hit = _hashes.AsSpan(from, _count - from).IndexOf(hash);
            if (hit < 0)
                return -1;
            if (_others[from + hit].Equals(other))
                return from + hit;
            from += hit + 1;
        }
    }

    private int AddOrReplace(int hash, TVertex other)
    {
        int slot;
        if (_count < _hashes.Length)
        {
            slot = _count++;
            _messages[slot] = 0;
        }
        else
        {
            slot = Smallest();
        }

        if (Invariant.AreChecked)
            Invariant.Holds(slot < _count && _messages[slot] >= 0);
        _errors[slot] = _messages[slot];
        _hashes[slot] = hash;
        _others[slot] = other;
        _bytes[slot] = 0;
        return slot;
    }

    private int Smallest()
    {
        var slot = 0;
        for (var i = 1; i < _messages.Length; i++)
        {
            if (_messages[i] < _messages[slot])
                slot = i;
        }

        return slot;
    }
}

/// <summary>Receives the edges of an <see cref="EdgeSketch{TVertex}"/> when it is drained.</summary>
/// <typeparam name="TVertex">The key of a vertex.</typeparam>
public interface IEdgeSink<TVertex>
    where TVertex : notnull, IEquatable<TVertex>
{
    /// <summary>Receives one edge.</summary>
    /// <param name="other">The other end.</param>
    /// <param name="messages">Messages counted; the true number lies in [messages - error, messages].</param>
    /// <param name="error">How much of <paramref name="messages"/> may belong to other edges.</param>
    /// <param name="bytes">Bytes counted since the edge took its counter.</param>
    void Receive(TVertex other, long messages, long error, long bytes);
}
