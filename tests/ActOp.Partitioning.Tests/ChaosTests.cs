namespace ActOp.Partitioning.Tests;

public class ChaosTests
{
    [Fact]
    public void No_vertex_is_lost_or_doubled_whatever_happens_to_messages() => Seeds.ForEach(60, PlayWithFaults);

    /// <summary>Large offers make many migrations, some of which wait for longer than their promises hold.</summary>
    [Fact]
    public void A_vertex_is_promised_again_only_after_its_promise_has_run_out() => PlayWithFaults(new Random(411241970));

    [Fact]
    public void Balance_holds_while_messages_overtake_each_other_but_arrive_in_time() => Seeds.ForEach(20, random =>
    {
        PartitioningOptions patient =
            new() { Tolerance = 0.2, CandidateCount = 8, OfferTimeout = TimeSpan.FromHours(1), MigrationTimeout = TimeSpan.FromHours(2) };
        Chaos chaos = new(random, patient, vertices: 60, silos: 3) { Faults = false };
        var before = chaos.Cut;
        chaos.Run(steps: 3000);
        Assert.True(chaos.Exchanges > 0);
        chaos.Settle();
        chaos.CheckQuiet();
        Assert.True(chaos.Cut < before);
        chaos.CheckBalance();
    });

    private static void PlayWithFaults(Random random)
    {
        Chaos chaos = new(random, new() { Tolerance = 0.2, CandidateCount = 8 }, vertices: 60, silos: random.Next(2, 6));
        chaos.Run(steps: 1500);
        Assert.True(chaos.Exchanges > 0);
        chaos.Settle();
        chaos.CheckQuiet();
    }
}
