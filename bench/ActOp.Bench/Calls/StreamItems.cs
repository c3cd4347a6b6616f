using System.Diagnostics;
using ActOp.Bench.Hosting;
using ActOp.Floors;
using Orleans.Streams;

namespace ActOp.Bench.Calls;

/// <summary>Memory streams: one producer and one consumer, both grains of one silo, beside calls between two grains of it.</summary>
internal static class StreamItems
{
    /// <summary>Items that the producer adds before it waits for their arrival in the queue.</summary>
    private const int InFlight = 256;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        await using var silo = await BenchHost.StartSilo(locality: false, configure: static builder =>
        {
            builder.AddMemoryGrainStorage("PubSubStore");
            builder.AddMemoryStreams("bench");
        });
        var calls = new double[settings.Runs];
        var single = new double[settings.Runs];
        var many = new double[settings.Runs];
        var ratios = new double[settings.Runs];
        await Run(silo, settings.Milliseconds, InFlight);
        await Pairs.Run(silo.Grains, Pairs.Numbered(1), settings.Milliseconds, Grains.LoopTiming.None);
        for (var run = 0; run < settings.Runs; run++)
        {
            calls[run] = (await Pairs.Run(silo.Grains, Pairs.Numbered(1), settings.Milliseconds, Grains.LoopTiming.None)).Rate;
            single[run] = await Run(silo, settings.Milliseconds, 1);
            many[run] = await Run(silo, settings.Milliseconds, InFlight);
            ratios[run] = calls[run] / many[run];
        }

        var ratio = Spread.Of(ratios).Median;
        report(new Row("local, 1 pair", "calls/s", Spread.Of(calls)));
        report(new Row("memory stream, each item awaited", "items/s", Spread.Of(single)));
        report(new Row("memory stream, " + InFlight + " items in flight", "items/s", Spread.Of(many), ratio, "at most 3", ratio <= 3));
    }

    private static async Task<double> Run(BenchHost silo, int milliseconds, int inFlight)
    {
        var stream = StreamId.Create("bench", Guid.NewGuid());
        var consumer = silo.Grains.GetGrain<IItemConsumer>(Guid.NewGuid());
        await consumer.Subscribe(stream);
        var start = Stopwatch.GetTimestamp();
        var sent = await silo.Grains.GetGrain<IItemProducer>(Guid.NewGuid()).Produce(stream, milliseconds, inFlight);
        while (await consumer.Count() < sent && Stopwatch.GetElapsedTime(start).TotalSeconds < 60)
            await Task.Delay(1);
        var received = await consumer.Count();
        if (received != sent)
            throw new InvalidOperationException(sent + " items were sent, " + received + " have arrived.");
        return received / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }
}

/// <summary>Adds items to a stream.</summary>
public interface IItemProducer : IGrainWithGuidKey
{
    /// <summary>Adds items for so long; returns how many.</summary>
    Task<int> Produce(StreamId stream, int milliseconds, int inFlight);
}

/// <summary>Counts the items of a stream.</summary>
public interface IItemConsumer : IGrainWithGuidKey
{
    /// <summary>Begins to count.</summary>
    Task Subscribe(StreamId stream);

    /// <summary>The items so far.</summary>
    Task<int> Count();
}

/// <inheritdoc/>
public sealed class ItemProducer : Grain, IItemProducer
{
    /// <inheritdoc/>
    public async Task<int> Produce(StreamId stream, int milliseconds, int inFlight)
    {
        var items = this.GetStreamProvider("bench").GetStream<int>(stream);
        var end = Environment.TickCount64 + milliseconds;
        var adding = new Task[inFlight];
        var sent = 0;
        while (Environment.TickCount64 < end)
        {
            for (var i = 0; i < inFlight; i++)
                adding[i] = items.OnNextAsync(sent++);
            foreach (var one in adding)
                await one;
        }

        return sent;
    }
}

/// <inheritdoc/>
public sealed class ItemConsumer : Grain, IItemConsumer
{
    private int _count;

    /// <inheritdoc/>
    public Task Subscribe(StreamId stream) => this.GetStreamProvider("bench").GetStream<int>(stream).SubscribeAsync((item, _) =>
    {
        if (item != _count)
            throw new InvalidOperationException("Item " + item + " came in place of " + _count + ".");
        _count++;
        return Task.CompletedTask;
    });

    /// <inheritdoc/>
    public Task<int> Count() => Task.FromResult(_count);
}
