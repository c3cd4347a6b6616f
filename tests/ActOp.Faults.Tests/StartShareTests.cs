using System.Collections.Concurrent;
using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Hosting;
using Orleans.Placement;

namespace ActOp.Faults.Tests;

/// <summary>
/// Clients share the work stage when they start activations. One thread of the silo is held up until everything has arrived, so the order
/// of the turns is that of the shares, however fast the machine is.
/// </summary>
public class StartShareTests : IAsyncLifetime
{
    private const int Flood = 2_000;

    private readonly Held _held = new();
    private InProcessTestCluster _cluster = null!;
    private IHost _flooding = null!;

    private Node Silo => _cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private Node FloodingNode => _flooding.Services.GetRequiredService<Node>();

    private IClusterClient FloodingClient => _flooding.Services.GetRequiredService<IClusterClient>();

    public ValueTask InitializeAsync() => default;

    private async Task StartAsync(int limit = 10_000)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => silo
            .Configure<StageOptions>(options => (options.WorkThreads, options.MailboxLimit) = (1, limit)));
        _cluster = builder.Build();
        await _cluster.DeployAsync();
        _flooding = await _cluster.StartSecondClientAsync();
        Orders.All[_held.Name] = _held;
    }

    public async ValueTask DisposeAsync()
    {
        _held.Release();
        Orders.All.TryRemove(_held.Name, out _);
        await _flooding.StopAsync();
        _flooding.Dispose();
        await _cluster.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task A_flood_of_new_grains_of_one_client_does_not_hold_up_another_one()
    {
        await StartAsync();
        var known = _cluster.Client.GetGrain<IOrdered>("known");
        await known.Note(_held.Name, "before");
        var held = await HoldAsync();
        var flood = Call(FloodingClient, "flood", Flood);
        await ReadAsync(FloodingNode);
        var honest = new[] { known.Note(_held.Name, "known"), _cluster.Client.GetGrain<IOrdered>("new").Note(_held.Name, "new") };
        await ReadAsync(_cluster.Client.ServiceProvider.GetRequiredService<Node>());
        _held.Release();
        await Task.WhenAll([held, .. flood, .. honest]).WaitAsync(Gate.Patience);
        var order = _held.Order.ToList();
        Assert.Equal(Flood + 3, order.Count);
        Assert.InRange(order.IndexOf("known"), 1, 4 * StartShares.Quantum);
        Assert.InRange(order.IndexOf("new"), 1, 4 * StartShares.Quantum);
    }

    [Fact]
    public async Task Clients_that_flood_take_turns()
    {
        await StartAsync();
        var held = await HoldAsync();
        var first = Call(FloodingClient, "first", Flood);
        await ReadAsync(FloodingNode);
        var second = Call(_cluster.Client, "second", 200);
        await ReadAsync(_cluster.Client.ServiceProvider.GetRequiredService<Node>());
        _held.Release();
        await Task.WhenAll([held, .. first, .. second]).WaitAsync(Gate.Patience);
        Assert.InRange(_held.Order.ToList().LastIndexOf("second"), 200, 600);
    }

    [Fact]
    public async Task Requests_of_one_client_for_one_grain_keep_their_order()
    {
        const int Grains = 300;
        const int Each = 5;
        await StartAsync();
        var held = await HoldAsync();
        var client = FloodingClient;
        var calls = new List<Task>();
        for (var round = 0; round < Each; round++)
        {
            for (var grain = 0; grain < Grains; grain++)
                calls.Add(client.GetGrain<IOrdered>("ordered" + grain).Note(_held.Name, grain + "." + round));
        }

        await ReadAsync(FloodingNode);
        _held.Release();
        for (var grain = 0; grain < Grains; grain++)
            calls.Add(client.GetGrain<IOrdered>("ordered" + grain).Note(_held.Name, grain + "." + Each));
        await Task.WhenAll([held, .. calls]).WaitAsync(Gate.Patience);
        foreach (var rounds in _held.Order.Where(static text => text.Contains('.')).Select(static text => text.Split('.'))
            .GroupBy(static parts => parts[0], static parts => int.Parse(parts[1], System.Globalization.CultureInfo.InvariantCulture)))
        {
            Assert.Equal(Enumerable.Range(0, Each + 1), rounds);
        }

        Assert.Equal(0, Silo.Router.Starts!.Waiting);
    }

    /// <summary>Reads of 64 KB bring at most some hundred requests each; without a pause, all of them wait.</summary>
    [Fact]
    public async Task A_client_is_not_read_while_many_of_its_requests_wait_for_a_start()
    {
        const int Many = 20_000;
        await StartAsync(Many);
        await WatchFloodAsync(Many);
        Assert.InRange(_held.MostWaiting, StartShares.PauseAt - StartShares.Quantum, Many / 4);
        Assert.Equal(0, Silo.Router.Starts!.Waiting);
        await FloodingClient.GetGrain<IOrdered>("later").Note(_held.Name, "later");
    }

    [Fact]
    public async Task A_client_gets_a_quantum_of_starts_at_each_tick()
    {
        await StartAsync();
        await WatchFloodAsync(Flood);
        // Before the first tick: those that did not wait, and the first quantum of those that did. The work stage may run a turn late, so
        // two quanta can meet between two ticks, but no turn comes before the tick that its quantum is from. A client whose requests have
        // not been read in time has used up no quantum, so it waits for no tick.
        Assert.All(_held.Paces, static (pace, turn) =>
            Assert.InRange(turn + 1, 1, (2 + pace.Ticks + pace.Partial) * StartShares.Quantum));
        Assert.InRange(_held.Paces.Select(static pace => pace.Ticks).Distinct().Count(), Flood / (2 * StartShares.Quantum), Flood);
    }

    [Fact]
    public async Task The_youngest_generation_is_collected_after_some_thousand_starts_of_a_flood()
    {
        const int Many = 4 * StartShares.CollectAfter * StartShares.Quantum;
        await StartAsync(Many);
        var before = GC.CollectionCount(0);
        await Task.WhenAll(Call(FloodingClient, "flood", Many)).WaitAsync(Gate.Patience);
        Assert.InRange(GC.CollectionCount(0) - before, 3, int.MaxValue);
        Assert.InRange(Silo.Router.Starts!.Paced.Collections, 0, 4);
    }

    [Fact]
    public async Task More_than_the_limit_are_refused()
    {
        const int Limit = StartShares.PauseAt / 2;
        await StartAsync(Limit);
        var held = await HoldAsync();
        var calls = Call(FloodingClient, "many", Limit + StartShares.Quantum + 10).ToArray();
        await ReadAsync(FloodingNode);
        _held.Release();
        await held;
        await Task.WhenAll(calls).ContinueWith(static _ => { }, TaskScheduler.Default).WaitAsync(Gate.Patience);
        var refused = calls.Where(static call => call.IsFaulted).Select(static call => call.Exception!.InnerException!).ToArray();
        Assert.Equal(10, refused.Length);
        Assert.All(refused, static exception => Assert.Contains(
            nameof(StageOptions.MailboxLimit), Assert.IsType<LimitExceededException>(exception).Message, StringComparison.Ordinal));
    }

    private List<Task> Call(IGrainFactory grains, string name, int count) =>
        [.. Enumerable.Range(0, count).Select(number => grains.GetGrain<IOrdered>(name + number).Note(_held.Name, name))];

    /// <summary>A flood that begins with the turn of its first grain only when the silo has read what it reads of it.</summary>
    private async Task WatchFloodAsync(int count)
    {
        var held = await HoldAsync();
        _held.Watched = Silo.Router.Starts!;
        var flood = Call(FloodingClient, "flood", count);
        await ReadAsync(FloodingNode);
        _held.Release();
        await Task.WhenAll([held, .. flood]).WaitAsync(Gate.Patience);
    }

    /// <summary>From here on the thread of the turns stands still.</summary>
    private async Task<Task> HoldAsync()
    {
        var held = FloodingClient.GetGrain<IOrdered>("holder").Hold(_held.Name);
        await _held.Arrived.Task.WaitAsync(Gate.Patience);
        return held;
    }

    /// <summary>
    /// Completes when the silo has read all that the client has sent (a frame that is none is read after it), or does not read more of it
    /// for now.
    /// </summary>
    private async Task ReadAsync(Node client)
    {
        var (before, isFlood) = (Silo.Refusals[Refusal.Frame], client == FloodingNode);
        Assert.Null(client.Peers.Send(Silo.Address, default, [9, 9, 9]));
        bool IsRead() => Silo.Refusals[Refusal.Frame] == before + 1 || (isFlood && Silo.Router.Starts!.Waiting >= StartShares.PauseAt);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(IsRead()), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.True(IsRead());
    }

    public sealed class Held : HeldThread
    {
        public string Name { get; } = Guid.NewGuid().ToString("N");

        /// <summary>Asked at each turn.</summary>
        internal StartShares? Watched { get; set; }

        internal int MostWaiting { get; private set; }

        /// <summary>The ticks of the pace, and the turns that found less than a quantum, before each turn.</summary>
        internal List<(int Ticks, int Partial)> Paces { get; } = [];

        public void Note(string text)
        {
            Order.Enqueue(text);
            if (Watched is null)
                return;
            MostWaiting = Math.Max(MostWaiting, Watched.Waiting);
            Paces.Add((Watched.Paced.Ticks, Watched.Paced.Partial));
        }
    }

    public static class Orders
    {
        public static ConcurrentDictionary<string, Held> All { get; } = new();
    }

    public interface IOrdered : IGrainWithStringKey
    {
        /// <summary>Blocks the thread.</summary>
        Task Hold(string held);

        Task Note(string held, string text);
    }

    [PreferLocalPlacement]
    public sealed class OrderedGrain : Grain, IOrdered
    {
        public Task Hold(string held)
        {
            Orders.All[held].Wait();
            return Task.CompletedTask;
        }

        public Task Note(string held, string text)
        {
            Orders.All[held].Note(text);
            return Task.CompletedTask;
        }
    }
}
