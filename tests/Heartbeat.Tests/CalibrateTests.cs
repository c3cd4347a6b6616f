using ActOp.Staging.Model;
using Heartbeat.Bench.Experiments;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Tests;

public sealed class CalibrateTests
{
    /// <summary>A configured price that explains nothing.</summary>
    private const double Elsewhere = 1;
    private static readonly int[] All = [0, 1, 2];
    private static readonly StageDemand[] Demands = [new(15_000, 20e-6), new(15_000, 30e-6, 100e-6), new(15_000, 25e-6)];

    [Theory]
    [InlineData(5e-6)]
    [InlineData(30e-6)]
    [InlineData(100e-6)]
    [InlineData(1e-3)]
    public void Eta_is_found_again_from_the_threads_that_the_model_chose_with_it(double eta)
    {
        var best = PenaltyFit.Suggest(Demands, 8, eta);
        var fit = PenaltyFit.Fit(Demands, 8, best, Elsewhere);
        Assert.Equal(0, fit.Distance);
        Assert.Equal(best, fit.Suggestion);
        Assert.InRange(fit.Eta, fit.From, fit.To);
    }

    [Fact]
    public void A_price_that_explains_the_best_as_well_as_any_stays()
    {
        var best = PenaltyFit.Suggest(Demands, 8, 30e-6);
        var fit = PenaltyFit.Fit(Demands, 8, best, 30e-6);
        Assert.Equal(30e-6, fit.Eta);
        // Stages with next to nothing to do get one thread whatever it costs.
        StageDemand[] idle = [new(1, 1e-6), new(1, 1e-6), new(0, 0)];
        Assert.Equal(10e-6, PenaltyFit.Fit(idle, 2, new ThreadPoint(1, 1, 1), 10e-6).Eta);
    }

    [Fact]
    public void More_threads_come_from_a_smaller_price()
    {
        var many = PenaltyFit.Suggest(Demands, 64, 5e-6);
        var few = PenaltyFit.Suggest(Demands, 64, 5e-4);
        Assert.True(many.Work > few.Work);
        Assert.True(PenaltyFit.Fit(Demands, 64, many, Elsewhere).Eta < PenaltyFit.Fit(Demands, 64, few, Elsewhere).Eta);
    }

    [Fact]
    public void Threads_that_no_price_explains_leave_a_distance()
    {
        var fit = PenaltyFit.Fit(Demands, 8, new ThreadPoint(40, 1, 1), Elsewhere);
        Assert.True(fit.Distance > 0);
        Assert.Equal(fit.Distance, fit.Suggestion.DistanceTo(new ThreadPoint(40, 1, 1), All));
    }

    [Fact]
    public async Task Varying_finds_the_best_threads_and_asks_for_each_only_once()
    {
        var asked = new List<ThreadPoint>();
        var search = new ThreadSearch(All, point =>
        {
            asked.Add(point);
            return Task.FromResult(1.0 + point.DistanceTo(new ThreadPoint(2, 6, 1), All));
        });
        Assert.Equal(new ThreadPoint(2, 6, 1), await search.VaryAsync(new ThreadPoint(8, 8, 8), [1, 2, 3, 4, 6, 8]));
        Assert.Equal(asked.Count, asked.Distinct().Count());
        Assert.Equal(asked.Count, search.Measured.Count);
    }

    [Fact]
    public async Task The_neighbourhood_is_searched_downhill()
    {
        var search = new ThreadSearch(All, point => Task.FromResult(1.0 + point.DistanceTo(new ThreadPoint(2, 5, 1), All)));
        Assert.Equal(new ThreadPoint(2, 5, 1), await search.DescendAsync(new ThreadPoint(2, 4, 2)));
    }

    [Fact]
    public async Task Of_what_is_within_the_noise_the_fewest_threads_are_best()
    {
        var search = new ThreadSearch(All, point => Task.FromResult(1.0 - 0.0001 * point.Work));
        var best = await search.VaryAsync(new ThreadPoint(2, 2, 2), [1, 2, 3, 4, 6, 8]);
        Assert.Equal(search.Measured.Keys.Min(point => point.Total), best.Total);
    }

    [Fact]
    public async Task A_point_that_was_lucky_once_loses_the_play_off()
    {
        var lucky = new ThreadPoint(4, 4, 4);
        var good = new ThreadPoint(2, 2, 2);
        var asked = 0;
        var search = new ThreadSearch(
            All, point => Task.FromResult(point == lucky && asked++ == 0 ? 0.1 : 1.0 + point.DistanceTo(good, All)));
        await search.BestAsync(lucky, [new ThreadPoint(3, 3, 3), new ThreadPoint(1, 1, 1)]);
        Assert.Equal(good, await search.PlayOffAsync(new ThreadPoint(1, 1, 1), 2, 4, good));
        Assert.Equal(7, search.Measured[lucky]);
    }

    [Fact]
    public async Task What_is_better_only_now_and_then_does_not_replace_the_incumbent()
    {
        var incumbent = new ThreadPoint(1, 1, 1);
        var asked = 0;
        var search = new ThreadSearch(All, point => Task.FromResult(point == incumbent ? 1.0 : asked++ % 3 == 2 ? 1.1 : 0.5));
        await search.BestAsync(incumbent, [new ThreadPoint(2, 2, 2)]);
        Assert.Equal(incumbent, await search.PlayOffAsync(incumbent, 3, 4));
        Assert.True(search.Measured[new ThreadPoint(2, 2, 2)] < search.Measured[incumbent]);
    }

    [Fact]
    public async Task A_stage_without_events_is_neither_varied_nor_counted()
    {
        var search = new ThreadSearch([0, 1], point => Task.FromResult(1.0 + point.DistanceTo(new ThreadPoint(1, 3, 8), All)));
        var best = await search.VaryAsync(new ThreadPoint(2, 2, 2), [1, 2, 3]);
        Assert.Equal(new ThreadPoint(1, 3, 2), best);
        StageDemand[] demands = [Demands[0], Demands[1], default];
        var suggested = PenaltyFit.Suggest(demands, 8, 30e-6);
        Assert.Equal(0, PenaltyFit.Fit(demands, 8, suggested with { ClientSend = 20 }, Elsewhere).Distance);
    }

    [Fact]
    public void Neighbours_have_at_least_one_thread_everywhere()
    {
        ThreadPoint[] neighbours = [.. new ThreadPoint(1, 3, 1).Neighbours(All)];
        Assert.Equal(4, neighbours.Length);
        Assert.All(neighbours, point => Assert.True(point is { Receive: >= 1, Work: >= 1, ClientSend: >= 1 }));
        Assert.All(neighbours, point => Assert.Equal(1, point.DistanceTo(new ThreadPoint(1, 3, 1), All)));
    }

    [Fact]
    public void The_line_to_paste_says_the_price()
    {
        var result = new CalibrationResult
        {
            Rate = 1,
            Processors = 2,
            EtaMicros = 12.5,
            EtaFromMicros = 10,
            EtaToMicros = 15,
            Best = "1/2/1",
            Suggestion = "1/2/1",
            Distance = 0,
            KeepsConfigured = false,
            ModelThreads = new ThreadNumbers(1, 2, 1, 1),
            Demands = [],
            MeasuredMs = new Dictionary<string, double>(),
        };
        Assert.Equal(
            "silo.Configure<StageOptions>(options => options.ThreadPenalty = TimeSpan.FromMicroseconds(12.5));", result.OptionLine);
    }
}
