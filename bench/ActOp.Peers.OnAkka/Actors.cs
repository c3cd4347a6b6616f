using System.Diagnostics;
using ActOp.Peers.Shapes;
using Akka.Actor;
using Akka.Cluster;
using Akka.Cluster.Sharding;

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
    private const int Batch = 64;
    private const int MaxTimes = 200_000;

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
            asker.Tell(loop.IsTimed
                ? await TimedAsync(region, peer, loop.Milliseconds) : await UntimedAsync(region, peer, loop.Milliseconds));
        });
    }

    private static async Task<PairLoop> UntimedAsync(IActorRef region, string peer, int milliseconds)
    {
        long calls = 0;
        var value = 0;
        for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; calls += Batch)
        {
            for (var left = Batch; left > 0; left--)
                value = await region.Ask<int>(new ShardingEnvelope(peer, value));
        }

        return new PairLoop(calls, 0, 0);
    }

    private static async Task<PairLoop> TimedAsync(IActorRef region, string peer, int milliseconds)
    {
        var times = new long[MaxTimes];
        long calls = 0;
        long longest = 0;
        var value = 0;
        var before = Stopwatch.GetTimestamp();
        for (var end = before + (milliseconds * Stopwatch.Frequency / 1000); before < end; calls++)
        {
            value = await region.Ask<int>(new ShardingEnvelope(peer, value));
            var now = Stopwatch.GetTimestamp();
            times[calls % MaxTimes] = now - before;
            longest = Math.Max(longest, now - before);
            before = now;
        }

        Array.Sort(times, 0, (int)Math.Min(calls, MaxTimes));
        return new PairLoop(calls, times[Math.Min(calls, MaxTimes) / 2] * 1e6 / Stopwatch.Frequency, longest * 1e3 / Stopwatch.Frequency);
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
