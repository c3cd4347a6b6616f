using ActOp.Configuration;
using ActOp.Groups;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Concurrency;

namespace ActOp.Hosting.Tests.Groups;

/// <summary>Requests with known costs on a silo whose work stage has one thread, in a group with 10 s per minute.</summary>
public sealed class CostTests : IAsyncLifetime
{
    private readonly Notes _notes = new();
    private readonly LogCapture _log = new();
    private InProcessTestCluster? _cluster;

    private Node Silo => _cluster!.Silos[0].ServiceProvider.GetRequiredService<Node>();

    public ValueTask InitializeAsync() => default;

    public async ValueTask DisposeAsync()
    {
        _notes.Open();
        if (_cluster is not null)
            await _cluster.DisposeAsync();
    }

    [Fact]
    public async Task A_request_whose_cost_does_not_fit_gives_way_to_others_and_runs_when_nothing_else_may()
    {
        await StartAsync();
        var held = await HoldThreadAsync();
        var calls = new[] { Grain("a").Light("first"), Grain("b").Heavy("second"), Grain("c").Note("third") };
        await ReleaseAsync(held, calls);
        Assert.Equal(["first", "third", "second"], _notes.Order);
        Assert.Equal(0, Group.Held);
    }

    [Fact]
    public async Task Requests_of_one_caller_to_one_grain_keep_their_order()
    {
        await StartAsync();
        var held = await HoldThreadAsync();
        var calls = new[] { Grain("a").Light("first"), Grain("a").Heavy("second"), Grain("a").Note("third"), Grain("b").Note("other") };
        await ReleaseAsync(held, calls);
        Assert.Equal(["first", "other", "second", "third"], _notes.Order);
    }

    [Fact]
    public async Task What_always_interleaves_and_the_rest_of_a_running_request_are_not_held()
    {
        await StartAsync();
        var running = Grain("a").Await("running");
        await _notes.Awaited.Task.WaitAsync(Gate.Patience);
        var held = await HoldThreadAsync();
        var calls = new[] { Grain("b").Light("first"), Grain("a").Heavy("last"), Grain("a").Interleave("at once") };
        await ReleaseAsync(held, [running, .. calls]);
        Assert.Equal(["first", "at once", "running", "last"], _notes.Order);
    }

    [Fact]
    public async Task The_delegate_says_what_a_request_costs_by_its_request_context()
    {
        await StartAsync(static (_, method, context) =>
            method.Name == nameof(ICostly.Note) && context?.GetValueOrDefault("cost") is int cost ? TimeSpan.FromMilliseconds(cost) : null);
        var held = await HoldThreadAsync();
        var first = Grain("a").Light("first");
        RequestContext.Set("cost", 20_000);
        var second = Grain("b").Note("second");
        RequestContext.Set("cost", 1);
        var third = Grain("c").Note("third");
        RequestContext.Clear();
        await ReleaseAsync(held, first, second, third);
        Assert.Equal(["first", "third", "second"], _notes.Order);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_delegate_that_fails_is_logged_once_and_the_request_runs(bool throws)
    {
        await StartAsync((_, _, _) => throws ? throw new InvalidOperationException("a fault of the delegate") : TimeSpan.FromSeconds(-1));
        for (var i = 0; i < 3; i++)
            await Grain("a").Note("x").WaitAsync(Gate.Patience);
        Assert.Equal(3, _notes.Order.Count);
        Assert.Single(_log.Lines(LogLevel.Warning), static line => line.Contains("GroupsOptions.Cost failed", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(typeof(CostsNothing))]
    [InlineData(typeof(CostsLessThanNothing))]
    [InlineData(typeof(CostsNoNumber))]
    public void A_cost_that_is_none_fails_the_start_and_names_the_method(Type type)
    {
        var groups = new GroupsOptions { Mode = BudgetMode.Ticks }.Add("batch");
        var exception = Assert.Throws<OrleansConfigurationException>(() => NodeGroups.CheckClasses(groups, [type]));
        Assert.Contains("Run has [Cost(", exception.Message, StringComparison.Ordinal);
        // Costs have no effect.
        groups.Mode = BudgetMode.Shares;
        NodeGroups.CheckClasses(groups, [type]);
    }

    private async Task StartAsync(RequestCost? cost = null)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton(_notes).AddSingleton<ILoggerProvider>(_log);
            silo.Configure<StageOptions>(static options => options.WorkThreads = 1);
            silo.AddGroups(groups =>
            {
                groups.Mode = BudgetMode.Ticks;
                groups.Interval = TimeSpan.FromMinutes(1);
                groups.Cost = cost;
                groups.Add("batch", static group => group.Ticks = 10_000);
            });
        });
        _cluster = builder.Build();
        await _cluster.DeployAsync();
        foreach (var grain in (string[])["a", "b", "c"])
            await Grain(grain).Interleave("activated");
        _notes.Order.Clear();
    }

    private GrainGroup Group => Silo.Stages.Groups!.All.Single(static group => group.Name == "batch");

    private ICostly Grain(string key) => Silo.Factory.GetGrain<ICostly>(key);

    /// <summary>From here on the thread of the turns stands still.</summary>
    private async Task<Task> HoldThreadAsync()
    {
        // Not on this thread, which may run a turn itself.
        var held = Task.Run(() => Silo.Factory.GetGrain<IHolder>(0).Hold());
        await _notes.Arrived.Task.WaitAsync(Gate.Patience);
        return held;
    }

    private async Task ReleaseAsync(Task held, params Task[] calls)
    {
        _notes.Open();
        await Task.WhenAll([held, .. calls]).WaitAsync(Gate.Patience);
    }

    public sealed class Notes : HeldThread
    {
        public TaskCompletionSource Awaited { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Opened { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Open()
        {
            Opened.TrySetResult();
            Release();
        }
    }

    public interface IHolder : IGrainWithIntegerKey
    {
        /// <summary>Blocks the thread.</summary>
        Task Hold();
    }

    public sealed class HolderGrain(Notes notes) : Grain, IHolder
    {
        public Task Hold()
        {
            notes.Wait();
            return Task.CompletedTask;
        }
    }

    public interface ICostly : IGrainWithStringKey
    {
        /// <summary>The first one of an interval fits always, so it comes before the others.</summary>
        [Cost(1)]
        Task Light(string note);

        /// <summary>Costs more than the group has, so it never fits.</summary>
        [Cost(20_000)]
        Task Heavy(string note);

        Task Note(string note);

        /// <summary>Ends when the thread is released.</summary>
        Task Await(string note);

        [AlwaysInterleave]
        [Cost(20_000)]
        Task Interleave(string note);
    }

    [Group("batch")]
    [Reentrant]
    public sealed class CostlyGrain(Notes notes) : Grain, ICostly
    {
        public Task Light(string note) => Note(note);

        public Task Heavy(string note) => Note(note);

        public Task Note(string note)
        {
            notes.Order.Enqueue(note);
            return Task.CompletedTask;
        }

        public async Task Await(string note)
        {
            notes.Awaited.TrySetResult();
            await notes.Opened.Task;
            await Note(note);
        }

        public Task Interleave(string note) => Note(note);
    }

    public interface INothing
    {
        [Cost(0)]
        Task Run();
    }

    public abstract class CostsNothing : INothing
    {
        public abstract Task Run();
    }

    public interface ILess
    {
        [Cost(-1)]
        Task Run();
    }

    public abstract class CostsLessThanNothing : ILess
    {
        public abstract Task Run();
    }

    public interface INoNumber
    {
        [Cost(double.NaN)]
        Task Run();
    }

    public abstract class CostsNoNumber : INoNumber
    {
        public abstract Task Run();
    }
}
