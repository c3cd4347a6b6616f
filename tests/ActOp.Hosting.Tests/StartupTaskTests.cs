using ActOp.TestClusters;

namespace ActOp.Hosting.Tests;

/// <summary>What applications do when a silo starts.</summary>
public class StartupTaskTests(StartupTaskTests.Prepared cluster) : IClassFixture<StartupTaskTests.Prepared>
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task A_startup_task_calls_grains(long key) =>
        Assert.Equal(2, await cluster.Client.GetGrain<IPreparedGrain>(key).Count());

    [Fact]
    public async Task A_startup_task_that_fails_fails_the_start_with_its_exception()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.AddStartupTask(
            static async (services, _) => await services.GetRequiredService<IGrainFactory>().GetGrain<IPreparedGrain>(1).Fail()));
        await using var failing = builder.Build();
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => failing.DeployAsync());
        Assert.Contains("failed on purpose", exception.ToString(), StringComparison.Ordinal);
    }

    public interface IPreparedGrain : IGrainWithIntegerKey
    {
        Task Add();

        Task Fail();

        Task<int> Count();
    }

    public sealed class PreparedGrain : Grain, IPreparedGrain
    {
        private int _count;

        public Task Add()
        {
            _count++;
            return Task.CompletedTask;
        }

        public Task Fail() => throw new InvalidOperationException("failed on purpose");

        public Task<int> Count() => Task.FromResult(_count);
    }

    public sealed class CallingTask(IGrainFactory factory) : IStartupTask
    {
        public Task Execute(CancellationToken cancellationToken) => factory.GetGrain<IPreparedGrain>(1).Add();
    }

    /// <summary>Two silos, each with the same tasks.</summary>
    public sealed class Prepared() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.AddStartupTask<CallingTask>();
            silo.AddStartupTask(static async (services, _) => await services.GetRequiredService<IClusterClient>()
                .GetGrain<IPreparedGrain>(2).Add());
            silo.AddStartupTask(
                static async (services, _) => await services.GetRequiredService<IGrainFactory>().GetGrain<IPreparedGrain>(3).Add(),
                ServiceLifecycleStage.BecomeActive);
        }
    }
}
