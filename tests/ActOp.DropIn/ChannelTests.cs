using Orleans.BroadcastChannel;

namespace DropIn;

public interface IChannelReader : IGrainWithStringKey;

[ImplicitChannelSubscription("announcements")]
public sealed class ChannelReaderGrain : Grain, IChannelReader, IOnBroadcastChannelSubscribed
{
    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription)
    {
        var journal = Journal.Of(this.GetPrimaryKeyString());
        journal.Add($"subscribed {streamSubscription.ProviderName} {streamSubscription.ChannelId.GetNamespace()}");
        return streamSubscription.Attach<string>(
            item =>
            {
                journal.Add("one " + item);
                return item == "fail" ? throw new OrderException("The reader fails.", 5) : Task.CompletedTask;
            },
            error =>
            {
                journal.Add("error " + error.GetType().Name);
                return Task.CompletedTask;
            });
    }
}

public interface IOtherChannelReader : IGrainWithStringKey;

[RegexImplicitChannelSubscription("^announce")]
public sealed class OtherChannelReaderGrain : Grain, IOtherChannelReader, IOnBroadcastChannelSubscribed
{
    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription) =>
        streamSubscription.Attach<string>(item =>
        {
            Journal.Of(this.GetPrimaryKeyString()).Add("two " + item);
            return Task.CompletedTask;
        });
}

/// <summary>Broadcast channels: all subscribers, no queue.</summary>
public class ChannelTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private IBroadcastChannelWriter<string> Writer(string name = "announcements") =>
        cluster.Client.GetBroadcastChannelProvider("channels").GetChannelWriter<string>(ChannelId.Create(name, _made.Name));

    [Fact]
    public async Task A_published_item_has_reached_all_readers_when_the_call_ends()
    {
        await Writer().Publish("a");
        Assert.Equal(["one a", "subscribed channels announcements", "two a"], _made.Journal.Lines.Order(StringComparer.Ordinal));
        await Writer("announced").Publish("b");
        Assert.Equal("two b", _made.Journal.Lines[^1]);
        await Writer("nobody").Publish("c");
        Assert.Equal(4, _made.Journal.Lines.Length);
    }

    [Fact]
    public async Task The_exception_of_a_reader_reaches_the_publisher_after_the_others_have_read()
    {
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => Writer().Publish("fail"));
        Assert.Equal(5, Assert.IsType<OrderException>(exception.GetBaseException()).Order);
        await _made.Journal.HasAsync("two fail");
    }

    [Fact]
    public async Task A_publisher_that_is_cancelled_publishes_nothing()
    {
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Writer().Publish("late", new CancellationToken(true)));
        await Writer().Publish("early", CancellationToken.None);
        await _made.Journal.HasAsync("two early");
        Assert.DoesNotContain(_made.Journal.Lines, static line => line.EndsWith("late", StringComparison.Ordinal));
    }

    [Fact]
    public void Ids_of_channels_have_texts()
    {
        var id = ChannelId.Create("n", "k");
        Assert.Equal(("n", "k", "n/k"), (id.GetNamespace(), id.GetKeyAsString(), id.ToString()));
        Assert.Equal(id, ChannelId.Create("n", "k"));
        Assert.Equal("00000000000000000000000000000000", ChannelId.Create("n", Guid.Empty).GetKeyAsString());
    }
}
