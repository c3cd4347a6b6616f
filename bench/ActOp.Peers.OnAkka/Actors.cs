using ActOp.Harness.Load;
using Akka.Actor;
using Akka.Cluster;
using Akka.Cluster.Sharding;
using Akka.Cluster.Tools.PublishSubscribe;

namespace ActOp.Peers.OnAkka;

/// <summary>Asks an actor where it is.</summary>
public sealed record WhereAreYou
{
    public static WhereAreYou Instance { get; } = new();
}

/// <summary>Has an actor call another one in a loop.</summary>
public sealed record Loop(long Peer, int Milliseconds, bool IsTimed);

/// <summary>Answers a number with the next one, and can call another actor in a loop.</summary>
public sealed class EchoActor : ReceiveActor
{
    public const string Region = "echo";

    public EchoActor()
    {
        var system = Context.System;
        Receive<int>(value => Sender.Tell(value + 1));
        Receive<WhereAreYou>(_ => Sender.Tell(Cluster.Get(system).SelfAddress.ToString()));
        ReceiveAsync<Loop>(async loop =>
        {
            var asker = Sender;
            var region = ClusterSharding.Get(system).ShardRegion(Region);
            var peer = loop.Peer.ToString(System.Globalization.CultureInfo.InvariantCulture);
            ValueTask<int> Call(int value) => new(region.Ask<int>(new ShardingEnvelope(peer, value)));
            asker.Tell(await (loop.IsTimed
                ? CallLoops.TimedAsync(Call, loop.Milliseconds) : CallLoops.UntimedAsync(Call, loop.Milliseconds)));
        });
    }
}

/// <summary>Notes a beat and keeps its thread for so many milliseconds, as a synchronous call to something slow does.</summary>
public sealed class MonitorActor : ReceiveActor
{
    public const string Region = "monitor";
    private long _beats;

    public MonitorActor() => Receive<int>(milliseconds =>
    {
        _beats++;
        if (milliseconds > 0)
            Thread.Sleep(milliseconds);
        Sender.Tell(0);
    });
}

/// <summary>Notifies those who have said "subscribe", on each number.</summary>
public sealed class FeedActor : ReceiveActor
{
    public const string Region = "feed";
    public const string Subscribe = "subscribe";
    private readonly List<IActorRef> _subscribers = [];

    public FeedActor()
    {
        Receive<string>(static text => text == Subscribe, _ =>
        {
            _subscribers.Add(Sender);
            Sender.Tell(true);
        });
        Receive<int>(number =>
        {
            foreach (var subscriber in _subscribers)
                subscriber.Tell(number);
            Sender.Tell(0);
        });
    }
}

/// <summary>Subscribes to the feed, and says what it hears.</summary>
public sealed class SubscriberActor : ReceiveActor
{
    public SubscriberActor(IActorRef feeds, TaskCompletionSource subscribed, Action notified)
    {
        Receive<bool>(_ => subscribed.TrySetResult());
        Receive<int>(_ => notified());
        feeds.Tell(new ShardingEnvelope("0", FeedActor.Subscribe));
    }
}

/// <summary>An actor with a timer.</summary>
public sealed class ClockActor : ReceiveActor, IWithTimers
{
    private static long s_ticks;

    public ClockActor(TimeSpan period)
    {
        _period = period;
        Receive<int>(static _ => Interlocked.Increment(ref s_ticks));
    }

    private readonly TimeSpan _period;

    /// <summary>Of all clocks of this process.</summary>
    public static long Ticks => Interlocked.Read(ref s_ticks);

    public ITimerScheduler Timers { get; set; } = null!;

    protected override void PreStart() => Timers.StartPeriodicTimer(0, 0, _period);
}

/// <summary>Publishes numbers to a topic: that is what Akka has for streams between actors that do not know each other.</summary>
public sealed class ProducerActor : ReceiveActor
{
    public const string Region = "producer";

    public ProducerActor()
    {
        var mediator = DistributedPubSub.Get(Context.System).Mediator;
        var topic = ConsumerActor.TopicOf(Self);
        Receive<int>(items =>
        {
            for (var item = 0; item < items; item++)
                mediator.Tell(new Publish(topic, item));
            Sender.Tell(true);
        });
    }
}

/// <summary>Subscribes to a topic, and counts what comes.</summary>
public sealed class ConsumerActor : ReceiveActor
{
    public const string Region = "consumer";
    public const string Subscribe = "subscribe";
    private static long s_items;
    private IActorRef _asker = ActorRefs.Nobody;

    public ConsumerActor()
    {
        var mediator = DistributedPubSub.Get(Context.System).Mediator;
        Receive<string>(static text => text == Subscribe, _ =>
        {
            _asker = Sender;
            mediator.Tell(new Akka.Cluster.Tools.PublishSubscribe.Subscribe(TopicOf(Self), Self));
        });
        Receive<SubscribeAck>(acknowledged => _asker.Tell(acknowledged));
        Receive<int>(static _ => Interlocked.Increment(ref s_items));
    }

    /// <summary>Got by all consumers of this process.</summary>
    public static long Items => Interlocked.Read(ref s_items);

    internal static string TopicOf(IActorRef actor) => "numbers-" + actor.Path.Name;
}
