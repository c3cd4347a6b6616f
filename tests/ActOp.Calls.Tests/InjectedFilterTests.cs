using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Filters that are made by the container and call grains themselves.</summary>
public class InjectedFilterTests(InjectedFilterTests.Injected cluster) : IClassFixture<InjectedFilterTests.Injected>
{
    [Fact]
    public async Task A_filter_of_a_silo_may_call_grains_before_and_after() =>
        Assert.Equal("[in:echo:hello]", await cluster.ClientOf(0).GetGrain<IAudited>("silo").Say("hello"));

    [Fact]
    public async Task Filters_of_client_and_silo_are_made_with_what_their_node_provides() =>
        Assert.Equal("<out:echo:[in:echo:hello]>", await cluster.Client.GetGrain<IAudited>("client").Say("hello"));

    public sealed class Injected() : ClusterFixture(1)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) => silo.AddIncomingGrainCallFilter<Incoming>();

        protected override void ConfigureClient(IClientBuilder client) => client.AddOutgoingGrainCallFilter<Outgoing>();
    }

    private sealed class Incoming(IGrainFactory grains, ILocalSiloDetails silo) : IIncomingGrainCallFilter
    {
        public async Task Invoke(IIncomingGrainCallContext context)
        {
            await context.Invoke();
            if (context.InterfaceMethod.DeclaringType == typeof(IAudited) && silo.SiloAddress is not null)
                context.Result = "[in:" + await grains.GetGrain<IEchoGrain>("incoming").Echo("echo") + ":" + context.Result + "]";
        }
    }

    private sealed class Outgoing(IClusterClient client) : IOutgoingGrainCallFilter
    {
        public async Task Invoke(IOutgoingGrainCallContext context)
        {
            await context.Invoke();
            if (context.InterfaceMethod.DeclaringType == typeof(IAudited))
                context.Result = "<out:" + await client.GetGrain<IEchoGrain>("outgoing").Echo("echo") + ":" + context.Result + ">";
        }
    }

    public interface IAudited : IGrainWithStringKey
    {
        Task<string> Say(string text);
    }

    public sealed class AuditedGrain : Grain, IAudited
    {
        public Task<string> Say(string text) => Task.FromResult(text);
    }
}
