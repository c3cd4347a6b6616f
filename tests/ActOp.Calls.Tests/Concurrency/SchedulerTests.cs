using ActOp.Runtime.Activations;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Concurrency;

/// <summary>What .NET's tasks look like to code of a grain.</summary>
public class SchedulerTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task Code_stays_on_the_activation_unless_it_leaves()
    {
        var seen = await cluster.Client.GetGrain<IScheduled>(1).Look();
        Assert.Equal(
            [
                "own scheduler: True",
                "after an await: True",
                "Task.Factory.StartNew stays: True",
                "ContinueWith stays: True",
                "Task.Run leaves: True",
                "back after Task.Run: True",
                "ConfigureAwait(false) leaves: True",
            ],
            seen);
    }

    [Fact]
    public async Task Values_of_async_locals_do_not_leak_from_turn_to_turn()
    {
        var grains = Enumerable.Range(10, 8).Select(key => cluster.ClientOf(0).GetGrain<IScheduled>(key)).ToArray();
        for (var round = 0; round < 20; round++)
        {
            await Task.WhenAll(grains.Select(grain => grain.SetLocal(round + 1)));
            Assert.All(await Task.WhenAll(grains.Select(grain => grain.GetLocal())), value => Assert.Equal(0, value));
        }
    }

    [Fact]
    public async Task Turns_of_one_activation_never_overlap()
    {
        var grain = cluster.Client.GetGrain<ITurns>(1);
        var calls = new List<Task>();
        for (var call = 0; call < 400; call++)
            calls.Add((call % 2 == 0 ? cluster.ClientOf(0) : cluster.ClientOf(1)).GetGrain<ITurns>(1).Step());
        await Task.WhenAll(calls);
        Assert.Equal((400 * 5, 0), await grain.Result());
    }

    [Fact]
    public async Task The_field_of_the_current_task_means_the_task_that_runs()
    {
        Task? seen = null;
        var task = Task.Factory.StartNew(
            () => { seen = Turn.CurrentTask(); }, CancellationToken.None, TaskCreationOptions.None, TaskScheduler.Default);
        await task;
        Assert.Same(task, seen);
        var scheduler = new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler;
        var inside =
            await Task.Factory.StartNew(() => (Turn.CurrentTask()!.Id == Task.CurrentId, TaskScheduler.Current), CancellationToken.None,
                TaskCreationOptions.None, scheduler);
        Assert.Equal((true, scheduler), inside);
    }

    public interface IScheduled : IGrainWithIntegerKey
    {
        Task<List<string>> Look();

        Task SetLocal(int value);

        Task<int> GetLocal();
    }

    public interface ITurns : IGrainWithIntegerKey
    {
        Task Step();

        Task<(int Steps, int Overlaps)> Result();
    }

    public sealed class ScheduledGrain : Grain, IScheduled
    {
        private static readonly AsyncLocal<int> Local = new();

        public async Task<List<string>> Look()
        {
            var own = TaskScheduler.Current;
            var seen = new List<string> { "own scheduler: " + (own != TaskScheduler.Default) };
            await Task.Yield();
            seen.Add("after an await: " + (TaskScheduler.Current == own));
            seen.Add("Task.Factory.StartNew stays: " + await Task.Factory.StartNew(() => TaskScheduler.Current == own));
            seen.Add(
                "ContinueWith stays: " + await Task.Run(() => 1).ContinueWith(_ => TaskScheduler.Current == own, TaskScheduler.Current));
            seen.Add("Task.Run leaves: " + await Task.Run(() => TaskScheduler.Current == TaskScheduler.Default));
            seen.Add("back after Task.Run: " + (TaskScheduler.Current == own));
#pragma warning disable ORLEANS0014 // What it warns of is tested here.
            await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
#pragma warning restore ORLEANS0014
            seen.Add("ConfigureAwait(false) leaves: " + (TaskScheduler.Current == TaskScheduler.Default));
            return seen;
        }

        public Task SetLocal(int value)
        {
            Local.Value = value;
            return Task.CompletedTask;
        }

        public Task<int> GetLocal() => Task.FromResult(Local.Value);
    }

    [Reentrant]
    public sealed class TurnsGrain : Grain, ITurns
    {
        private int _steps;
        private int _overlaps;
        private int _inside;

        public async Task Step()
        {
            for (var part = 0; part < 5; part++)
            {
                if (Interlocked.Increment(ref _inside) != 1)
                    _overlaps++;
                _steps++;
                Interlocked.Decrement(ref _inside);
                await Task.Yield();
            }
        }

        public Task<(int Steps, int Overlaps)> Result() => Task.FromResult((_steps, _overlaps));
    }
}
