using System.Runtime.CompilerServices;
using System.Threading.Channels;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

public class ObserverTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_observer_of_a_client_or_silo_hears_a_grain_in_order(int owner)
    {
        var client = owner < 0 ? cluster.Client : cluster.ClientOf(owner);
        var watcher = new Watcher();
        var reference = client.CreateObjectReference<IWatcher>(watcher);
        var subject = cluster.Client.GetGrain<ISubject>(owner);
        await Place.On(cluster.AddressOf(0), () => subject.Say(reference, "0"));
        for (var number = 1; number < 20; number++)
            await subject.Say(reference, number.ToString());
        for (var number = 0; number < 20; number++)
            Assert.Equal(number.ToString(), await watcher.NextAsync());
        Assert.Equal(7, await subject.Ask(reference, 6));
        GC.KeepAlive(watcher);
    }

    [Fact]
    public async Task A_deleted_observer_hears_nothing_more()
    {
        var watcher = new Watcher();
        var reference = cluster.Client.CreateObjectReference<IWatcher>(watcher);
        var subject = cluster.Client.GetGrain<ISubject>(100);
        await subject.Say(reference, "before");
        Assert.Equal("before", await watcher.NextAsync());
        cluster.Client.DeleteObjectReference<IWatcher>(reference);
        await Assert.ThrowsAnyAsync<OrleansException>(() => subject.Ask(reference, 1));
        await subject.Say(reference, "after");
        Assert.False(watcher.HasMore);
    }

    [Fact]
    public async Task An_observer_lives_only_as_long_as_the_application_keeps_it()
    {
        var (weak, reference) = Forgotten(cluster.Client);
        var subject = cluster.Client.GetGrain<ISubject>(101);
        await TestingUtils.WaitUntilAsync(
            last =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                return Task.FromResult(!weak.IsAlive);
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(1));
        await subject.Say(reference, "nobody hears it");
    }

    [Fact]
    public async Task A_call_to_an_observer_that_was_collected_fails_and_says_so()
    {
        var (weak, reference) = Forgotten(cluster.Client);
        var subject = cluster.Client.GetGrain<ISubject>(103);
        await TestingUtils.WaitUntilAsync(
            _ =>
            {
                GC.Collect();
                return Task.FromResult(!weak.IsAlive);
            },
            Gate.Patience,
            TimeSpan.FromMilliseconds(1));
        var lost = await Assert.ThrowsAsync<OrleansMessageRejectionException>(() => subject.Ask(reference, 1).WaitAsync(Gate.Patience));
        Assert.Contains("sys.observer", lost.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<OrleansMessageRejectionException>(() => subject.Ask(reference, 1).WaitAsync(Gate.Patience));
    }

    [Fact]
    public void Only_an_observer_becomes_an_object_reference()
    {
        Assert.Throws<ArgumentException>(() => cluster.Client.CreateObjectReference<Watcher>(new Watcher()));
        var reference = cluster.Client.CreateObjectReference<IWatcher>(new Watcher());
        Assert.Throws<ArgumentException>(() => cluster.Client.CreateObjectReference<IWatcher>(reference));
    }

    [Fact]
    public async Task An_observer_object_itself_is_no_argument() =>
        await Assert.ThrowsAsync<NotSupportedException>(() => cluster.Client.GetGrain<ISubject>(102).Say(new Watcher(), "x"));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference, IWatcher) Forgotten(IClusterClient client)
    {
        var watcher = new Watcher();
        return (new WeakReference(watcher), client.CreateObjectReference<IWatcher>(watcher));
    }

    public interface IWatcher : IGrainObserver
    {
        void Hear(string text);

        Task<int> Next(int number);
    }

    public interface ISubject : IGrainWithIntegerKey
    {
        Task Say(IWatcher watcher, string text);

        Task<int> Ask(IWatcher watcher, int number);
    }

    public sealed class Watcher : IWatcher
    {
        private readonly Channel<string> _heard = Channel.CreateUnbounded<string>();

        public bool HasMore => _heard.Reader.TryPeek(out _);

        public void Hear(string text) => _heard.Writer.TryWrite(text);

        public Task<int> Next(int number) => Task.FromResult(number + 1);

        public async Task<string> NextAsync() => await _heard.Reader.ReadAsync().AsTask().WaitAsync(Gate.Patience);
    }

    public sealed class SubjectGrain : Grain, ISubject
    {
        public Task Say(IWatcher watcher, string text)
        {
            watcher.Hear(text);
            return Task.CompletedTask;
        }

        public Task<int> Ask(IWatcher watcher, int number) => watcher.Next(number);
    }
}
