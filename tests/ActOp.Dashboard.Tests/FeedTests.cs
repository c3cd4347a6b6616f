using ActOp.Management.Snapshots;
using Orleans.Runtime;

namespace ActOp.Dashboard.Tests;

/// <summary>Pages are the differences of snapshots.</summary>
public class FeedTests
{
    private static readonly SiloAddress One = SiloAddress.FromParsableString("127.0.0.1:11111@1");
    private static readonly SiloAddress Two = SiloAddress.FromParsableString("127.0.0.1:11112@1");

    [Fact]
    public void Rates_and_means_are_differences_over_the_time_between_two_snapshots()
    {
        var before = Snapshot(One, at: 10, executed: 1_000, calls: 100);
        var now = Snapshot(One, at: 12, executed: 3_000, calls: 300);
        var page = Make([now], before);
        var silo = Assert.Single(page.Silos);
        Assert.Equal(2_000, silo.MessageRate!.Value, 6);
        Assert.Equal(0.25, silo.RemoteShare!.Value, 6);
        var stage = Assert.Single(silo.Stages);
        Assert.Equal(1_000, stage.Lambda!.Value, 6);
        Assert.Equal(0.001, stage.W!.Value, 6);
        Assert.Equal(0.0002, stage.X!.Value, 6);
        Assert.Equal(0.0001, stage.R!.Value, 6);
        Assert.Equal(0.25, stage.Blocked!.Value, 6);
        var one = Assert.Single(page.Classes);
        Assert.Equal(100, one.CallRate!.Value, 6);
        Assert.Equal(0.1, one.FailedShare!.Value, 6);
        Assert.Equal(CallTimes.Bounds[2], one.Median);
        Assert.Equal(CallTimes.Bounds[2], one.P99);
    }

    [Fact]
    public void The_first_snapshot_has_no_rates()
    {
        var page = Make([Snapshot(One, at: 10, executed: 1_000, calls: 100)]);
        var silo = Assert.Single(page.Silos);
        Assert.Null(silo.MessageRate);
        Assert.Null(silo.RemoteShare);
        Assert.Null(Assert.Single(silo.Stages).Lambda);
        Assert.Null(Assert.Single(page.Classes).CallRate);
        Assert.Equal(7, silo.Activations);
    }

    [Fact]
    public void Calls_that_are_measured_anew_do_not_count_backwards()
    {
        var page = Make([Snapshot(One, at: 12, executed: 3_000, calls: 40)], Snapshot(One, at: 10, executed: 1_000, calls: 1_000));
        Assert.Equal(20, Assert.Single(page.Classes).CallRate!.Value, 6);
    }

    [Fact]
    public void An_edge_between_two_silos_counts_once()
    {
        var (one, two) = (Snapshot(One, 10, 0, 0), Snapshot(Two, 10, 0, 0));
        one.Edges.Add(new EdgeSnapshot { One = "game", Other = "player", Local = 10, Remote = 30 });
        two.Edges.Add(new EdgeSnapshot { One = "game", Other = "player", Local = 0, Remote = 30 });
        var edge = Assert.Single(Make([one, two]).Edges);
        Assert.Equal(40, edge.Rate, 6);
        Assert.Equal(0.75, edge.RemoteShare, 6);
    }

    [Fact]
    public void A_silo_that_does_not_answer_is_shown_with_the_reason()
    {
        var now = new ClusterSnapshot(3, [new MemberSnapshot(Two, "silo-b", "Active")], [],
            new Dictionary<SiloAddress, string> { [Two] = "It hangs." });
        var silo = Assert.Single(DashboardFeed.Make(now, new Dictionary<SiloAddress, SiloSnapshot>(), DateTimeOffset.UnixEpoch).Silos);
        Assert.Equal(("silo-b", "It hangs."), (silo.Name, silo.Silent));
    }

    [Fact]
    public async Task All_viewers_of_a_second_share_a_snapshot_and_a_failed_one_is_repeated()
    {
        var time = new StandingClock();
        var reads = 0;
        var feed = new DashboardFeed(_ => ++reads == 2
            ? Task.FromException<ClusterSnapshot>(new InvalidOperationException("lost")) : Task.FromResult(Cluster([])), time);
        var pages = await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => feed.GetAsync(CancellationToken.None)));
        Assert.Single(pages.Distinct());
        Assert.Equal(1, reads);
        time.Advance(TimeSpan.FromSeconds(1));
        await Assert.ThrowsAsync<InvalidOperationException>(() => feed.GetAsync(CancellationToken.None));
        await feed.GetAsync(CancellationToken.None);
        Assert.Equal(3, reads);
    }

    [Fact]
    public async Task A_viewer_that_goes_does_not_end_the_snapshot_of_the_others()
    {
        var answer = new TaskCompletionSource<ClusterSnapshot>();
        var feed = new DashboardFeed(_ => answer.Task, new StandingClock());
        using var gone = new CancellationTokenSource();
        var (first, second) = (feed.GetAsync(gone.Token), feed.GetAsync(CancellationToken.None));
        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        answer.SetResult(Cluster([]));
        Assert.Empty((await second).Silos);
    }

    private static ClusterPage Make(SiloSnapshot[] now, params SiloSnapshot[] before) => DashboardFeed.Make(
        Cluster(now), before.ToDictionary(static one => one.Silo), DateTimeOffset.UnixEpoch);

    private static ClusterSnapshot Cluster(SiloSnapshot[] silos) => new(1, [], silos, new Dictionary<SiloAddress, string>());

    /// <summary>Of 1,000 events: 1 s of waiting, 0.2 s of the processor, 0.1 s ready, 0.1 s blocked. A tenth of the calls fails.</summary>
    private static SiloSnapshot Snapshot(SiloAddress silo, double at, long executed, long calls)
    {
        var times = new long[CallTimes.Bounds.Length + 1];
        times[2] = calls;
        return new SiloSnapshot
        {
            Silo = silo,
            At = at,
            Activations = 7,
            LocalMessages = 1_500 * (long)(at - 10),
            RemoteMessages = 500 * (long)(at - 10),
            Stages =
            [
                new StageSnapshot
                {
                    Name = "work", Threads = 2, Executed = executed, Wait = executed / 1_000.0, Cpu = executed / 5_000.0,
                    Ready = executed / 10_000.0, Wall = executed / 2_500.0,
                },
            ],
            Classes = [new ClassSnapshot { GrainType = "player", Activations = 7, Calls = times, Failed = calls / 10 }],
        };
    }

    private sealed class StandingClock : TimeProvider
    {
        private long _ticks;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Interlocked.Read(ref _ticks);

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch.AddTicks(GetTimestamp());

        internal void Advance(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);
    }
}
