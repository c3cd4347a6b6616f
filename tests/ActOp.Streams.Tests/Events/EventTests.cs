using ActOp.TestClusters;
using Orleans.BroadcastChannel;
using Orleans.BroadcastChannel.Diagnostics;
using Orleans.Reminders.Diagnostics;
using Orleans.Runtime.Diagnostics;
using Orleans.Streaming.Diagnostics;

namespace ActOp.Streams.Tests.Events;

/// <summary>Two silos with everything that has events.</summary>
public sealed class WatchedSilos() : ClusterFixture(2)
{
    protected override void ConfigureSilo(ISiloBuilder silo) => silo.UseInMemoryReminderService()
        .AddMemoryGrainStorage("PubSubStore").AddMemoryStreams("memory").AddBroadcastChannel("forgets");

    protected override void ConfigureClient(IClientBuilder client) => client.AddMemoryStreams("memory").AddBroadcastChannel("forgets");
}

/// <summary>What the runtime tells to observers of its events.</summary>
public class EventTests(WatchedSilos cluster) : IClassFixture<WatchedSilos>
{
    [Fact]
    public async Task The_life_of_an_activation_is_told_in_order()
    {
        var grain = cluster.Client.GetGrain<IWatched>(Guid.NewGuid());
        using var seen = new Seen<GrainLifecycleEvents.LifecycleEvent>(
            GrainLifecycleEvents.AllEvents, one => one.GrainContext.GrainId == grain.GetGrainId());
        await grain.End();
        var ended = await seen.UntilAsync<GrainLifecycleEvents.Deactivated>();
        Assert.Equal(["Created", "Activated", "Deactivating", "Deactivated"], seen.Names);
        Assert.Equal(DeactivationReasonCode.ApplicationRequested, ended.Reason.ReasonCode);
        Assert.Single(seen.Events.Select(static one => one.GrainContext).Distinct());
    }

    [Fact]
    public async Task A_timer_tells_its_ticks_and_what_its_callback_has_thrown()
    {
        var grain = cluster.Client.GetGrain<IWatched>(Guid.NewGuid());
        using var seen = new Seen<GrainTimerEvents.TimerEvent>(
            GrainTimerEvents.AllEvents, one => one.GrainContext.GrainId == grain.GetGrainId());
        await grain.Tick();
        var stop = await seen.UntilAsync<GrainTimerEvents.TickStop>();
        await grain.End();
        await seen.UntilAsync<GrainTimerEvents.Disposed>();
        Assert.Equal(["Created", "TickStart", "TickStop", "Disposed"], seen.Names);
        Assert.Equal("tick", stop.Exception?.Message);
        Assert.Equal(Timeout.InfiniteTimeSpan, Assert.IsType<GrainTimerEvents.Created>(seen.Events[0]).Period);
    }

    [Fact]
    public async Task A_channel_tells_what_is_published_and_what_was_processed()
    {
        var box = Box.New();
        var channel = ChannelId.Create("news", box.Name);
        using var seen = new Seen<BroadcastChannelEvents.BroadcastChannelEvent>(BroadcastChannelEvents.AllEvents, one =>
            (one is BroadcastChannelEvents.ItemPublished published && published.ChannelId == channel)
            || (one is BroadcastChannelEvents.ItemDelivered delivered && delivered.ChannelId == channel));
        await cluster.Client.GetBroadcastChannelProvider("forgets").GetChannelWriter<string>(channel).Publish("hello");
        await seen.UntilAsync<BroadcastChannelEvents.ItemDelivered>(static one => one.ConsumerGrainId.Type.ToString() == "reader");
        await seen.UntilAsync<BroadcastChannelEvents.ItemDelivered>(static one => one.ConsumerGrainId.Type.ToString() == "otherreader");
        var published = await seen.UntilAsync<BroadcastChannelEvents.ItemPublished>();
        Assert.Equal(2, published.SubscriberCount);
        Assert.Null(published.SiloAddress);
        Assert.All(seen.Events, one => Assert.Equal((cluster.Cluster.Options.ClusterId, "forgets"), (one.ClusterId, one.ProviderName)));
    }

    [Fact]
    public async Task A_stream_tells_its_subscriptions_and_every_item()
    {
        var box = Box.New();
        var stream = cluster.Client.GetStreamProvider("memory").GetStream<int>(StreamId.Create("watched", Guid.NewGuid()));
        using var seen = new Seen<StreamingEvents.StreamingEvent>(StreamingEvents.AllEvents, one => IsOf(one, stream.StreamId));
        var consumer = cluster.Client.GetGrain<IConsumer>(Guid.NewGuid());
        var handle = await consumer.Subscribe("memory", stream.StreamId, box.Name);
        await seen.UntilAsync<StreamingEvents.SubscriptionRegistered>();
        await stream.OnNextBatchAsync([1, 2, 3]);
        await seen.UntilAsync<StreamingEvents.ConsumerCursorDrained>();
        var items = seen.Events.OfType<StreamingEvents.ItemDelivered>().ToArray();
        Assert.Equal([0, 1, 2], items.Select(static one => one.SequenceToken!.EventIndex));
        Assert.All(items, one => Assert.Equal(handle.HandleId, one.SubscriptionId));
        await consumer.Unsubscribe(handle);
        await seen.UntilAsync<StreamingEvents.SubscriptionDetached>();
        Assert.Equal(
            ["SubscriptionRegistered", "ProducerRegistered", "SubscriptionAdded", "SubscriptionAttached", "PullingAgentStreamRegistered",
                "MessageDelivered", "ItemDelivered", "ItemDelivered", "ItemDelivered", "ConsumerCursorDrained",
                "SubscriptionUnregistered", "SubscriptionRemoved", "SubscriptionDetached"],
            seen.Names);
    }

    [Fact]
    public async Task A_reminder_tells_its_registration_its_ticks_and_its_end()
    {
        var grain = cluster.Client.GetGrain<IReminded>(Guid.NewGuid());
        using var seen = new Seen<ReminderEvents.ReminderEvent>(
            ReminderEvents.AllEvents, one => one.GrainId == grain.GetGrainId() && one.ReminderName == "r");
        await grain.Register("r", TimeSpan.Zero, TimeSpan.FromHours(1));
        await seen.UntilAsync<ReminderEvents.TickCompleted>();
        await grain.Unregister("r");
        await seen.UntilAsync<ReminderEvents.Unregistered>();
        Assert.Equal(
            ["Registered", "LocalReminderStarted", "TickFiring", "TickCompleted", "LocalReminderStopped", "Unregistered"], seen.Names);
        Assert.Equal(ReminderEvents.LocalReminderStopReason.Unregistered,
            Assert.IsType<ReminderEvents.LocalReminderStopped>(seen.Events[4]).Reason);
        Assert.All(seen.Events, one => Assert.Contains(one.SiloAddress, cluster.Cluster.Silos.Select(static silo => silo.SiloAddress)));
    }

    [Fact]
    public async Task Silos_tell_whose_load_they_know()
    {
        SiloAddress[] silos = [cluster.AddressOf(0), cluster.AddressOf(1)];
        using var seen = new Seen<DeploymentLoadPublisherEvents.DeploymentLoadPublisherEvent>(
            DeploymentLoadPublisherEvents.AllEvents, static _ => true);
        await seen.UntilAsync<DeploymentLoadPublisherEvents.ClusterRefreshed>(one =>
            one.SiloAddress.Equals(silos[0]) && one.Statistics.Keys.ToHashSet().SetEquals(silos));
        await seen.UntilAsync<DeploymentLoadPublisherEvents.Published>(one => one.SiloAddress.Equals(silos[1]));
        await seen.UntilAsync<DeploymentLoadPublisherEvents.Received>(one =>
            one.FromSilo.Equals(silos[1]) && one.ReceiverSilo.Equals(silos[0]));
    }

    [Fact]
    public async Task An_observer_that_throws_changes_nothing()
    {
        var grain = cluster.Client.GetGrain<IWatched>(Guid.NewGuid());
        using var seen = new Seen<GrainLifecycleEvents.LifecycleEvent>(GrainLifecycleEvents.AllEvents, one =>
            one.GrainContext.GrainId == grain.GetGrainId() ? throw new InvalidOperationException("observer") : false);
        await grain.End();
        await grain.End();
        Assert.Empty(seen.Events);
    }

    private static bool IsOf(StreamingEvents.StreamingEvent one, StreamId stream) =>
        one.GetType().GetProperty("StreamId")?.GetValue(one) is StreamId id && id == stream;
}
