using ActOp.Configuration;

namespace ActOp.Tests.Locality;

/// <summary>Grains that talk to each other end up together, and nothing is lost on the way.</summary>
public class LocalityTests
{
    private const int Pairs = 48;

    /// <summary>Rounds run every second at first; a handful of them suffices. Thirty seconds are for a machine that does other things too.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Pairs_that_talk_end_up_on_one_silo_and_no_word_is_lost()
    {
        await using var cluster = await Deploy(options => options.Tolerance = 0.1);
        var said = 0;
        await TestingUtils.WaitUntilAsync(
            async _ =>
            {
                await Task.WhenAll(Enumerable.Range(0, Pairs).Select(pair => Talk(cluster, pair, 5)));
                said += 5;
                return await Together(cluster) == Pairs;
            },
            Patience,
            TimeSpan.FromMilliseconds(1));
        Assert.Equal(Pairs, await Together(cluster));
        for (var pair = 0; pair < Pairs; pair++)
            Assert.Equal(said, await cluster.Client.GetGrain<ITalkGrain>(1000 + pair).Heard());
    }

    [Fact]
    public async Task Nothing_moves_when_locality_is_off()
    {
        await using var cluster = await Deploy(options => options.Enabled = false);
        var before = await Places(cluster);
        for (var i = 0; i < 20; i++)
            await Task.WhenAll(Enumerable.Range(0, Pairs).Select(pair => Talk(cluster, pair, 5)));
        Assert.Equal(before, await Places(cluster));
    }

    private static async Task<InProcessTestCluster> Deploy(Action<LocalityOptions> configure)
    {
        var builder = new InProcessTestClusterBuilder(3);
        builder.ConfigureSilo((_, silo) => silo.Configure<LocalityOptions>(options =>
        {
            options.FoldPeriod = TimeSpan.FromMilliseconds(100);
            options.MinRoundPeriod = TimeSpan.FromMilliseconds(200);
            options.RejectionWindow = TimeSpan.FromMilliseconds(50);
            configure(options);
        }));
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }

    private static Task Talk(InProcessTestCluster cluster, int pair, int words) => cluster.Client.GetGrain<ITalkGrain>(pair).Talk(1000 + pair, words).AsTask();

    private static async Task<SiloAddress[]> Places(InProcessTestCluster cluster)
    {
        var places = new List<SiloAddress>();
        for (var pair = 0; pair < Pairs; pair++)
        {
            places.Add(await cluster.Client.GetGrain<ITalkGrain>(pair).Where());
            places.Add(await cluster.Client.GetGrain<ITalkGrain>(1000 + pair).Where());
        }

        return [.. places];
    }

    private static async Task<int> Together(InProcessTestCluster cluster)
    {
        var places = await Places(cluster);
        return Enumerable.Range(0, Pairs).Count(pair => places[2 * pair].Equals(places[(2 * pair) + 1]));
    }
}
