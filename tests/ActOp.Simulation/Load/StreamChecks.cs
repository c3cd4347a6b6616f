using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Streams;
using ActOp.Testing.Simulated;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Streams;

namespace ActOp.Simulation.Load;

/// <summary>A stream of the load. Its key says which provider has it.</summary>
internal readonly record struct StreamName(StreamId Id)
{
    /// <summary>The namespace of streams that archivists listen to.</summary>
    internal const string Archived = "archived";

    /// <summary>The namespace of streams that only explicit subscriptions get.</summary>
    internal const string Plain = "plain";

    /// <summary>The provider with queues in the memory of silos.</summary>
    internal const string Memory = "mem";

    /// <summary>The provider with queues that outlive silos.</summary>
    internal const string Queues = "db";

    internal string Provider => Id.GetKeyAsString()[..Id.GetKeyAsString().IndexOf('-', StringComparison.Ordinal)];

    internal static StreamName Of(string provider, string ns, int number) => new(StreamId.Create(ns, provider + "-" + number));

    /// <summary>From the name of a listener: namespace, key and its number.</summary>
    internal static StreamName Parse(string listener) =>
        listener.Split('/') is var parts ? new(StreamId.Create(parts[0], parts[1])) : default;

    public override string ToString() => Id.ToString();
}

/// <summary>An item that a producer has sent.</summary>
internal sealed class StreamItem(long id, StreamName stream, long producer, long batch, long sentAt)
{
    internal long Id => id;

    internal StreamName Stream => stream;

    internal long Producer => producer;

    /// <summary>Items that were sent together have the number of the first.</summary>
    internal long Batch => batch;

    internal long SentAt => sentAt;

    /// <summary>The producer was told that it is in the queue.</summary>
    internal bool IsAcknowledged { get; set; }

    /// <summary>The producer was told that it is not in the queue.</summary>
    internal bool IsRefused { get; set; }
}

/// <summary>A subscription, as its consumer knows it.</summary>
internal sealed class Subscription(StreamName stream, GrainId consumer, Machine? client)
{
    internal StreamName Stream => stream;

    internal GrainId Consumer => consumer;

    /// <summary>The client that consumes; null for a grain.</summary>
    internal Machine? Client => client;

    internal bool IsImplicit { get; init; }

    /// <summary>Its id, once the consumer knows it.</summary>
    internal Guid Id { get; set; }

    /// <summary>When its consumer was told that it is there; null if it never was.</summary>
    internal long? ConfirmedAt { get; set; }

    /// <summary>When its end was requested first.</summary>
    internal long? EndAskedAt { get; private set; }

    /// <summary>How many items it had had then.</summary>
    internal int HeardBeforeEnd { get; private set; }

    /// <summary>When its consumer was told that it has ended.</summary>
    internal long? EndedAt { get; set; }

    /// <summary>The items that it has had, each with its place among them.</summary>
    internal Dictionary<long, int> Heard { get; } = [];

    /// <summary>Positions of the last items.</summary>
    internal Queue<StreamSequenceToken> Tokens { get; } = [];

    /// <summary>When it has taken an item last.</summary>
    internal long HeardAt { get; set; }

    /// <summary>Until then the consumer throws.</summary>
    internal long StubbornUntil { get; set; }

    /// <summary>Its consumer requests its end.</summary>
    internal void AskEnd(long now)
    {
        if (EndAskedAt is null)
            (EndAskedAt, HeardBeforeEnd) = (now, Heard.Count);
    }

    public override string ToString() => "the subscription " + Id + " of " + (client?.Name ?? consumer.ToString()) + " to " + stream
        + (ConfirmedAt > 0 ? " of " + new TimeSpan(ConfirmedAt.Value) : "");
}

/// <summary>What must hold of streams, by what producers and consumers were told.</summary>
internal sealed class StreamChecks(World.World world, Ledger ledger, Faults faults, int queues, TimeSpan longestDelivery)
{
    /// <summary>Whatever separates machines or ends them, except in order.</summary>
    private static readonly FaultKind[] Separating = [.. Enum.GetValues<FaultKind>().Where(static kind => kind < FaultKind.TableSlow
        && kind is not (FaultKind.Restart or FaultKind.ClockJump or FaultKind.HookHangs or FaultKind.HookThrows))];

    /// <summary>A delivery that was under way when its subscription ended may take the time of its call, and this.</summary>
    private const long Grace = 3 * Pump.Second;

    private readonly Dictionary<long, StreamItem> _items = [];
    private readonly Dictionary<StreamName, List<StreamItem>> _itemsOf = [];
    private readonly Dictionary<Guid, Subscription> _byId = [];
    private readonly Dictionary<(StreamName, GrainId), Subscription> _implicits = [];
    private readonly List<Subscription> _all = [];
    private readonly Dictionary<(object Place, Subscription), (int Count, long Since)> _running = [];
    private readonly Dictionary<GrainId, QueueLife> _queues = [];
    private readonly Dictionary<string, int> _skips = [];
    private readonly HashRingBasedStreamQueueMapper _mapper =
        new(new HashRingStreamQueueMapperOptions { TotalQueueCount = queues }, StreamName.Memory);
    private long _ids;

    /// <summary>Nothing goes wrong any more.</summary>
    internal bool IsStormOver { get; set; }

    internal IEnumerable<Subscription> All => _all;

    /// <summary>Items that are about to be sent together.</summary>
    internal StreamItem[] Send(StreamName stream, long producer, int count)
    {
        var first = _ids + 1;
        var items = Enumerable.Range(0, count).Select(_ => new StreamItem(++_ids, stream, producer, first, world.Pump.Now)).ToArray();
        if (!_itemsOf.TryGetValue(stream, out var all))
            _itemsOf.Add(stream, all = []);
        foreach (var item in items)
        {
            _items.Add(item.Id, item);
            all.Add(item);
        }

        return items;
    }

    internal Subscription New(StreamName stream, GrainId consumer, Machine? client)
    {
        var subscription = new Subscription(stream, consumer, client);
        _all.Add(subscription);
        return subscription;
    }

    /// <summary>A subscription that the stream has; one of unknown outcome if nobody was told of it.</summary>
    internal Subscription Find(Guid id, StreamName stream, GrainId consumer)
    {
        if (!_byId.TryGetValue(id, out var subscription))
        {
            ledger.Count("subscriptions found");
            _byId.Add(id, subscription = New(stream, consumer, null));
            subscription.Id = id;
        }
        else if (subscription.EndedAt is { } ended)
        {
            ledger.Accuse("ended subscription", "The stream has " + subscription + ", which has ended at " + new TimeSpan(ended) + ".");
        }

        return subscription;
    }

    internal Subscription Implicit(StreamName stream, GrainId consumer)
    {
        if (!_implicits.TryGetValue((stream, consumer), out var subscription))
        {
            subscription = new Subscription(stream, consumer, null) { IsImplicit = true, ConfirmedAt = 0 };
            _implicits.Add((stream, consumer), subscription);
            _all.Add(subscription);
        }

        return subscription;
    }

    /// <summary>The consumer was told that its subscription is there. What a silo is told that is gone counts for nothing.</summary>
    internal void Confirm(Subscription subscription, Guid id, Machine machine)
    {
        subscription.Id = id;
        if (_byId.TryAdd(id, subscription) && !IsGone(machine))
            subscription.ConfirmedAt = world.Pump.Now;
        ledger.Count("subscribed");
    }

    internal void End(Subscription subscription, Machine machine)
    {
        if (!IsGone(machine))
            subscription.EndedAt ??= world.Pump.Now;
        ledger.Count("unsubscribed");
    }

    /// <summary>A consumer gets items.</summary>
    internal void Begins(Subscription subscription, object place, bool mayOverlap, long[] items, Machine machine)
    {
        var now = world.Pump.Now;
        var (count, since) = _running.GetValueOrDefault((place, subscription));
        if (count > 0 && mayOverlap && !world.IsCalm)
        {
            ledger.Count("excused: items at once");
        }
        else if (count > 0)
        {
            ledger.Accuse("items at once", machine.Name + " gets items of " + subscription + " beside those of " + new TimeSpan(since)
                + ".");
        }

        _running[(place, subscription)] = (count + 1, now);
        world.Pump.Note(machine, EventKind.Check, "hear " + subscription.Stream + " " + items[0] + " of " + subscription.Id);
        foreach (var id in items)
        {
            var item = _items[id];
            if (item.Stream != subscription.Stream)
                ledger.Accuse("strange item", "The item " + id + " of " + item.Stream + " comes to " + subscription + ".");
            if (item.IsRefused)
                ledger.Accuse("refused item", "The item " + id + " comes to " + subscription + ", but its producer was refused.");
            CheckEnded(subscription, item);
        }
    }

    /// <summary>
    /// An observer gets items though its consumer was told that the subscription has ended, or has another observer. That is decided where
    /// the observer is, so nothing excuses it.
    /// </summary>
    internal void HearsDetached(Subscription subscription, long[] items, Machine machine) => ledger.Accuse("detached observer",
        machine.Name + " gives the item " + items[0] + " to an observer that it has detached from " + subscription + ".");

    /// <summary>A grain is told that a subscription has items for it.</summary>
    internal void Announced(Guid id)
    {
        ledger.Count("announced");
        if (_byId.TryGetValue(id, out var subscription) && subscription.EndedAt is { } ended && IsLongAgo(ended))
        {
            ledger.Accuse("ended subscription",
                "An agent has items for " + subscription + ", which has ended at " + new TimeSpan(ended) + ".");
        }
    }

    internal void Heard(Subscription subscription, long[] items, StreamSequenceToken? token)
    {
        ledger.Count("heard", items.Length);
        subscription.HeardAt = world.Pump.Now;
        foreach (var id in items)
            subscription.Heard.TryAdd(id, subscription.Heard.Count);
        if (token is null)
            return;
        subscription.Tokens.Enqueue(token);
        if (subscription.Tokens.Count > 20)
            subscription.Tokens.Dequeue();
    }

    internal void Ends(Subscription subscription, object place)
    {
        var (count, since) = _running[(place, subscription)];
        _running[(place, subscription)] = (count - 1, since);
    }

    /// <summary>An agent has given up a batch, as its log says.</summary>
    internal void Skipped(string text, bool isTroubled)
    {
        ledger.Count("batches skipped");
        // A batch is tried again for this time; the clock of a machine may be 2 % too fast.
        var since = world.Pump.Now - (long)(longestDelivery.Ticks * 0.9);
        var own = _all.Where(one => SkipText(one.Stream, one.Consumer) == text).ToArray();
        if (own.Length > 0 && own.All(one => one.HeardAt > since)
            && !faults.Any(since - (10 * Pump.Second), [.. Separating, FaultKind.Restart]))
        {
            ledger.Accuse("skipped", "A batch was given up though its subscription has got items all the time: " + text);
        }

        if (world.IsCalm && !isTroubled)
            ledger.Accuse("skipped", "Nothing is wrong, and no consumer fails: " + text);
        _skips[text] = _skips.GetValueOrDefault(text) + 1;
    }

    internal static string SkipText(StreamName stream, GrainId consumer) =>
        "An item of the stream " + stream + " could not be delivered to " + consumer + " and is skipped.";

    /// <summary>Sees which activation has the content of which queue in memory.</summary>
    internal void Lived(Machine machine, Activation activation, LifeEvent happened)
    {
        if (happened != LifeEvent.Started || activation.GrainInstance is not MemoryQueueGrain queue)
            return;
        if (!_queues.TryGetValue(activation.GrainId, out var life))
            _queues.Add(activation.GrainId, life = new QueueLife(queue.Incarnation, machine));
        if (life.Incarnation != queue.Incarnation)
        {
            ledger.Count("queues lost");
            life.LostAt.Add(world.Pump.Now);
            CheckLoss(activation.GrainId, life.Machine);
        }

        (life.Incarnation, life.Machine) = (queue.Incarnation, machine);
    }

    /// <summary>Acknowledged items that a subscription should have and has not.</summary>
    internal List<string> Missing()
    {
        var missing = new List<string>();
        foreach (var subscription in _all)
        {
            if (!IsAlive(subscription) || !_itemsOf.TryGetValue(subscription.Stream, out var items))
                continue;
            foreach (var item in items)
            {
                if (IsOwed(subscription, item) && !subscription.Heard.ContainsKey(item.Id) && Excuse(subscription, item) is null)
                    missing.Add("item " + item.Id + " (sent " + new TimeSpan(item.SentAt) + ") to " + subscription);
            }
        }

        return missing;
    }

    /// <summary>
    /// Counts what was excused, and finds items that came in another order than they were sent, and those of subscriptions that have ended
    /// since which were left out before.
    /// </summary>
    internal void CheckOrder()
    {
        foreach (var subscription in _all.Where(static one => one is { ConfirmedAt: not null, EndAskedAt: not null, Client: null }))
            CheckGaps(subscription);
        foreach (var subscription in _all.Where(IsAlive))
        {
            var last = new Dictionary<long, (StreamItem Item, int Place)>();
            foreach (var item in _itemsOf.GetValueOrDefault(subscription.Stream) ?? [])
            {
                if (!IsOwed(subscription, item))
                    continue;
                if (!subscription.Heard.TryGetValue(item.Id, out var place))
                {
                    ledger.Count("excused: " + Excuse(subscription, item));
                    continue;
                }

                if (last.TryGetValue(item.Producer, out var before) && before.Place > place)
                {
                    ledger.Accuse("order", "The item " + item.Id + " has come to " + subscription + " before " + before.Item.Id
                        + ", which was acknowledged before it was sent.");
                }

                last[item.Producer] = (item, place);
            }
        }
    }

    /// <summary>Before the end of a subscription was requested, no item came to it before one that was sent earlier.</summary>
    private void CheckGaps(Subscription subscription)
    {
        var (left, open) = (new List<StreamItem>(), new Dictionary<long, List<StreamItem>>());
        foreach (var item in _itemsOf.GetValueOrDefault(subscription.Stream) ?? [])
        {
            if (!IsOwed(subscription, item))
                continue;
            if (!open.TryGetValue(item.Producer, out var before))
                open.Add(item.Producer, before = []);
            if (!subscription.Heard.TryGetValue(item.Id, out var place) || place >= subscription.HeardBeforeEnd)
            {
                before.Add(item);
                continue;
            }

            left.AddRange(before.Where(one => !IsLostWithQueue(one)));
            before.Clear();
        }

        var skips = _skips.GetValueOrDefault(SkipText(subscription.Stream, subscription.Consumer));
        if (left.Select(static one => one.Batch).Distinct().Count() > skips)
        {
            ledger.Accuse("lost item", left.Count + " items have not come to " + subscription + ", and later ones have: "
                + string.Join(", ", left.Take(3).Select(static one => one.Id + " (sent " + new TimeSpan(one.SentAt) + ")")));
        }
    }

    /// <summary>The process has ended, or the others have declared it dead.</summary>
    internal bool IsGone(Machine machine) => machine.IsDead || (machine.IsSilo
        && world.Table.Snapshot.FindRow(machine.Node.Address) is not { Status: not SiloStatus.Dead });

    /// <summary>
    /// Confirmed, and nobody has asked for its end. That of a client counts while nothing has gone wrong: a client that cannot be reached
    /// may lose it.
    /// </summary>
    private bool IsAlive(Subscription subscription) => subscription is { ConfirmedAt: { } since, EndAskedAt: null }
        && (subscription.Client is not { } client || (!client.IsDead && !faults.Done.Any(fault => fault.Until >= since)));

    private static bool IsOwed(Subscription subscription, StreamItem item) =>
        item.IsAcknowledged && item.SentAt >= subscription.ConfirmedAt;

    /// <summary>Why a subscription need not have an item; null if it must.</summary>
    private string? Excuse(Subscription subscription, StreamItem item)
    {
        if (IsLostWithQueue(item))
            return "item lost with its queue";

        // So many batches were given up; which ones, nobody says.
        if (_skips.GetValueOrDefault(SkipText(subscription.Stream, subscription.Consumer)) is not (> 0 and var skips))
            return null;
        var batches = _itemsOf[item.Stream].Where(one => IsOwed(subscription, one) && !subscription.Heard.ContainsKey(one.Id))
            .Select(static one => one.Batch).Distinct().Count();
        return batches <= skips ? "item skipped" : null;
    }

    private bool IsLostWithQueue(StreamItem item) => item.Stream.Provider == StreamName.Memory
        && _queues.TryGetValue(QueueOf(item.Stream), out var life) && life.LostAt.Any(lost => lost >= item.SentAt);

    private GrainId QueueOf(StreamName stream) => world.Silos.First().Grains.GetGrain<IMemoryQueue>(
        MemoryAdapterFactory<DefaultMemoryMessageBodySerializer>.KeyOf(_mapper.GetQueueForStream(stream.Id))).GetGrainId();

    /// <summary>The content of a queue is lost with a process that ends otherwise than in order, and with the last one.</summary>
    private void CheckLoss(GrainId queue, Machine before)
    {
        var isOrderly = before is { StoppingSince: > 0, WasEvicted: false };
        if (!isOrderly && IsGone(before))
            return;
        var since = isOrderly ? before.StoppingSince : world.Pump.Now;
        if (faults.Any(since - (30 * Pump.Second), Separating) || world.Silos.Count() < 2)
            return;
        ledger.Accuse("lost queue", "The queue " + queue + " has lost its content, though " + before.Name
            + (isOrderly ? " has stopped in order." : " still runs."));
    }

    /// <summary>
    /// What was under way when a subscription ended may still come. What was sent after that comes only by agents of silos that the others
    /// cannot reach.
    /// </summary>
    private void CheckEnded(Subscription subscription, StreamItem item)
    {
        if (subscription.EndedAt is not { } ended)
            return;
        ledger.Count("heard after the end");
        if (IsLongAgo(ended) || (IsStormOver && item.SentAt > ended))
        {
            ledger.Accuse("ended subscription", "The item " + item.Id + " (sent " + new TimeSpan(item.SentAt) + ") comes to " + subscription
                + ", which has ended at " + new TimeSpan(ended) + ".");
        }
    }

    /// <summary>What was under way at that time has ended.</summary>
    private bool IsLongAgo(long time) => world.Pump.Now - time > world.Settings.ResponseTimeout.Ticks + Grace;

    /// <summary>A queue in memory.</summary>
    private sealed class QueueLife(Guid incarnation, Machine machine)
    {
        internal Guid Incarnation { get; set; } = incarnation;

        /// <summary>Where it was last.</summary>
        internal Machine Machine { get; set; } = machine;

        internal List<long> LostAt { get; } = [];
    }
}
