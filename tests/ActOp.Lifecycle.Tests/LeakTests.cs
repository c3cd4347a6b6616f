using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>What has ended is not kept: activations, their instances and scopes, their timers, workers and observers.</summary>
public class LeakTests(LeakTests.LeakSilo cluster) : IClassFixture<LeakTests.LeakSilo>
{
    private static readonly ConcurrentDictionary<Guid, WeakReference[]> Parts = new();
    private static readonly ConcurrentDictionary<Guid, List<WeakReference>> Timers = new();

    [Fact]
    public async Task A_reference_that_lives_on_does_not_keep_the_instance_and_the_scope_of_a_grain_that_has_ended()
    {
        var key = Guid.NewGuid();
        var grain = cluster.Silo.GetGrain<IBrief>(key);
        await grain.Touch();
        await grain.Touch();
        await cluster.Cluster.DeactivateAsync(grain).WaitAsync(Gate.Patience);
        await CollectedAsync(() => Parts[key]);
        GC.KeepAlive(grain);
    }

    [Fact]
    public async Task A_timer_that_was_disposed_leaves_nothing_with_its_grain()
    {
        var key = Guid.NewGuid();
        var grain = cluster.Silo.GetGrain<IBrief>(key);
        await grain.MakeTimers(20);
        cluster.Clock.Advance(TimeSpan.FromSeconds(1));
        await grain.DisposeTimers();
        Assert.Equal(20, Timers[key].Count);
        await CollectedAsync(() => Timers[key]);
        await grain.Touch();
    }

    [Fact]
    public async Task The_activation_of_an_observer_that_was_collected_is_removed()
    {
        var (observer, id) = Forgotten();
        Assert.True(Node.Activations.TryGet(id, out _));
        await CollectedAsync(() => [observer]);
        cluster.Clock.Advance(TimeSpan.FromMinutes(1));
        await GoneAsync(() => !Node.Activations.TryGet(id, out _));
    }

    [Fact]
    public async Task A_deleted_observer_is_out_of_reach_for_references_that_have_used_it()
    {
        var observer = new Listener();
        var reference = cluster.Silo.CreateObjectReference<IListener>(observer);
        Assert.Equal(1, await reference.Ask());
        Assert.Equal(2, await reference.Ask());
        cluster.Silo.DeleteObjectReference<IListener>(reference);
        await Assert.ThrowsAnyAsync<OrleansException>(() => reference.Ask().WaitAsync(Gate.Patience));
        GC.KeepAlive(observer);
    }

    [Fact]
    public async Task Idle_stateless_workers_end_and_their_entry_with_the_last_one()
    {
        var key = Guid.NewGuid();
        var worker = cluster.Silo.GetGrain<IIdleWorker>(key);
        using var gate = new Gate();
        var calls = Enumerable.Range(0, 3).Select(_ => worker.Block(gate.Name)).ToArray();
        for (var call = 0; call < calls.Length; call++)
            await gate.ArrivedAsync();
        gate.Open();
        await Task.WhenAll(calls);
        Assert.Equal(3, Node.Activations.Count(activation => activation.GrainId == worker.GetGrainId()));
        Assert.True(Node.Activations.HasWorkers(worker.GetGrainId()));
        await cluster.Cluster.RestAsync(worker);
        cluster.Clock.Advance(TimeSpan.FromMinutes(6));
        await GoneAsync(() => !Node.Activations.HasWorkers(worker.GetGrainId()));
        await worker.Block(null);
        Assert.Single(Node.Activations, activation => activation.GrainId == worker.GetGrainId());
    }

    /// <summary>Whoever picks a worker while the last one leaves gets one that is in the table.</summary>
    [Fact]
    public async Task Calls_and_ends_of_stateless_workers_at_the_same_time_lose_no_call()
    {
        var worker = cluster.Silo.GetGrain<IIdleWorker>(Guid.NewGuid());
        var ends = 0;
        var callers = Enumerable.Range(0, 4).Select(caller => Task.Run(async () =>
        {
            for (var call = 0; call < 300; call++)
            {
                await worker.Block(null);
                if (call % 3 != 0)
                    continue;
                foreach (var activation in Node.Activations.Where(activation => activation.GrainId == worker.GetGrainId()))
                {
                    activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "test"));
                    Interlocked.Increment(ref ends);
                }
            }
        })).ToArray();
        await Task.WhenAll(callers).WaitAsync(3 * Gate.Patience);
        Assert.NotEqual(0, ends);
        foreach (var activation in Node.Activations.Where(activation => activation.GrainId == worker.GetGrainId()).ToArray())
        {
            activation.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "test"));
            await activation.Deactivated.WaitAsync(Gate.Patience);
        }

        // The last one to leave removes the entry as soon as it is out of it.
        await GoneAsync(() => !Node.Activations.HasWorkers(worker.GetGrainId()));
    }

    private Node Node => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private static Task CollectedAsync(Func<IEnumerable<WeakReference>> parts) => GoneAsync(() =>
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return parts().All(part => !part.IsAlive);
    });

    private static Task GoneAsync(Func<bool> isGone) => TestingUtils.WaitUntilAsync(
        last =>
        {
            var gone = isGone();
            Assert.True(gone || !last, "It is still there.");
            return Task.FromResult(gone);
        },
        Gate.Patience,
        TimeSpan.FromMilliseconds(5));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private (WeakReference Observer, GrainId Id) Forgotten()
    {
        var observer = new Listener();
        return (new WeakReference(observer), cluster.Silo.CreateObjectReference<IListener>(observer).GetGrainId());
    }

    public sealed class LeakSilo : VirtualTime
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            base.ConfigureSilo(silo);
            silo.Services.AddScoped<BriefPart>();
        }
    }

    public interface IBrief : IGrainWithGuidKey
    {
        Task Touch();

        Task MakeTimers(int count);

        Task DisposeTimers();
    }

    public interface IIdleWorker : IGrainWithGuidKey
    {
        Task Block(string? gate);
    }

    public interface IListener : IGrainObserver
    {
        Task<int> Ask();
    }

    public sealed class BriefPart;

    public sealed class Listener : IListener
    {
        private int _asked;

        public Task<int> Ask() => Task.FromResult(++_asked);
    }

    public sealed class BriefGrain : Grain, IBrief
    {
        private readonly List<IGrainTimer> _timers = [];
        private readonly BriefPart _part;

        public BriefGrain(BriefPart part)
        {
            _part = part;
            Parts[this.GetPrimaryKey()] = [new WeakReference(this), new WeakReference(_part)];
        }

        public Task Touch() => Task.CompletedTask;

        public Task MakeTimers(int count)
        {
            var tokens = Timers[this.GetPrimaryKey()] = [];
            for (var made = 0; made < count; made++)
            {
                _timers.Add(this.RegisterGrainTimer(
                    token =>
                    {
                        tokens.Add(new WeakReference(SourceOf(ref token)));
                        return Task.CompletedTask;
                    },
                    new GrainTimerCreationOptions(TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan)));
            }

            return Task.CompletedTask;
        }

        public Task DisposeTimers()
        {
            _timers.ForEach(timer => timer.Dispose());
            _timers.Clear();
            return Task.CompletedTask;
        }

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_source")]
        private static extern ref CancellationTokenSource? SourceOf(ref CancellationToken token);
    }

    [StatelessWorker(3)]
    public sealed class IdleWorkerGrain : Grain, IIdleWorker
    {
        public Task Block(string? gate) => Gate.PassAsync(gate);
    }
}
