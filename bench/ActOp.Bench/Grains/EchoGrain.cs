using System.Diagnostics;
using ActOp.Harness.Load;
using Orleans.Placement;

namespace ActOp.Bench.Grains;

/// <summary>The grain of all measurements.</summary>
[RandomPlacement]
public sealed class EchoGrain(ILocalSiloDetails silo) : Grain, IEchoGrain
{
    private const int Batch = 256;

    /// <inheritdoc/>
    public ValueTask<int> Next(int value) => new(value + 1);

    /// <inheritdoc/>
    public ValueTask<int> NextUnless(int value, CancellationToken cancellationToken) => new(value + 1);

    /// <inheritdoc/>
    public async IAsyncEnumerable<int> Numbers(int count)
    {
        await Task.CompletedTask;
        for (var number = 0; number < count; number++)
            yield return number;
    }

    /// <inheritdoc/>
    public ValueTask<TenFields> Send(TenFields record) => new(record);

    /// <inheritdoc/>
    public ValueTask<string> Where() => new(silo.SiloAddress.ToParsableString());

    /// <inheritdoc/>
    public async ValueTask<LoopResult> Loop(long peer, int milliseconds, LoopTiming timing)
    {
        var other = GrainFactory.GetGrain<IEchoGrain>(peer);
        return timing switch
        {
            LoopTiming.Coarse => await LoopCoarse(other, milliseconds),
            LoopTiming.Exact => await LoopExact(other, milliseconds),
            LoopTiming.Token => await LoopWithToken(other, milliseconds),
            LoopTiming.Spans => await LoopWithSpans(other, milliseconds),
            _ => await LoopUntimed(other, milliseconds),
        };
    }

    /// <inheritdoc/>
    public async ValueTask<LoopResult> FanOut(long first, int width, int milliseconds)
    {
        var others = new IEchoGrain[width];
        for (var index = 0; index < width; index++)
            others[index] = GrainFactory.GetGrain<IEchoGrain>(first + index);
        var answers = new ValueTask<int>[width];
        long calls = 0;
        for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; calls += width)
        {
            for (var index = 0; index < width; index++)
                answers[index] = others[index].Next(index);
            for (var index = 0; index < width; index++)
                await answers[index];
        }

        return new LoopResult(calls, 0, 0);
    }

    private static async ValueTask<LoopResult> LoopUntimed(IEchoGrain other, int milliseconds)
    {
        long calls = 0;
        var value = 0;
        for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; calls += Batch)
        {
            for (var left = Batch; left > 0; left--)
                value = await other.Next(value);
        }

        return new LoopResult(calls, 0, 0);
    }

    private static async ValueTask<LoopResult> LoopWithToken(IEchoGrain other, int milliseconds)
    {
        using var source = new CancellationTokenSource();
        long calls = 0;
        var value = 0;
        for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; calls += Batch)
        {
            for (var left = Batch; left > 0; left--)
                value = await other.NextUnless(value, source.Token);
        }

        return new LoopResult(calls, 0, 0);
    }

    private static async ValueTask<LoopResult> LoopWithSpans(IEchoGrain other, int milliseconds)
    {
        long calls = 0;
        var value = 0;
        for (var end = Environment.TickCount64 + milliseconds; Environment.TickCount64 < end; calls += Batch)
        {
            for (var left = Batch; left > 0; left--)
            {
                using var client = Calls.TracedCalls.Begin(ActivityKind.Client);
                using var server = Calls.TracedCalls.Begin(ActivityKind.Server);
                value = await other.Next(value);
            }
        }

        return new LoopResult(calls, 0, 0);
    }

    private static async ValueTask<LoopResult> LoopCoarse(IEchoGrain other, int milliseconds)
    {
        long calls = 0;
        long longest = 0;
        var value = 0;
        var before = Environment.TickCount64;
        for (var end = before + milliseconds; before < end; calls++)
        {
            value = await other.Next(value);
            var now = Environment.TickCount64;
            longest = Math.Max(longest, now - before);
            before = now;
        }

        return new LoopResult(calls, 0, longest);
    }

    private static async ValueTask<LoopResult> LoopExact(IEchoGrain other, int milliseconds)
    {
        var times = await CallLoops.TimedAsync(other.Next, milliseconds);
        return new LoopResult(times.Calls, times.MedianMicroseconds, times.LongestMilliseconds);
    }
}
