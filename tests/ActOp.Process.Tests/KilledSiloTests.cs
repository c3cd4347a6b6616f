namespace ActOp.Process.Tests;

public sealed class KilledSiloTests
{
    [Fact]
    public async Task Calls_that_wait_for_a_killed_silo_fail_at_once()
    {
        await using var cluster = await ProcessCluster.StartAsync(2);
        var victim = cluster.Silos[1];
        var direct = await cluster.KeysOn(victim, 1, 3);
        var near = await cluster.KeysOn(cluster.Silos[0], 1, 1);
        var calls = direct.Select(key => cluster.Grain(key).Hang()).ToList();
        // Of a grain on the other silo, which waits for one on the victim.
        calls.Add(cluster.Grain(near[0]).HangOn(direct[0]));
        // A call that has not arrived yet would go to another silo, and hang there.
        foreach (var key in direct)
            await Until(async () => await cluster.Grain(key).Hanging() >= (key == direct[0] ? 2 : 1));

        victim.Kill();

        foreach (var call in calls)
            await Assert.ThrowsAsync<SiloUnavailableException>(() => call.WaitAsync(Limits.Step));
        await cluster.Silos[0].Drops(victim);
    }

    [Fact]
    public async Task A_call_that_another_silo_sent_on_to_the_killed_one_fails_too()
    {
        await using var cluster = await ProcessCluster.StartAsync(2);
        // Nobody knows these grains yet: about half of the calls reach the wrong silo first, and half of the grains are on the victim.
        var calls = Enumerable.Range(1000, 40).ToDictionary(key => (long)key, key => cluster.Grain(key).Hang());
        foreach (var key in calls.Keys)
            await Until(async () => await cluster.Grain(key).Hanging() > 0);

        var victim = cluster.Silos[1];
        victim.Kill();
        await cluster.Silos[0].Drops(victim);

        var lost = 0;
        foreach (var (key, call) in calls)
        {
            // A new activation knows of no call: the one that was lost with the old must have failed.
            if (await HangingNow(cluster, key) > 0)
                continue;
            lost++;
            await Assert.ThrowsAsync<SiloUnavailableException>(() => call.WaitAsync(Limits.Step));
        }

        Assert.InRange(lost, 1, 39);
    }

    [Fact]
    public async Task A_client_fails_over_to_the_silos_that_are_left()
    {
        await using var cluster = await ProcessCluster.StartAsync(3);
        var victim = cluster.Silos[2];
        var keys = await cluster.KeysOn(victim, 1, 5);

        victim.Kill();
        await cluster.Silos[0].Drops(victim);
        await cluster.Silos[1].Drops(victim);

        // The silos tell of the death before all of their parts, and the client, know.
        foreach (var key in keys.Concat(Enumerable.Range(5000, 50).Select(key => (long)key)))
            Assert.NotEqual(victim.Port, await cluster.PortSoon(key).WaitAsync(Limits.Patience));
    }

    /// <summary>
    /// How many calls hang in the grain. The other silo tells of the death before all of its parts know: until they do, this question too
    /// may be sent to the killed silo, and is asked again. What the test asserts are the calls from before.
    /// </summary>
    private static async Task<int> HangingNow(ProcessCluster cluster, long key)
    {
        var hanging = 0;
        await Until(async () =>
        {
            try
            {
                hanging = await cluster.Grain(key).Hanging().AsTask().WaitAsync(Limits.Step);
                return true;
            }
            catch (SiloUnavailableException)
            {
                return false;
            }
        });
        return hanging;
    }

    private static async Task Until(Func<Task<bool>> condition)
    {
        using var limit = new CancellationTokenSource(Limits.Patience);
        while (!await condition())
            limit.Token.ThrowIfCancellationRequested();
    }
}
