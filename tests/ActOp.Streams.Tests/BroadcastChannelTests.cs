using ActOp.TestClusters;
using Orleans.BroadcastChannel;

namespace ActOp.Streams.Tests;

[ImplicitChannelSubscription("news")]
public sealed class Reader : Grain, IReader, IOnBroadcastChannelSubscribed
{
    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription) => streamSubscription.Attach<string>(
        item =>
        {
            if (item == "throw")
                throw new InvalidOperationException("The reader does not read this.");
            Box.Put(this.GetPrimaryKeyString(), streamSubscription.ProviderName + " " + item);
            return Task.CompletedTask;
        },
        exception =>
        {
            Box.Put(this.GetPrimaryKeyString(), exception.GetType().Name);
            return Task.CompletedTask;
        });
}

public interface IReader : IGrainWithStringKey;

[RegexImplicitChannelSubscription("^ne.s$")]
public sealed class OtherReader : Grain, IReader, IOnBroadcastChannelSubscribed
{
    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription) => streamSubscription.Attach<object>(item =>
    {
        Box.Put(this.GetPrimaryKeyString(), "other " + item);
        return Task.CompletedTask;
    });
}

public sealed class BroadcastingSilos() : ClusterFixture(2)
{
    protected override void ConfigureSilo(ISiloBuilder silo) => silo.AddBroadcastChannel("forgets")
        .AddBroadcastChannel("awaits", static (BroadcastChannelOptions options) => options.FireAndForgetDelivery = false);

    protected override void ConfigureClient(IClientBuilder client) => client.AddBroadcastChannel("forgets")
        .AddBroadcastChannel("awaits", static (BroadcastChannelOptions options) => options.FireAndForgetDelivery = false);
}

public class BroadcastChannelTests(BroadcastingSilos cluster) : IClassFixture<BroadcastingSilos>
{
    [Theory]
    [InlineData("forgets")]
    [InlineData("awaits")]
    public async Task Every_grain_that_is_subscribed_gets_an_item(string provider)
    {
        var box = Box.New();
        await Writer<string>(provider, box).Publish("hello");
        Assert.Equal([provider + " hello", "other hello"], (await box.ReceivedAsync(2)).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_publisher_that_waits_gets_the_failures_of_all_and_the_others_have_the_item()
    {
        var box = Box.New();
        var failure = await Assert.ThrowsAsync<AggregateException>(() => Writer<string>("awaits", box).Publish("throw"));
        Assert.IsType<InvalidOperationException>(Assert.Single(failure.InnerExceptions));
        Assert.Equal(["other throw"], box.Items);
        await Writer<string>("awaits", box).Publish("again");
        Assert.Contains("awaits again", box.Items);
    }

    [Fact]
    public async Task A_publisher_that_does_not_wait_gets_no_failures()
    {
        var box = Box.New();
        await Writer<string>("forgets", box).Publish("throw");
        Assert.Equal(["other throw"], await box.ReceivedAsync(1));
    }

    [Fact]
    public async Task An_item_of_another_type_is_an_error_of_the_subscription()
    {
        var box = Box.New();
        await Writer<int>("awaits", box).Publish(42);
        Assert.Equal(["InvalidCastException", "other 42"], box.Items.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void A_provider_has_a_name()
    {
        Assert.Throws<KeyNotFoundException>(() => cluster.Client.GetBroadcastChannelProvider("unknown"));
        Assert.Equal("news/1", ChannelId.Create("news", "1").ToString());
    }

    private IBroadcastChannelWriter<T> Writer<T>(string provider, Box box) =>
        cluster.Client.GetBroadcastChannelProvider(provider).GetChannelWriter<T>(ChannelId.Create("news", box.Name));
}
