using ActOp.TestClusters;

namespace ActOp.Lifecycle.Tests;

/// <summary>Grains may have another clock than the silo that they are on.</summary>
public sealed class GrainClockTests
{
    [Fact]
    public async Task Timers_of_grains_follow_their_own_clock_while_the_silo_runs_in_real_time()
    {
        var clock = new FakeClock();
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.Services.AddSingleton<TimeProvider>(clock);
            silo.Services.UseTimeProviderForBackgroundAreas(TimeProvider.System);
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        Assert.Equal(0, clock.Waiting);
        var grain = cluster.Client.GetGrain<IHourly>(1);
        Assert.Equal(clock.GetUtcNow(), await grain.Start());
        Assert.Equal(1, clock.Waiting);
        clock.Advance(TimeSpan.FromHours(1));
        await grain.Ticked().WaitAsync(Gate.Patience);
        await cluster.StopAllSilosAsync();
        Assert.Equal(0, clock.Waiting);
    }

    public interface IHourly : IGrainWithIntegerKey
    {
        Task<DateTimeOffset> Start();

        Task Ticked();
    }

    public sealed class Hourly : Grain, IHourly
    {
        private readonly TaskCompletionSource _ticked = new();

        public Task<DateTimeOffset> Start()
        {
            this.RegisterGrainTimer(
                () =>
                {
                    _ticked.TrySetResult();
                    return Task.CompletedTask;
                },
                new GrainTimerCreationOptions(TimeSpan.FromHours(1), TimeSpan.FromHours(1)) { Interleave = true });
            return Task.FromResult(ServiceProvider.GetRequiredService<IGrainRuntime>().TimeProvider.GetUtcNow());
        }

        public Task Ticked() => _ticked.Task;
    }
}
