using ActOp.Calls;
using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Orleans.BroadcastChannel;
using Orleans.BroadcastChannel.Diagnostics;
using Orleans.Runtime;

namespace ActOp.Streams.Channels;

/// <summary>What publishers, also those in clients, call on the grains that are subscribed to a channel.</summary>
[OfRuntime, Callers(Callers.Everyone)]
internal interface IBroadcastChannelConsumerExtension : IGrainExtension
{
    Task OnPublished(string providerName, ChannelId channel, object? item);
}

/// <summary>The broadcast channels of one provider. Holds nothing; any thread.</summary>
internal sealed class BroadcastChannelProvider(
    string name, StreamNode parts, ImplicitSubscriptions subscriptions, BroadcastChannelOptions options) : IBroadcastChannelProvider
{
    public IBroadcastChannelWriter<T> GetChannelWriter<T>(ChannelId streamId) => streamId.FullKey.IsEmpty
        ? throw new ArgumentException("The default ChannelId names no channel; use ChannelId.Create.", nameof(streamId))
        : new BroadcastChannelWriter<T>(name, streamId, parts, subscriptions, options.FireAndForgetDelivery);
}

/// <summary>Publishes to one channel: one call to each grain that is subscribed by an attribute.</summary>
/// <remarks>
/// <para>Holds nothing and buffers nothing; any thread.</para>
/// <para>Failures. A grain throws, hangs until its call times out, or its silo dies: with fire and forget, one log line; otherwise the
/// publisher gets the exceptions of all grains that have failed, and the others have processed the item. Nothing is repeated, so nothing
/// comes twice. Too many calls in flight: the call is refused, which counts as a failure of the grain.</para>
/// </remarks>
internal sealed class BroadcastChannelWriter<T>(
    string providerName, ChannelId channel, StreamNode parts, ImplicitSubscriptions subscriptions, bool fireAndForget)
    : IBroadcastChannelWriter<T>
{
    public async Task Publish(T item)
    {
        var deliveries = subscriptions.To(channel).Select(grain => (Grain: grain, Ended: DeliverAsync(grain, item))).ToArray();
        if (BroadcastChannelEvents.Feed.IsWatched)
        {
            BroadcastChannelEvents.Feed.Write(new BroadcastChannelEvents.ItemPublished(
                providerName, channel, deliveries.Length, parts.Local.IsSilo ? parts.Local.Address : null, parts.ClusterId));
        }

        if (fireAndForget)
        {
            foreach (var (grain, ended) in deliveries)
                parts.Background.Follow(LogFailureAsync(grain, ended));
            return;
        }

        await Task.WhenAll(deliveries.Select(static one => one.Ended)).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        Exception[] failures = [.. deliveries.Where(static one => one.Ended.Exception is not null).Select(static one =>
            one.Ended.Exception!.InnerException!)];
        if (failures.Length > 0)
        {
            throw new AggregateException("The item was not processed by " + failures.Length + " of " + deliveries.Length + " grains.",
                failures);
        }
    }

    private async Task DeliverAsync(GrainId grain, T item) =>
        await parts.Reference<IBroadcastChannelConsumerExtension>(grain).OnPublished(providerName, channel, item).ConfigureAwait(false);

    private async Task LogFailureAsync(GrainId grain, Task delivery)
    {
        try
        {
            await delivery.ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            parts.Log.BroadcastFailed(channel, grain, exception);
        }
    }
}

/// <summary>The methods that one grain activation has attached to channels. On the turns of the grain; ends with the activation.</summary>
/// <remarks>
/// The first item of a channel calls <see cref="IOnBroadcastChannelSubscribed.OnSubscribed"/>. If that throws, the publisher gets the
/// exception and the next item calls it again. What the attached method throws is the publisher's.
/// </remarks>
internal sealed class ChannelConsumers(Activation grain) : IBroadcastChannelConsumerExtension
{
    private readonly Dictionary<(string Provider, ChannelId Channel), Func<object?, Task>> _attached = [];

    /// <summary>A new extension for the activation whose turn runs. Called by the container.</summary>
    internal static IBroadcastChannelConsumerExtension New(IServiceProvider services)
    {
        if (CallHost.Current is not Activation { Class.IsOrdinary: true } activation)
            throw new InvalidOperationException("Only grains are subscribed to broadcast channels.");
        var made = new ChannelConsumers(activation);
        activation.SetComponent<IBroadcastChannelConsumerExtension>(made);
        return made;
    }

    public async Task OnPublished(string providerName, ChannelId channel, object? item)
    {
        if (!_attached.TryGetValue((providerName, channel), out var attached))
        {
            if (grain.GrainInstance is not IOnBroadcastChannelSubscribed subscribed)
            {
                throw new InvalidOperationException(
                    grain.Class.Type + " is subscribed to broadcast channels and must implement "
                        + nameof(IOnBroadcastChannelSubscribed) + ".");
            }

            await subscribed.OnSubscribed(new Subscription(this, providerName, channel));
            if (!_attached.TryGetValue((providerName, channel), out attached))
                throw new InvalidOperationException(grain.Class.Type + " has not called Attach for the channel " + channel + ".");
        }

        await attached(item);
        if (BroadcastChannelEvents.Feed.IsWatched)
        {
            BroadcastChannelEvents.Feed.Write(new BroadcastChannelEvents.ItemDelivered(
                providerName, channel, grain.GrainId, grain.Parts.Local.Address,
                grain.Parts.Local.Services.GetRequiredService<StreamNode>().ClusterId));
        }
    }

    private sealed class Subscription(ChannelConsumers consumers, string providerName, ChannelId channel) : IBroadcastChannelSubscription
    {
        public ChannelId ChannelId => channel;

        public string ProviderName => providerName;

        public Task Attach<T>(Func<T, Task> onPublished, Func<Exception, Task>? onError = null)
        {
            ArgumentNullException.ThrowIfNull(onPublished);
            consumers._attached[(providerName, channel)] = item => item switch
            {
                T typed => onPublished(typed),
                null when default(T) is null => onPublished(default!),
                _ => Refuse(item, typeof(T), onError),
            };
            return Task.CompletedTask;
        }

        private Task Refuse(object? item, Type wanted, Func<Exception, Task>? onError)
        {
            var exception = new InvalidCastException(
                "The item of the channel " + channel + " is a " + (item?.GetType().ToString() ?? "null") + " and not a " + wanted + ".");
            return onError?.Invoke(exception) ?? Task.FromException(exception);
        }
    }
}
