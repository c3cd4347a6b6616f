using ActOp.Orleans.Locality;
using ActOp.Orleans.Tests.Threads;
using ActOp.Orleans.Threads;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Configuration.Memory;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime.Messaging;
using Orleans.TestingHost;

namespace ActOp.Orleans.Tests;

public class LocalityTests
{
    private const int Pairs = 40;

    [Fact]
    public async Task Grains_that_talk_come_together_and_no_call_fails()
    {
        await using var cluster = await Clusters.StartAsync(2);
        var talkers = Enumerable.Range(0, 2 * Pairs).Select(key => cluster.Client.GetGrain<ITalker>(key)).ToArray();
        await Clusters.Until(
            async () => await RemotePairs(talkers) <= Pairs / 10,
            () => Task.WhenAll(Enumerable.Range(0, Pairs).Select(pair => talkers[pair].Talk(pair + Pairs, 20))));
        Assert.Equal(0, cluster.LocalityOf(0).Turns.Failures + cluster.LocalityOf(1).Turns.Failures);
        Assert.Null(cluster.PartOf<LocalityGate>(0).Failure);
        Assert.True(cluster.PartOf<LocalityMetrics>(0).Moves + cluster.PartOf<LocalityMetrics>(1).Moves > 0);
    }

    [Fact]
    public async Task State_that_a_grain_carries_survives_its_move_and_other_state_stays()
    {
        await using var cluster = await Clusters.StartAsync(2);
        var callers = Enumerable.Range(0, Pairs).Select(key => cluster.Client.GetGrain<ICaller>(key)).ToArray();
        var forgetfulBefore = await ForgetfulPlaces(cluster);
        var expected = 0;
        await Clusters.Until(
            async () => await RemoteCounters(cluster, callers) <= Pairs / 5,
            async () =>
            {
                for (var i = 0; i < 20; i++)
                {
                    expected++;
                    var counts = await Task.WhenAll(callers.Select(static (caller, key) => caller.Carried(key)));
                    Assert.All(counts, count => Assert.Equal(expected, count));
                    await Task.WhenAll(callers.Select(static (caller, key) => caller.Forgetful(key)));
                }
            });
        var forgetful = await ForgetfulPlaces(cluster);
        Assert.Equal(forgetfulBefore, forgetful);
        // They are counted in rounds, and the grains may have come together before the first one of a silo.
        await Clusters.Until(
            () => Task.FromResult(cluster.PartOf<LocalityMetrics>(0).Unmovable + cluster.PartOf<LocalityMetrics>(1).Unmovable > 0),
            () => Task.WhenAll(callers.Select(static (caller, key) => caller.Forgetful(key))));
    }

    [Fact]
    public async Task A_silo_that_dies_during_rounds_ends_no_round_of_the_others()
    {
        await using var cluster = await Clusters.StartAsync(3);
        var talkers = Enumerable.Range(0, 2 * Pairs).Select(key => cluster.Client.GetGrain<ITalker>(key)).ToArray();
        var kills = 0;
        await Clusters.Until(
            async () => kills > 0 && await RemotePairsAfterLoss(talkers) <= Pairs / 10,
            async () =>
            {
                // Calls in flight to the silo that is killed fail, with Orleans alone as well.
                await Task.WhenAll(Enumerable.Range(0, Pairs).Select(pair => talkers[pair].Talk(pair + Pairs, 20)))
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                if (kills == 0 && cluster.PartOf<LocalityMetrics>(0).Moves + cluster.PartOf<LocalityMetrics>(1).Moves > 0)
                {
                    kills++;
                    await cluster.KillSiloAsync(cluster.Silos[2]);
                }
            },
            seconds: 90);
        var rounds = cluster.LocalityOf(0).Rounds;
        await Clusters.Until(
            () => Task.FromResult(cluster.LocalityOf(0).Rounds > rounds),
            async () => await talkers[0].Talk(Pairs, 20).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing));
    }

    [Fact]
    public async Task A_silo_without_the_package_is_left_alone()
    {
        var configured = 0;
        await using var cluster = await Clusters.StartAsync(2, silo =>
        {
            // Silos are configured at the same time.
            if (Interlocked.Increment(ref configured) == 1)
                silo.AddActOpLocality(Clusters.Quickly);
        });
        var with = cluster.Silos.Single(silo => cluster.GetSiloServiceProvider(silo.SiloAddress).GetService(typeof(LocalitySilo)) is not null);
        var locality = (LocalitySilo)cluster.GetSiloServiceProvider(with.SiloAddress).GetService(typeof(LocalitySilo))!;
        var talkers = Enumerable.Range(0, 2 * Pairs).Select(key => cluster.Client.GetGrain<ITalker>(key)).ToArray();
        await Clusters.Until(
            () => Task.FromResult(locality.Rounds > 3),
            () => Task.WhenAll(Enumerable.Range(0, Pairs).Select(pair => talkers[pair].Talk(pair + Pairs, 20))));
        Assert.Equal(0, locality.Turns.Failures);
    }

    [Fact]
    public async Task It_is_switched_off_and_on_by_the_configuration_while_the_silo_runs()
    {
        var source = new MemoryConfigurationSource { InitialData = [new("ActOp:Locality:Enabled", "true")] };
        var provider = new ReloadableConfiguration(source);
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureHost(host => ((IConfigurationBuilder)host.Configuration).Add(new GivenConfiguration(provider)));
        builder.ConfigureSilo(static (_, silo) =>
        {
            // The pool of the process is that of another test.
            silo.Services.AddSingleton<IPool>(new SimulatedPool(processors: 2));
            silo.AddActOp();
        });
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        var gate = cluster.PartOf<LocalityGate>(0);
        foreach (var isOn in new[] { true, false, true })
        {
            provider.Set("ActOp:Locality:Enabled", isOn.ToString());
            provider.Reload();
            await Clusters.Until(
                () => Task.FromResult(gate.Stride > 0 == isOn), async () => await cluster.Client.GetGrain<ITalker>(1).Hear());
        }
    }

    [Fact]
    public void What_fails_on_the_way_of_a_call_closes_the_gate_for_good()
    {
        using var meters = new TestMeters();
        var gate = new LocalityGate(new LocalityMetrics(meters), Microsoft.Extensions.Logging.Abstractions.NullLogger<LocalityGate>.Instance);
        gate.Open(1);
        Assert.True(gate.IsSampled(out var weight));
        Assert.Equal(1, weight);
        gate.Close("a test", new InvalidOperationException());
        Assert.False(gate.IsSampled(out _));
        gate.Open(1);
        Assert.False(gate.IsSampled(out _));
    }

    private static Task<string[]> ForgetfulPlaces(InProcessTestCluster cluster) =>
        Task.WhenAll(Enumerable.Range(0, Pairs).Select(key => cluster.Client.GetGrain<IForgetfulCounter>(key).Where()));

    private static async Task<int> RemotePairs(ITalker[] talkers)
    {
        var places = await Task.WhenAll(talkers.Select(static talker => talker.Where()));
        return Enumerable.Range(0, Pairs).Count(pair => places[pair] != places[pair + Pairs]);
    }

    /// <summary>As <see cref="RemotePairs"/>; all pairs while the client still uses the gateway of a silo that was killed.</summary>
    private static async Task<int> RemotePairsAfterLoss(ITalker[] talkers)
    {
        try
        {
            return await RemotePairs(talkers);
        }
        catch (Exception exception) when (exception is ConnectionFailedException or OrleansException)
        {
            return Pairs;
        }
    }

    private static async Task<int> RemoteCounters(InProcessTestCluster cluster, ICaller[] callers)
    {
        var places = await Task.WhenAll(callers.Select(static caller => caller.Where()));
        var counters = await Task.WhenAll(callers.Select((_, key) => cluster.Client.GetGrain<ICounter>(key).Where()));
        return places.Zip(counters).Count(static pair => pair.First != pair.Second);
    }
}

/// <summary>A configuration that a test changes. Silo and host share it.</summary>
internal sealed class GivenConfiguration(IConfigurationProvider provider) : IConfigurationSource
{
    public IConfigurationProvider Build(IConfigurationBuilder builder) => provider;
}

/// <summary>Tells its readers of a change.</summary>
internal sealed class ReloadableConfiguration(MemoryConfigurationSource source) : MemoryConfigurationProvider(source)
{
    internal void Reload() => OnReload();
}
