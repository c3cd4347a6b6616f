using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

public class ClassAgeTests(ClassAgeTests.Aged cluster) : IClassFixture<ClassAgeTests.Aged>
{
    [Fact]
    public async Task A_class_has_the_collection_age_that_the_options_give_it()
    {
        var aged = cluster.Silo.GetGrain<IAged>(0);
        var ordinary = cluster.Silo.GetGrain<IEchoGrain>("a");
        await aged.Touch();
        await ordinary.Echo("a");
        var (endOfAged, endOfOrdinary) =
            (cluster.Cluster.WaitForDeactivationAsync(aged), cluster.Cluster.WaitForDeactivationAsync(ordinary));
        await cluster.Cluster.RestAsync(aged);
        cluster.Clock.Advance(TimeSpan.FromMinutes(3));
        await endOfAged.WaitAsync(Gate.Patience);
        Assert.False(endOfOrdinary.IsCompleted);
    }

    public interface IAged : IGrainWithIntegerKey
    {
        Task Touch();
    }

    public sealed class AgedGrain : Grain, IAged
    {
        public Task Touch() => Task.CompletedTask;
    }

    public sealed class Aged : VirtualTime
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            base.ConfigureSilo(silo);
            silo.Configure<GrainCollectionOptions>(
                options => options.ClassSpecificCollectionAge[typeof(AgedGrain).FullName!] = TimeSpan.FromMinutes(2));
        }
    }
}
