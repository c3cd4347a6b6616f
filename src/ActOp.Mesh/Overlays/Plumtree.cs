namespace ActOp.Mesh.Overlays;

/// <summary>The parameters of <see cref="Plumtree"/>.</summary>
internal sealed record PlumtreeOptions
{
    /// <summary>How long announcements are collected. Default 5 ms, as in iroh-gossip.</summary>
    internal TimeSpan Dispatch { get; init; } = TimeSpan.FromMilliseconds(5);

    /// <summary>
    /// How long a message that was announced may take before it is asked for. Default 500 ms: longer than a message takes through the tree,
    /// some ten hops. With less (iroh-gossip: 80 ms) nodes ask for what is on its way, and the tree never settles.
    /// </summary>
    internal TimeSpan Graft { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>How long the answer to that may take before the next one is asked. Default 150 ms: more than a round trip.</summary>
    internal TimeSpan GraftAgain { get; init; } = TimeSpan.FromMilliseconds(150);

    /// <summary>How long messages are kept for those that ask. Default 30 s.</summary>
    internal TimeSpan Keep { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>How long it is known that a message was delivered. Default 90 s: longer than anybody announces it.</summary>
    internal TimeSpan Remember { get; init; } = TimeSpan.FromSeconds(90);
}

/// <summary>What a broadcast does to the world.</summary>
internal interface IBroadcastPort
{
    /// <summary>The time since any moment.</summary>
    TimeSpan Now { get; }

    /// <summary>Sends a message to a neighbour.</summary>
    void Send(OverlayId to, OverlayMessage message);

    /// <summary>Calls <see cref="Plumtree.OnTimer"/> once after the delay.</summary>
    void Schedule(TimeSpan delay, BroadcastTimer timer);

    /// <summary>A message has come, for the first time.</summary>
    /// <param name="message">The message.</param>
    void Deliver(Gossip message);
}

/// <summary>
/// Broadcasts over the neighbours of an overlay: along a tree that forms by itself, and by announcements beside it, which mend the tree.
/// Source: Leitão, Pereira, Rodrigues, "Epidemic broadcast trees", SRDS 2007, algorithms 1 to 3.
/// </summary>
/// <remarks>
/// <para>Owns which neighbours get messages at once (eager) and which get announcements only (lazy), the messages of the last seconds and
/// those that were announced and have not come. Pure, one thread at a time.</para>
/// <para>A message that comes twice makes the second sender lazy; both sides agree by <see cref="Prune"/>. A message that was announced and
/// does not come within <see cref="PlumtreeOptions.Graft"/> is asked for, which makes that one eager (<see cref="Graft"/>).</para>
/// <para>Failures. A neighbour is lost: it is forgotten, with what it has announced; what it would have sent is announced by others. The
/// answer to a <see cref="Graft"/> does not come: the next one that has announced the message is asked, until none is left. The message is
/// too old there: nothing is sent, and the sender of the <see cref="Graft"/> is an eager neighbour all the same.</para>
/// </remarks>
/// <param name="port">The world.</param>
/// <param name="options">The parameters.</param>
internal sealed class Plumtree(IBroadcastPort port, PlumtreeOptions options)
{
    private readonly List<OverlayId> _eager = [];
    private readonly List<OverlayId> _lazy = [];
    private readonly Dictionary<Guid, Gossip?> _known = [];
    private readonly Queue<(Guid Id, TimeSpan At)> _kept = [];
    private readonly Queue<(Guid Id, TimeSpan At)> _remembered = [];

    /// <summary>Announced and not come: who has it, in the order of the announcements.</summary>
    private readonly Dictionary<Guid, Queue<Announcement>> _missing = [];
    private readonly Dictionary<OverlayId, List<Announced>> _toAnnounce = [];
    private bool _isDispatching;

    /// <summary>Those that get messages at once.</summary>
    internal IReadOnlyList<OverlayId> Eager => _eager;

    /// <summary>Those that get announcements.</summary>
    internal IReadOnlyList<OverlayId> Lazy => _lazy;

    /// <summary>Messages that were announced and have not come.</summary>
    internal int Missing => _missing.Count;

    /// <summary>Sends a message to all nodes of the overlay, this one included.</summary>
    internal void Broadcast(Guid id, ReadOnlyMemory<byte> payload) => OnNew(new Gossip(id, 0, payload), null);

    /// <summary>The overlay has another neighbour.</summary>
    internal void OnNeighbourUp(OverlayId peer)
    {
        if (!IsNeighbour(peer))
            _eager.Add(peer);
    }

    /// <summary>The overlay has lost a neighbour.</summary>
    internal void OnNeighbourDown(OverlayId peer)
    {
        _eager.Remove(peer);
        _lazy.Remove(peer);
        _toAnnounce.Remove(peer);
    }

    /// <summary>A message of this protocol has arrived.</summary>
    internal void Receive(OverlayId from, OverlayMessage message)
    {
        switch (message)
        {
            case Gossip gossip:
                OnGossip(from, gossip);
                break;
            case Have have:
                foreach (var announced in have.Messages)
                    OnAnnounced(from, announced);
                break;
            case Graft graft:
                OnGraft(from, graft);
                break;
            case Prune:
                MakeLazy(from);
                break;
        }
    }

    /// <summary>The time of <see cref="IBroadcastPort.Schedule"/> has come.</summary>
    internal void OnTimer(BroadcastTimer timer)
    {
        if (timer.Message is not { } id)
            Announce();
        else if (_missing.TryGetValue(id, out var announcements))
            AskFor(id, announcements);
    }

    private void OnGossip(OverlayId from, Gossip gossip)
    {
        if (_known.ContainsKey(gossip.Id))
        {
            MakeLazy(from);
            port.Send(from, new Prune());
            return;
        }

        MakeEager(from);
        OnNew(gossip, from);
    }

    private void OnNew(Gossip gossip, OverlayId? from)
    {
        _missing.Remove(gossip.Id);
        Remember(gossip);
        port.Deliver(gossip);
        var next = gossip with { Round = gossip.Round + 1 };
        foreach (var peer in _eager)
        {
            if (peer != from)
                port.Send(peer, next);
        }

        foreach (var peer in _lazy)
        {
            if (!_toAnnounce.TryGetValue(peer, out var messages))
                _toAnnounce.Add(peer, messages = []);
            messages.Add(new Announced(gossip.Id, next.Round));
        }

        if (_isDispatching || _lazy.Count == 0)
            return;
        _isDispatching = true;
        port.Schedule(options.Dispatch, default);
    }

    private void Announce()
    {
        _isDispatching = false;
        foreach (var (peer, messages) in _toAnnounce)
            port.Send(peer, new Have([.. messages]));
        _toAnnounce.Clear();
    }

    private void OnAnnounced(OverlayId from, Announced announced)
    {
        if (_known.ContainsKey(announced.Id))
            return;
        if (!_missing.TryGetValue(announced.Id, out var announcements))
        {
            _missing.Add(announced.Id, announcements = []);
            port.Schedule(options.Graft, new BroadcastTimer(announced.Id));
        }

        announcements.Enqueue(new Announcement(from, announced.Round));
    }

    /// <summary>Asks the next neighbour that has announced the message.</summary>
    private void AskFor(Guid id, Queue<Announcement> announcements)
    {
        while (announcements.TryDequeue(out var one))
        {
            if (!IsNeighbour(one.From))
                continue;
            MakeEager(one.From);
            port.Send(one.From, new Graft(id, one.Round));
            port.Schedule(options.GraftAgain, new BroadcastTimer(id));
            return;
        }

        // Whoever announces it later is asked.
        _missing.Remove(id);
    }

    private void OnGraft(OverlayId from, Graft graft)
    {
        MakeEager(from);
        if (_known.GetValueOrDefault(graft.Id) is { } gossip)
            port.Send(from, gossip with { Round = graft.Round });
    }

    private bool IsNeighbour(OverlayId peer) => _eager.Contains(peer) || _lazy.Contains(peer);

    /// <summary>Only neighbours: a message of one that has been lost meanwhile changes nothing.</summary>
    private void MakeEager(OverlayId peer)
    {
        if (_lazy.Remove(peer))
            _eager.Add(peer);
    }

    private void MakeLazy(OverlayId peer)
    {
        if (_eager.Remove(peer))
            _lazy.Add(peer);
    }

    private void Remember(Gossip gossip)
    {
        var now = port.Now;
        while (_kept.TryPeek(out var oldest) && now - oldest.At > options.Keep)
            _known[_kept.Dequeue().Id] = null;
        while (_remembered.TryPeek(out var oldest) && now - oldest.At > options.Remember)
            _known.Remove(_remembered.Dequeue().Id);
        _known.Add(gossip.Id, gossip);
        _kept.Enqueue((gossip.Id, now));
        _remembered.Enqueue((gossip.Id, now));
    }

    private readonly record struct Announcement(OverlayId From, int Round);
}

/// <summary>What a timer of <see cref="Plumtree"/> is for.</summary>
/// <param name="Message">The message that should have come; null: it is time to announce.</param>
internal readonly record struct BroadcastTimer(Guid? Message);

/// <summary>A message that is broadcast.</summary>
/// <param name="Id">Which.</param>
/// <param name="Round">How many nodes it has passed.</param>
/// <param name="Payload">The content.</param>
internal sealed record Gossip(Guid Id, int Round, ReadOnlyMemory<byte> Payload) : OverlayMessage;

/// <summary>A message that a node has.</summary>
/// <param name="Id">Which.</param>
/// <param name="Round">How many nodes it has passed if it comes from there.</param>
internal readonly record struct Announced(Guid Id, int Round);

/// <summary>Announces messages.</summary>
/// <param name="Messages">Which.</param>
internal sealed record Have(Announced[] Messages) : OverlayMessage;

/// <summary>Asks for a message that was announced, and for all later ones at once.</summary>
/// <param name="Id">Which.</param>
/// <param name="Round">As announced.</param>
internal sealed record Graft(Guid Id, int Round) : OverlayMessage;

/// <summary>The message has come from another one: announcements will do.</summary>
internal sealed record Prune : OverlayMessage;
