using System.Net;

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
            _underWay.Enqueue((due, taken));

        Invariant.Holds(taken >= 0 && _count <= _ring.Length && _readable <= _count);
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
        Invariant.Holds(_readable >= 0 && _readable <= _count);
        return taken;
    }

    /// <summary>Lets everything due by <paramref name="now"/> arrive; returns when the next is due, or null.</summary>
    public long? Arrive(long now)
    {
        while (_underWay.TryPeek(out var next))
        {
            if (next.Due > now)
                return next.Due;

            _underWay.Dequeue();
            _readable += next.Count;
            Invariant.Holds(_readable <= _count);
        }

        return null;
    }
}

/// <summary>One end of an in-memory connection. Everything is guarded by the network's gate.</summary>
internal sealed class MemoryStreamEnd : ByteStream
{
    private readonly MemoryNetwork _network;
    private bool _wantsRoom;

    public MemoryStreamEnd(MemoryNetwork network, EndPoint local, EndPoint remote, MemoryPipe inbound)
    {
        _network = network;
        Local = local;
        RemoteEndPoint = remote;
        Inbound = inbound;
    }

    public EndPoint Local { get; }

    public override EndPoint RemoteEndPoint { get; }

    internal override EndPoint LocalEndPoint => Local;

    public MemoryPipe Inbound { get; }

    /// <summary>The other end; null if the dial found nobody.</summary>
    public MemoryStreamEnd? Other { get; set; }

    public MemoryReadiness? Readiness { get; set; }

    /// <summary>What the set has not reported yet.</summary>
    public ReadyKinds Unreported { get; set; }

    public bool IsBroken { get; set; }

    /// <summary>The dial found the way open and nobody there.</summary>
    public bool IsRefused { get; init; }

    public bool IsDisposed { get; private set; }

    /// <summary>When the next bytes are due; a timer is set for it.</summary>
    public ITimer? Arrival { get; set; }

    public override int Receive(Span<byte> buffer)
    {
        lock (_network.Gate)
        {
            if (IsBroken || Other is null)
                return IsRefused ? Refused : Failed;

            var wasFull = Inbound.IsFull;
            var read = Inbound.Read(buffer);
            if (read > 0 && wasFull && Other._wantsRoom)
            {
                Other._wantsRoom = false;
                Other.Report(ReadyKinds.Write);
            }

            return read > 0 ? read : Inbound.IsAtEnd ? 0 : WouldBlock;
        }
    }

    public override int Send(ReadOnlySpan<byte> bytes)
    {
        lock (_network.Gate)
        {
            if (IsBroken || Other is null || Other.IsDisposed)
                return Failed;

            var taken = _network.Carry(this, Other, bytes);
            _wantsRoom = taken < bytes.Length;
            return taken > 0 ? taken : WouldBlock;
        }
    }

    public override void FinishSending()
    {
        lock (_network.Gate)
        {
            if (Other is { Inbound.IsFinished: false })
            {
                Other.Inbound.IsFinished = true;
                _network.Notice(Other);
            }
        }
    }

    public override void Dispose()
    {
        FinishSending();
        lock (_network.Gate)
        {
            IsDisposed = true;
            Arrival?.Dispose();
            _network.Forget(this);
            // Who waits for room learns by sending that nobody is there.
            if (Other is { _wantsRoom: true })
            {
                Other._wantsRoom = false;
                Other.Report(ReadyKinds.Write);
            }
        }
    }

    public void Report(ReadyKinds kinds)
    {
        Invariant.Entered(_network.Gate);
        var first = Unreported == ReadyKinds.None;
        Unreported |= kinds;
        if (first)
            Readiness?.Enqueue(this);
    }
}
