using System.Globalization;
using ActOp.Harness.Load;
using Google.Protobuf.WellKnownTypes;
using Proto;
using Proto.Cluster;
using Proto.Cluster.PubSub;
using Proto.Timers;

namespace ActOp.Peers.OnProto;

/// <summary>
/// Answers a number with the next one, says where it is, and can call another actor in a loop. The messages are those that come with
/// Protocol Buffers: numbers, texts, and a list of numbers (peer, milliseconds, timed).
/// </summary>
internal sealed class EchoActor : IActor
{
    internal const string Kind = "echo";

    public async Task ReceiveAsync(IContext context)
    {
        switch (context.Message)
        {
            case Int32Value number:
                context.Respond(new Int32Value { Value = number.Value + 1 });
                break;
            case StringValue:
                context.Respond(new StringValue { Value = context.System.Address });
                break;
            case ListValue order:
                context.Respond(await LoopAsync(
                    context.Cluster(), order.Values[0].NumberValue.ToString("0", CultureInfo.InvariantCulture),
                    (int)order.Values[1].NumberValue, order.Values[2].NumberValue > 0));
                break;
        }
    }

    private static async Task<ListValue> LoopAsync(Cluster cluster, string peer, int milliseconds, bool isTimed)
    {
        var times = await (isTimed ? CallLoops.TimedAsync(CallAsync, milliseconds) : CallLoops.UntimedAsync(CallAsync, milliseconds));
        return new ListValue
        {
            Values =
            {
                Value.ForNumber(times.Calls), Value.ForNumber(times.MedianMicroseconds), Value.ForNumber(times.LongestMilliseconds),
            },
        };

        async ValueTask<int> CallAsync(int value) => (await cluster.RequestAsync<Int32Value>(
            peer, Kind, new Int32Value { Value = value }, CancellationToken.None)).Value;
    }
}

/// <summary>Notes a beat and keeps its thread for so many milliseconds, as a synchronous call to something slow does.</summary>
internal sealed class MonitorActor : IActor
{
    internal const string Kind = "monitor";
    private long _beats;

    public Task ReceiveAsync(IContext context)
    {
        if (context.Message is not Int32Value milliseconds)
            return Task.CompletedTask;
        _beats++;
        if (milliseconds.Value > 0)
            Thread.Sleep(milliseconds.Value);
        context.Respond(new Int32Value());
        return Task.CompletedTask;
    }
}

/// <summary>An actor with a timer.</summary>
internal sealed class ClockActor(TimeSpan period) : IActor
{
    private static readonly object Tick = new();
    private static long s_ticks;

    /// <summary>Of all clocks of this process.</summary>
    internal static long Ticks => Interlocked.Read(ref s_ticks);

    public Task ReceiveAsync(IContext context)
    {
        if (context.Message is Started)
            context.Scheduler().SendRepeatedly(period, context.Self, Tick);
        else if (context.Message == Tick)
            Interlocked.Increment(ref s_ticks);
        return Task.CompletedTask;
    }
}

/// <summary>Publishes numbers to a topic, in batches as the producer of Proto.Actor makes them.</summary>
internal sealed class ProducerActor : IActor
{
    internal const string Kind = "producer";
    private BatchingProducer? _producer;

    public async Task ReceiveAsync(IContext context)
    {
        if (context.Message is not Int32Value items)
            return;
        _producer ??= context.Cluster().BatchingProducer(ConsumerActor.TopicOf(context.ClusterIdentity()!.Identity));
        await Task.WhenAll(Enumerable.Range(0, items.Value).Select(item => _producer.ProduceAsync(
            new Int32Value { Value = item }, CancellationToken.None)));
        context.Respond(new Empty());
    }
}

/// <summary>Counts what comes from its topic.</summary>
internal sealed class ConsumerActor : IActor
{
    internal const string Kind = "consumer";
    private static long s_items;

    /// <summary>Got by all consumers of this process.</summary>
    internal static long Items => Interlocked.Read(ref s_items);

    public Task ReceiveAsync(IContext context)
    {
        if (context.Message is Int32Value)
            Interlocked.Increment(ref s_items);
        return Task.CompletedTask;
    }

    internal static string TopicOf(string identity) => "numbers-" + identity;
}
