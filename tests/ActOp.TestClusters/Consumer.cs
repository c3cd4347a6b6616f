using System.Collections.Concurrent;
using Orleans.Streams;

namespace ActOp.TestClusters;

/// <summary>What consumers have got, by the name of the test's box: they may be on any silo of the process.</summary>
public sealed class Box
{
    private static readonly ConcurrentDictionary<string, Box> Boxes = new();

    private readonly List<string> _items = [];
    private readonly SemaphoreSlim _arrivals = new(0);

    public string Name { get; } = Guid.NewGuid().ToString("N");

    public string[] Items
    {
        get
        {
            lock (_items)
                return [.. _items];
        }
    }

    public static Box New()
    {
        var box = new Box();
        Boxes[box.Name] = box;
        return box;
    }

    public static void Put(string name, string item)
    {
        if (!Boxes.TryGetValue(name, out var box))
            return;
        lock (box._items)
            box._items.Add(item);
        box._arrivals.Release();
    }

    /// <summary>Waits for so many more items.</summary>
    public async Task<string[]> ReceivedAsync(int count)
    {
        for (var i = 0; i < count; i++)
        {
            if (!await _arrivals.WaitAsync(Gate.Patience))
                throw new TimeoutException(i + " of " + count + " items have arrived: " + string.Join(' ', Items));
        }

        return Items;
    }
}

public interface IConsumer : IGrainWithGuidKey
{
    Task<StreamSubscriptionHandle<int>> Subscribe(string provider, StreamId stream, string box, StreamSequenceToken? from = null);

    Task<int> Resume(string provider, StreamId stream, string box, StreamSequenceToken? from = null);

    Task ResumeHandle(StreamSubscriptionHandle<int> handle, string box);

    Task Unsubscribe(StreamSubscriptionHandle<int> handle);

    Task SubscribeBatches(IAsyncStream<int> stream, string box);

    /// <summary>The next so many items fail.</summary>
    Task FailNext(int count);

    Task<string> Where();

    Task End();
}

public sealed class Consumer : Grain, IConsumer, IAsyncObserver<int>
{
    private string _box = "";
    private int _failures;

    public async Task<StreamSubscriptionHandle<int>> Subscribe(
        string provider, StreamId stream, string box, StreamSequenceToken? from)
    {
        _box = box;
        return await this.GetStreamProvider(provider).GetStream<int>(stream).SubscribeAsync(this, from);
    }

    public async Task<int> Resume(string provider, StreamId stream, string box, StreamSequenceToken? from)
    {
        _box = box;
        var handles = await this.GetStreamProvider(provider).GetStream<int>(stream).GetAllSubscriptionHandles();
        foreach (var handle in handles)
            await handle.ResumeAsync(this, from);
        return handles.Count;
    }

    public async Task ResumeHandle(StreamSubscriptionHandle<int> handle, string box)
    {
        _box = box;
        await handle.ResumeAsync(this);
    }

    public Task Unsubscribe(StreamSubscriptionHandle<int> handle) => handle.UnsubscribeAsync();

    public async Task SubscribeBatches(IAsyncStream<int> stream, string box) => await stream.SubscribeAsync(items =>
    {
        Box.Put(box, string.Join('+', items.Select(static one => one.Item)));
        return Task.CompletedTask;
    });

    public Task FailNext(int count)
    {
        _failures = count;
        return Task.CompletedTask;
    }

    public Task<string> Where() => Task.FromResult(RuntimeIdentity);

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task OnNextAsync(int item, StreamSequenceToken? token)
    {
        if (_failures > 0)
        {
            _failures--;
            throw new InvalidOperationException("The consumer does not want " + item + ".");
        }

        Box.Put(_box, item.ToString(System.Globalization.CultureInfo.InvariantCulture));
        return Task.CompletedTask;
    }

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex)
    {
        Box.Put(_box, ex.GetType().Name);
        return Task.CompletedTask;
    }
}
