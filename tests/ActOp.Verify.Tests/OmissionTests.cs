using ActOp.Planted;

namespace ActOp.Verify.Tests;

/// <summary>All sets of lost messages of a commit.</summary>
public sealed class OmissionTests
{
    [Fact]
    public async Task The_first_failure_has_the_fewest_losses_and_can_be_played_again()
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.ExploreOmissions(CommitFaults.TwoPhases.Faulty));
        Assert.Equal(1, found.Plan.Count('!'.Equals));
        Assert.Contains("does not get participant/", found.Message, StringComparison.Ordinal);
        var again = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Replay(1, found.Plan, CommitFaults.TwoPhases.Faulty));
        Assert.Equal(found.Failure, again.Failure);
    }

    [Fact]
    public async Task Each_set_of_lost_messages_is_played_once()
    {
        // Three messages of one hop each: the sets of what is lost are all subsets.
        var seen = new HashSet<string>();
        var report = await Simulation.ExploreOmissions(
            async world =>
            {
                world.Silos.Count = 1;
                await world.Start();
                for (var key = 1; key <= 3; key++)
                    await world.Grains.GetGrain<IGossip>(key).Hear(key);
                await world.Delay(TimeSpan.FromSeconds(1));
                List<string> known = [];
                for (var key = 1; key <= 3; key++)
                    known.AddRange((await world.Grains.GetGrain<IGossip>(key).GetKnown()).Select(static one => one.ToString("D")));
                seen.Add(string.Join(' ', known));
            },
            countAll: true);
        Assert.Equal(new OmissionReport(8, 0, 3, IsComplete: true), report);
        Assert.Equal(8, seen.Count);
    }

    [Fact]
    public async Task A_search_that_is_cut_short_says_so()
    {
        var report = await Simulation.ExploreOmissions(CommitFaults.TwoPhases.Faulty, most: 12, countAll: true);
        Assert.Equal((12, false), (report.Schedules, report.IsComplete));
        Assert.InRange(report.Failures, 1, 11);
        Assert.NotNull(report.First);
    }
}
