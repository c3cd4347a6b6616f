using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Utilities;

namespace ActOp.Abstractions.Tests;

public class ObserverManagerTests
{
    private readonly ObserverManager<string, List<int>> _observers;
    private DateTime _now = new(2030, 1, 1);

    public ObserverManagerTests() =>
        _observers = new ObserverManager<string, List<int>>(TimeSpan.FromMinutes(1), NullLogger.Instance) { GetDateTime = () => _now };

    [Fact]
    public void Every_observer_that_is_meant_is_notified()
    {
        List<int> a = [], b = [];
        _observers.Subscribe("a", a);
        _observers.Subscribe("b", b);
        _observers.Notify(list => list.Add(1));
        _observers.Notify(list => list.Add(2), list => ReferenceEquals(list, b));
        Assert.Equal([1], a);
        Assert.Equal([1, 2], b);
        Assert.Equal(2, _observers.Count);
        Assert.Equal(2, _observers.Count());
    }

    [Fact]
    public void An_observer_that_has_not_subscribed_again_in_time_is_dropped()
    {
        List<int> a = [], b = [];
        _observers.Subscribe("a", a);
        _observers.Subscribe("b", b);
        _now += TimeSpan.FromSeconds(50);
        _observers.Subscribe("a", a);
        _now += TimeSpan.FromSeconds(50);
        _observers.Notify(list => list.Add(1));
        Assert.Equal([1], a);
        Assert.Empty(b);
        Assert.Equal(["a"], _observers.Observers.Keys);
        _now += TimeSpan.FromSeconds(50);
        _observers.ClearExpired();
        Assert.Empty(_observers);
    }

    [Fact]
    public async Task An_observer_that_fails_is_dropped_and_the_others_are_notified()
    {
        List<int> a = [], b = [];
        _observers.Subscribe("a", a);
        _observers.Subscribe("b", b);
        await _observers.Notify(async list =>
        {
            await Task.Yield();
            if (ReferenceEquals(list, a))
                throw new InvalidOperationException();
            list.Add(1);
        });
        Assert.Equal(["b"], _observers.Observers.Keys);
        Assert.Equal([1], b);
        _observers.Notify((Action<List<int>>)(_ => throw new InvalidOperationException()));
        Assert.Empty(_observers);
    }

    [Fact]
    public async Task An_observer_that_renews_while_its_call_fails_stays()
    {
        List<int> a = [];
        _observers.Subscribe("a", a);
        await _observers.Notify(list =>
        {
            _observers.Subscribe("a", list);
            return Task.FromException(new InvalidOperationException());
        });
        Assert.Equal(1, _observers.Count);
    }

    [Fact]
    public void Removed_observers_are_not_notified()
    {
        List<int> a = [];
        _observers.Subscribe("a", a);
        _observers.Unsubscribe("a");
        _observers.Subscribe("b", a);
        _observers.Clear();
        _observers.Notify(list => list.Add(1));
        Assert.Empty(a);
    }
}
