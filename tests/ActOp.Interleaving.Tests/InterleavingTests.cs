using ActOp.Interleaving.Tests.Exploring;
using ActOp.Models;
using ActOp.Staging;

[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace ActOp.Interleaving.Tests;

/// <summary>
/// The protocols of stages, mailboxes, calls, links and peers in all orders of steps that a search tries, and the same search on sources
/// with planted faults.
/// </summary>
public sealed class InterleavingTests(ITestOutputHelper output)
{
    /// <summary>Schedules for each strategy. The variable makes a longer search, for instance by night.</summary>
    private static readonly int Budget = int.TryParse(Environment.GetEnvironmentVariable("ACTOP_SCHEDULES"), out var budget) ? budget : 80;

    public static TheoryData<string> OfStages => [.. StageModels.Names];

    public static TheoryData<string> OfNodes => [.. NodeModels.Names];

    public static TheoryData<string> Mutations => [.. MutationTable.All.Select(static mutation => mutation.Id)];

    [Theory]
    [MemberData(nameof(OfStages))]
    public void No_schedule_loses_work_or_runs_it_twice_or_spins_or_begins_after_the_end(string model) =>
        Search(() => StageModels.Create(model));

    [Theory]
    [MemberData(nameof(OfNodes))]
    public void No_schedule_loses_a_request_a_call_a_frame_or_a_cancellation(string model) => Search(() => NodeModels.Create(model));

    [Theory]
    [MemberData(nameof(Mutations))]
    public void A_planted_fault_is_found(string id)
    {
        var mutation = MutationTable.All.Single(one => one.Id == id);
        var result = Exploring.Search.With(mutation.Strategy, mutation.Compile(), mutation.Schedules);
        output.WriteLine(result.ToString());
        Assert.NotNull(result.Finding);
    }

    /// <summary>What is explored is what ships: the doubles come in by their names alone.</summary>
    [Fact]
    public void The_explored_sources_have_no_part_that_is_compiled_for_tests_only()
    {
        string[] files = ["Stage.cs", "Roster.cs", "Worker.cs", "BorrowedWorkers.cs", "InlineRuns.cs", "Mailbox.cs", "Call.cs",
            "CallRegistry.cs", "CallCancellation.cs", "CancellableCalls.cs", "Cancellations.cs", "LinkSender.cs", "LinkFlusher.cs",
            "PeerEntry.cs", "PeerEntries.cs"];
        var sources = Mutation.Sources("stage").Concat(Mutation.Sources("node")).Where(source => files.Contains(source.Name)).ToArray();
        Assert.Equal(files.Length, sources.Length);
        foreach (var (name, text) in sources)
        {
            Assert.DoesNotContain("#if", text, StringComparison.Ordinal);
            Assert.DoesNotContain("Interleaver", text, StringComparison.Ordinal);
            Assert.Contains("namespace ActOp.", text, StringComparison.Ordinal);
            Assert.NotEmpty(name);
        }
    }

    /// <summary>
    /// Doubles are found by the names of methods. Reads and writes of volatile fields have none, and would be no places to switch.
    /// </summary>
    [Fact]
    public void The_explored_sources_have_no_volatile_field_that_is_written_after_it_was_published()
    {
        // Written once, under a lock, and read beside it only to say why a call is refused; written once, by a hint that others check.
        string[] permitted = ["_closed", "IsRemoved", "Accepts"];
        foreach (var (name, text) in Mutation.Sources("node").Where(static source => !source.Name.Contains('/')))
        {
            var fields = text.Split('\n').Where(static line => line.Contains(" volatile ", StringComparison.Ordinal) && line.Contains(';'));
            Assert.All(fields, line => Assert.Contains(permitted, one => line.Contains(" " + one + ";", StringComparison.Ordinal)));
            Assert.NotEmpty(name);
        }
    }

    private void Search(Func<Model> create)
    {
        foreach (var result in Exploring.Search.All(create, Budget))
        {
            output.WriteLine(result.ToString());
            Assert.Null(result.Finding);
        }
    }
}
