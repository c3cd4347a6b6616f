using System.Globalization;
using ActOp.Testing.Simulated;

// A simulation takes the thread pool of the process.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace ActOp.Verify.Tests;

/// <summary>What tests of planted faults have in common.</summary>
internal static class Planted
{
    /// <summary>Each planted fault is found by one of so many seeds.</summary>
    internal const int MostSeeds = 1000;

    /// <summary>Seeds that a grain without the fault passes.</summary>
    internal const int Passed = 15;

    /// <summary>On a machine that is busy with other things, reducing takes long.</summary>
    private static readonly SimulationBudget Patient = new() { RealTime = TimeSpan.FromMinutes(10) };

    /// <summary>Repeats what fails, as clients do, until it has succeeded.</summary>
    internal static async Task RetryAsync(SimulationWorld world, Func<Task> call)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                await call();
                return;
            }
            catch (Exception exception) when (exception is not SimulationException && attempt < 40)
            {
                world.Note("retries after " + exception.GetType().Name);
                await world.Delay(TimeSpan.FromMilliseconds(250));
            }
        }
    }

    /// <summary>The simulation finds a fault, and its message says which, with a story and a line that reproduces it.</summary>
    internal static async Task<SimulationException> FindAsync(Func<SimulationWorld, Task> test, string failure)
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(MostSeeds, test, Patient));
        TestContext.Current.TestOutputHelper?.WriteLine(found.Message);
        Assert.Contains(failure, found.Failure, StringComparison.Ordinal);
        Assert.Contains("with seed " + found.Seed.ToString(CultureInfo.InvariantCulture), found.Message, StringComparison.Ordinal);
        Assert.Contains("await Simulation.Replay(" + found.Seed.ToString(CultureInfo.InvariantCulture), found.Message,
            StringComparison.Ordinal);
        var again = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Replay(found.Seed, found.Plan, test));
        Assert.Equal(found.Failure, again.Failure);
        return found;
    }

    /// <summary>So much of the failure is left, at most.</summary>
    internal static void AssertReduced(SimulationException found, int faults, int commands)
    {
        var plan = RunPlan.Parse(found.Plan);
        Assert.InRange(plan.Faults!.Count, 0, faults);
        Assert.InRange(plan.Commands!.Count, 0, commands);
    }
}
