using ActOp.Serialization;
using ActOp.Staging;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Delivers the frames of one node from a request for many receivers on: some of them, then the turns that they have caused, and so on.
/// </summary>
/// <remarks>
/// <para>An item of the work stage, so no code of the application runs on a thread that reads. While it exists, the node's data links are
/// not read, and the frames that were read before that has taken effect wait here, in order: none overtakes the request. Holds copies of
/// these frames, and is held by the <see cref="Sender"/>; both are given back after the last one.</para>
/// <para>If the link is lost, what has arrived is delivered all the same, as frames that were read are. A malformed frame ends the session,
/// and what waits behind it is dropped.</para>
/// </remarks>
internal sealed class FanoutDelivery : IStageItem
{
    private readonly FanoutReader _reader;
    private readonly PeerTable _peers;
    private readonly Stage _work;
    private readonly Sender _sender;
    private readonly Lock _gate = new();
    private readonly Queue<(byte[] Frame, PeerRole Role)> _frames = new();
    private bool _isEnded;

    /// <summary>Where to go on in the first frame (<see cref="FanoutReader.Deliver"/>).</summary>
    private int _next;

    private FanoutDelivery(FanoutReader reader, PeerTable peers, Stage work, Sender sender)
    {
        _reader = reader;
        _peers = peers;
        _work = work;
        _sender = sender;
    }

    /// <summary>Frames that wait. For tests.</summary>
    internal int Waiting
    {
        get
        {
            lock (_gate)
                return _frames.Count;
        }
    }

    /// <summary>Delivers a frame from here on. The thread that reads it goes on.</summary>
    internal static void Begin(FanoutReader reader, PeerTable peers, Stage work, Sender sender, PeerRole role, ReadOnlySpan<byte> frame)
    {
        var made = new FanoutDelivery(reader, peers, work, sender);
        made._frames.Enqueue((frame.ToArray(), role));
        // A frame of another link of the node may be under way.
        while (Interlocked.CompareExchange(ref sender.Delivery, made, null) is { } other)
        {
            if (other.TryQueue(role, frame))
                return;
        }

        peers.Pause(sender.Address, true);
        work.Post(made);
    }

    /// <summary>Keeps a frame that has come behind. False if nothing is before it any more.</summary>
    internal bool TryQueue(PeerRole role, ReadOnlySpan<byte> frame)
    {
        lock (_gate)
        {
            if (_isEnded)
                return false;
            _frames.Enqueue((frame.ToArray(), role));
            // Also if links were paused already: those of a new session are not.
            _peers.Pause(_sender.Address, true);
            return true;
        }
    }

    /// <inheritdoc/>
    public void Execute()
    {
        TypeShare.Current = _sender.Types;
        try
        {
            if (!DeliverNext())
                return;
        }
        catch (Exception exception)
        {
            End(all: true);
            _peers.Break(_sender.Address, exception);
            return;
        }
        finally
        {
            TypeShare.Current = null;
        }

        _work.PostBehind(this);
    }

    /// <summary>False when nothing is left.</summary>
    private bool DeliverNext()
    {
        (byte[] Frame, PeerRole Role) first;
        lock (_gate)
            first = _frames.Peek();
        if ((FrameKind)first.Frame[0] is FrameKind.Fanout or FrameKind.GrainFanout && first.Role == PeerRole.Member)
            _next = _reader.Deliver(_sender, first.Role, first.Frame, _next);
        else
            _peers.Reader.Read(_sender, first.Role, first.Frame);
        return _next > 0 || !End(all: false);
    }

    /// <summary>Gives up the first frame, or all. True if none is left: then the node's links are read again.</summary>
    private bool End(bool all)
    {
        lock (_gate)
        {
            if (all)
                _frames.Clear();
            else
                _frames.Dequeue();
            if (_frames.Count > 0)
                return false;
            _isEnded = true;
            // Before another one can begin, which pauses them again.
            _peers.Pause(_sender.Address, false);
        }

        Interlocked.CompareExchange(ref _sender.Delivery, null, this);
        return true;
    }
}
