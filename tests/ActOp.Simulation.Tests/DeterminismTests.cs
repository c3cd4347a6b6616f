namespace ActOp.Simulation.Tests;

/// <summary>One seed, one history: else nothing that the simulator finds could be found again.</summary>
public sealed class DeterminismTests
{
    [Fact]
    public void A_seed_has_the_same_events_in_two_processes_and_whatever_was_played_before_and_others_than_another_seed()
    {
        var together = Simulator.Hashes(Simulator.Start("--seeds", "1-8", "--keep-going", "--hash").Output);
        var again = Simulator.Hashes(Simulator.Start("--seeds", "1-8", "--keep-going", "--hash").Output);
        var later = Simulator.Hashes(Simulator.Start("--seeds", "6-8", "--keep-going", "--hash").Output);
        Assert.Equal(8, together.Count);
        Assert.Equal(8, together.Values.Distinct().Count());
        Assert.Equal(together, again);
        Assert.Equal(3, later.Count);
        Assert.All(later, pair => Assert.Equal(together[pair.Key], pair.Value));
    }

    /// <summary>
    /// A seed in a document or in a test means the same everywhere: neither where the program is, nor the names of files and the numbers of
    /// lines in its stack traces, nor what the compiler has inlined, is in its history. Exceptions cross links in this seed.
    /// </summary>
    [Fact]
    public void A_seed_has_the_same_events_in_another_folder_without_symbols_and_compiled_otherwise()
    {
        var folder = Directory.CreateTempSubdirectory("simulation");
        try
        {
            var (one, other) = (Path.Combine(folder.FullName, "a"), Path.Combine(folder.FullName, "much-longer", "than", "the-other"));
            Copy(one, static _ => true);
            Copy(other, static file => Path.GetExtension(file) != ".pdb");
            string[] arguments = ["--seeds", "3", "--keep-going", "--hash"];
            var hashes = Simulator.HashesInOrder(Simulator.StartIn(one, [], arguments).Output);
            Assert.Single(hashes);
            Assert.Equal(hashes, Simulator.HashesInOrder(
                Simulator.StartIn(other, new() { ["DOTNET_TieredCompilation"] = "0", ["DOTNET_TieredPGO"] = "0" }, arguments).Output));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void A_seed_has_the_same_events_twice_in_one_process()
    {
        var hashes = Simulator.HashesInOrder(Simulator.Start("--seeds", "2,2,4,2", "--keep-going", "--hash").Output);
        Assert.Equal(4, hashes.Length);
        Assert.Equal([hashes[0], hashes[0], hashes[0]], [hashes[0], hashes[1], hashes[3]]);
        Assert.NotEqual(hashes[0], hashes[2]);
    }

    private static void Copy(string target, Func<string, bool> isWanted)
    {
        Directory.CreateDirectory(target);
        foreach (var file in Directory.EnumerateFiles(AppContext.BaseDirectory).Where(isWanted))
            File.Copy(file, Path.Combine(target, Path.GetFileName(file)));
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
    // A grain was collected as idle as soon as it had begun, because its start was longer than the collection age.
    [InlineData("6", "states")]
    public void A_fault_that_was_found_does_not_come_back(string seed, string theme)
    {
        var (code, output) = Simulator.Start("--seed", seed, "--theme", theme);
        Assert.True(code == 0, output);
    }
}
