using ActOp.Calls;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Calls whose answers nobody takes, or that never get one, leave nothing behind.</summary>
[Collection(nameof(Alone))]
public class AbandonedCallTests(AbandonedCallTests.Limited cluster) : IClassFixture<AbandonedCallTests.Limited>
{
    /// <summary>Calls of each kind whose answer comes; some calls in flight at a time, so that no limit is met.</summary>
    private const int Many = 200_000;

    /// <summary>Calls of each kind that end with an exception, which is what makes them slow.</summary>
    private const int Failing = 20_000;

    private const int Burst = 1_000;

    /// <summary>
    /// What pools, buffers and code compiled meanwhile may take in all: less than 8 bytes for each of the calls that fail, 2 for the
    /// others.
    /// </summary>
    private const long Slack = 2_000_000;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public Task Value_tasks_that_nobody_awaits(int silo) => LeaveNothing(silo, Many, async (grain, count) =>
    {
        for (var left = count; left > 0; left -= Burst)
        {
            for (var index = 0; index < Burst; index++)
            {
#pragma warning disable CA2012 // That nobody awaits it is what is tested.
                _ = grain.Echo(index);
#pragma warning restore CA2012
            }

            await grain.Echo(0);
        }
    });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public Task Tasks_that_lost_a_race(int silo) => LeaveNothing(silo, Many, async (grain, count) =>
    {
        for (var left = count; left > 0; left -= Burst)
        {
            for (var index = 0; index < Burst; index++)
                await Task.WhenAny(grain.Answer(index), Task.CompletedTask);
            await grain.Echo(0);
        }
    });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public Task One_way_calls(int silo) => LeaveNothing(silo, Many, async (grain, count) =>
    {
        for (var left = count; left > 0; left -= Burst)
        {
            for (var index = 0; index < Burst; index++)
                await grain.Tell(index);
            await grain.Echo(0);
        }
    });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public Task Calls_that_time_out_in_the_queue_of_a_blocked_grain(int silo) => LeaveNothing(silo, Failing, async (grain, count) =>
    {
        for (var left = count; left > 0; left -= Limited.Mailbox / 2)
        {
            using var gate = new Gate();
            var blocking = await BlockAsync(grain, gate);
            await Ended<TimeoutException>([.. Enumerable.Range(0, Limited.Mailbox / 2).Select(index => grain.Quick(index))]);
            await Ended<TimeoutException>([blocking]);
            gate.Open();
            await grain.Echo(0);
        }
    });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public Task Calls_that_time_out_while_they_run(int silo) => LeaveNothing(silo, Failing, async (grain, count) =>
    {
        for (var left = count; left > 0; left -= Limited.Mailbox / 2)
        {
            using var gate = new Gate();
            await Ended<TimeoutException>([.. Enumerable.Range(0, Limited.Mailbox / 2).Select(_ => grain.Pass(gate.Name))]);
            gate.Open();
            await grain.Echo(0);
        }
    });

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public Task Calls_that_a_full_mailbox_refuses(int silo) => LeaveNothing(silo, Failing, async (grain, count) =>
    {
        using var gate = new Gate();
        var blocking = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var waiting = new List<Task>();
        for (var refused = 0; refused < count;)
        {
            waiting.AddRange(Enumerable.Range(0, waiting.Count == 0 ? Limited.Mailbox : Burst).Select(index => grain.Answer(index)));
            // It runs beside the request that holds the others back, or is refused like them. Either way those before it are in the mailbox
            // by then, or refused, which a busy machine may tell later.
            await Record.ExceptionAsync(() => grain.Pass(""));
            // The limit is no exact number while a turn takes what has come.
            await UntilAsync(
                () =>
                {
                    refused += waiting.RemoveAll(call => call.IsFaulted);
                    return waiting.Count <= 3 * Limited.Mailbox;
                },
                "The mailbox holds more than its limit.");
        }

        gate.Open();
        await blocking;
        foreach (var call in waiting)
            Assert.True(await Record.ExceptionAsync(() => call.WaitAsync(Gate.Patience)) is null or LimitExceededException);
    });

    /// <summary>In this process the dead silo's memory is ours too: its mailboxes and the requests in them go with it.</summary>
    [Fact]
    public async Task Calls_that_a_dead_silo_owed_the_answer_of()
    {
        var dead = new List<WeakReference>();
        var before = await LeaveNothingInFlight(0, 1, async (_, _) =>
        {
            dead.Add(await LoseSiloAsync());
            // Its threads end on their own after it was killed.
            await UntilAsync(() => !dead[^1].IsAlive, "The dead silo is still there.");
        });
        await UntilAsync(() => Heap() - before <= Slack, "What the dead silo held is still there.");
    }

    private async Task<WeakReference> LoseSiloAsync()
    {
        var third = await cluster.Cluster.StartAdditionalSiloAsync();
        var silo = new WeakReference(third.ServiceProvider.GetRequiredService<Node>());
        await cluster.Cluster.WaitForLivenessToStabilizeAsync();
        using var gate = new Gate();
        var grain = cluster.ClientOf(0).GetGrain<IAbandoned>(Guid.NewGuid());
        await Place.On(third.SiloAddress, () => grain.Answer(0));
        var calls = Enumerable.Range(0, Limited.Mailbox / 2).Select(_ => grain.Hold(gate.Name)).ToArray();
        await gate.ArrivedAsync();
        await cluster.Cluster.KillSiloAsync(third);
        await Ended<SiloUnavailableException>(calls);
        await cluster.Cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        return silo;
    }

    private async Task LeaveNothing(int silo, int count, Func<IAbandoned, int, Task> abandon)
    {
        var before = await LeaveNothingInFlight(silo, count, abandon);
        // What a thread or a queue still held as the last call ended goes within moments; what is lost stays for ever.
        await UntilAsync(() => Heap() - before <= Slack, "What the calls held is still there.");
    }

    /// <summary>Returns how large the heap was before.</summary>
    private async Task<long> LeaveNothingInFlight(int silo, int count, Func<IAbandoned, int, Task> abandon)
    {
        var grain = cluster.ClientOf(0).GetGrain<IAbandoned>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(silo), () => grain.Answer(0));
        await abandon(grain, count);
        await QuietAsync();
        var before = Heap();
        var slots = Slots();
        await abandon(grain, count);
        await QuietAsync();
        // Threads of the pool that come meanwhile take a magazine each.
        Assert.InRange(Slots() - slots, 0, Limited.Mailbox);
        return before;
    }

    /// <summary>
    /// The grain is blocked. A call that was late before it ran, because the machine stood still for as long as it may take, is made again.
    /// </summary>
    private static async Task<Task> BlockAsync(IAbandoned grain, Gate gate)
    {
        var arrived = gate.ArrivedAsync();
        while (true)
        {
            var blocking = grain.Block(gate.Name);
            if (await Task.WhenAny(arrived, blocking) == blocking)
                continue;
            await arrived;
            return blocking;
        }
    }

    /// <summary>What is gone when the collector has run; a silo that was killed ends within moments that nothing tells.</summary>
    private static Task UntilAsync(Func<bool> isGone, string otherwise) => TestingUtils.WaitUntilAsync(
        last =>
        {
            Heap();
            var gone = isGone();
            Assert.True(gone || !last, otherwise);
            return Task.FromResult(gone);
        },
        Gate.Patience,
        TimeSpan.FromMilliseconds(5));

    /// <summary>Until no call is in flight any more; what the silos tell each other all the time is, for moments.</summary>
    private static Task QuietAsync() =>
        TestingUtils.WaitUntilAsync(_ => Task.FromResult(CallRegistry.InFlightInProcess == 0), Gate.Patience, TimeSpan.FromMilliseconds(1));

    private int Slots() => cluster.Cluster.Silos.Sum(silo => silo.ServiceProvider.GetRequiredService<Node>().Calls.Registry.Capacity);

    private static async Task Ended<TException>(Task[] calls)
        where TException : Exception
    {
        foreach (var call in calls)
            Assert.IsType<TException>(await Record.ExceptionAsync(() => call.WaitAsync(Gate.Patience)));
    }

    private static long Heap()
    {
        for (var round = 0; round < 3; round++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        return GC.GetTotalMemory(forceFullCollection: true);
    }

    /// <summary>Two silos with small mailboxes.</summary>
    public sealed class Limited() : ClusterFixture(2)
    {
        internal const int Mailbox = 10_000;

        protected override void Configure(InProcessTestClusterOptions options) => options.InitializeClientOnDeploy = false;

        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Configure<ActOp.Configuration.StageOptions>(options => options.MailboxLimit = Mailbox);
            // Only the calls that are meant to time out do so, however slow the machine is.
            silo.Configure<SiloMessagingOptions>(options => options.ResponseTimeout = TimeSpan.FromMinutes(10));
        }
    }

    public interface IAbandoned : IGrainWithGuidKey
    {
        ValueTask<int> Echo(int value);

        Task<int> Answer(int value);

        [OneWay]
        Task Tell(int value);

        [ResponseTimeout("00:00:00.500")]
        Task Quick(int value);

        [ResponseTimeout("00:00:02")]
        Task Block(string gate);

        Task Hold(string gate);

        [AlwaysInterleave]
        [ResponseTimeout("00:00:00.500")]
        Task Pass(string gate);
    }

    public sealed class AbandonedGrain : Grain, IAbandoned
    {
        public ValueTask<int> Echo(int value) => new(value);

        public Task<int> Answer(int value) => Task.FromResult(value);

        public Task Tell(int value) => Task.CompletedTask;

        public Task Quick(int value) => Task.CompletedTask;

        public Task Block(string gate) => Gate.PassAsync(gate);

        public Task Hold(string gate) => Gate.PassAsync(gate);

        public Task Pass(string gate) => Gate.PassAsync(gate);
    }
}
