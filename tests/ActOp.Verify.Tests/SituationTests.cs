namespace ActOp.Verify.Tests;

/// <summary>A grain that counts.</summary>
public interface ITally : IGrainWithStringKey
{
    Task<int> Add();
}

public sealed class Tally : Grain, ITally
{
    private int _count;

    public Task<int> Add() => Task.FromResult(++_count);
}

/// <summary>What a test makes happen itself, and what must happen in some run.</summary>
public sealed class SituationTests
{
    private const int Passed = 15;

    [Fact]
    public async Task An_answer_that_is_held_arrives_when_it_is_released_and_the_call_has_run_once()
    {
        var report = await Simulation.Explore(Passed, static async world =>
        {
            await world.Start();
            var tally = world.Grains.GetGrain<ITally>("one");
            world.Check(await tally.Add() == 1, "It does not begin with 1.");
            for (var silo = 1; silo <= world.Silos.Count; silo++)
                world.Faults.Hold(silo, 0);
            var held = tally.Add();
            await world.Delay(TimeSpan.FromMilliseconds(500));
            world.Check(!held.IsCompleted, "The answer was not held.");
            world.Sometimes(!held.IsCompleted, "held");
            for (var silo = 1; silo <= world.Silos.Count; silo++)
                world.Faults.Release(silo, 0);
            world.Check(await held == 2, "The call has not run once.");
            world.Check(await tally.Add() == 3, "The call has not run once.");
        });
        Assert.Equal(report.Runs, report.Situations["held"]);
    }

    [Fact]
    public async Task A_situation_that_no_run_reaches_fails_the_exploration_and_is_named()
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(3, static async world =>
        {
            await world.Start();
            var count = await world.Grains.GetGrain<ITally>("one").Add();
            world.Sometimes(count == 1, "the first one");
            world.Sometimes(count == 2, "the second one");
        }));
        Assert.Equal(("In none of 3 runs was it ever so: \"the second one\".", 0UL), (found.Failure, found.Seed));
        Assert.Contains("play more seeds", found.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Faults_of_the_test_name_nodes_that_are_there()
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(1, static async world =>
        {
            await world.Start();
            world.Faults.Hold(0, world.Silos.Count + 1);
        }));
        Assert.Contains("Silos have the numbers 1 to 3", found.Failure, StringComparison.Ordinal);
    }
}
