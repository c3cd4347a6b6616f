using ActOp.Testing;
using Orleans.TestingHost;
using Xunit;

// A simulation takes the thread pool of the process: no other test runs beside it.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace ActOpSilo.Tests;

public class CounterTests
{
    [Fact]
    public async Task A_counter_counts()
    {
        // Silos and a client in this process; the state is in memory.
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((_, silo) => silo.AddMemoryGrainStorageAsDefault());
        await using var cluster = builder.Build();
        await cluster.DeployAsync(TestContext.Current.CancellationToken);
        var counter = cluster.Client.GetGrain<ICounterGrain>("tea");
        await counter.Add(2);
        Assert.Equal(3, await counter.Add(1));
    }

    // Each seed is another history of three silos in virtual time. A failure tells its story, and how to play it again.
    [Fact]
    public Task A_count_that_was_returned_outlives_crashes_of_silos() => Simulation.Explore(seeds: 20, async world =>
    {
        world.Silos.Configure(silo => silo.AddMemoryGrainStorageAsDefault());
        world.RandomFaults(crash: true);
        await world.Start();
        var counter = world.Grains.GetGrain<ICounterGrain>("tea");
        var returned = 0;
        for (var number = 1; number <= 5; number++)
        {
            await world.Command("add " + number, async () =>
            {
                try
                {
                    returned = await counter.Add(1);
                }
                catch (Exception)
                {
                    world.Note("the client does not know whether it was added");
                }
            });
        }

        await world.Settle();
        var count = await counter.Get();
        world.Check(count >= returned, $"The counter has {count}, but {returned} was returned.");
    });
}
