using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Streams.Tests;

public interface IProducer : IGrainWithGuidKey
{
    Task Produce(IAsyncStream<int> stream, int from, int count);
}

public sealed class Producer : Grain, IProducer
{
    public async Task Produce(IAsyncStream<int> stream, int from, int count)
    {
        for (var i = from; i < from + count; i++)
            await stream.OnNextAsync(i);
    }
}

public interface IImplicit : IGrainWithGuidKey
{
    Task<int> Activations();
}

/// <summary>The box of an item is the namespace's second part; there is one grain per key.</summary>
[ImplicitStreamSubscription("implicit")]
[RegexImplicitStreamSubscription("^pattern-[0-9]+$")]
public sealed class Implicit : Grain, IImplicit, IStreamSubscriptionObserver
{
    private static readonly ConcurrentDictionary<Guid, int> Counts = new();

    public Task<int> Activations() => Task.FromResult(Counts.GetValueOrDefault(this.GetPrimaryKey()));

    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        Counts.AddOrUpdate(this.GetPrimaryKey(), 1, static (_, count) => count + 1);
        return Task.CompletedTask;
    }

    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory) =>
        await handleFactory.Create<string>().ResumeAsync((item, _) =>
        {
            var parts = item.Split(':');
            Box.Put(parts[0], parts[1] + (RequestContext.Get("who") is { } who ? " of " + who : ""));
            if (parts[1] == "end")
                DeactivateOnIdle();
            return Task.CompletedTask;
        });
}

[ImplicitStreamSubscription("attached")]
public sealed class AttachedAtActivation : Grain, IGrainWithStringKey, IAttachedAtActivation
{
    public override async Task OnActivateAsync(CancellationToken cancellationToken) =>
        await this.GetStreamProvider("memory").GetStream<string>(StreamId.Create("attached", this.GetPrimaryKeyString())).SubscribeAsync(
            (item, _) =>
            {
                Box.Put(this.GetPrimaryKeyString(), item);
                return Task.CompletedTask;
            });
}

public interface IAttachedAtActivation : IGrainWithStringKey;
