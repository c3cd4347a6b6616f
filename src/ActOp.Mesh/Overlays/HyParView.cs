namespace ActOp.Mesh.Overlays;

/// <summary>The parameters of <see cref="HyParView"/>. The defaults are those of the paper for 10,000 nodes.</summary>
internal sealed record HyParViewOptions
{
    /// <summary>The most neighbours: the fan-out of four for a broadcast, and the one that it comes from.</summary>
    internal int Active { get; init; } = 5;

    /// <summary>Nodes that are known and may take the place of a neighbour.</summary>
    internal int Passive { get; init; } = 30;

    /// <summary>Steps of the walk that finds neighbours for a new node (ARWL).</summary>
    internal int ActiveWalk { get; init; } = 6;

    /// <summary>After how many steps before its end the walk leaves the new node in a passive view (PRWL).</summary>
    internal int PassiveWalk { get; init; } = 3;

    /// <summary>Neighbours that a shuffle tells about (ka).</summary>
    internal int ShuffleActive { get; init; } = 3;

    /// <summary>Nodes of the passive view that a shuffle tells about (kp).</summary>
    internal int ShufflePassive { get; init; } = 4;
}

/// <summary>
/// A few neighbours with links, which are symmetric, and a larger passive view from which lost ones are replaced. Source: Leitão, Pereira,
/// Rodrigues, "HyParView: a membership protocol for reliable gossip-based broadcast", DSN 2007, algorithm 1 and section 4.
/// </summary>
/// <remarks>
/// <para>Owns the two views and the one request to become neighbours that is under way. One thread at a time.</para>
/// <para>Symmetry. Who takes a neighbour tells it in the same step (<see cref="NeighbourRequest"/>, urgent, which is never refused, or the
/// answer to a request); who drops one tells it (<see cref="Disconnect"/>). Messages of a pair keep their order, so after the last one both
/// agree. An acceptance that is not wanted any more is answered by <see cref="Disconnect"/>.</para>
/// <para>Failures. A neighbour is lost: another one is asked, until one accepts or all of the passive view were asked; the next period asks
/// again. The one that is asked is lost: the next one. It never answers: the next period gives it up. All neighbours and the passive view
/// are lost: the node is alone and must <see cref="Join"/> again.</para>
/// </remarks>
/// <param name="self">This node.</param>
/// <param name="port">The world.</param>
/// <param name="random">Chooses.</param>
/// <param name="options">The parameters.</param>
internal sealed class HyParView(OverlayId self, IOverlayPort port, Random random, HyParViewOptions options) : MembershipStrategy
{
    private readonly List<OverlayId> _active = [];
    private readonly List<OverlayId> _passive = [];

    /// <summary>Those that were asked to be neighbours since the last success or period.</summary>
    private readonly HashSet<OverlayId> _asked = [];

    /// <summary>The one that is asked now.</summary>
    private OverlayId? _pending;

    /// <summary>What the last shuffle told: the first to go when the passive view is full.</summary>
    private OverlayId[] _told = [];

    internal override IReadOnlyList<OverlayId> Neighbours => _active;

    /// <summary>Nodes that may become neighbours.</summary>
    internal IReadOnlyList<OverlayId> Passive => _passive;

    internal override void Join(OverlayId contact)
    {
        if (contact == self)
            return;
        AddActive(contact);
        port.Send(contact, new JoinRequest());
    }

    internal override void OnPeriod()
    {
        _asked.Clear();
        _pending = null;
        Fill();
        if (Pick(_active) is not { } neighbour)
            return;
        _told = Sample(_passive, options.ShufflePassive);
        port.Send(neighbour, new Shuffle(self, options.ActiveWalk, [self, .. Sample(_active, options.ShuffleActive), .. _told]));
    }

    internal override void Receive(OverlayId from, OverlayMessage message)
    {
        switch (message)
        {
            case JoinRequest:
                OnJoin(from);
                break;
            case ForwardJoin join:
                OnForwardJoin(from, join);
                break;
            case NeighbourRequest request:
                OnRequest(from, request.IsUrgent);
                break;
            case NeighbourReply reply:
                OnReply(from, reply.Accepts);
                break;
            case Disconnect:
                OnDisconnect(from);
                break;
            case Shuffle shuffle:
                OnShuffle(from, shuffle);
                break;
            case ShuffleReply reply:
                AddPassive(reply.Peers, _told);
                break;
        }
    }

    internal override void OnLost(OverlayId peer)
    {
        _passive.Remove(peer);
        RemoveActive(peer);
        if (_pending == peer)
            _pending = null;
        Fill();
    }

    internal override void Leave()
    {
        foreach (var peer in _active)
            port.Send(peer, new Disconnect());
        while (_active.Count > 0)
            RemoveActive(_active[^1]);
    }

    private void OnJoin(OverlayId from)
    {
        AddActive(from);
        foreach (var peer in _active.ToArray())
        {
            if (peer != from)
                port.Send(peer, new ForwardJoin(from, options.ActiveWalk));
        }
    }

    private void OnForwardJoin(OverlayId from, ForwardJoin join)
    {
        if (join.Node == self)
            return;
        if (join.Left == 0 || _active.Count <= 1 || PickForWalk(from, join.Node) is not { } next)
        {
            if (!_active.Contains(join.Node))
            {
                AddActive(join.Node);
                port.Send(join.Node, new NeighbourRequest(IsUrgent: true));
            }

            return;
        }

        if (join.Left == options.PassiveWalk)
            AddPassive([join.Node], []);
        port.Send(next, join with { Left = join.Left - 1 });
    }

    private void OnRequest(OverlayId from, bool isUrgent)
    {
        var accepts = isUrgent || _active.Count < options.Active || _active.Contains(from);
        if (accepts)
            AddActive(from);
        port.Send(from, new NeighbourReply(accepts));
    }

    private void OnReply(OverlayId from, bool accepts)
    {
        var isPending = _pending == from;
        if (isPending)
            _pending = null;
        if (accepts && isPending && _active.Count < options.Active)
        {
            _asked.Clear();
            AddActive(from);
        }
        else if (accepts && !_active.Contains(from))
        {
            port.Send(from, new Disconnect());
        }

        Fill();
    }

    private void OnDisconnect(OverlayId from)
    {
        if (!RemoveActive(from))
            return;
        AddPassive([from], []);
        Fill();
    }

    private void OnShuffle(OverlayId from, Shuffle shuffle)
    {
        if (shuffle.Origin == self)
            return;
        if (shuffle.Left > 1 && _active.Count > 1 && PickForWalk(from, shuffle.Origin) is { } next)
        {
            port.Send(next, shuffle with { Left = shuffle.Left - 1 });
            return;
        }

        var told = Sample(_passive, shuffle.Peers.Length);
        port.Send(shuffle.Origin, new ShuffleReply(told));
        AddPassive(shuffle.Peers, told);
    }

    /// <summary>Asks one more node to be a neighbour, if one is missing and none is asked.</summary>
    private void Fill()
    {
        if (_pending is not null || _active.Count >= options.Active)
            return;
        if (Pick(_passive.FindAll(peer => !_asked.Contains(peer))) is not { } candidate)
            return;
        _asked.Add(candidate);
        _pending = candidate;
        port.Send(candidate, new NeighbourRequest(IsUrgent: _active.Count == 0));
    }

    private void AddActive(OverlayId peer)
    {
        if (peer == self || _active.Contains(peer))
            return;
        if (Invariant.AreChecked)
            Invariant.Holds(_active.Count <= options.Active && _passive.Count <= options.Passive);
        if (_active.Count >= options.Active)
        {
            var dropped = _active[random.Next(_active.Count)];
            RemoveActive(dropped);
            port.Send(dropped, new Disconnect());
            AddPassive([dropped], []);
        }

        _passive.Remove(peer);
        _active.Add(peer);
        port.OnNeighbourUp(peer);
    }

    private bool RemoveActive(OverlayId peer)
    {
        if (!_active.Remove(peer))
            return false;
        port.OnNeighbourDown(peer);
        return true;
    }

    /// <summary>Adds nodes to the passive view. If it is full, those that were told to others go first.</summary>
    private void AddPassive(IEnumerable<OverlayId> peers, ReadOnlySpan<OverlayId> told)
    {
        var next = 0;
        foreach (var peer in peers)
        {
            if (peer == self || _active.Contains(peer) || _passive.Contains(peer))
                continue;
            var hasRoom = _passive.Count < options.Passive;
            while (!hasRoom && next < told.Length)
                hasRoom = _passive.Remove(told[next++]);
            if (!hasRoom)
                _passive.RemoveAt(random.Next(_passive.Count));
            _passive.Add(peer);
        }
    }

    private OverlayId? PickForWalk(OverlayId from, OverlayId origin)
    {
        Span<OverlayId> others = stackalloc OverlayId[_active.Count];
        var count = 0;
        foreach (var peer in _active)
        {
            if (peer != from && peer != origin)
                others[count++] = peer;
        }

        return count == 0 ? null : others[random.Next(count)];
    }

    private OverlayId? Pick(List<OverlayId> peers) => peers.Count == 0 ? null : peers[random.Next(peers.Count)];

    private OverlayId[] Sample(List<OverlayId> peers, int count)
    {
        OverlayId[] all = [.. peers];
        random.Shuffle(all);
        return all.Length <= count ? all : all[..count];
    }
}

/// <summary>To the contact: a new node joins.</summary>
internal sealed record JoinRequest : OverlayMessage;

/// <summary>A new node looks for neighbours by a random walk.</summary>
/// <param name="Node">The new node.</param>
/// <param name="Left">Steps that are left.</param>
internal sealed record ForwardJoin(OverlayId Node, int Left) : OverlayMessage;

/// <summary>Asks a node to be a neighbour.</summary>
/// <param name="IsUrgent">The sender has no other one, or is a neighbour already: must not be refused.</param>
internal sealed record NeighbourRequest(bool IsUrgent) : OverlayMessage;

/// <summary>The answer to <see cref="NeighbourRequest"/>.</summary>
/// <param name="Accepts">The sender is a neighbour from now on.</param>
internal sealed record NeighbourReply(bool Accepts) : OverlayMessage;

/// <summary>The sender is no neighbour any more.</summary>
internal sealed record Disconnect : OverlayMessage;

/// <summary>Tells nodes to another one, which a random walk finds.</summary>
/// <param name="Origin">Who tells.</param>
/// <param name="Left">Steps that are left.</param>
/// <param name="Peers">The nodes.</param>
internal sealed record Shuffle(OverlayId Origin, int Left, OverlayId[] Peers) : OverlayMessage;

/// <summary>Tells nodes in return.</summary>
/// <param name="Peers">The nodes.</param>
internal sealed record ShuffleReply(OverlayId[] Peers) : OverlayMessage;
