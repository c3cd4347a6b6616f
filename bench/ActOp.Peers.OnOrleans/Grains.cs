using ActOp.Harness.Load;
using Orleans;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Streams;
using Orleans.Utilities;

namespace ActOp.Peers.OnOrleans;

/// <summary>A grain that answers at once, and can call another one in a loop.</summary>
public interface IEchoGrain : IGrainWithIntegerKey
{
    /// <summary>Answers with <paramref name="value"/> + 1.</summary>
    ValueTask<int> Next(int value);

    /// <summary>The silo that the grain is on.</summary>
    ValueTask<string> Where();

    /// <summary>Calls <see cref="Next"/> of another grain, one call after the other.</summary>
    ValueTask<LoopResult> Loop(long peer, int milliseconds, bool isTimed);
}

/// <summary>What came of a loop.</summary>
[GenerateSerializer]
public readonly record struct LoopResult(
    [property: Id(0)] long Calls, [property: Id(1)] double MedianMicroseconds, [property: Id(2)] double LongestMilliseconds);

/// <inheritdoc cref="IEchoGrain"/>
[RandomPlacement]
public sealed class EchoGrain(ILocalSiloDetails silo) : Grain, IEchoGrain
{
    public ValueTask<int> Next(int value) => new(value + 1);

    public ValueTask<string> Where() => new(silo.SiloAddress.ToString());

    public async ValueTask<LoopResult> Loop(long peer, int milliseconds, bool isTimed)
    {
        var other = GrainFactory.GetGrain<IEchoGrain>(peer);
        var times = await (isTimed ? CallLoops.TimedAsync(other.Next, milliseconds) : CallLoops.UntimedAsync(other.Next, milliseconds));
        return new LoopResult(times.Calls, times.MedianMicroseconds, times.LongestMilliseconds);
    }
}

/// <summary>A grain that notes beats, as the Heartbeat sample does.</summary>
public interface IMonitorGrain : IGrainWithIntegerKey
{
    /// <summary>Notes a beat, and keeps its thread as a synchronous call to something slow does.</summary>
    ValueTask Beat(int milliseconds);
}

/// <inheritdoc cref="IMonitorGrain"/>
public sealed class MonitorGrain : Grain, IMonitorGrain
{
    private long _beats;

    public ValueTask Beat(int milliseconds)
    {
        _beats++;
        if (milliseconds > 0)
            Thread.Sleep(milliseconds);
        return default;
    }
}

/// <summary>A grain with a state in a storage.</summary>
public interface ICounterGrain : IGrainWithIntegerKey
{
    /// <summary>Changes the state and writes it; answers when it is stored.</summary>
    ValueTask<int> Write(int value);
}

/// <summary>What a counter keeps: a number and some text, as states of applications have.</summary>
[GenerateSerializer]
public sealed class CounterState
{
    [Id(0)]
    public int Value { get; set; }

    [Id(1)]
    public string Text { get; set; } = new('x', 100);
}

/// <inheritdoc cref="ICounterGrain"/>
public sealed class CounterGrain([PersistentState("counter", CounterGrain.Storage)] IPersistentState<CounterState> counter)
    : Grain, ICounterGrain
{
    public const string Storage = "states";

    public async ValueTask<int> Write(int value)
    {
        counter.State.Value = value + 1;
        await counter.WriteStateAsync();
        return value + 1;
    }
}

/// <summary>Who is notified.</summary>
public interface IFeedObserver : IGrainObserver
{
    /// <summary>Something has happened.</summary>
    void Notify(int number);
}

/// <summary>A grain with observers.</summary>
public interface IFeedGrain : IGrainWithIntegerKey
{
    Task Subscribe(IFeedObserver observer);

    Task NotifyAll();
}

/// <inheritdoc cref="IFeedGrain"/>
public sealed class FeedGrain(Microsoft.Extensions.Logging.ILogger<FeedGrain> logger) : Grain, IFeedGrain
{
    private readonly ObserverManager<IFeedObserver> _observers = new(TimeSpan.FromHours(1), logger);
    private int _number;

    public Task Subscribe(IFeedObserver observer)
    {
        _observers.Subscribe(observer, observer);
        return Task.CompletedTask;
    }

    public Task NotifyAll()
    {
        var number = ++_number;
        _observers.Notify(observer => observer.Notify(number));
        return Task.CompletedTask;
    }
}

/// <summary>A grain with a timer.</summary>
public interface IClockGrain : IGrainWithIntegerKey
{
    Task Start(TimeSpan period);
}

/// <inheritdoc cref="IClockGrain"/>
public sealed class ClockGrain : Grain, IClockGrain
{
    private static long s_ticks;

    /// <summary>Of all clocks of this process.</summary>
    public static long Ticks => Interlocked.Read(ref s_ticks);

    public Task Start(TimeSpan period)
    {
        this.RegisterGrainTimer(
            static (_, _) =>
            {
                Interlocked.Increment(ref s_ticks);
                return Task.CompletedTask;
            }, this, new GrainTimerCreationOptions(period, period));
        return Task.CompletedTask;
    }
}

/// <summary>A grain that produces a stream, and one that consumes it.</summary>
public interface IStreamGrain : IGrainWithIntegerKey
{
    Task Produce(int items);

    Task Consume();
}

/// <inheritdoc cref="IStreamGrain"/>
public sealed class StreamGrain : Grain, IStreamGrain
{
    public const string Provider = "memory";
    private const int InFlight = 64;
    private static long s_items;

    /// <summary>Got by all consumers of this process.</summary>
    public static long Items => Interlocked.Read(ref s_items);

    private IAsyncStream<int> Stream => this.GetStreamProvider(Provider).GetStream<int>(
        StreamId.Create("numbers", this.GetPrimaryKeyLong() / 2));

    public async Task Produce(int items)
    {
        var stream = Stream;
        for (var item = 0; item < items; item += InFlight)
        {
            await Task.WhenAll(Enumerable.Range(item, Math.Min(InFlight, items - item)).Select(number => stream.OnNextAsync(number)));
        }
    }

    public Task Consume() => Stream.SubscribeAsync(static (_, _) =>
    {
        Interlocked.Increment(ref s_items);
        return Task.CompletedTask;
    });
}
