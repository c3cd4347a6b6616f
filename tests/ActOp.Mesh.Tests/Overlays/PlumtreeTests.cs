using ActOp.Mesh.Overlays;

namespace ActOp.Mesh.Tests.Overlays;

/// <summary>One node of a broadcast tree, and what it does with messages, announcements and timers.</summary>
public sealed class PlumtreeTests
{
    private static readonly OverlayId A = new(1);
    private static readonly OverlayId B = new(2);
    private static readonly OverlayId C = new(3);
    private static readonly Guid One = new("00000000-0000-0000-0000-000000000001");

    private readonly Port _port = new();
    private readonly Plumtree _tree;

    public PlumtreeTests()
    {
        _tree = new Plumtree(_port, new PlumtreeOptions());
        foreach (var peer in (OverlayId[])[A, B, C])
            _tree.OnNeighbourUp(peer);
    }

    [Fact]
    public void A_message_is_delivered_once_and_goes_to_all_but_its_sender()
    {
        _tree.Receive(A, new Gossip(One, 3, default));
        Assert.Equal([One], _port.Delivered);
        Assert.Equal([B, C], _port.To<Gossip>());
        Assert.All(_port.Of<Gossip>(), static gossip => Assert.Equal(4, gossip.Round));
        _tree.Receive(B, new Gossip(One, 5, default));
        Assert.Single(_port.Delivered);
    }

    [Fact]
    public void The_sender_of_a_message_that_has_come_gets_announcements_only_and_both_know()
    {
        _tree.Receive(A, new Gossip(One, 0, default));
        _tree.Receive(B, new Gossip(One, 0, default));
        Assert.Equal([B], _port.To<Prune>());
        Assert.Equal([B], _tree.Lazy);
        _tree.Receive(C, new Prune());
        Assert.Equal([A], _tree.Eager);
        _port.Sent.Clear();
        _tree.Broadcast(Guid.NewGuid(), default);
        _tree.Broadcast(Guid.NewGuid(), default);
        Assert.Equal([A, A], _port.To<Gossip>());
        // Announcements of some milliseconds go together.
        _tree.OnTimer(Assert.Single(_port.Timers).Timer);
        Assert.Equal([B, C], _port.To<Have>());
        Assert.All(_port.Of<Have>(), static have => Assert.Equal(2, have.Messages.Length));
    }

    [Fact]
    public void What_was_announced_and_does_not_come_is_asked_for_from_one_after_the_other()
    {
        _tree.Receive(A, new Prune());
        _tree.Receive(B, new Prune());
        _tree.Receive(A, new Have([new(One, 2)]));
        _tree.Receive(B, new Have([new(One, 5)]));
        var timer = Assert.Single(_port.Timers).Timer;
        Assert.Empty(_port.To<Graft>());
        _tree.OnTimer(timer);
        Assert.Equal([A], _port.To<Graft>());
        Assert.Contains(A, _tree.Eager);
        _tree.OnTimer(_port.Timers[^1].Timer);
        Assert.Equal([A, B], _port.To<Graft>());
        // Nobody else has it: forgotten, until somebody announces it again.
        _tree.OnTimer(_port.Timers[^1].Timer);
        Assert.Equal(0, _tree.Missing);
        _tree.Receive(C, new Have([new(One, 7)]));
        Assert.Equal(1, _tree.Missing);
        _tree.Receive(B, new Gossip(One, 5, default));
        Assert.Equal((0, 1), (_tree.Missing, _port.Delivered.Count));
    }

    [Fact]
    public void What_has_come_meanwhile_is_not_asked_for()
    {
        _tree.Receive(A, new Prune());
        _tree.Receive(A, new Have([new(One, 2)]));
        _tree.Receive(B, new Gossip(One, 2, default));
        _tree.OnTimer(_port.Timers[0].Timer);
        _tree.Receive(C, new Have([new(One, 2)]));
        Assert.Empty(_port.To<Graft>());
        Assert.Equal(0, _tree.Missing);
    }

    [Fact]
    public void Whoever_asks_gets_the_message_while_it_is_kept_and_all_later_ones()
    {
        _tree.Receive(A, new Gossip(One, 0, default));
        _tree.Receive(B, new Prune());
        _port.Sent.Clear();
        _tree.Receive(B, new Graft(One, 9));
        Assert.Equal([new Gossip(One, 9, default)], _port.Of<Gossip>());
        Assert.Contains(B, _tree.Eager);
        _port.Now += TimeSpan.FromSeconds(31);
        _tree.Broadcast(Guid.NewGuid(), default);
        _port.Sent.Clear();
        _tree.Receive(C, new Graft(One, 9));
        Assert.Empty(_port.Of<Gossip>());
    }

    [Fact]
    public void A_late_copy_is_known_for_longer_than_anybody_sends_it_and_then_forgotten()
    {
        _tree.Receive(A, new Gossip(One, 0, default));
        _port.Now += TimeSpan.FromSeconds(89);
        _tree.Broadcast(Guid.NewGuid(), default);
        _tree.Receive(B, new Gossip(One, 0, default));
        Assert.Equal(2, _port.Delivered.Count);
        _port.Now += TimeSpan.FromSeconds(2);
        _tree.Broadcast(Guid.NewGuid(), default);
        _tree.Receive(B, new Gossip(One, 0, default));
        Assert.Equal(4, _port.Delivered.Count);
    }

    [Fact]
    public void A_lost_neighbour_gets_nothing_and_is_not_asked()
    {
        _tree.Receive(A, new Prune());
        _tree.Receive(A, new Have([new(One, 2)]));
        _tree.OnNeighbourDown(A);
        _tree.OnTimer(_port.Timers[0].Timer);
        Assert.Empty(_port.To<Graft>());
        // Messages of it that were on the way change nothing.
        _tree.Receive(A, new Graft(One, 0));
        _tree.Receive(A, new Prune());
        Assert.Equal([B, C], _tree.Eager);
        Assert.Empty(_tree.Lazy);
    }

    private sealed class Port : IBroadcastPort
    {
        internal List<(OverlayId To, OverlayMessage Message)> Sent { get; } = [];

        internal List<(TimeSpan Delay, BroadcastTimer Timer)> Timers { get; } = [];

        internal List<Guid> Delivered { get; } = [];

        public TimeSpan Now { get; set; }

        public void Send(OverlayId to, OverlayMessage message) => Sent.Add((to, message));

        public void Schedule(TimeSpan delay, BroadcastTimer timer) => Timers.Add((delay, timer));

        public void Deliver(Gossip message) => Delivered.Add(message.Id);

        internal IEnumerable<OverlayId> To<T>() => Sent.Where(static sent => sent.Message is T).Select(static sent => sent.To);

        internal IEnumerable<T> Of<T>() => Sent.Select(static sent => sent.Message).OfType<T>();
    }
}
