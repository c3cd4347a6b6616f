namespace ActOp.Process.Tests;

/// <summary>Silos that come back on their old ports, with nothing remembered.</summary>
public sealed class RestartedSiloTests
{
    [Theory, InlineData(false), InlineData(true)]
    public async Task A_client_goes_on_when_all_silos_have_started_again(bool inOrder)
    {
        await using var cluster = await ProcessCluster.StartAsync(2);
        Assert.Contains(await cluster.PortSoon(1), cluster.Silos.Select(silo => silo.Port));
        foreach (var silo in cluster.Silos.Reverse())
            await (inOrder ? silo.StopAsync() : silo.KillAsync());

        // Nobody is there: a call fails with what an application expects, and soon.
        await Assert.ThrowsAsync<SiloUnavailableException>(() => cluster.Grain(1).Port().AsTask().WaitAsync(Limits.Step));

        foreach (var silo in cluster.Silos.ToArray())
            await cluster.RestartAsync(silo);

        for (var key = 1; key <= 20; key++)
            Assert.Contains(await cluster.PortSoon(key), cluster.Silos.Select(silo => silo.Port));
    }

    [Fact]
    public async Task A_client_goes_on_when_its_only_silo_has_started_again_twice()
    {
        await using var cluster = await ProcessCluster.StartAsync(1);
        for (var time = 0; time < 2; time++)
        {
            Assert.Equal(cluster.Silos[0].Port, await cluster.PortSoon(1));
            await cluster.Silos[0].KillAsync();
            await cluster.RestartAsync(cluster.Silos[0]);
            Assert.Equal(cluster.Silos[0].Port, await cluster.PortSoon(1));
        }
    }

    /// <summary>The seed holds the membership table in memory: it gets it back from the silos that are left, which lose nothing.</summary>
    [Fact]
    public async Task A_silo_goes_on_when_its_killed_seed_has_started_again()
    {
        await using var cluster = await ProcessCluster.StartAsync(2);
        var seed = cluster.Silos[0];
        var other = cluster.Silos[1];
        var kept = await cluster.KeysOn(other, 1, 1);
        var waiting = cluster.Grain(kept[0]).Hang();
        while (await cluster.Grain(kept[0]).Hanging() == 0)
            await Task.Yield();
        await seed.KillAsync();
        var back = await cluster.RestartAsync(seed);

        await back.Says("2 active silos");
        await other.Says("joined S127.0.0.1:" + back.Port);
        // Its memory is what it was: it has neither moved nor begun anew.
        Assert.Equal(other.Port, await cluster.PortSoon(kept[0]));
        Assert.Equal(1, await cluster.Grain(kept[0]).Hanging());
        Assert.False(waiting.IsCompleted);
        using var limit = new CancellationTokenSource(Limits.Patience);
        for (var key = 1000; await cluster.PortSoon(key) != back.Port; key++)
            Assert.False(limit.IsCancellationRequested, "The new seed gets no grain.");
        Assert.DoesNotContain("must stop for ever", other.Output, StringComparison.Ordinal);
        // And the table takes new silos.
        var joined = await cluster.AddAsync();
        await other.Says("joined S127.0.0.1:" + joined.Port);
    }

    [Fact]
    public async Task A_seed_that_is_started_again_in_order_under_load_costs_no_request()
    {
        await using var cluster = await ProcessCluster.StartAsync(3);
        using var stop = new CancellationTokenSource();
        var callers = Enumerable.Range(0, 4).Select(seed => Load(cluster, seed, stop.Token)).ToArray();
        await cluster.KeysOn(cluster.Silos[0], 1, 10);

        await cluster.Silos[0].StopAsync();
        var back = await cluster.RestartAsync(cluster.Silos[0]);
        await cluster.Silos[1].Says("joined S127.0.0.1:" + back.Port);
        await cluster.KeysOn(back, 10_000, 3);

        await stop.CancelAsync();
        foreach (var caller in callers)
            Assert.True(await caller > 0);
    }

    private static async Task<int> Load(ProcessCluster cluster, int seed, CancellationToken ended)
    {
        var random = new Random(seed);
        var calls = 0;
        for (; !ended.IsCancellationRequested; calls++)
            await cluster.Grain(random.Next(300)).Work();
        return calls;
    }
}
