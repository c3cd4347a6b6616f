namespace ActOp.Simulation.Tests;

/// <summary>One seed, one history: else nothing that the simulator finds could be found again.</summary>
public sealed class DeterminismTests
{
    [Fact]
    public void A_seed_has_the_same_events_in_two_processes_and_whatever_was_played_before()
    {
        var together = Simulator.Hashes(Simulator.Start("--seeds", "1-8", "--keep-going", "--hash").Output);
        var again = Simulator.Hashes(Simulator.Start("--seeds", "1-8", "--keep-going", "--hash").Output);
        var later = Simulator.Hashes(Simulator.Start("--seeds", "6-8", "--keep-going", "--hash").Output);
        Assert.Equal(8, together.Count);
        Assert.Equal(together, again);
        Assert.Equal(3, later.Count);
        Assert.All(later, pair => Assert.Equal(together[pair.Key], pair.Value));
    }

    [Fact]
    public void Different_seeds_have_different_events()
    {
        var hashes = Simulator.Hashes(Simulator.Start("--seeds", "1-4", "--keep-going", "--hash").Output);
        Assert.Equal(4, hashes.Values.Distinct().Count());
    }

    [Fact]
    public void A_traced_run_is_the_run_itself_and_its_trace_is_the_same_to_the_letter()
    {
        var folder = Directory.CreateTempSubdirectory("simulation");
        try
        {
            var (one, other) = (Path.Combine(folder.FullName, "one"), Path.Combine(folder.FullName, "other"));
            var plain = Simulator.Hashes(Simulator.Start("--seed", "2", "--hash").Output);
            Assert.Equal(plain, Simulator.Hashes(Simulator.Start("--seed", "2", "--hash", "--trace", one).Output));
            Simulator.Start("--seed", "2", "--trace", other);
            Assert.True(File.ReadLines(one).Count() > 1000);
            Assert.Equal(File.ReadAllText(one), File.ReadAllText(other));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>Seeds that have found faults. They play something else when what they are drawn from changes.</summary>
    /// <param name="seed">The seed.</param>
    /// <param name="theme">Its theme.</param>
    [Theory]
    // A slot was rebuilt while the directory was told of an end, and the grain went on with the state of its life before.
    [InlineData("1272", "moves")]
    public void A_fault_that_was_found_does_not_come_back(string seed, string theme)
    {
        var (code, output) = Simulator.Start("--seed", seed, "--theme", theme);
        Assert.True(code == 0, output);
    }
}
