using System.Net;
using System.Runtime.CompilerServices;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Locality;
using ActOp.Partitioning;
using ActOp.Runtime.Activations;
using ActOp.TestClusters;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Placement.Tests.Locality;

/// <summary>The parts of the locality service: loads, numbers of silos, counts of threads, rounds.</summary>
public class LocalityPartsTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Every_silo_soon_knows_the_load_of_every_other_though_each_tells_few() => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(50),
        Prop.ForAll(Gen.Choose(0, int.MaxValue).ToArbitrary(), seed =>
        {
            var random = new Random(seed);
            SiloAddress[] silos = [.. Enumerable.Range(1, random.Next(2, 30)).Select(Silo)];
            SiloLoads[] loads = [.. silos.Select(silo => new SiloLoads(silo, Second))];
            for (var period = 0; period < 12; period++)
            {
                for (var i = 0; i < silos.Length; i++)
                {
                    var told = loads[i].Draw(silos, random.Next);
                    Assert.True(told.Count <= SiloLoads.Fanout);
                    Assert.DoesNotContain(silos[i], told);
                    foreach (var other in told)
                    {
                        loads[Array.IndexOf(silos, other)].Merge(
                            loads[i].Report((100 * period) + i), TimeSpan.FromSeconds(period), _ => true);
                    }
                }
            }

            for (var i = 0; i < silos.Length; i++)
            {
                for (var j = 0; j < silos.Length; j++)
                {
                    if (i == j)
                        continue;
                    Assert.True(loads[i].TryGet(silos[j], out var load));
                    Assert.Equal(j, load % 100);
                    Assert.True(load / 100 >= 4, "A load is known that is eight periods old.");
                }
            }
        }));

    [Fact]
    public void An_old_report_never_replaces_a_newer_one_and_silence_is_forgotten()
    {
        var (talker, listener) = (new SiloLoads(Silo(1), Second), new SiloLoads(Silo(2), Second));
        var old = talker.Report(5);
        listener.Merge(talker.Report(7), TimeSpan.Zero, _ => true);
        listener.Merge(old, TimeSpan.FromSeconds(9), _ => true);
        Assert.True(listener.TryGet(Silo(1), out var load));
        Assert.Equal(7, load);
        listener.Expire(TimeSpan.FromSeconds(10));
        Assert.Equal(1, listener.Count);
        listener.Expire(TimeSpan.FromSeconds(10.001));
        Assert.Equal(0, listener.Count);
    }

    [Fact]
    public void A_load_of_a_silo_that_is_no_member_is_not_taken()
    {
        var (talker, listener) = (new SiloLoads(Silo(1), Second), new SiloLoads(Silo(2), Second));
        listener.Merge(talker.Report(7), TimeSpan.Zero, _ => false);
        Assert.Equal(0, listener.Count);
    }

    [Fact]
    public void The_emptiest_silo_below_its_share_is_filled_first_by_those_above_theirs()
    {
        SiloAddress[] silos = [Silo(1), Silo(2), Silo(3)];
        var loads = new SiloLoads(silos[0], Second);
        loads.Merge(new SiloLoads(silos[1], Second).Report(80), TimeSpan.Zero, _ => true);
        loads.Merge(new SiloLoads(silos[2], Second).Report(0), TimeSpan.Zero, _ => true);
        var own = loads.Around(100, silos, 0.5);
        Assert.Equal(new SiloLoad(100, 30, 90), own);
        Assert.Equal(silos[2], loads.EmptiestBelow(own, silos));
        Assert.Null(loads.EmptiestBelow(own, [silos[0], silos[1]]));
        Assert.Null(loads.EmptiestBelow(own with { Current = 60 }, silos));
    }

    [Fact]
    public void Silos_that_come_and_go_for_ever_take_no_more_numbers_than_there_are_at_one_time()
    {
        HashSet<SiloAddress> members = [];
        var numbers = new SiloNumbers(Silo(0), members.Contains);
        for (var generation = 1; generation < 1000; generation++)
        {
            members.Add(Silo(generation));
            Assert.InRange(numbers.NumberOf(Silo(generation)), 1, 4);
            Assert.Equal(Silo(generation), numbers.SiloOf(numbers.NumberOf(Silo(generation))));
            members.Remove(Silo(generation - 3));
            foreach (var (silo, number) in numbers.Gone())
            {
                Assert.Equal(Silo(generation - 3), silo);
                numbers.Free(number);
                Assert.Equal(Partitioning.SiloNumber.Unknown, numbers.NumberOf(silo));
            }
        }

        Assert.Equal(5, numbers.Bound);
        Assert.Equal(4, numbers.Count);
    }

    [Fact]
    public void A_message_names_the_silos_of_its_edges_only_and_takes_none_that_the_receiver_does_not_know()
    {
        var sender = new SiloNumbers(Silo(0), _ => true);
        int[] known = [.. Enumerable.Range(1, 20).Select(i => sender.NumberOf(Silo(i)))];
        var set = new CandidateSet<GrainId>([Grain(1)], [1], [7], [0, 3],
        [
            new(Grain(2), known[4], 3, 1.5, 0),
            new(Grain(3), Partitioning.SiloNumber.Unknown, 0, 2.5, 0.5),
            new(Grain(4), known[9], 5, 3.5, 0),
        ]);
        var message = sender.ToMessage(set);
        Assert.Equal([Silo(5), Silo(10)], message.Silos);
        var receiver = new SiloNumbers(Silo(5), Silo(0).Equals);
        var got = receiver.FromMessage(message);
        Assert.Equal(set.Edges.Select(edge => edge with { Silo = edge.Silo == known[4] ? 0 : Partitioning.SiloNumber.Unknown }), got.Edges);
        Assert.Equal(1, receiver.Count);
    }

    [Fact]
    public void Counts_of_ended_threads_stay_and_their_stripes_go()
    {
        var counters = new EdgeCounters();
        RunThreads(counters);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        Assert.Equal(0, counters.Stripes);
        Assert.Equal((40L, 20L), counters.Totals());

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void RunThreads(EdgeCounters counters)
        {
            for (var i = 0; i < 20; i++)
            {
                var thread = new Thread(() =>
                {
                    counters.Add(2, 0);
                    counters.Add(0, 1);
                });
                thread.Start();
                thread.Join();
            }
        }
    }

    [Fact]
    public void A_thread_that_runs_turns_of_several_silos_has_one_stripe_for_each()
    {
        EdgeCounters[] silos = [new(), new(), new()];
        for (var turn = 0; turn < 300; turn++)
            silos[turn % 3].Add(1, 0);
        Assert.All(silos, counters => Assert.Equal((1, (100L, 0L)), (counters.Stripes, counters.Totals())));
        silos[0].End();
        silos[1].Add(1, 0);
        silos[2].Add(1, 0);
        Assert.Equal(0, silos[0].Stripes);
        for (var turn = 0; turn < 10; turn++)
            silos[turn % 2].Add(1, 0);
        Assert.Equal((105L, 0L), silos[0].Totals());
        Assert.InRange(silos[0].Stripes, 0, 1);
    }

    [Fact]
    public async Task A_silo_that_hangs_does_not_hold_up_the_rounds_of_the_others()
    {
        await using var cluster = await SilosInVirtualTime.Deploy(
            silo => silo.Configure<LocalityOptions>(options => options.MaxRoundPeriod = options.MinRoundPeriod));
        await cluster.PassAsync(TimeSpan.FromSeconds(3), 0, 1);
        var before = ((LocalityService)cluster.NodeOf(0).Locality).Rounds;
        using var hang = new ManualResetEventSlim();
        cluster.NodeOf(1).Stages.Control.Post(new StageAction(() => hang.Wait(Gate.Patience)));
        try
        {
            await cluster.PassAsync(TimeSpan.FromSeconds(20), 0);
        }
        finally
        {
            hang.Set();
        }

        // One a second, each at most a quarter later.
        Assert.InRange(((LocalityService)cluster.NodeOf(0).Locality).Rounds - before, 15, 27);
    }

    private static SiloAddress Silo(int generation) => SiloAddress.New(new IPEndPoint(IPAddress.Loopback, 11111), generation);

    private static GrainId Grain(int key) => GrainId.Create("test", key.ToString(System.Globalization.CultureInfo.InvariantCulture));
}
