using ActOp.Harness.Activations;
using ActOp.Outages.Checks;
using ActOp.Outages.Cluster;
using ActOp.Outages.Load;
using ActOp.Outages.Networks;
using ActOp.Outages.Runs;

namespace ActOp.Outages.Tests;

/// <summary>The checks of a run on histories whose answer is known, and its parts without processes.</summary>
public sealed class CheckTests
{
    private static readonly Guid First = Guid.NewGuid();
    private static readonly Guid Second = Guid.NewGuid();

    private static Window Of(FaultKind kind, long from = 100, long settled = 200) => new(new Fault(kind, 0, 1), from, settled - 10, settled, settled + 50);

    [Fact]
    public void A_failure_is_explained_by_a_fault_of_a_fitting_kind_that_it_overlaps()
    {
        var call = new Call { From = 150, To = 250, Error = "SiloUnavailableException", Text = "" };
        Assert.NotNull(Explanations.Find([Of(FaultKind.Kill)], call));
        Assert.NotNull(Explanations.Find([Of(FaultKind.Kill)], call with { From = 50, To = 110 }));
        Assert.Null(Explanations.Find([Of(FaultKind.Kill)], call with { From = 201 }));
        Assert.Null(Explanations.Find([Of(FaultKind.Kill)], call with { From = 50, To = 99 }));
        Assert.Null(Explanations.Find([Of(FaultKind.Clock), Of(FaultKind.Slow), Of(FaultKind.DatabaseKill)], call));
        Assert.Null(Explanations.Find([Of(FaultKind.Kill)], call with { Error = "NullReferenceException" }));
        Assert.NotNull(Explanations.Find([Of(FaultKind.DatabaseKill)], call with { Error = "OrleansException(NpgsqlException)" }));
    }

    [Fact]
    public void Unexplained_failures_are_violations_and_explained_ones_are_counted()
    {
        var result = new OutageResult { Options = new OutageOptions() };
        var failed = new Call { Kind = Role.Register, Key = 1, From = 120, To = 130, Error = "TimeoutException", Text = "late" };
        Tally.Count([failed, failed with { From = 300, To = 301 }, failed with { From = 140, To = 190, Error = null }], [Of(FaultKind.Kill)], result);
        Assert.Equal((3, 2), (result.Calls, result.Failed));
        Assert.Equal(1, result.Kinds["Kill"].Failed["TimeoutException"]);
        Assert.Equal(TimeSpan.FromTicks(70).TotalSeconds, result.Kinds["Kill"].Unavailable);
        Assert.Equal(1, result.Unexplained["TimeoutException"]);
        Assert.StartsWith("unexplained", Assert.Single(result.Faults), StringComparison.Ordinal);
    }

    [Fact]
    public void A_counter_in_memory_begins_anew_because_of_a_fault_only()
    {
        Call[] calls = [Added(1, First, 90, 95), Added(2, First, 96, 105), Added(1, Second, 150, 160)];
        Assert.Empty(HistoryCheck.Run(calls, [Of(FaultKind.Kill)]).Faults);
        Assert.Contains(HistoryCheck.Run(calls, [Of(FaultKind.Clock)]).Faults, static fault => fault.Contains("forgotten without", StringComparison.Ordinal));
        Assert.Contains(HistoryCheck.Run(calls, [Of(FaultKind.Kill, 300, 400)]).Faults, static fault => fault.Contains("forgotten without", StringComparison.Ordinal));
    }

    [Fact]
    public void An_older_activation_that_answers_after_a_newer_one_is_found()
    {
        Call[] calls = [Added(1, First, 90, 95), Added(1, Second, 150, 160), Added(2, First, 170, 180)];
        Assert.Contains(HistoryCheck.Run(calls, [Of(FaultKind.Kill)]).Faults, static fault => fault.Contains("answered a call", StringComparison.Ordinal));
    }

    [Fact]
    public void A_counter_in_memory_is_linearizable_within_an_activation()
    {
        Call[] calls = [Added(1, First, 90, 95), Added(3, First, 96, 99)];
        Assert.Contains(HistoryCheck.Run(calls, []).Faults, static fault => fault.Contains("not linearizable", StringComparison.Ordinal));
        Call lost = new() { Kind = Role.Memory, Key = 1, Verb = Verb.Add, From = 80, To = 90, Error = "TimeoutException" };
        Assert.Empty(HistoryCheck.Run([.. calls, lost], []).Faults);
    }

    [Fact]
    public void Ids_that_are_lost_or_done_twice_or_of_nobody_are_found()
    {
        Call add = new() { Kind = Role.Counter, Key = 1, Verb = Verb.Add, Argument = 7, Result = 1, From = 1, To = 2 };
        Call list = new() { Kind = Role.Counter, Key = 1, Verb = Verb.Read, IsList = true, List = [7], From = 3, To = 4 };
        Assert.Empty(HistoryCheck.Run([add, list], []).Faults);
        Assert.Contains("lost", Assert.Single(HistoryCheck.Run([add, list with { List = [] }], []).Faults), StringComparison.Ordinal);
        Assert.Contains("twice", Assert.Single(HistoryCheck.Run([add, list with { List = [7, 7] }], []).Faults), StringComparison.Ordinal);
        Assert.Contains("nobody", Assert.Single(HistoryCheck.Run([add, list with { List = [7, 8] }], []).Faults), StringComparison.Ordinal);
    }

    [Fact]
    public void Streams_deliver_each_acknowledged_item_to_each_subscription_in_order()
    {
        Call[] calls = [Item(1), Item(2), Item(3) with { Error = "OrleansException" }, Item(4)];
        Assert.Empty(StreamCheck.Run(calls, [.. Arrived(Role.Implicit, 1, 2, 1, 2, 4), .. Arrived(Role.Explicit, 1, 2, 4, 3)]).Faults);
        Assert.Contains("did not arrive", Assert.Single(
            StreamCheck.Run(calls, [.. Arrived(Role.Implicit, 1, 2, 4), .. Arrived(Role.Explicit, 1, 4)]).Faults), StringComparison.Ordinal);
        Assert.Contains("arrived after", Assert.Single(
            StreamCheck.Run(calls, [.. Arrived(Role.Implicit, 1, 4, 2), .. Arrived(Role.Explicit, 1, 2, 4)]).Faults), StringComparison.Ordinal);
        Assert.Contains("never sent", Assert.Single(
            StreamCheck.Run(calls, [.. Arrived(Role.Implicit, 1, 2, 4), .. Arrived(Role.Explicit, 1, 2, 4, 5)]).Faults), StringComparison.Ordinal);
    }

    [Fact]
    public void A_cable_loses_delays_and_slows_packets_in_order()
    {
        var cables = new Cables(2, 1);
        Assert.Equal(TimeSpan.Zero, cables.Arrival(0, 1, 1000, TimeSpan.Zero));
        cables[0, 1] = new Cable(IsCut: true);
        Assert.Null(cables.Arrival(0, 1, 1000, TimeSpan.Zero));
        Assert.Equal(TimeSpan.Zero, cables.Arrival(1, 0, 1000, TimeSpan.Zero));
        cables[0, 1] = new Cable(BytesPerSecond: 10_000);
        Assert.Equal(TimeSpan.FromSeconds(0.1), cables.Arrival(0, 1, 1000, TimeSpan.Zero));
        Assert.Equal(TimeSpan.FromSeconds(0.2), cables.Arrival(0, 1, 1000, TimeSpan.Zero));
        // The queue has a limit.
        Assert.InRange(Enumerable.Range(0, 10).Count(_ => cables.Arrival(0, 1, 1000, TimeSpan.Zero) is not null), 2, 4);
        cables[0, 1] = new Cable(Delay: TimeSpan.FromSeconds(2), Jitter: TimeSpan.FromSeconds(1));
        var arrivals = Enumerable.Range(0, 20).Select(number => cables.Arrival(0, 1, 10, TimeSpan.FromSeconds(number * 0.01))!.Value).ToArray();
        Assert.Equal(arrivals.Order(), arrivals);
        cables[0, 1] = default;
        Assert.True(cables.Arrival(0, 1, 10, TimeSpan.FromSeconds(1)) >= arrivals[^1]);
    }

    [Fact]
    public void Times_in_which_the_machine_was_busy_are_merged_if_they_overlap()
    {
        StillLine[] stills = [new() { Still = 10, Until = 20 }, new() { Still = 8, Until = 30 }, new() { Still = 5, Until = 100 }];
        Assert.Equal([(10, 33), (95, 103)], Explanations.Merge(stills, after: 3).Select(static one => (one.From, one.Until))
            .Select(static one => ((int)one.From, (int)one.Until)));
        Assert.Equal(53, BusyWatch.RunnableOf("50.45 31.96 23.61 53/680 7707"));
    }

    [Fact]
    public void A_seed_gives_one_schedule_with_each_kind_of_fault()
    {
        Fault[] one = [.. Schedule.Draw(7, 4, 2, Schedule.All).Take(40)];
        Assert.Equal(one, Schedule.Draw(7, 4, 2, Schedule.All).Take(40));
        Assert.NotEqual(one, Schedule.Draw(8, 4, 2, Schedule.All).Take(40));
        Assert.Equal(Schedule.All, one.Take(Schedule.All.Length).Select(static fault => fault.Kind).Order());
    }

    [Fact]
    public void A_list_of_faults_that_does_not_exist_is_refused()
    {
        Assert.Equal([FaultKind.Kill, FaultKind.ClientCut], OutageOptions.Parse("kill,clientCut"));
        Assert.NotNull((new OutageOptions { Faults = OutageOptions.Parse("kill,flood") }).FindError());
        Assert.Null((new OutageOptions { Faults = OutageOptions.Parse("all") }).FindError());
    }

    private static Call Added(long result, Guid activation, long from, long to) => new()
    {
        Kind = Role.Memory,
        Key = 1,
        Verb = Verb.Add,
        Argument = from,
        Result = result,
        Activation = activation,
        From = from,
        To = to
    };

    private static Call Item(long item) => new() { Kind = Role.Implicit, Key = 3, Verb = Verb.Write, Argument = item, From = item, To = item };

    private static IEnumerable<JournalRecord> Arrived(Role role, params long[] items) =>
        items.Select((item, at) => new JournalRecord((int)role, false, 1, (3L << 40) | item, at));
}
