using ActOp.Staging.Interleaving.Tests.Exploring;

[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace ActOp.Staging.Interleaving.Tests;

/// <summary>
/// The protocols of a stage in all orders of steps that a search tries, and the same search on stages with planted faults.
/// </summary>
public sealed class InterleavingTests(ITestOutputHelper output)
{
    /// <summary>Schedules for each strategy. The variable makes a longer search, for instance by night.</summary>
    private static readonly int Budget = int.TryParse(Environment.GetEnvironmentVariable("ACTOP_SCHEDULES"), out var budget) ? budget : 80;

    public static TheoryData<string> Models => [.. StageModels.Names];

    public static TheoryData<string> Mutations => [.. MutationTable.All.Select(static mutation => mutation.Id)];

    [Theory]
    [MemberData(nameof(Models))]
    public void No_schedule_loses_work_or_runs_it_twice_or_spins_or_begins_after_the_end(string model)
    {
        foreach (var result in Search.All(() => StageModels.Create(model), Budget))
        {
            output.WriteLine(result.ToString());
            Assert.Null(result.Finding);
        }
    }

    [Theory]
    [MemberData(nameof(Mutations))]
    public void A_planted_fault_is_found(string id)
    {
        var mutation = MutationTable.All.Single(one => one.Id == id);
        var result = Search.With(mutation.Strategy, mutation.Compile(), mutation.Schedules);
        output.WriteLine(result.ToString());
        Assert.NotNull(result.Finding);
    }

    /// <summary>What is explored is what ships: the doubles come in by their names alone.</summary>
    [Fact]
    public void The_explored_sources_have_no_part_that_is_compiled_for_tests_only()
    {
        string[] files = ["Stage.cs", "Roster.cs", "Worker.cs", "BorrowedWorkers.cs", "InlineRuns.cs"];
        var sources = Mutation.Sources().Where(source => files.Contains(source.Name)).ToArray();
        Assert.Equal(files.Length, sources.Length);
        foreach (var (name, text) in sources)
        {
            Assert.DoesNotContain("#if", text, StringComparison.Ordinal);
            Assert.DoesNotContain("Interleaver", text, StringComparison.Ordinal);
            Assert.DoesNotContain("lock (", text, StringComparison.Ordinal);
            Assert.Contains("namespace ActOp.Staging;", text, StringComparison.Ordinal);
            Assert.NotEmpty(name);
        }
    }
}
