using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

/// <summary>How much one poll reads: what it brings is done before more is read.</summary>
public class ReadingTests
{
    public static TheoryData<Wire, bool> WiresAndChannels => new MatrixTheoryData<Wire, bool>(Enum.GetValues<Wire>(), [false, true]);

    private const int Limit = 2048;

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void A_poll_reads_about_as_much_as_the_limit_and_the_rest_comes_in_order(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b, peer, _) = mesh.Pair(options => options.ReadBytes = Limit);
        Fill(peer, 0, 200);
        a.FlushPending();
        var poller = b.Mesh.GetPoller(0);
        var polls = 0;
        for (var tries = 0; b.AllFrames.Count() < 200; tries++)
        {
            Assert.True(tries < 1000);
            var before = b.AllFrames.Count();
            poller.Poll(10);
            var read = b.AllFrames.Count() - before;
            Assert.InRange(read * 104, 0, Limit + 104);
            polls += read > 0 ? 1 : 0;
        }

        Assert.InRange(polls, 200 * 104 / Limit, 100);
        Assert.Equal(Enumerable.Range(0, 200), b.AllFrames.Select(frame => Number(frame)));
    }

    [Fact]
    public void Links_with_much_to_read_take_turns_and_one_with_little_waits_for_one_read_of_each()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", options => options.ReadBytes = Limit);
        var peers = new List<Peer>();
        var senders = Enumerable.Range(0, 4).Select(i => mesh.Add("a" + i)).ToList();
        foreach (var sender in senders)
        {
            peers.Add(sender.Mesh.Connect(b.EndPoint));
        }

        mesh.Until(() => b.Connected.Count == 4 && senders.All(sender => sender.Connected.Count == 1), "connected");
        mesh.Rounds(3);
        for (var i = 0; i < 3; i++)
        {
            Fill(peers[i], 0, 200);
        }

        Fill(peers[3], 0, 1);
        senders.ForEach(sender => sender.FlushPending());
        List<string> order = [];
        b.Receiver = (link, _) => order.Add(link.Peer.Name);
        for (var polls = 0; polls < 8; polls++)
        {
            b.Mesh.GetPoller(0).Poll(0);
        }

        Assert.Equal(4, order.Take(4).Distinct().Count());
        // One to three of those with much, in the same order as before.
        Assert.Equal(order.Take(4).Where(name => name != "a3"), order.Skip(4).Take(3));
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void A_frame_beyond_the_limit_is_read_whole(Wire wire)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 1 << 20);
        var (a, b, peer, _) = mesh.Pair(options => options.ReadBytes = Limit);
        var link = peer.GetLink(0)!;
        link.TryAppend(Number(0, 100_000));
        link.TryAppend(Number(1, 300_000));
        link.TryAppend(Number(2));
        mesh.Until(() => b.AllFrames.Count() == 3);
        Assert.Equal([100_000, 300_000, 4], b.AllFrames.Select(frame => frame.Length));
        Assert.Equal([0, 1, 2], b.AllFrames.Select(frame => Number(frame)));
    }

    /// <summary>What a frame holds may take long to read: here its receiver does not return before other links were read.</summary>
    [Theory, InlineData(false), InlineData(true)]
    public async Task While_a_large_frame_is_handled_the_other_links_are_read(bool isControl)
    {
        using var mesh = new TestMesh(Wire.Memory);
        var b = mesh.Add("b", static options => options.LargeFrameBytes = 64 << 10);
        var (large, small) = (mesh.Add("large"), mesh.Add("small"));
        var (slow, quick) = (large.Mesh.Connect(b.EndPoint), small.Mesh.Connect(b.EndPoint));
        mesh.Until(() => b.Connected.Count == 2 && large.Connected.Count == 1 && small.Connected.Count == 1, "connected");
        mesh.Rounds(3);
        using var arrived = new ManualResetEventSlim();
        using var goesOn = new ManualResetEventSlim();
        List<(string, int)> order = [];
        b.Receiver = (link, frames) =>
        {
            foreach (var frame in frames)
            {
                if (frame.Length > 64 << 10)
                {
                    arrived.Set();
                    Assert.True(goesOn.Wait(TimeSpan.FromMinutes(1)));
                }

                lock (order)
                    order.Add((link.Peer.Name, Number(frame)));
            }
        };
        Link LinkOf(Peer peer) => isControl ? peer.Control! : peer.GetLink(0)!;
        LinkOf(slow).TryAppend(Number(1, 400_000));
        LinkOf(slow).TryAppend(Number(2));
        var ended = false;
        var reading = Task.Run(() =>
        {
            while (!Volatile.Read(ref ended))
                b.Mesh.LargeFramePoller!.Poll(1);
        });
        void Pump() => Array.ForEach([large, small], static node => node.Pump(0));
        void Read(int timeoutMs) => (isControl ? b.Mesh.ControlPoller : b.Mesh.GetPoller(0)).Poll(timeoutMs);
        for (var tries = 0; !arrived.IsSet; tries++)
        {
            Assert.True(tries < 100_000);
            Pump();
            Read(0);
        }

        LinkOf(quick).TryAppend(Number(3));
        Pump();
        Read(0);
        Assert.Equal([("small", 3)], order);
        goesOn.Set();
        for (var tries = 0; tries < 100_000 && order.Count < 3; tries++)
        {
            Read(1);
        }

        Volatile.Write(ref ended, true);
        await reading;
        Assert.Equal([("small", 3), ("large", 1), ("large", 2)], order);
    }

    [Theory, MemberData(nameof(WiresAndChannels))]
    public void Large_and_small_frames_of_a_link_come_in_order_while_the_number_of_pollers_changes(Wire wire, bool isControl)
    {
        using var mesh = new TestMesh(wire, pipeBytes: 1 << 20);
        var (a, b, peer, _) = mesh.Pair(static options => (options.ReadBytes, options.LargeFrameBytes) = (Limit, 64 << 10));
        int[] lengths = [4, 70_000, 100_000, 4, 300_000, 300_001, 50_000, 4, 65_536, 65_537, 4, 4, 270_000];
        for (var i = 0; i < lengths.Length; i++)
        {
            Assert.Equal(SendResult.Accepted, (isControl ? peer.Control : peer.GetLink(0))!.TryAppend(Number(i, lengths[i])));
            b.Mesh.SetPollers(1 + (i % 3));
            mesh.Round();
        }

        mesh.Until(() => b.AllFrames.Count() == lengths.Length);
        Assert.Equal(lengths, b.AllFrames.Select(static frame => frame.Length));
        Assert.Equal(Enumerable.Range(0, lengths.Length), b.AllFrames.Select(static frame => Number(frame)));
    }

    [Fact]
    public void A_link_that_ends_within_a_large_frame_is_closed()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair(static options => options.LargeFrameBytes = 64 << 10);
        peer.GetLink(0)!.TryAppend(Number(0, 400_000));
        a.Pump(0);
        b.Pump(0);
        b.Pump(0);
        a.Mesh.Dispose();
        mesh.Until(() => b.Events.Count == 2 && b.Mesh.LinkCount == 0, "closed");
        Assert.Empty(b.AllFrames);
    }

    /// <summary>The end of the stream makes no report of its own when data came with it.</summary>
    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void The_end_behind_what_one_poll_does_not_read_is_found(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b, peer, _) = mesh.Pair(options => options.ReadBytes = Limit);
        Fill(peer, 0, 200);
        peer.Close();
        mesh.Until(() => b.Events.Contains("-a:PeerClosed") && b.Mesh.LinkCount == 0, "closed");
        ReadAll(mesh, b, 200);
    }

    [Fact]
    public void A_link_that_is_moved_with_bytes_unread_goes_on_where_it_was()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, _) = mesh.Pair(options => options.ReadBytes = Limit);
        Fill(peer, 0, 200);
        a.FlushPending();
        b.Mesh.GetPoller(0).Poll(0);
        Assert.InRange(b.AllFrames.Count(), 1, 21);
        for (var pollers = 2; pollers <= 5; pollers++)
        {
            b.Mesh.SetPollers(pollers);
            mesh.Round();
            b.Mesh.SetPollers(1);
            mesh.Round();
        }

        ReadAll(mesh, b, 200);
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void What_arrives_while_reading_is_paused_is_read_in_order_afterwards(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (a, b, peer, atReceiver) = mesh.Pair(options => options.ReadBytes = Limit);
        Fill(peer, 0, 200);
        a.FlushPending();
        for (var tries = 0; !b.AllFrames.Any(); tries++)
        {
            Assert.True(tries < 1000);
            b.Mesh.GetPoller(0).Poll(10);
        }

        atReceiver.PauseReading(ReadPause.Requests);
        var read = b.AllFrames.Count();
        mesh.Rounds(20);
        Assert.Equal(read, b.AllFrames.Count());
        Assert.InRange(read, 1, (Limit / 104) + 1);
        atReceiver.ResumeReading(ReadPause.Requests);
        ReadAll(mesh, b, 200);
    }

    [Theory, MemberData(nameof(Wires.All), MemberType = typeof(Wires))]
    public void The_end_that_comes_while_reading_is_paused_is_found_afterwards(Wire wire)
    {
        using var mesh = new TestMesh(wire);
        var (_, b, peer, atReceiver) = mesh.Pair();
        atReceiver.PauseReading(ReadPause.Requests);
        Fill(peer, 0, 20);
        peer.Close();
        mesh.Rounds(20);
        Assert.Empty(b.AllFrames);
        atReceiver.ResumeReading(ReadPause.Requests);
        mesh.Until(() => b.Events.Contains("-a:PeerClosed") && b.Mesh.LinkCount == 0, "closed");
        ReadAll(mesh, b, 20);
    }

    [Fact]
    public void A_paused_link_that_is_moved_stays_paused()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, atReceiver) = mesh.Pair();
        atReceiver.PauseReading(ReadPause.Requests);
        Fill(peer, 0, 20);
        a.FlushPending();
        b.Mesh.SetPollers(3);
        mesh.Rounds(10);
        Assert.Empty(b.AllFrames);
        atReceiver.ResumeReading(ReadPause.Requests);
        b.Mesh.SetPollers(1);
        ReadAll(mesh, b, 20);
    }

    [Fact]
    public void A_link_that_is_paused_for_two_reasons_is_read_when_both_are_gone()
    {
        using var mesh = new TestMesh(Wire.Memory);
        var (a, b, peer, atReceiver) = mesh.Pair();
        atReceiver.PauseReading(ReadPause.Requests);
        atReceiver.PauseReading(ReadPause.Answers);
        Fill(peer, 0, 20);
        a.FlushPending();
        atReceiver.ResumeReading(ReadPause.Answers);
        mesh.Rounds(10);
        Assert.Empty(b.AllFrames);
        atReceiver.ResumeReading(ReadPause.Answers);
        mesh.Rounds(10);
        Assert.Empty(b.AllFrames);
        atReceiver.ResumeReading(ReadPause.Requests);
        ReadAll(mesh, b, 20);
    }

    /// <summary>All that was sent arrives, in order.</summary>
    private static void ReadAll(TestMesh mesh, TestNode b, int count)
    {
        mesh.Until(() => b.AllFrames.Count() == count);
        Assert.Equal(Enumerable.Range(0, count), b.AllFrames.Select(frame => Number(frame)));
    }

    private static void Fill(Peer peer, int first, int count)
    {
        for (var i = first; i < first + count; i++)
        {
            Assert.Equal(SendResult.Accepted, peer.GetLink(0)!.TryAppend(Number(i, 100)));
        }
    }
}
