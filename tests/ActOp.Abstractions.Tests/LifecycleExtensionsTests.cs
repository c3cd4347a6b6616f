using Orleans;

namespace ActOp.Abstractions.Tests;

public class LifecycleExtensionsTests
{
    private readonly Recorder _lifecycle = new();

    [Fact]
    public async Task Methods_become_an_observer()
    {
        var steps = new List<string>();
        _lifecycle.Subscribe("name", 7, _ => Note("start"), _ => Note("stop"));
        var (name, stage, observer) = Assert.Single(_lifecycle.Joined);
        await observer.OnStart(TestContext.Current.CancellationToken);
        await observer.OnStop(TestContext.Current.CancellationToken);
        Assert.Equal(("name", 7), (name, stage));
        Assert.Equal(["start", "stop"], steps);

        Task Note(string step)
        {
            steps.Add(step);
            return Task.CompletedTask;
        }
    }

    [Fact]
    public async Task Without_a_method_nothing_is_done_at_the_end()
    {
        _lifecycle.Subscribe<LifecycleExtensionsTests>(8, _ => Task.CompletedTask);
        var (name, stage, observer) = Assert.Single(_lifecycle.Joined);
        await observer.OnStop(TestContext.Current.CancellationToken);
        Assert.Equal((typeof(LifecycleExtensionsTests).FullName, 8), (name, stage));
    }

    [Fact]
    public void An_observer_joins_under_its_types_name()
    {
        var observer = new Observer();
        _lifecycle.Subscribe(9, observer);
        _lifecycle.Subscribe<LifecycleExtensionsTests>(10, observer);
        Assert.Equal([(typeof(Observer).FullName!, 9, observer),
            (typeof(LifecycleExtensionsTests).FullName!, 10, (ILifecycleObserver)observer)], _lifecycle.Joined);
    }

    private sealed class Observer : ILifecycleObserver
    {
        public Task OnStart(CancellationToken cancellationToken = default) => Task.CompletedTask;

        public Task OnStop(CancellationToken cancellationToken = default) => Task.CompletedTask;
    }

    private sealed class Recorder : ILifecycleObservable, IDisposable
    {
        internal List<(string Name, int Stage, ILifecycleObserver Observer)> Joined { get; } = [];

        public IDisposable Subscribe(string observerName, int stage, ILifecycleObserver observer)
        {
            Joined.Add((observerName, stage, observer));
            return this;
        }

        public void Dispose()
        {
        }
    }
}
