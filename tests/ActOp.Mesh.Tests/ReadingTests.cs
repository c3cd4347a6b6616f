using static ActOp.Mesh.Tests.TestNode;

namespace ActOp.Mesh.Tests;

/// <summary>How much one poll reads: what it brings is done before more is read.</summary>
public class ReadingTests
{
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
