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

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => silo
            .Configure<StageOptions>(options => (options.WorkThreads, options.MailboxLimit) = (1, Flood)));
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
        var known = _cluster.Client.GetGrain<IOrdered>("known");
        await known.Note(_held.Name, "before");
        var held = await HoldAsync();
        var flood = Call(_flooding.Services.GetRequiredService<IClusterClient>(), "flood", Flood);
        await ReadAsync(_flooding.Services.GetRequiredService<Node>());
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
        var held = await HoldAsync();
        var first = Call(_flooding.Services.GetRequiredService<IClusterClient>(), "first", Flood);
        await ReadAsync(_flooding.Services.GetRequiredService<Node>());
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
        var held = await HoldAsync();
        var client = _flooding.Services.GetRequiredService<IClusterClient>();
        var calls = new List<Task>();
        for (var round = 0; round < Each; round++)
        {
            for (var grain = 0; grain < Grains; grain++)
                calls.Add(client.GetGrain<IOrdered>("ordered" + grain).Note(_held.Name, grain + "." + round));
        }

        await ReadAsync(_flooding.Services.GetRequiredService<Node>());
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

    [Fact]
    public async Task More_than_the_limit_are_refused()
    {
        var held = await HoldAsync();
        var calls = Call(_flooding.Services.GetRequiredService<IClusterClient>(), "many", Flood + StartShares.Quantum + 10).ToArray();
        await ReadAsync(_flooding.Services.GetRequiredService<Node>());
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

    /// <summary>From here on the thread of the turns stands still.</summary>
    private async Task<Task> HoldAsync()
    {
        var held = _flooding.Services.GetRequiredService<IClusterClient>().GetGrain<IOrdered>("holder").Hold(_held.Name);
        await _held.Arrived.Task.WaitAsync(Gate.Patience);
        return held;
    }

    /// <summary>Completes when the silo has read all that the client has sent: a frame that is none is read after it.</summary>
    private async Task ReadAsync(Node client)
    {
        var before = Silo.Refusals[Refusal.Frame];
        Assert.Null(client.Peers.Send(Silo.Address, default, [9, 9, 9]));
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Silo.Refusals[Refusal.Frame] == before + 1), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Equal(before + 1, Silo.Refusals[Refusal.Frame]);
    }

    /// <summary>A thread that stands still, and the order of the turns after that.</summary>
    public sealed class Held
    {
        private readonly ManualResetEventSlim _open = new();

        public string Name { get; } = Guid.NewGuid().ToString("N");

        public TaskCompletionSource Arrived { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public ConcurrentQueue<string> Order { get; } = [];

        public void Release() => _open.Set();

        public void Wait()
        {
            Arrived.TrySetResult();
            _open.Wait(Gate.Patience);
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
            Orders.All[held].Order.Enqueue(text);
            return Task.CompletedTask;
        }
    }
}
