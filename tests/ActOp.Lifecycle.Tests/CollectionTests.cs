using System.Collections.Concurrent;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>Grains that nobody calls leave the memory.</summary>
public class CollectionTests(VirtualTime cluster) : IClassFixture<VirtualTime>
{
    [Fact]
    public async Task An_idle_grain_ends_after_the_collection_age_and_a_used_one_stays()
    {
        var idle = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid());
        var used = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid());
        await idle.Touch();
        await used.Touch();
        var ending = cluster.Cluster.WaitForDeactivationAsync(idle);
        await cluster.Cluster.RestAsync(idle);
        Advance(minutes: 3);
        await used.Touch();
        Assert.False(ending.IsCompleted);
        Advance(minutes: 3);
        await ending.WaitAsync(Gate.Patience);
        Assert.Equal("ActivationIdle", IdleGrain.Reasons[idle.GetPrimaryKey()]);
        Assert.Equal(2, await used.Count());
    }

    [Fact]
    public async Task A_grain_that_asked_for_it_stays_longer()
    {
        var idle = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid());
        var delayed = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid());
        await idle.Touch();
        await delayed.Delay(TimeSpan.FromMinutes(12));
        var endings = (cluster.Cluster.WaitForDeactivationAsync(idle), cluster.Cluster.WaitForDeactivationAsync(delayed));
        await cluster.Cluster.RestAsync(idle, delayed);
        Advance(minutes: 7);
        await endings.Item1.WaitAsync(Gate.Patience);
        Assert.False(endings.Item2.IsCompleted);
        Advance(minutes: 7);
        await endings.Item2.WaitAsync(Gate.Patience);
    }

    [Fact]
    public async Task A_class_may_have_its_own_age_or_none()
    {
        var idle = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid());
        var quick = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid(), typeof(QuickGrain).FullName);
        var eternal = cluster.Silo.GetGrain<IIdle>(Guid.NewGuid(), typeof(EternalGrain).FullName);
        await Task.WhenAll(idle.Touch(), quick.Touch(), eternal.Touch());
        var endings =
            (cluster.Cluster.WaitForDeactivationAsync(idle), cluster.Cluster.WaitForDeactivationAsync(quick),
                cluster.Cluster.WaitForDeactivationAsync(eternal));
        await cluster.Cluster.RestAsync(idle, quick);
        Advance(minutes: 3);
        await endings.Item2.WaitAsync(Gate.Patience);
        Assert.False(endings.Item1.IsCompleted);
        Advance(minutes: 4);
        await endings.Item1.WaitAsync(Gate.Patience);
        Assert.Equal(1, await eternal.Count());
        Assert.False(endings.Item3.IsCompleted);
    }

    private void Advance(int minutes) => cluster.Clock.Advance(TimeSpan.FromMinutes(minutes));

    [Orleans.Metadata.DefaultGrainType("idle")]
    public interface IIdle : IGrainWithGuidKey
    {
        Task Touch();

        Task<int> Count();

        Task Delay(TimeSpan time);
    }

    public class IdleGrain : Grain, IIdle
    {
        public static readonly ConcurrentDictionary<Guid, string> Reasons = new();

        private int _touches;

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            Reasons[this.GetPrimaryKey()] = reason.ReasonCode.ToString();
            return Task.CompletedTask;
        }

        public Task Touch()
        {
            _touches++;
            return Task.CompletedTask;
        }

        public Task<int> Count() => Task.FromResult(_touches);

        public Task Delay(TimeSpan time)
        {
            DelayDeactivation(time);
            return Task.CompletedTask;
        }
    }

    [CollectionAgeLimit(Minutes = 2)]
    public sealed class QuickGrain : IdleGrain;

    [KeepAlive]
    public sealed class EternalGrain : IdleGrain;
}
