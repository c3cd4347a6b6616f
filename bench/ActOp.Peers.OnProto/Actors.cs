using System.Globalization;
using ActOp.Harness.Load;
using Google.Protobuf.WellKnownTypes;
using Proto;
using Proto.Cluster;

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
