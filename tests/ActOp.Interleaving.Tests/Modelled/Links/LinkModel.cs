using System.Buffers.Binary;
using ActOp.Foundation;
using ActOp.Interleaving.Tests.Exploring;
using ActOp.Mesh;
using ActOp.Mesh.Transports;
using ActOp.Runtime.Routing;

namespace ActOp.Models;

/// <summary>
/// The sending half of a link, threads that put frames in, and those that write: the send stage, threads that flush at their pause, and the
/// poller, which reports that the network takes more. Each frame that was accepted is written once, in the order of its sender, unless the
/// link breaks; nobody writes after the end; at rest nothing is queued or counted, and nobody waits for room.
/// </summary>
internal sealed class LinkModel(Action<LinkModel> spawn) : NodeModel
{
    private const int FrameBytes = WireLimits.PrefixBytes + 2;

    private readonly List<(byte Sender, byte Number)> _accepted = [];
    private readonly List<Task> _waits = [];
    private MeshNode _node = null!;
    private Stage _stage = null!;
    private ByteStream _stream = null!;
    private SendingLink _link = null!;
    private bool _isClosed;
    private bool _isFinished;

    internal static Dictionary<string, Func<Model>> All { get; } = new()
    {
        ["link, two senders"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2));
            model.Spawn("other sender", () => model.Append(2, 1));
        }),
        ["link, senders that write themselves"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2));
            model.Spawn("other sender", () => model.Append(2, 1));
        })
        { IsAsleep = true },
        ["link, a slow network"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2));
            model.Spawn("other sender", () => model.Append(2, 1));
        })
        { Room = FrameBytes - 1 },
        ["link, a flush at the pause"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender that pauses", () => model.AppendAndFlush(1, 1));
            model.Spawn("sender", () => model.Append(2, 2));
        }),
        ["link, a flush at the pause and a slow network"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender that pauses", () => model.AppendAndFlush(1, 1));
            model.Spawn("sender", () => model.Append(2, 2));
        })
        { Room = FrameBytes },
        ["link, the end while others write"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2));
            model.Spawn("end", model.Close);
        })
        { Room = FrameBytes },
        ["link, a connection that breaks"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 3));
            model.Spawn("poller", () =>
            {
                WaitFor(() => model._link.IsAborted);
                model.Close();
            });
        })
        { BreaksAfter = FrameBytes },
        ["link, an end in order"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2));
            model.Spawn("end", model.Finish);
        }),
        ["link, an end in order at a slow network"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 1));
            model.Spawn("sender that pauses", () => model.AppendAndFlush(2, 1));
            model.Spawn("end", model.Finish);
        })
        { Room = FrameBytes },
        ["link, room"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.AppendPatiently(1, 3));
            model.Spawn("other sender", () => model.AppendPatiently(2, 1));
        })
        { Room = FrameBytes, QueueBytes = 2 * FrameBytes },
        ["link, the end while a sender waits for room"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.AppendPatiently(1, 3));
            model.Spawn("end", model.Close);
        })
        { QueueBytes = FrameBytes },
        ["link, a client's queue"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2, body: 40_000));
            model.Spawn("other sender", () => model.Append(2, 1, body: 40_000));
        })
        { IsClient = true, Room = 50_000, QueueBytes = 200_000 },
        ["link, the end of a client's queue"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 2, body: 40_000));
            model.Spawn("end", model.Close);
        })
        { IsClient = true, Room = 50_000, QueueBytes = 200_000 },
        ["link, a keep-alive"] = static () => new LinkModel(static model =>
        {
            model.Spawn("sender", () => model.Append(1, 1));
            model.Spawn("keep-alive", () => model._link.Half.SendKeepAlive());
        })
        { Room = FrameBytes },
    };

    /// <summary>Bytes that the stream takes at once.</summary>
    internal int Room { get; init; } = 1_000_000;

    internal int QueueBytes { get; init; } = 1_000;

    internal int BreaksAfter { get; init; } = int.MaxValue;

    internal bool IsAsleep { get; init; }

    internal bool IsClient { get; init; }

    protected override void Prepare()
    {
        _node = new MeshNode { Options = new MeshOptions { SendQueueBytes = QueueBytes } };
        _stage = new Stage(IsAsleep);
        _stream = new ByteStream(Room) { BreaksAfter = BreaksAfter };
        _link = new SendingLink(_node, _stream)
        {
            Accepts = IsClient ? NodeKind.Client : NodeKind.Silo,
            Session = new Session(1),
        };
        _link.Tag = new LinkFlusher(_link, _stage, new NodeTime());
        _node.Events.OnSendPending = static link => ((LinkFlusher)link.Tag!).Schedule();
        _link.Half.Open();
        Spawn("stage", _stage.Work);
        Spawn("network", () => _stream.RunNetwork(() => _link.Half.BecameWritable()));
    }

    protected override void Build() => spawn(this);

    protected override string? CheckRest()
    {
        if (_stream.Finding is { } finding)
            return finding;
        if (_waits.Exists(static wait => !wait.IsCompleted))
            return "a sender waits for room without end";
        if (_link.QueuedBytes != 0)
            return "frames are queued and nobody writes them";
        if (_node.Unfinished.All != 0 && (_isClosed || !IsClient))
            return _node.Unfinished.All + " bytes are counted of an empty queue";
        if (_node.Unfinished.All != _link.Half.CountedBytes)
            return "what is counted of the queue is not what the link says";
        if (_isFinished != _stream.IsFinished && !_isClosed)
            return "the stream was not finished";
        return CheckFrames(ReadFrames());
    }

    private string? CheckFrames(List<(byte Sender, byte Number)> written)
    {
        if (written.Distinct().Count() != written.Count)
            return "a frame was written twice";
        if (written.Exists(frame => !_accepted.Contains(frame)))
            return "a frame was written that nobody has sent";
        foreach (var of in written.GroupBy(static frame => frame.Sender))
        {
            if (!of.Select(static frame => frame.Number).SequenceEqual(Enumerable.Range(0, of.Count()).Select(static place => (byte)place)))
                return "frames of a sender were written in another order";
        }

        return _isClosed || written.Count == _accepted.Count ? null : "a frame was not written";
    }

    private List<(byte Sender, byte Number)> ReadFrames()
    {
        var frames = new List<(byte, byte)>();
        Span<byte> bytes = _stream.Taken.ToArray();
        while (bytes.Length >= FrameBytes || (bytes.Length >= WireLimits.PrefixBytes && IsKeepAlive(bytes)))
        {
            if (IsKeepAlive(bytes))
            {
                bytes = bytes[WireLimits.PrefixBytes..];
                continue;
            }

            var length = BinaryPrimitives.ReadInt32LittleEndian(bytes);
            if (bytes.Length < WireLimits.PrefixBytes + length || length < 2)
                break;
            frames.Add((bytes[WireLimits.PrefixBytes], bytes[WireLimits.PrefixBytes + 1]));
            bytes = bytes[(WireLimits.PrefixBytes + length)..];
        }

        if (bytes.Length > 0 && !_isClosed)
            frames.Add((0, 0));
        return frames;
    }

    private static bool IsKeepAlive(Span<byte> bytes) => BinaryPrimitives.ReadUInt32LittleEndian(bytes) == WireLimits.KeepAliveMark;

    private void Append(byte sender, byte count, int body = 2)
    {
        for (byte number = 0; number < count; number++)
            Note(_link.TryAppend(Frame(sender, number, body)), sender, number);
    }

    /// <summary>As a thread of a stage does: it writes its frames itself, before it sleeps.</summary>
    private void AppendAndFlush(byte sender, byte count)
    {
        Stage.WillPause = true;
        for (byte number = 0; number < count; number++)
            Note(SendBatch.Append(_link, Frame(sender, number, 2), isControl: false), sender, number);
        SendBatch.Flush();
    }

    private void AppendPatiently(byte sender, byte count)
    {
        for (byte number = 0; number < count; number++)
        {
            SendResult result;
            while ((result = _link.TryAppend(Frame(sender, number, 2))) == SendResult.Full)
            {
                var room = _link.Half.WaitForRoomAsync(2, CancellationToken.None);
                _waits.Add(room);
                WaitFor(() => room.IsCompleted);
            }

            Note(result, sender, number);
        }
    }

    private static byte[] Frame(byte sender, byte number, int body)
    {
        var frame = new byte[body];
        (frame[0], frame[1]) = (sender, number);
        return frame;
    }

    private void Note(SendResult result, byte sender, byte number)
    {
        if (result == SendResult.Accepted)
            _accepted.Add((sender, number));
        else if (result != SendResult.Closed || !(_isClosed || _isFinished))
            Find("a frame was refused: " + result);
    }

    private void Close()
    {
        _isClosed = true;
        _link.Half.Close();
    }

    private void Finish()
    {
        _isFinished = true;
        _link.Half.FinishSending();
    }

    private sealed class SendingLink : Link
    {
        internal SendingLink(MeshNode node, ByteStream stream) => Half = new LinkSender(this, node, stream);

        internal LinkSender Half { get; }

        internal override long QueuedBytes => Half.QueuedBytes;

        internal override long FramesSent => Half.FramesSent;

        internal override SendResult TryAppend(ReadOnlySpan<byte> frame) => Half.Append(frame, default, int.MaxValue);

        internal override SendResult TryAppendDeferred(ReadOnlySpan<byte> frame) => Half.Append(frame, default, 1_000);

        internal override FlushResult Flush() => Half.Flush();

        internal override RoomAwaiter WaitForRoomAsync(int bodyBytes) => throw new NotSupportedException(nameof(WaitForRoomAsync));
    }
}
