using ActOp.Mesh.Overlays;

namespace ActOp.Mesh.Tests.Overlays;

/// <summary>One node of an overlay, and what it does when messages come and links are lost.</summary>
public sealed class HyParViewTests
{
    private static readonly HyParViewOptions Options = new();
    private static readonly OverlayId Self = new(0);

    private readonly Port _port = new();
    private readonly HyParView _node;

    public HyParViewTests() => _node = new HyParView(Self, _port, new Random(1), Options);

    [Fact]
    public void The_contact_of_a_new_node_takes_it_as_neighbour_and_sends_it_for_a_walk()
    {
        Receive(1, new JoinRequest());
        Receive(2, new JoinRequest());
        Assert.Equal([new(1), new(2)], _node.Neighbours);
        Assert.Equal([(new OverlayId(1), new ForwardJoin(new(2), Options.ActiveWalk))], _port.Sent);
        Assert.Equal([new(1), new(2)], _port.Up);
    }

    [Fact]
    public void A_new_node_takes_the_place_of_a_neighbour_which_is_told_and_remembered()
    {
        FillActive();
        Receive(9, new JoinRequest());
        Assert.Equal(Options.Active, _node.Neighbours.Count);
        Assert.Contains(new OverlayId(9), _node.Neighbours);
        var dropped = Assert.Single(_port.Down);
        Assert.Contains((dropped, new Disconnect()), _port.Sent);
        Assert.Equal([dropped], _node.Passive);
    }

    [Fact]
    public void A_walk_ends_at_a_node_that_takes_the_new_one_as_neighbour()
    {
        FillActive();
        Receive(1, new ForwardJoin(new(20), Options.PassiveWalk));
        Assert.Equal([new(20)], _node.Passive);
        var (to, message) = _port.Sent.Single();
        Assert.NotEqual(new OverlayId(1), to);
        Assert.Equal(new ForwardJoin(new(20), Options.PassiveWalk - 1), message);
        Receive(1, new ForwardJoin(new(20), 0));
        Assert.Contains(new OverlayId(20), _node.Neighbours);
        Assert.DoesNotContain(new OverlayId(20), _node.Passive);
        Assert.Contains((new OverlayId(20), new NeighbourRequest(IsUrgent: true)), _port.Sent);
    }

    [Fact]
    public void A_request_is_refused_if_there_is_no_room_unless_it_is_urgent()
    {
        FillActive();
        Receive(9, new NeighbourRequest(IsUrgent: false));
        Assert.Equal((new OverlayId(9), new NeighbourReply(Accepts: false)), _port.Sent.Single());
        Receive(9, new NeighbourRequest(IsUrgent: true));
        Assert.Contains((new OverlayId(9), new NeighbourReply(Accepts: true)), _port.Sent);
        Assert.Contains(new OverlayId(9), _node.Neighbours);
    }

    [Fact]
    public void A_lost_neighbour_is_replaced_by_one_that_accepts()
    {
        Receive(1, new JoinRequest());
        Receive(1, new ShuffleReply([new(10), new(11), new(12)]));
        _node.OnLost(new(1));
        var (first, request) = _port.Sent[^1];
        // Without neighbours it must not be refused.
        Assert.Equal(new NeighbourRequest(IsUrgent: true), request);
        Receive(first.Value, new NeighbourReply(Accepts: false));
        var (second, _) = _port.Sent[^1];
        Assert.NotEqual(first, second);
        // The second one is gone, too.
        _node.OnLost(second);
        var (third, _) = _port.Sent[^1];
        Receive(third.Value, new NeighbourReply(Accepts: true));
        Assert.Equal([third], _node.Neighbours);
        Assert.Equal([first], _node.Passive);
        // It has room for more, and the first one was asked before the success.
        Assert.Equal((first, new NeighbourRequest(IsUrgent: false)), _port.Sent[^1]);
    }

    [Fact]
    public void All_of_the_passive_view_are_asked_once_until_the_next_period()
    {
        Receive(1, new JoinRequest());
        Receive(1, new ShuffleReply([new(10), new(11)]));
        _node.OnPeriod();
        for (var i = 0; i < 2; i++)
            Receive(_port.Requests[^1].Value, new NeighbourReply(Accepts: false));
        Assert.Equal([new(10), new(11)], Sorted(_port.Requests));
        _node.OnPeriod();
        Assert.Equal(3, _port.Requests.Count);
        // Nothing came back: the period gives it up and asks again.
        _node.OnPeriod();
        Assert.Equal(4, _port.Requests.Count);
    }

    [Fact]
    public void An_acceptance_that_comes_too_late_is_taken_back()
    {
        Receive(1, new JoinRequest());
        Receive(1, new ShuffleReply([new(10)]));
        _node.OnPeriod();
        FillActive();
        Receive(10, new NeighbourReply(Accepts: true));
        Assert.DoesNotContain(new OverlayId(10), _node.Neighbours);
        Assert.Equal((new OverlayId(10), new Disconnect()), _port.Sent[^1]);
        // Nobody has asked.
        Receive(50, new NeighbourReply(Accepts: true));
        Assert.Equal((new OverlayId(50), new Disconnect()), _port.Sent[^1]);
    }

    [Fact]
    public void A_shuffle_walks_and_ends_with_an_exchange_of_what_is_known()
    {
        Receive(1, new JoinRequest());
        Receive(2, new JoinRequest());
        Receive(1, new ShuffleReply([new(30), new(31)]));
        _port.Sent.Clear();
        Receive(1, new Shuffle(new(40), 2, [new(40), new(41)]));
        Assert.Equal(new OverlayId(2), _port.Sent.Single().To);
        Receive(1, new Shuffle(new(40), 1, [new(40), new(41)]));
        var (to, reply) = _port.Sent[^1];
        Assert.Equal(new OverlayId(40), to);
        Assert.Equal([new(30), new(31)], Sorted(Assert.IsType<ShuffleReply>(reply).Peers));
        Assert.Equal([new(30), new(31), new(40), new(41)], Sorted(_node.Passive));
    }

    [Fact]
    public void Neither_view_has_the_node_itself_or_a_node_twice_or_more_than_it_may()
    {
        var random = new Random(7);
        for (var step = 0; step < 20_000; step++)
        {
            var from = random.Next(1, 60);
            OverlayId[] peers = [.. Enumerable.Range(0, 8).Select(_ => new OverlayId(random.Next(60)))];
            switch (random.Next(10))
            {
                case 0:
                    Receive(from, new JoinRequest());
                    break;
                case 1:
                    Receive(from, new ForwardJoin(new(random.Next(60)), random.Next(7)));
                    break;
                case 2:
                    Receive(from, new NeighbourRequest(random.Next(2) == 0));
                    break;
                case 3:
                    Receive(from, new NeighbourReply(random.Next(2) == 0));
                    break;
                case 4:
                    Receive(from, new Disconnect());
                    break;
                case 5:
                    Receive(from, new Shuffle(new(random.Next(60)), random.Next(7), peers));
                    break;
                case 6:
                    Receive(from, new ShuffleReply(peers));
                    break;
                case 7:
                    _node.OnLost(new(from));
                    break;
                case 8:
                    _node.OnPeriod();
                    break;
                default:
                    _node.Join(new(random.Next(60)));
                    break;
            }

            OverlayId[] all = [.. _node.Neighbours, .. _node.Passive];
            Assert.Equal(all.Length, all.Distinct().Count());
            Assert.DoesNotContain(Self, all);
            Assert.InRange(_node.Neighbours.Count, 0, Options.Active);
            Assert.InRange(_node.Passive.Count, 0, Options.Passive);
            Assert.Equal(Sorted(_node.Neighbours), Sorted(_port.Neighbours));
            Assert.DoesNotContain(_port.Sent, static sent => sent.To == Self);
            _port.Sent.Clear();
        }
    }

    [Fact]
    public void A_node_that_leaves_tells_its_neighbours()
    {
        FillActive();
        _node.Leave();
        Assert.Empty(_node.Neighbours);
        Assert.Equal(Options.Active, _port.Sent.Count(static sent => sent.Message is Disconnect));
        Assert.Empty(_port.Neighbours);
    }

    private static IEnumerable<OverlayId> Sorted(IEnumerable<OverlayId> peers) => peers.OrderBy(static peer => peer.Value);

    private void FillActive()
    {
        for (var peer = 1; peer <= Options.Active; peer++)
            Receive(peer, new NeighbourRequest(IsUrgent: true));
        _port.Clear();
    }

    private void Receive(long from, OverlayMessage message) => _node.Receive(new OverlayId(from), message);

    private sealed class Port : IOverlayPort
    {
        internal List<(OverlayId To, OverlayMessage Message)> Sent { get; } = [];

        internal List<OverlayId> Up { get; } = [];

        internal List<OverlayId> Down { get; } = [];

        internal HashSet<OverlayId> Neighbours { get; } = [];

        internal List<OverlayId> Requests { get; } = [];

        public void Send(OverlayId to, OverlayMessage message)
        {
            Sent.Add((to, message));
            if (message is NeighbourRequest)
                Requests.Add(to);
        }

        public void OnNeighbourUp(OverlayId peer)
        {
            Up.Add(peer);
            Assert.True(Neighbours.Add(peer));
        }

        public void OnNeighbourDown(OverlayId peer)
        {
            Down.Add(peer);
            Assert.True(Neighbours.Remove(peer));
        }

        internal void Clear()
        {
            Sent.Clear();
            Up.Clear();
            Down.Clear();
        }
    }
}
