using ActOp.Configuration;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Stages;
using ActOp.TestClusters;

namespace ActOp.Hosting.Tests.Stages;

public class StageControlTests
{
    /// <summary>The one that would free the threads waits behind them.</summary>
    [Fact]
    public async Task Grains_that_block_all_threads_do_not_keep_others_out()
    {
        await using var cluster = await DeployAsync(options => options.ModelPeriod = TimeSpan.FromMilliseconds(100));
        var (_, grains) = Parts(cluster);
        var count = Environment.ProcessorCount + 2;
        using var released = new ManualResetEventSlim();
        using var gate = new Gate();
        HoldingGrain.Released = released;
        var held = Enumerable.Range(0, count).Select(key => grains.GetGrain<IHolding>(key).Hold(gate.Name)).ToArray();
        for (var i = 0; i < count; i++)
            await gate.ArrivedAsync();
        await grains.GetGrain<IHolding>(-1).Release().WaitAsync(Gate.Patience);
        await Task.WhenAll(held).WaitAsync(Gate.Patience);
    }

    [Fact]
    public async Task A_number_in_the_options_is_kept()
    {
        await using var cluster = await DeployAsync(options =>
        {
            options.ModelPeriod = TimeSpan.FromMilliseconds(100);
            options.MinThreads = Environment.ProcessorCount + 1;
            options.WorkThreads = 3;
            options.ReceiveThreads = 5;
        });
        var (node, grains) = Parts(cluster);
        await UntilAsync(grains, () => node.Stages.SiloSend.Threads > Environment.ProcessorCount);
        Assert.Equal(3, node.Stages.Work.Threads);
        Assert.Equal(5, node.Peers.ReceiveThreads);
    }

    [Fact]
    public async Task Calls_go_on_in_order_while_all_numbers_of_threads_change()
    {
        const int Calls = 2000;
        await using var cluster = await DeployAsync(static options => options.Controller = StageController.Fixed, silos: 2);
        Node[] nodes = [.. cluster.Silos.Select(silo => silo.ServiceProvider.GetRequiredService<Node>())];
        var (_, grains) = Parts(cluster);
        var sequence = grains.GetGrain<ISequence>(1);
        await Place.On(cluster.Silos[1].SiloAddress, () => sequence.Next(0));
        var random = new Random(1);
        var calls = new Task<bool>[Calls];
        for (var number = 1; number <= Calls; number++)
        {
            calls[number - 1] = sequence.Next(number);
            if (number % 20 == 0)
            {
                foreach (var node in nodes)
                    node.SizedStages[random.Next(4)].Change(random.Next(1, 5));
            }
        }

        Assert.All(await Task.WhenAll(calls).WaitAsync(Gate.Patience), Assert.True);
    }

    /// <summary>Its threads would find nothing to wait for, and spin.</summary>
    [Fact]
    public async Task A_decision_that_comes_after_the_end_starts_no_thread()
    {
        var cluster = await DeployAsync(static options => options.Controller = StageController.Fixed);
        var (node, _) = Parts(cluster);
        await cluster.DisposeAsync();
        node.Peers.SetReceiveThreads(3);
        Assert.Equal(0, node.Peers.ReceiveThreads);
        Assert.Equal(-1, node.Peers.Mesh.GetPoller(0).Poll(0));
        Assert.Equal(-1, node.Peers.Mesh.GetPoller(0).Poll(0));
    }

    [Fact]
    public async Task The_control_stage_is_nobodys_to_size()
    {
        await using var cluster = await DeployAsync(static _ => { });
        var (node, _) = Parts(cluster);
        Assert.Equal(["receive", "work", "silo-send", "client-send"], node.SizedStages.Select(stage => stage.Name));
        Assert.Equal(1, node.Stages.Control.Threads);
    }

    /// <summary>Otherwise one turn of 20 ms would delay all others by as much, and a few in a row by a tenth of a second.</summary>
    [Fact]
    public async Task Turns_have_two_threads_however_low_the_load_is()
    {
        await using var cluster = await DeployAsync(options => options.ModelPeriod = TimeSpan.FromMilliseconds(100));
        var (node, grains) = Parts(cluster);
        Assert.Equal([1, 2, 1, 1], node.SizedStages.Select(static stage => stage.Fewest));
        node.SizedStages[1].Change(1);
        await UntilAsync(grains, () => node.Stages.Work.Threads >= 2);
    }

    [Fact]
    public async Task A_fixed_silo_has_as_many_threads_per_stage_as_cores()
    {
        await using var cluster = await DeployAsync(options => options.Controller = StageController.Fixed);
        var (node, _) = Parts(cluster);
        Assert.All(node.SizedStages, stage => Assert.Equal(Environment.ProcessorCount, stage.Threads()));
    }

    /// <summary>The controller acts by the wall's clock, on what calls cost; so calls go on until it has.</summary>
    private static async Task UntilAsync(IGrainFactory grains, Func<bool> condition)
    {
        using var patience = new CancellationTokenSource(Gate.Patience);
        for (var key = 0; !condition(); key = (key + 1) % 10)
        {
            patience.Token.ThrowIfCancellationRequested();
            await grains.GetGrain<IHolding>(key).Echo();
        }
    }

    private static async Task<InProcessTestCluster> DeployAsync(Action<StageOptions> configure, short silos = 1)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.ConfigureSilo((_, silo) => silo.Configure(configure));
        builder.Options.InitializeClientOnDeploy = false;
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }

    private static (Node Node, IGrainFactory Grains) Parts(InProcessTestCluster cluster) =>
        (cluster.Silos[0].ServiceProvider.GetRequiredService<Node>(), cluster.Silos[0].ServiceProvider.GetRequiredService<IGrainFactory>());

    public interface ISequence : IGrainWithIntegerKey
    {
        /// <summary>True when the number follows the one of the call before.</summary>
        Task<bool> Next(int number);
    }

    public sealed class SequenceGrain : Grain, ISequence
    {
        private int _last = -1;

        public Task<bool> Next(int number)
        {
            var follows = number == _last + 1;
            _last = number;
            return Task.FromResult(follows);
        }
    }

    public interface IHolding : IGrainWithIntegerKey
    {
        Task Hold(string gate);

        Task Release();

        Task Echo();
    }

    public sealed class HoldingGrain : Grain, IHolding
    {
        internal static ManualResetEventSlim? Released { get; set; }

        public Task Hold(string gate)
        {
            Gate.Touch(gate);
            Released!.Wait(Gate.Patience);
            return Task.CompletedTask;
        }

        public Task Release()
        {
            Released!.Set();
            return Task.CompletedTask;
        }

        public Task Echo() => Task.CompletedTask;
    }
}
