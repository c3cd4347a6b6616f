using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Border.Tests;

public interface IStreamTrouble : IGrainWithStringKey
{
    Task Subscribe(bool batches);

    Task End();
}

/// <summary>Consumes the stream with its key.</summary>
public sealed class StreamTrouble : Grain, IStreamTrouble
{
    private StreamSubscriptionHandle<int>? _handle;

    public async Task Subscribe(bool batches)
    {
        var key = this.GetPrimaryKeyString();
        var stream = this.GetStreamProvider(TroubledStreams.Provider).GetStream<int>(StreamId.Create("trouble", key));
        _handle = batches ? await stream.SubscribeAsync((IAsyncBatchObserver<int>)new StreamTroubleObserver(key))
            : await stream.SubscribeAsync((IAsyncObserver<int>)new StreamTroubleObserver(key));
    }

    public Task End() => _handle!.UnsubscribeAsync();
}

/// <summary>Consumes by its class.</summary>
[ImplicitStreamSubscription(typeof(TroubledPredicate))]
[ImplicitStreamSubscription("mapped", "troubled mapper")]
[ImplicitStreamSubscription("announced")]
public sealed class ImplicitStreamTrouble : Grain, IGrainWithStringKey, IStreamSubscriptionObserver
{
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory)
    {
        var deed = Mischief.PlannedDeed;
        await Mischief.ActAsync("OnSubscribed");
        if (deed is Deed.DoesNothing)
            return;
        await handleFactory.Create<int>().ResumeAsync((IAsyncObserver<int>)new StreamTroubleObserver(this.GetPrimaryKeyString()));
    }
}

/// <summary>Puts items into the box of the stream.</summary>
public sealed class StreamTroubleObserver(string key) : IAsyncObserver<int>, IAsyncBatchObserver<int>
{
    internal static readonly ConcurrentDictionary<string, string> Boxes = new();

    /// <summary>What is called only after a delivery has failed.</summary>
    private static readonly string[] AfterFailure =
    [
        "failure handler", "maker of the failure handler", "delivery pause", "error handler of an observer", "note of a failed delivery",
    ];

    private bool IsBad => key.StartsWith("bad", StringComparison.Ordinal);

    public async Task OnNextAsync(int item, StreamSequenceToken? token)
    {
        if (IsBad)
            await ActAsync("observer");
        Box.Put(Boxes[key], item.ToString());
    }

    public async Task OnNextAsync(IList<SequentialItem<int>> items)
    {
        if (IsBad)
            await ActAsync("observer of batches");
        foreach (var one in items)
            Box.Put(Boxes[key], one.Item.ToString());
    }

    public Task OnCompletedAsync() => Task.CompletedTask;

    public Task OnErrorAsync(Exception ex) => IsBad ? Mischief.ActAsync("error handler of an observer") : Task.CompletedTask;

    private static Task ActAsync(string name) => AfterFailure.Any(Mischief.IsPlanned)
        ? throw new FormatException(Mischief.Word) : Mischief.ActAsync(name);
}
