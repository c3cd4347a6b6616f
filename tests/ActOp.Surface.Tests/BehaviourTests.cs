using ActOp.TestClusters;

namespace ActOp.Surface.Tests;

/// <summary>Small behaviours that applications written for Orleans rely on.</summary>
public class BehaviourTests(BehaviourTests.Watched cluster) : IClassFixture<BehaviourTests.Watched>
{
    [Fact]
    public async Task A_stateless_worker_whose_constructor_throws_fails_its_callers()
    {
        var worker = cluster.Client.GetGrain<IBrokenWorker>("a");
        var first = await Assert.ThrowsAsync<InvalidOperationException>(worker.Touch);
        Assert.Contains("broken on purpose", Assert.IsType<ArgumentException>(first.InnerException).Message, StringComparison.Ordinal);
        var both = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Record.ExceptionAsync(worker.Touch).AsTask()));
        Assert.All(both, exception => Assert.IsType<ArgumentException>(Assert.IsType<InvalidOperationException>(exception).InnerException));
    }

    [Fact]
    public void The_primary_key_of_a_grain_with_a_number_is_a_guid_too()
    {
        var grain = cluster.Client.GetGrain<INumbered>(0x0102030405060708);
        Assert.Equal(new Guid(0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1), grain.GetPrimaryKey());
        Assert.Equal(0x0102030405060708, grain.GetPrimaryKeyLong());
        Assert.Throws<InvalidOperationException>(() => cluster.Client.GetGrain<IBrokenWorker>("no number").GetPrimaryKey());
    }

    [Fact]
    public async Task A_filter_of_a_client_sees_the_observer_itself_as_the_grain()
    {
        var observer = new Hearer();
        var reference = cluster.Client.CreateObjectReference<IHearer>(observer);
        await cluster.Client.GetGrain<INumbered>(1).Tell(reference);
        Assert.Same(observer, cluster.Seen.Single());
        GC.KeepAlive(observer);
    }

    [Fact]
    public async Task Activations_of_a_class_are_configured_before_their_objects_are_made()
    {
        Assert.Equal("configured", await cluster.Client.GetGrain<IConfigured>(1).Component());
        Assert.Equal("configured", await cluster.Client.GetGrain<IConfigured>(2).Component());
    }

    public interface IConfigured : IGrainWithIntegerKey
    {
        Task<string?> Component();
    }

    public interface IBrokenWorker : IGrainWithStringKey
    {
        Task Touch();
    }

    public interface INumbered : IGrainWithIntegerKey
    {
        Task Tell(IHearer hearer);
    }

    public interface IHearer : IGrainObserver
    {
        Task Hear();
    }

    public sealed class ConfiguredGrain(IGrainContext context) : Grain, IConfigured
    {
        private readonly string? _component = context.GetComponent<string>();

        public Task<string?> Component() => Task.FromResult(_component);
    }

    public sealed class Configurator : IConfigureGrainContextProvider, IConfigureGrainContext
    {
        public bool TryGetConfigurator(
            GrainType grainType, Orleans.Metadata.GrainProperties properties, out IConfigureGrainContext? configurator)
        {
            var mine = properties.Properties[Orleans.Metadata.WellKnownGrainTypeProperties.TypeName] == nameof(ConfiguredGrain);
            configurator = mine ? this : null;
            return mine;
        }

        public void Configure(IGrainContext context) => context.SetComponent("configured");
    }

    [StatelessWorker(2)]
    public sealed class BrokenWorkerGrain : Grain, IBrokenWorker
    {
        public BrokenWorkerGrain() => throw new ArgumentException("broken on purpose");

        public Task Touch() => Task.CompletedTask;
    }

    public sealed class NumberedGrain : Grain, INumbered
    {
        public Task Tell(IHearer hearer) => hearer.Hear();
    }

    public sealed class Hearer : IHearer
    {
        public Task Hear() => Task.CompletedTask;
    }

    public sealed class Watched() : ClusterFixture(2)
    {
        public System.Collections.Concurrent.ConcurrentQueue<object> Seen { get; } = new();

        protected override void ConfigureSilo(ISiloBuilder silo) =>
            silo.Services.AddSingleton<IConfigureGrainContextProvider, Configurator>();

        protected override void ConfigureClient(IClientBuilder client) => client.AddIncomingGrainCallFilter(async context =>
        {
            Seen.Enqueue(context.Grain);
            await context.Invoke();
        });
    }
}
