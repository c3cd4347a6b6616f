namespace ActOp.Process.Tests;

public sealed class StoppedSiloTests
{
    private const int Keys = 300;

    [Fact]
    public async Task A_silo_that_stops_under_load_costs_no_request_and_a_new_one_gets_grains()
    {
        await using var cluster = await ProcessCluster.StartAsync(3);
        using var stop = new CancellationTokenSource();
        var callers = Enumerable.Range(0, 8).Select(seed => Load(cluster, seed, stop.Token)).ToArray();
        var leaving = cluster.Silos[2];
        await cluster.KeysOn(leaving, 1, 10);

        await leaving.StopAsync();
        var joined = await cluster.AddAsync();
        await cluster.Silos[0].Says("joined S127.0.0.1:" + joined.Port);
        var found = await cluster.KeysOn(joined, 10_000, 3);

        await stop.CancelAsync();
        foreach (var caller in callers)
            Assert.True(await caller > 0);
        Assert.Contains("STOPPED", leaving.Output, StringComparison.Ordinal);
        Assert.Equal(3, found.Length);
        foreach (var silo in cluster.Silos)
            Assert.DoesNotContain("must stop for ever", silo.Output, StringComparison.Ordinal);
    }

    /// <summary>Calls random grains until told to end; any failure ends the test.</summary>
    private static async Task<int> Load(ProcessCluster cluster, int seed, CancellationToken ended)
    {
        var random = new Random(seed);
        var calls = 0;
        for (; !ended.IsCancellationRequested; calls++)
            await cluster.Grain(random.Next(Keys)).Work();
        return calls;
    }
}
