namespace ActOp.Mesh.Transports.Memory;

/// <summary>
/// One direction of an in-memory connection: a bounded ring of bytes. Bytes written become readable when they are due (delay) and the way
/// is not cut (partition). Guarded by the network's gate.
/// </summary>
internal sealed class MemoryPipe
{
    private readonly byte[] _ring;
    private readonly Queue<(long Due, int Count)> _underWay = [];
    private int _head;
    private int _readable;
    private int _count;

    public MemoryPipe(int capacity) => _ring = new byte[capacity];

    /// <summary>No more bytes will be written.</summary>
    public bool IsFinished { get; set; }

    public bool HasArrived => _readable > 0;

    public bool IsAtEnd => IsFinished && _count == 0;

    public bool IsFull => _count == _ring.Length;

    public int Write(ReadOnlySpan<byte> bytes, long due)
    {
        var taken = Math.Min(bytes.Length, _ring.Length - _count);
        var at = (_head + _count) % _ring.Length;
        var first = Math.Min(taken, _ring.Length - at);
        bytes[..first].CopyTo(_ring.AsSpan(at));
        bytes[first..taken].CopyTo(_ring);
        _count += taken;
        if (taken > 0)
        {
            _underWay.Enqueue((due, taken));
        }

        return taken;
    }

    public int Read(Span<byte> buffer)
    {
        var taken = Math.Min(buffer.Length, _readable);
        var first = Math.Min(taken, _ring.Length - _head);
        _ring.AsSpan(_head, first).CopyTo(buffer);
        _ring.AsSpan(0, taken - first).CopyTo(buffer[first..]);
        _head = (_head + taken) % _ring.Length;
        _count -= taken;
        _readable -= taken;
        return taken;
    }

    /// <summary>Lets everything due by <paramref name="now"/> arrive; returns when the next is due, or null.</summary>
    public long? Arrive(long now)
    {
        while (_underWay.TryPeek(out var next))
        {
            if (next.Due > now)
            {
                return next.Due;
            }

            _underWay.Dequeue();
            _readable += next.Count;
        }

        return null;
    }
}
