using ActOp.Mesh.Overlays;

namespace ActOp.Lab.Overlays;

/// <summary>
/// Nodes of an overlay in virtual time: HyParView with Plumtree, the code of <c>ActOp.Mesh</c>. Messages take 10 to 50 ms, the same for all
/// of a pair in one direction, so they keep their order. A message to a node that has crashed is lost, and its sender hears of that after
/// the same time.
/// </summary>
internal sealed class OverlayNetwork
{
    /// <summary>Between two shuffles of a node.</summary>
    internal static readonly TimeSpan Period = TimeSpan.FromSeconds(10);

    private readonly PriorityQueue<Event, (long At, long Order)> _events = new();
    private readonly Random _random;
    private readonly ulong _seed;
    private long _order;

    /// <param name="nodes">How many nodes.</param>
    /// <param name="seed">Chooses all that is chosen.</param>
    internal OverlayNetwork(int nodes, int seed)
    {
        _random = new Random(seed);
        _seed = (ulong)seed;
        Nodes = [.. Enumerable.Range(0, nodes).Select(index => new OverlayNode(this, index, new Random(_random.Next())))];
    }

    internal OverlayNode[] Nodes { get; }

    internal IEnumerable<OverlayNode> Alive => Nodes.Where(static node => node.IsAlive);

    /// <summary>In microseconds.</summary>
    internal long Now { get; private set; }

    /// <summary>Messages of the membership, and of the broadcast: with content, and without.</summary>
    internal (long Membership, long Payloads, long Others) Sent { get; private set; }

    /// <summary>All nodes join, one after the other, each at a random one that is in.</summary>
    internal void JoinAll(TimeSpan between)
    {
        for (var index = 0; index < Nodes.Length; index++)
        {
            if (index > 0)
                Nodes[index].Strategy.Join(new OverlayId(_random.Next(index)));
            SchedulePeriod(Nodes[index], TimeSpan.FromTicks(_random.NextInt64(Period.Ticks)));
            Run(between);
        }
    }

    /// <summary>So many nodes crash at the same time. Their neighbours hear of it after <paramref name="detection"/>.</summary>
    internal void Crash(int count, TimeSpan detection)
    {
        var crashed = Alive.ToArray();
        _random.Shuffle(crashed);
        foreach (var node in crashed.Take(count))
            node.IsAlive = false;
        foreach (var node in Alive)
        {
            foreach (var peer in node.Strategy.Neighbours)
            {
                if (!Nodes[peer.Value].IsAlive)
                    Schedule(detection, new Event(EventKind.Lost, node, peer));
            }
        }
    }

    /// <summary>A random node that is alive broadcasts.</summary>
    internal Guid Broadcast()
    {
        var alive = Alive.ToArray();
        var id = NewId();
        alive[_random.Next(alive.Length)].Tree.Broadcast(id, default);
        return id;
    }

    /// <summary>Plays so much time.</summary>
    internal void Run(TimeSpan time)
    {
        var end = Now + Microseconds(time);
        while (_events.TryPeek(out _, out var first) && first.At <= end)
        {
            var next = _events.Dequeue();
            Now = first.At;
            Play(next);
        }

        Now = end;
    }

    /// <summary>The sizes of the parts that live nodes form by their links, the largest first.</summary>
    internal List<int> Components()
    {
        var seen = new bool[Nodes.Length];
        List<int> sizes = [];
        foreach (var start in Alive)
        {
            if (seen[start.Index])
                continue;
            var (size, open) = (0, new Stack<OverlayNode>([start]));
            seen[start.Index] = true;
            while (open.TryPop(out var node))
            {
                size++;
                foreach (var peer in node.Strategy.Neighbours)
                {
                    var other = Nodes[peer.Value];
                    if (!other.IsAlive || seen[other.Index])
                        continue;
                    seen[other.Index] = true;
                    open.Push(other);
                }
            }

            sizes.Add(size);
        }

        sizes.Sort(static (one, other) => other.CompareTo(one));
        return sizes;
    }

    /// <summary>Neighbours among live nodes of whom the other one knows nothing.</summary>
    internal int CountAsymmetric() => Alive.Sum(node => node.Strategy.Neighbours.Count(
        peer => Nodes[peer.Value].IsAlive && !Nodes[peer.Value].Strategy.Neighbours.Contains(node.Id)));

    internal void Send(OverlayNode from, OverlayId to, OverlayMessage message)
    {
        Sent = message switch
        {
            Gossip => Sent with { Payloads = Sent.Payloads + 1 },
            Have or Graft or Prune => Sent with { Others = Sent.Others + 1 },
            _ => Sent with { Membership = Sent.Membership + 1 },
        };
        Schedule(Delay(from.Id, to), new Event(EventKind.Message, from, to, message));
    }

    internal void Schedule(TimeSpan delay, in Event one) => _events.Enqueue(one, (Now + Microseconds(delay), _order++));

    private void Play(in Event one)
    {
        var (node, peer) = (one.Node, one.Peer);
        switch (one.Kind)
        {
            case EventKind.Message when Nodes[peer.Value] is { IsAlive: true } receiver:
                receiver.Receive(node.Id, one.Message!);
                break;
            case EventKind.Message when node.IsAlive:
                Schedule(Delay(peer, node.Id), new Event(EventKind.Lost, node, peer));
                break;
            case EventKind.Lost when node.IsAlive:
                node.Strategy.OnLost(peer);
                break;
            case EventKind.Timer when node.IsAlive:
                node.Tree.OnTimer(one.Timer);
                break;
            case EventKind.Period when node.IsAlive:
                node.Strategy.OnPeriod();
                SchedulePeriod(node, Period);
                break;
        }
    }

    private void SchedulePeriod(OverlayNode node, TimeSpan delay) => Schedule(delay, new Event(EventKind.Period, node, node.Id));

    /// <summary>10 to 50 ms, by the pair.</summary>
    private TimeSpan Delay(OverlayId from, OverlayId to)
    {
        var hash = (((ulong)from.Value << 32) ^ (ulong)to.Value ^ (_seed << 20)) * 0x9E3779B97F4A7C15;
        return TimeSpan.FromMicroseconds(10_000 + (hash >> 32) % 40_000);
    }

    private Guid NewId()
    {
        Span<byte> bytes = stackalloc byte[16];
        _random.NextBytes(bytes);
        return new Guid(bytes);
    }

    private static long Microseconds(TimeSpan time) => (long)time.TotalMicroseconds;

    internal enum EventKind
    {
        Message,
        Lost,
        Timer,
        Period,
    }

    /// <summary>What happens at a time.</summary>
    /// <param name="Kind">What.</param>
    /// <param name="Node">The sender of a message; else where it happens.</param>
    /// <param name="Peer">The receiver of a message, or who is lost.</param>
    /// <param name="Message">The message.</param>
    /// <param name="Timer">The timer.</param>
    internal readonly record struct Event(
        EventKind Kind, OverlayNode Node, OverlayId Peer, OverlayMessage? Message = null, BroadcastTimer Timer = default);
}

/// <summary>One node: the strategy, the broadcast on top, and what has been delivered.</summary>
internal sealed class OverlayNode : IOverlayPort, IBroadcastPort
{
    private readonly OverlayNetwork _network;

    internal OverlayNode(OverlayNetwork network, int index, Random random)
    {
        _network = network;
        Index = index;
        Strategy = new HyParView(Id, this, random, new HyParViewOptions());
        Tree = new Plumtree(this, new PlumtreeOptions());
    }

    internal int Index { get; }

    internal OverlayId Id => new(Index);

    internal bool IsAlive { get; set; } = true;

    internal HyParView Strategy { get; }

    internal Plumtree Tree { get; }

    /// <summary>The message that was delivered last, after how many hops, and how often since it was first.</summary>
    internal (Guid Id, int Hops, int Times) Delivered { get; private set; }

    TimeSpan IBroadcastPort.Now => TimeSpan.FromMicroseconds(_network.Now);

    public void Send(OverlayId to, OverlayMessage message) => _network.Send(this, to, message);

    void IOverlayPort.OnNeighbourUp(OverlayId peer) => Tree.OnNeighbourUp(peer);

    void IOverlayPort.OnNeighbourDown(OverlayId peer) => Tree.OnNeighbourDown(peer);

    void IBroadcastPort.Schedule(TimeSpan delay, BroadcastTimer timer) =>
        _network.Schedule(delay, new OverlayNetwork.Event(OverlayNetwork.EventKind.Timer, this, Id, Timer: timer));

    void IBroadcastPort.Deliver(Gossip message) =>
        Delivered = (message.Id, message.Round, Delivered.Id == message.Id ? Delivered.Times + 1 : 1);

    internal void Receive(OverlayId from, OverlayMessage message)
    {
        if (message is Gossip or Have or Graft or Prune)
            Tree.Receive(from, message);
        else
            Strategy.Receive(from, message);
    }
}
