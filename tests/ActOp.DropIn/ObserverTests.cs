using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Concurrency;
using Orleans.Utilities;

namespace DropIn;

public interface INews : IGrainObserver
{
    void Heard(string text);

    Task<string> Ask(string question);

    [OneWay]
    Task HeardSoon(string text);
}

/// <summary>An observer in a client or test, which notes what it hears.</summary>
public sealed class Listener(string journal) : INews
{
    public void Heard(string text) => Journal.Of(journal).Add(text);

    public Task<string> Ask(string question) =>
        question == "fail" ? throw new OrderException("No answer.", 3) : Task.FromResult("answer to " + question);

    public async Task HeardSoon(string text)
    {
        await Task.Yield();
        Heard(text);
    }
}

public interface IPublisher : IGrainWithStringKey
{
    Task Subscribe(INews listener);

    Task Unsubscribe(INews listener);

    Task<int> Publish(string text);

    Task<string> AskFirst(string question);

    Task<int> CountAfter(TimeSpan time);

    Task TakeAny(INews listener);
}

public sealed class PublisherGrain : Grain, IPublisher
{
    private readonly ObserverManager<INews> _listeners = new(TimeSpan.FromMinutes(5), NullLogger.Instance);

    public Task Subscribe(INews listener)
    {
        _listeners.Subscribe(listener, listener);
        return Task.CompletedTask;
    }

    public Task Unsubscribe(INews listener)
    {
        _listeners.Unsubscribe(listener);
        return Task.CompletedTask;
    }

    public async Task<int> Publish(string text)
    {
        _listeners.Notify(listener => listener.Heard(text));
        await _listeners.Notify(listener => listener.HeardSoon(text + " soon"), static _ => true);
        return _listeners.Count;
    }

    public Task<string> AskFirst(string question) => _listeners.First().Ask(question);

    public Task<int> CountAfter(TimeSpan time)
    {
        var now = DateTime.UtcNow + time;
        _listeners.GetDateTime = () => now;
        _listeners.ClearExpired();
        return Task.FromResult(_listeners.Count);
    }

    public Task TakeAny(INews listener) => Task.CompletedTask;
}

/// <summary>Observers in clients, and the set of them that a grain holds.</summary>
public class ObserverTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private IPublisher Grain([CallerMemberName] string key = "") => cluster.Client.GetGrain<IPublisher>(key);

    [Fact]
    public async Task An_observer_hears_and_answers_until_it_is_unsubscribed()
    {
        var listener = new Listener(_made.Name);
        var reference = cluster.Client.CreateObjectReference<INews>(listener);
        var grain = Grain();
        await grain.Subscribe(reference);
        await grain.Subscribe(reference);
        Assert.Equal(1, await grain.Publish("first"));
        await _made.Journal.CountAsync(2);
        Assert.Equal(["first", "first soon"], _made.Journal.Lines.Order());
        Assert.Equal("answer to why", await grain.AskFirst("why"));
        await grain.Unsubscribe(reference);
        Assert.Equal(0, await grain.Publish("second"));
        Assert.Equal(2, _made.Journal.Lines.Length);
        cluster.Client.DeleteObjectReference<INews>(reference);
        GC.KeepAlive(listener);
    }

    [Fact]
    public async Task An_exception_of_an_observer_reaches_who_asked()
    {
        var listener = new Listener(_made.Name);
        var grain = Grain();
        await grain.Subscribe(cluster.Client.CreateObjectReference<INews>(listener));
        Assert.Equal(3, (await Assert.ThrowsAsync<OrderException>(() => grain.AskFirst("fail"))).Order);
        GC.KeepAlive(listener);
    }

    [Fact]
    public async Task An_observer_of_a_silo_hears_as_one_of_a_client()
    {
        var listener = new Listener(_made.Name);
        var grain = Grain();
        await grain.Subscribe(cluster.FactoryOf(1).CreateObjectReference<INews>(listener));
        Assert.Equal(1, await grain.Publish("news"));
        await _made.Journal.HasAsync("news");
        GC.KeepAlive(listener);
    }

    [Fact]
    public async Task Observers_that_have_not_renewed_are_forgotten()
    {
        var listener = new Listener(_made.Name);
        var grain = Grain();
        await grain.Subscribe(cluster.Client.CreateObjectReference<INews>(listener));
        Assert.Equal(1, await grain.CountAfter(TimeSpan.FromMinutes(4)));
        Assert.Equal(0, await grain.CountAfter(TimeSpan.FromMinutes(6)));
        GC.KeepAlive(listener);
    }

    [Fact]
    public async Task References_are_made_of_observers_only()
    {
        var listener = new Listener(_made.Name);
        Assert.Throws<ArgumentException>(() => cluster.Client.CreateObjectReference<Listener>(listener));
        var reference = cluster.Client.CreateObjectReference<INews>(listener);
        Assert.Throws<ArgumentException>(() => cluster.Client.CreateObjectReference<INews>(reference));
        Assert.Throws<ArgumentException>(() => cluster.Client.DeleteObjectReference<INews>(listener));
        await Assert.ThrowsAsync<NotSupportedException>(() => Grain().TakeAny(listener));
        cluster.Client.DeleteObjectReference<INews>(reference);
    }
}
