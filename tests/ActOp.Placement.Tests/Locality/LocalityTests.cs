using ActOp.Configuration;
using ActOp.TestClusters;

namespace ActOp.Placement.Tests.Locality;

/// <summary>Grains that talk to each other end up together, and nothing is lost on the way.</summary>
public class LocalityTests
{
    private const int Pairs = 48;
    private const int Words = 5;

    /// <summary>
    /// Rounds come every fifth of a second at first, then less and less often, down to one in about half a minute, as it may be when the
    /// pairs have begun on a slow machine: the clock goes on meanwhile. The pairs are together after a few.
    /// </summary>
    private const int MostSeconds = 300;

    [Fact]
    public async Task Pairs_that_talk_end_up_on_one_silo_and_no_word_is_lost()
    {
        await using var cluster = await Deploy(options => options.Tolerance = 0.1);
        var places = await PlaceAsync(cluster);
        Assert.InRange(Together(places), 0, Pairs - 1);
        var said = 0;
        for (var second = 0; second < MostSeconds && Together(places) < Pairs; second++)
        {
            await Talk(cluster);
            said += Words;
            await cluster.PassAsync(TimeSpan.FromSeconds(1), 0, 1, 2);
            places = await Places(cluster);
        }

        Assert.Equal(Pairs, Together(places));
        var heard = await cluster.AskAll(Enumerable.Range(0, Pairs).Select(pair => Second(cluster, pair).Heard().AsTask()));
        Assert.All(heard, words => Assert.Equal(said, words));
    }

    [Fact]
    public async Task Nothing_moves_when_locality_is_off()
    {
        await using var cluster = await Deploy(options => options.Enabled = false);
        var before = await PlaceAsync(cluster);
        for (var second = 0; second < 20; second++)
        {
            await Talk(cluster);
            await cluster.PassAsync(TimeSpan.FromSeconds(1), 0, 1, 2);
        }

        Assert.Equal(before, await Places(cluster));
    }

    private static Task<SilosInVirtualTime> Deploy(Action<LocalityOptions> configure) => SilosInVirtualTime.Deploy(
        silo => silo.Configure<LocalityOptions>(options =>
        {
            options.FoldPeriod = TimeSpan.FromMilliseconds(100);
            options.MinRoundPeriod = TimeSpan.FromMilliseconds(200);
            options.RejectionWindow = TimeSpan.FromMilliseconds(50);
            configure(options);
        }),
        silos: 3);

    private static ITalkGrain First(SilosInVirtualTime cluster, int pair) => cluster.Grains.GetGrain<ITalkGrain>(pair);

    private static ITalkGrain Second(SilosInVirtualTime cluster, int pair) => cluster.Grains.GetGrain<ITalkGrain>(1000 + pair);

    /// <summary>Begins the grains: the two of each pair apart, as many on one silo as on another.</summary>
    private static async Task<SiloAddress[]> PlaceAsync(SilosInVirtualTime cluster)
    {
        for (var pair = 0; pair < Pairs; pair++)
        {
            var (first, second) = (First(cluster, pair), Second(cluster, pair));
            await cluster.AskAll([
                Place.On(cluster.AddressOf(pair % 3), () => first.Where().AsTask()),
                Place.On(cluster.AddressOf((pair + 1) % 3), () => second.Where().AsTask()),
            ]);
        }

        return await Places(cluster);
    }

    private static Task<bool[]> Talk(SilosInVirtualTime cluster) =>
        cluster.AskAll(Enumerable.Range(0, Pairs).Select(pair => First(cluster, pair).Talk(1000 + pair, Words).AsTask()));

    private static Task<SiloAddress[]> Places(SilosInVirtualTime cluster) =>
        cluster.AskAll(Enumerable.Range(0, Pairs)
            .SelectMany(pair => new[] { First(cluster, pair).Where().AsTask(), Second(cluster, pair).Where().AsTask() }));

    private static int Together(SiloAddress[] places) =>
        Enumerable.Range(0, Pairs).Count(pair => places[2 * pair].Equals(places[(2 * pair) + 1]));
}
