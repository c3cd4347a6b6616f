using System.Text.Json;
using ActOp.Configuration;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>
/// What a call costs in allocated bytes; the limits are in AllocationLimits.json. Time stands still: what silos do from time to time would
/// be the more per call the slower the machine is.
/// </summary>
[Collection(nameof(Alone))]
public class AllocationTests(AllocationTests.OneWorker cluster) : IClassFixture<AllocationTests.OneWorker>
{
    private const int Calls = 100_000;
    private const int WarmUpCalls = 20_000;
    private const int RemoteCalls = 3_000;
    private const int Rounds = 5;
    private const int Activations = 20_000;

    private static readonly Limits Allowed = JsonSerializer.Deserialize<Limits>(File.ReadAllText(Path.Combine(AppContext.BaseDirectory,
        "AllocationLimits.json")))!;

    [Fact]
    public async Task A_local_call_with_a_value_task_allocates_nothing()
    {
        var caller = cluster.Grains.GetGrain<ICaller>(1);
        var callee = cluster.Grains.GetGrain<ICallee>(1);
        await Place.On(cluster.AddressOf(0), () => callee.Add(1, 2).AsTask());
        await Place.On(cluster.AddressOf(0), () => caller.AllocatedByThread(callee, 10));
        await BestAsync(() => caller.AllocatedByThread(callee, WarmUpCalls));
        Assert.InRange((double)await caller.AllocatedByThread(callee, Calls) / Calls, 0, Allowed.LocalValueTask);
    }

    [Fact]
    public async Task A_local_call_with_a_live_token_allocates_nothing()
    {
        var caller = cluster.Grains.GetGrain<ICaller>(3);
        var callee = cluster.Grains.GetGrain<ICallee>(3);
        await Place.On(cluster.AddressOf(0), () => callee.Add(1, 2).AsTask());
        await Place.On(cluster.AddressOf(0), () => caller.AllocatedWithToken(callee, 10));
        await BestAsync(() => caller.AllocatedWithToken(callee, WarmUpCalls));
        Assert.InRange((double)await caller.AllocatedWithToken(callee, Calls) / Calls, 0, Allowed.LocalValueTask);
    }

    [Fact]
    public async Task A_call_to_another_silo_stays_within_its_limit()
    {
        var caller = cluster.Grains.GetGrain<ICaller>(2);
        var callee = cluster.Grains.GetGrain<ICallee>(2);
        await Place.On(cluster.AddressOf(1), () => callee.Add(1, 2).AsTask());
        await Place.On(cluster.AddressOf(0), () => caller.AllocatedByThread(callee, 10));
        Assert.InRange(await BestAsync(() => caller.AllocatedByProcess(callee, RemoteCalls)) / RemoteCalls, 0, Allowed.RemoteValueTask);
    }

    /// <summary>
    /// Heap after full collections, of a grain without fields: its activation, its place in the tables, and its entry in the directory.
    /// </summary>
    [Fact]
    public async Task An_activation_stays_within_its_limit()
    {
        var bytes = new List<double>();
        for (var round = 1; round <= Rounds; round++)
        {
            var before = Heap();
            await ActivateAsync(round * Activations, Activations);
            bytes.Add((double)(Heap() - before) / Activations);
        }

        // What other tests have left behind goes sooner or later: the median round is without.
        Assert.InRange(bytes.Order().ElementAt(Rounds / 2), 0, Allowed.Activation);
    }

    private static long Heap()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }

    private async Task ActivateAsync(int first, int count)
    {
        for (var key = first; key < first + count; key += 100)
            await Task.WhenAll(Enumerable.Range(key, 100).Select(one => cluster.Grains.GetGrain<ICallee>(one).Add(1, 2).AsTask()));
    }

    /// <summary>The least of some rounds: the first ones run code that is not optimised yet.</summary>
    private static async Task<double> BestAsync(Func<Task<long>> measure)
    {
        var best = long.MaxValue;
        for (var round = 0; round < Rounds; round++)
            best = Math.Min(best, await measure());
        return best;
    }

    /// <summary>Two silos with one worker thread each, so that a turn's allocations are all on one thread.</summary>
    public sealed class OneWorker : IAsyncLifetime
    {
        private SilosInVirtualTime? _silos;

        public IGrainFactory Grains => _silos!.Grains;

        public FakeClock Clock => _silos!.Clock;

        public SiloAddress AddressOf(int silo) => _silos!.AddressOf(silo);

        public async ValueTask InitializeAsync() =>
            _silos = await SilosInVirtualTime.Deploy(silo => silo.Configure<StageOptions>(options => options.WorkThreads = 1));

        public ValueTask DisposeAsync() => _silos?.DisposeAsync() ?? default;
    }

    /// <summary>Bytes per call, and per activation.</summary>
    public sealed record Limits(double LocalValueTask, double RemoteValueTask, double Activation);

    public interface ICallee : IGrainWithIntegerKey
    {
        ValueTask<int> Add(int one, int two);

        ValueTask<int> AddUnless(int one, int two, CancellationToken cancellationToken);
    }

    public interface ICaller : IGrainWithIntegerKey
    {
        [ResponseTimeout("00:02:00")]
        Task<long> AllocatedByThread(ICallee callee, int calls);

        [ResponseTimeout("00:02:00")]
        Task<long> AllocatedWithToken(ICallee callee, int calls);

        [ResponseTimeout("00:02:00")]
        Task<long> AllocatedByProcess(ICallee callee, int calls);
    }

    public sealed class CalleeGrain : Grain, ICallee
    {
        public ValueTask<int> Add(int one, int two) => new(one + two);

        public ValueTask<int> AddUnless(int one, int two, CancellationToken cancellationToken) => new(one + two);
    }

    public sealed class CallerGrain : Grain, ICaller
    {
        public async Task<long> AllocatedByThread(ICallee callee, int calls)
        {
            // A thread of the pool that has brought the request runs turns for a moment only; the worker keeps what follows.
            while (Thread.CurrentThread.IsThreadPoolThread)
                await Task.Yield();
            await callee.Add(0, 0);
            var before = GC.GetAllocatedBytesForCurrentThread();
            for (var call = 0; call < calls; call++)
                await callee.Add(call, call);
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }

        public async Task<long> AllocatedWithToken(ICallee callee, int calls)
        {
            using var source = new CancellationTokenSource();
            while (Thread.CurrentThread.IsThreadPoolThread)
                await Task.Yield();
            await callee.AddUnless(0, 0, source.Token);
            var before = GC.GetAllocatedBytesForCurrentThread();
            for (var call = 0; call < calls; call++)
                await callee.AddUnless(call, call, source.Token);
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }

        public async Task<long> AllocatedByProcess(ICallee callee, int calls)
        {
            await callee.Add(0, 0);
            var before = GC.GetTotalAllocatedBytes(precise: true);
            for (var call = 0; call < calls; call++)
                await callee.Add(call, call);
            return GC.GetTotalAllocatedBytes(precise: true) - before;
        }
    }
}
