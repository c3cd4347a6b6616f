using System.Globalization;
using ActOp.Planted;

namespace ActOp.Verify.Tests;

/// <summary>Each fault of <see cref="PlantedFault"/> is found and reduced, and the same grains without it pass.</summary>
public sealed class PlantedTests
{
    /// <summary>Seeds that a grain without the fault passes.</summary>
    private const int Passed = 15;

    public static TheoryData<string> Names => [.. PlantedFault.All.Select(static one => one.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task A_planted_fault_is_found_reduced_and_played_again(string name)
    {
        var fault = Named(name);
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(PlantedFault.MostSeeds, fault.Faulty, PlantedFault.Patient));
        TestContext.Current.TestOutputHelper?.WriteLine(found.Message);
        Assert.Contains(fault.Failure, found.Failure, StringComparison.Ordinal);
        var seed = found.Seed.ToString(CultureInfo.InvariantCulture);
        Assert.Contains("with seed " + seed, found.Message, StringComparison.Ordinal);
        Assert.Contains("await Simulation.Replay(" + seed, found.Message, StringComparison.Ordinal);
        Assert.StartsWith("sequenceDiagram", found.Diagram, StringComparison.Ordinal);
        Assert.InRange(found.FaultCount, 0, fault.MostFaults);
        Assert.InRange(found.CommandCount, 0, fault.MostCommands);
        var again = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Replay(found.Seed, found.Plan, fault.Faulty));
        Assert.Equal(found.Failure, again.Failure);
    }

    [Theory]
    [MemberData(nameof(Names))]
    public async Task The_same_grains_without_the_fault_pass(string name)
    {
        var report = await Simulation.Explore(Passed, Named(name).Sound, PlantedFault.Patient);
        TestContext.Current.TestOutputHelper?.WriteLine(report.ToString());
        Assert.Equal(Passed, report.Runs);
        Assert.True(report.Calls >= Passed);
    }

    private static PlantedFault Named(string name) => PlantedFault.All.Single(one => one.Name == name);
}
