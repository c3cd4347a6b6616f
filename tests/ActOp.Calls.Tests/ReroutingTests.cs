using ActOp.Calls;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Serialization.Invocation;

namespace ActOp.Calls.Tests;

public class ReroutingTests(VirtualTime cluster) : IClassFixture<VirtualTime>
{
    /// <summary>More hops than those without a pause.</summary>
    private const byte Hops = 10;

    /// <summary>One thread serves all timers of a process: it must not encode and send.</summary>
    [Fact]
    public async Task A_call_that_has_paused_goes_on_from_a_stage()
    {
        var node = cluster.Silo.ServiceProvider.GetRequiredService<Node>();
        var grain = cluster.Silo.GetGrain<IEchoGrain>("rerouted");
        Assert.Equal("here", await grain.Echo("here"));
        Assert.True(node.Activations.TryGet(grain.GetGrainId(), out var activation));
        var call = new ProbeCall(node, (GrainReference)grain, Hops);
        node.Router.Reroute(call, activation);
        await cluster.Clock.TimerSetAsync(TimeSpan.FromMilliseconds(20)).WaitAsync(Gate.Patience);
        Assert.False(call.Copied.IsCompleted);
        // On a thread of its own, as that of the timers is: one of the pool would run the call's turn itself when it is free.
        var timers = new Thread(() => cluster.Clock.Advance(TimeSpan.FromMilliseconds(20)));
        timers.Start();
        Assert.StartsWith("actop-work", await call.Copied.WaitAsync(Gate.Patience), StringComparison.Ordinal);
    }

    /// <summary>Two forwards are by stored locations; the option says how many follow by the directory before pauses begin.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(7)]
    public async Task A_call_pauses_before_forwards_beyond_the_configured_number(int maxForwards)
    {
        await using var silos = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<SiloMessagingOptions>(options => options.MaxForwardCount = maxForwards), silos: 1);
        var node = silos.NodeOf(0);
        var grain = silos.Grains.GetGrain<IEchoGrain>("forwarded");
        await grain.Echo("here");
        Assert.True(node.Activations.TryGet(grain.GetGrainId(), out var activation));
        var (last, beyond) =
            (new ProbeCall(node, (GrainReference)grain, (byte)(1 + maxForwards)),
                new ProbeCall(node, (GrainReference)grain, (byte)(2 + maxForwards)));
        node.Router.Reroute(last, activation);
        await last.Copied.WaitAsync(Gate.Patience);
        node.Router.Reroute(beyond, activation);
        await silos.Clock.TimerSetAsync(TimeSpan.FromMilliseconds(20)).WaitAsync(Gate.Patience);
        Assert.False(beyond.Copied.IsCompleted);
        silos.Clock.Advance(TimeSpan.FromMilliseconds(20));
        await beyond.Copied.WaitAsync(Gate.Patience);
    }

    private sealed class ProbeCall : VoidRequest
    {
        private static readonly CallMethod Probe = new(
            typeof(IEchoGrain), "IProbe", "Probe", 0, InvokeMethodOptions.OneWay, null, static () =>
                typeof(IEchoGrain).GetMethod(nameof(IEchoGrain.Where))!);

        private readonly TaskCompletionSource<string> _copied = new(TaskCreationOptions.RunContinuationsAsynchronously);

        internal ProbeCall(Node node, GrainReference reference, byte forwards)
        {
            Runtime = node.Calls;
            Reference = reference;
            Origin = CallOrigin.Nobody;
            Flags = InvokeMethodOptions.OneWay;
            Forwards = forwards;
            Unpooled = true;
        }

        /// <summary>The name of the thread that has copied the arguments, as the sending of a call does first.</summary>
        internal Task<string> Copied => _copied.Task;

        public override CallMethod Method => Probe;

        public override object? GetTarget() => null;

        public override void SetTarget(ITargetHolder holder)
        {
        }

        public override void CopyArguments(CopyContext context) => _copied.TrySetResult(Thread.CurrentThread.Name ?? "");

        public override void Recycle()
        {
        }

        protected override void InvokeInner()
        {
        }
    }
}
