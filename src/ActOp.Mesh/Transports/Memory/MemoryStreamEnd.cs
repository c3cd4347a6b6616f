using System.Net;

namespace ActOp.Mesh.Transports.Memory;

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
            {
                return IsRefused ? Refused : Failed;
            }

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
            {
                return Failed;
            }

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

    /// <summary>Under the network's gate.</summary>
    public void Report(ReadyKinds kinds)
    {
        var first = Unreported == ReadyKinds.None;
        Unreported |= kinds;
        if (first)
        {
            Readiness?.Enqueue(this);
        }
    }
}
