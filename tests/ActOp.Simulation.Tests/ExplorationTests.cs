namespace ActOp.Simulation.Tests;

/// <summary>Scenarios in which one request between nodes goes wrong.</summary>
public sealed class ExplorationTests
{
    [Fact]
    public void Every_request_of_the_runtime_is_played_by_a_scenario_or_has_a_reason()
    {
        var (code, output) = Simulator.Start("--explore", "all", "--budget", "0");
        Assert.True(code == 0, output);
        Assert.Contains("unreached", output, StringComparison.Ordinal);
    }

    [Fact]
    public void An_interference_has_the_same_events_in_two_processes()
    {
        var one = Simulator.Start("--explore", "move", "--at", "8", "--way", "answer", "--hash").Output;
        Assert.Contains("happened    1 of 1", one, StringComparison.Ordinal);
        Assert.Equal(one, Simulator.Start("--explore", "move", "--at", "8", "--way", "answer", "--hash").Output);
    }

    /// <summary>What was found.</summary>
    /// <param name="scenario">The scenario.</param>
    /// <param name="kinds">The requests.</param>
    /// <param name="ways">What became of them.</param>
    [Theory]
    // The failure of an acknowledgement left the agent as that of background work, and nothing repeated it.
    [InlineData("streams", "IMemoryQueue.Acknowledge", "answer,silent")]
    // A silo was told of a reminder, could not read it, and did not read it again.
    [InlineData("remind", "IReminderTarget.Register", "sendercut")]
    public void A_fault_that_was_found_does_not_come_back(string scenario, string kinds, string ways)
    {
        var (code, output) = Simulator.Start("--explore", scenario, "--kinds", kinds, "--ways", ways, "--depth", "3");
        Assert.True(code == 0, output);
        Assert.DoesNotContain(" 1 runs", output, StringComparison.Ordinal);
    }
}
