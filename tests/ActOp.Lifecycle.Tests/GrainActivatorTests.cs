using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.Metadata;

namespace ActOp.Lifecycle.Tests;

/// <summary>The application makes and disposes the instances of a grain class.</summary>
public class GrainActivatorTests(GrainActivatorTests.OwnActivator cluster) : IClassFixture<GrainActivatorTests.OwnActivator>
{
    private static readonly ConcurrentQueue<string> Disposed = new();

    [Fact]
    public async Task An_activator_of_the_application_makes_and_disposes_the_instances_of_its_class()
    {
        var grain = cluster.Client.GetGrain<IMade>("a");
        Assert.Equal("made for a", await grain.Origin());
        await cluster.Cluster.DeactivateAsync(grain);
        Assert.Contains("a", Disposed);
    }

    [Fact]
    public async Task An_activator_that_makes_nothing_fails_the_call()
    {
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IMade>("nothing").Origin());
        Assert.Contains(nameof(Activator), failure.Message, StringComparison.Ordinal);
    }

    public interface IMade : IGrainWithStringKey
    {
        Task<string> Origin();
    }

    public sealed class MadeGrain(string origin) : Grain, IMade
    {
        public Task<string> Origin() => Task.FromResult(origin);
    }

    public sealed class Configurator(GrainClassMap classes) : IConfigureGrainTypeComponents
    {
        public void Configure(GrainType grainType, GrainProperties properties, GrainTypeSharedContext shared)
        {
            Assert.True(classes.TryGetGrainClass(grainType, out var made));
            Assert.False(classes.TryGetGrainClass(GrainType.Create("no-such-class"), out _));
            if (made == typeof(MadeGrain) && properties.Properties[WellKnownGrainTypeProperties.FullTypeName] == typeof(MadeGrain).FullName)
                shared.SetComponent<IGrainActivator>(new Activator());
        }
    }

    public sealed class OwnActivator() : ClusterFixture(1)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) =>
            silo.Services.AddSingleton<IConfigureGrainTypeComponents, Configurator>();
    }

    private sealed class Activator : IGrainActivator
    {
        public object CreateInstance(IGrainContext context)
        {
            var key = context.GrainId.Key.ToString();
            return key == "nothing" ? null! : new MadeGrain("made for " + key);
        }

        public ValueTask DisposeInstance(IGrainContext context, object instance)
        {
            Disposed.Enqueue(context.GrainId.Key.ToString()!);
            return default;
        }
    }
}
