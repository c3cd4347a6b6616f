using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Net;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Memory;
using ActOp.Mesh.Transports.Tcp;
using ActOp.TestClusters;
using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

public class LinkTests
{
    /// <summary>Of a twentieth of a second at most: what the system's network does takes its time.</summary>
    private const int Waits = 400;

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void Frames_of_all_sizes_arrive_whole_and_in_order(Wire wire)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 5000);
        var (_, b, peer, _) = mesh.Pair();
        var link = peer.GetLink(7)!;
        int[] sizes = [0, 1, 3, 4, 100, 4095, 4096, 70_000, 5, 262_140, 262_144, 300_000, 2_000_000, 9, 10];
        var random = new Random(1);
        var sent = new List<byte[]>();
        foreach (var size in sizes)
        {
            var body = new byte[size];
            random.NextBytes(body);
            sent.Add(body);
            Assert.Equal(SendResult.Accepted, link.TryAppend(body.AsSpan(0, size / 2), body.AsSpan(size / 2)));
        }

        mesh.Until(() => b.AllFrames.Count() == sizes.Length, "all arrived");
        Assert.Equal(sent, b.AllFrames);
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void Frames_appended_before_a_flush_leave_in_one_send(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (_, b, peer, _) = mesh.Pair();
        var link = peer.GetLink(0)!;
        var before = link.Flushes;
        for (var i = 0; i < 100; i++)
        {
            link.TryAppend(Number(i));
        }

        mesh.Until(() => b.AllFrames.Count() == 100);
        Assert.Equal(1, link.Flushes - before);
        Assert.Equal(1, b.Batches);
        Assert.Equal(Enumerable.Range(0, 100), b.AllFrames.Select(frame => Number(frame)));
    }

    /// <summary>Its end may be seen before the last link of its session has joined, and is handled after it.</summary>
    [Fact]
    public void A_link_that_was_closed_before_its_session_was_complete_does_not_open()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (_, _, peer, _) = mesh.Pair();
        var link = peer.GetLink(0)!;
        link.Abort(DisconnectReason.Reset);
        mesh.Until(() => link.Phase == LinkPhase.Closed, "closed");
        link.Open();
        Assert.Equal(LinkPhase.Closed, link.Phase);
    }

    /// <summary>A link that is to close with its last flush would never close.</summary>
    [Theory, InlineData(Wire.Memory), InlineData(Wire.Tcp)]
    public void A_stream_that_waits_for_room_is_told_when_the_other_end_is_gone(Wire wire)
    {
        var clock = new FakeClock();
        var transport = wire == Wire.Memory
            ? new MemoryNetwork(clock, 5000).CreateTransport(new IPEndPoint(IPAddress.Loopback, 1))
            : new TcpTransport(new TcpOptions(), clock);
        using var accepted = new BlockingCollection<ByteStream>();
        using var listener = transport.Listen(new IPEndPoint(IPAddress.Loopback, 0), accepted.Add, static error => throw error);
        using var readiness = transport.CreateReadiness();
        using var stream = transport.Dial(listener.EndPoint);
        readiness.Add(stream);
        Assert.True(accepted.TryTake(out var other, TestMesh.Patience));
        var reports = new Ready[4];
        bool BecomesWritable()
        {
            var waits = 0;
            while (waits < Waits && !IsWritable())
                waits++;
            return waits < Waits;
        }

        bool IsWritable() =>
            readiness.Wait(reports, 50) is var count && reports.Take(count).Any(report => (report.Kinds & ReadyKinds.Write) != 0);
        Assert.True(BecomesWritable());
        var bytes = new byte[1000];
        while (stream.Send(bytes) > 0)
        {
        }

        while (IsWritable())
        {
            while (stream.Send(bytes) > 0)
            {
            }
        }

        other.Dispose();
        Assert.True(BecomesWritable());
        Assert.Equal(ByteStream.Failed, stream.Send(bytes));
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void A_full_link_pushes_back_and_tells_when_there_is_room(Wire wire)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 5000);
        var (a, b, peer, _) = mesh.Pair(options => options.SendQueueBytes = 10_000);
        var link = peer.GetLink(0)!;
        a.HoldFlushes = true;
        var accepted = 0;
        while (link.TryAppend(Number(accepted, 996)) == SendResult.Accepted)
        {
            accepted++;
        }

        Assert.Equal(10, accepted);
        Assert.Equal(SendResult.Full, link.TryAppend(Number(0, 996)));
        // Without a token it is the shared task itself, which completes inside the flush and not on a pool thread.
        var room = link.WaitForRoomAsync(996, CancellationToken.None);
        Assert.False(room.IsCompleted);
        a.HoldFlushes = false;
        mesh.Until(() => room.IsCompleted, "room");
        Assert.Equal(SendResult.Accepted, link.TryAppend(Number(accepted, 996)));
        mesh.Until(() => b.AllFrames.Count() == accepted + 1);
        Assert.Equal(Enumerable.Range(0, accepted + 1), b.AllFrames.Select(frame => Number(frame)));
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void A_flush_that_does_not_fit_goes_on_when_the_network_takes_more(Wire wire)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 5000);
        var (a, b, peer, _) = mesh.Pair();
        var link = peer.GetLink(0)!;
        a.HoldFlushes = true;
        for (var i = 0; i < 4000; i++)
        {
            link.TryAppend(Number(i, 1000));
        }

        Assert.Equal(FlushResult.Blocked, link.Flush());
        Assert.True(link.QueuedBytes > 0);
        a.HoldFlushes = false;
        mesh.Until(() => b.AllFrames.Count() == 4000);
        Assert.Equal(Enumerable.Range(0, 4000), b.AllFrames.Select(frame => Number(frame)));
        Assert.Equal(0, link.QueuedBytes);
    }

    [Fact]
    public void Frames_behind_a_flush_that_did_not_fit_leave_though_a_flush_that_nobody_asked_for_finds_room_first()
    {
        using var mesh = new TestMesh(Wire.Memory, pipeBytes: 1200);
        var (a, b, peer, _) = mesh.Pair();
        var link = peer.GetLink(0)!;
        link.TryAppend(Number(0, 1800));
        a.FlushPending();
        link.TryAppend(Number(1, 100));
        // The other end reads; before this node's poller reports it, a thread that has put nothing into the link flushes it, as at the end
        // of its batch.
        b.Pump(0);
        b.Pump(0);
        Assert.Equal(FlushResult.More, link.Flush());
        mesh.Until(() => b.AllFrames.Count() == 2);
        Assert.Equal(0, link.QueuedBytes);
    }

    [Fact]
    public void A_frame_beyond_the_limit_is_not_accepted_and_one_beyond_the_queue_fits_an_empty_link()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (_, b, peer, _) = mesh.Pair(options => (options.SendQueueBytes, options.MaxFrameBytes) = (2000, 50_000));
        var link = peer.GetLink(0)!;
        Assert.Equal(SendResult.TooLarge, link.TryAppend(new byte[50_001]));
        Assert.Equal(SendResult.Accepted, link.TryAppend(new byte[50_000]));
        Assert.Equal(SendResult.Full, link.TryAppend(new byte[1]));
        mesh.Until(() => b.AllFrames.Any());
    }

    [Fact]
    public void A_frame_that_announces_too_much_closes_the_session_after_the_good_frames_before_it()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.MaxFrameBytes = 1000);
        var b = mesh.Add("b", options => options.MaxFrameBytes = 100);
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Connected.Count == 1 && b.Connected.Count == 1);
        peer.GetLink(0)!.TryAppend(Number(1));
        peer.GetLink(0)!.TryAppend(new byte[101]);
        mesh.Until(() => b.Events.Contains("-a:FrameTooLarge"));
        Assert.Equal(1, Number(b.AllFrames.Single()));
        Assert.Contains(b.Log, line => line.StartsWith("1005"));
    }

    [Fact]
    public void A_frame_that_announces_too_much_is_reported_although_the_other_end_closes_the_session_meanwhile()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var a = mesh.Add("a", options => options.MaxFrameBytes = 1000);
        var b = mesh.Add("b", options => options.MaxFrameBytes = 100);
        var peer = a.Mesh.Connect(b.EndPoint);
        mesh.Until(() => a.Connected.Count == 1 && b.Connected.Count == 1);
        peer.GetLink(0)!.TryAppend(new byte[101]);
        a.FlushPending();
        b.Mesh.GetPoller(0).Poll(0);
        Assert.True(b.Connected[0].GetLink(0)!.IsAborted);
        peer.Close();
        a.Pump(0);
        b.Mesh.ControlPoller.Poll(0);
        mesh.Until(() => b.Events.Any(line => line.StartsWith("-a:")));
        Assert.Equal("-a:FrameTooLarge", b.Events[^1]);
        Assert.Single(b.Log, line => line.StartsWith("1005") && line.Contains("FrameTooLarge"));
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void Closing_a_peer_sends_what_was_accepted_first(Wire wire)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 5000);
        var (a, b, peer, _) = mesh.Pair();
        var link = peer.GetLink(0)!;
        for (var i = 0; i < 1000; i++)
        {
            link.TryAppend(Number(i, 500));
        }

        peer.Close();
        mesh.Until(() => a.Mesh.LinkCount == 0 && b.Mesh.LinkCount == 0, "links closed");
        mesh.Rounds(3);
        Assert.Equal(1000, b.AllFrames.Count());
        Assert.Equal(SendResult.Closed, link.TryAppend(Number(1)));
        Assert.Equal(FlushResult.Closed, link.Flush());
        Assert.Equal(["+b", "-b:ClosedLocally"], a.Events);
        Assert.Equal(["+a", "-a:PeerClosed"], b.Events);
        Assert.Equal(PeerState.Closed, peer.State);
        Assert.Null(peer.GetLink(0));
    }

    [Fact]
    public void A_receiver_that_throws_costs_its_own_session_only()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair();
        var c = mesh.Add("c");
        var other = c.Mesh.Connect(b.EndPoint);
        mesh.Until(() => c.Connected.Count == 1);
        b.Receiver = (link, _) => throw new InvalidOperationException(link.Peer.Name);
        peer.GetLink(0)!.TryAppend(Number(1));
        mesh.Until(() => b.Events.Contains("-a:ReceiverFailed"));
        b.Receiver = null;
        other.GetLink(0)!.TryAppend(Number(2));
        mesh.Until(() => b.AllFrames.Any());
        Assert.Contains(b.Log, line => line.StartsWith("1006"));
    }

    [Theory, InlineData(Wire.Memory), InlineData(Wire.Tcp), InlineData(Wire.TlsMemory), InlineData(Wire.TlsTcp)]
    public void Steady_traffic_allocates_nothing(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b, peer, back) = mesh.Pair();
        var (there, answer) = (peer.GetLink(0)!, back.GetLink(0)!);
        var received = 0;
        b.Receiver = (_, frames) =>
        {
            foreach (var body in frames)
            {
                answer.TryAppend(body);
            }
        };
        a.Receiver = (_, frames) => received += frames.Count;
        var frame = Number(1, 100);
        void Exchange()
        {
            received = 0;
            for (var i = 0; i < 32; i++)
            {
                there.TryAppend(frame);
            }

            a.FlushPending();
            while (received < 32)
            {
                b.Mesh.GetPoller(0).Poll(1);
                b.FlushPending();
                a.Mesh.GetPoller(0).Poll(1);
            }
        }

        long Allocated()
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            for (var i = 0; i < 200; i++)
            {
                Exchange();
            }

            return GC.GetAllocatedBytesForCurrentThread() - before;
        }

        Allocated();
        // A collection meanwhile, which tests beside this one cause, empties the pools of buffers: they are filled once more.
        var least = long.MaxValue;
        for (var tries = 0; least > 0 && tries < 100; tries++)
        {
            least = Math.Min(least, Allocated());
        }

        Assert.Equal(0, least);
    }

    [Fact]
    public void A_batch_is_measured_to_the_last_complete_frame()
    {
        var bytes = new byte[4 + 3 + 4 + 0 + 4 + 5];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, 3);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(11), 5);
        Assert.True(FrameBatch.Measure(bytes.AsSpan(0, 19), 5, out var frames, out var length));
        Assert.Equal((2, 11), (frames, length));
        Assert.True(FrameBatch.Measure(bytes, 5, out frames, out length));
        Assert.Equal((3, 20), (frames, length));
        Assert.False(FrameBatch.Measure(bytes, 4, out frames, out length));
        Assert.Equal((2, 11), (frames, length));
    }
}
