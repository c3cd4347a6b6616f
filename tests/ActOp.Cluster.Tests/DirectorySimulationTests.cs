using ActOp.Cluster.Tests.Simulation;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests;

public sealed class DirectorySimulationTests
{
    private static readonly GrainId[] Grains = [.. Enumerable.Range(0, 60).Select(i => GrainId.Create("player", i.ToString()))];

    public static TheoryData<int> Seeds { get; } = [.. Enumerable.Range(1, 25)];

    [Theory, MemberData(nameof(Seeds))]
    public void No_schedule_gives_a_slot_two_owners_or_a_grain_two_activations(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(3 + (seed % 5));
        cluster.Faults = new Faults { Loss = seed % 3 * 0.02, Duplication = 0.1, MaxDelay = 5 + (seed % 4 * 40) };
        Traffic(cluster, until: cluster.Now + 60_000);
        Havoc(cluster, until: cluster.Now + 50_000);

        cluster.Run(60_000, () => CheckSafety(cluster));
        cluster.Heal();
        cluster.Start(9);
        cluster.Run(45_000, () => CheckSafety(cluster));

        CheckSettled(cluster);
        Assert.All(cluster.Silos, silo => Assert.Empty(silo.Killed));
    }

    [Theory, MemberData(nameof(Seeds))]
    public void Registrations_survive_joins_and_graceful_leaves(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(3);
        ActivateAll(cluster);
        var before = Activations(cluster);
        Assert.Equal(Grains.Length, before.Count);

        var joined = cluster.Start(7);
        Assert.True(
            cluster.RunUntil(5_000, () => joined.Protocol.View.ActiveSilos.Length == 4 && cluster.IsSettled() && cluster.AllSlotsServed()));
        cluster.Silos[0].BeginShutdown();
        Assert.True(cluster.RunUntil(5_000, () => cluster.Running.All(silo => silo.Protocol.View.ActiveSilos.Length == 3)
            && cluster.AllSlotsServed()));

        Assert.Equal(before, Activations(cluster));
        CheckSettled(cluster);
    }

    [Theory, MemberData(nameof(Seeds))]
    public void Recovery_finds_all_living_activations_of_a_lost_owner(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(4);
        ActivateAll(cluster);
        var victim = cluster.Silos[seed % 4];
        var living = Activations(cluster).Where(one => !one.Value.Silo.Equals(victim.Address)).ToDictionary();
        if (seed % 2 == 0)
        {
            victim.Kill();
        }
        else
        {
            victim.LoseHost();
        }

        Assert.True(cluster.RunUntil(15_000, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(victim.Address))
            && cluster.AllSlotsServed()));

        foreach (var (grain, location) in living)
        {
            var owner = cluster.Running.Single(silo => silo.Address.Equals(cluster.Silos[(seed + 1) % 4].Directory.Map.OwnerOf(grain)));
            Assert.Equal(location, owner.Directory.Lookup(grain).Location);
        }
    }

    /// <summary>
    /// While the target activates, both ends of a migration report the grain: the source waits for the target's word, and the target is
    /// registered.
    /// </summary>
    [Theory, MemberData(nameof(Seeds))]
    public void A_grain_that_has_arrived_outlives_the_death_of_its_slots_owner(int seed)
    {
        var cluster = new SimulatedCluster(seed).With(5);
        ActivateAll(cluster);
        var owner = cluster.Silos[seed % 5];
        var moving =
            Grains.Where(grain => Holder(cluster, grain) is { } source && source != owner
                && owner.Address.Equals(owner.Directory.Map.OwnerOf(grain))).ToArray();
        Assert.NotEmpty(moving);
        foreach (var grain in moving)
        {
            var source = Holder(cluster, grain)!;
            source.Migrate(grain, cluster.Silos.First(silo => silo != owner && silo != source), activationTime: 20_000);
        }

        Assert.True(cluster.RunUntil(2_000, () => moving.All(grain => Holder(cluster, grain)?.Activations[grain].Epoch > 0)));
        var arrived = Activations(cluster).Where(one => moving.Contains(one.Key)).ToDictionary();
        owner.Kill();
        Assert.True(cluster.RunUntil(15_000, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(owner.Address))
            && cluster.AllSlotsServed()));
        Assert.All(moving, grain => Assert.Contains(cluster.Running, silo => silo.Leaving.ContainsKey(grain)));
        cluster.Run(30_000);

        Assert.All(moving, grain => Assert.Equal(arrived[grain], Holder(cluster, grain)?.Activations[grain]));
        Assert.All(cluster.Silos, silo => Assert.Empty(silo.Killed));
        CheckSettled(cluster);
    }

    [Fact]
    public void Grains_of_a_silently_lost_silo_wait_for_its_lease_and_then_run_elsewhere()
    {
        var cluster = new SimulatedCluster(11).With(4);
        ActivateAll(cluster);
        var victim = cluster.Silos[2];
        var orphans = victim.Activations.Keys.ToArray();
        Assert.NotEmpty(orphans);
        victim.LoseHost();
        Assert.True(cluster.RunUntil(15_000, () => cluster.Running.All(silo => silo.Protocol.View.IsDead(victim.Address))
            && cluster.AllSlotsServed()));

        // Simulated registrations are repeated for about as long as the lease.
        cluster.Run(1_000);
        foreach (var orphan in orphans)
        {
            cluster.Silos[0].Activate(orphan);
        }

        cluster.Run(1_000);
        Assert.All(orphans, orphan => Assert.Equal(0, cluster.Silos[0].Activations[orphan].Epoch));
        cluster.Run(cluster.Limits.SilentLease);
        Assert.All(orphans, orphan => Assert.NotEqual(0, cluster.Silos[0].Activations[orphan].Epoch));
    }

    [Fact]
    public void Grains_of_a_killed_process_run_elsewhere_at_once()
    {
        var cluster = new SimulatedCluster(12).With(4);
        ActivateAll(cluster);
        var victim = cluster.Silos[2];
        var orphans = victim.Activations.Keys.ToArray();
        victim.Kill();

        Assert.True(cluster.RunUntil(2_000, () =>
        {
            foreach (var orphan in orphans)
            {
                cluster.Silos[0].Activate(orphan);
            }

            return orphans.All(orphan => cluster.Silos[0].Activations.TryGetValue(orphan, out var here) && here.Epoch != 0);
        }));
    }

    [Fact]
    public void The_same_seed_gives_the_same_run()
    {
        Assert.Equal(Trace(42), Trace(42));

        static string Trace(int seed)
        {
            var cluster = new SimulatedCluster(seed).With(4);
            Traffic(cluster, cluster.Now + 20_000);
            Havoc(cluster, cluster.Now + 20_000);
            cluster.Run(30_000);
            return string.Join(
                '\n', cluster.Running.SelectMany(silo => silo.Activations.OrderBy(one => one.Key).Select(one => $"{one.Key}={one.Value}")));
        }
    }

    private static void ActivateAll(SimulatedCluster cluster)
    {
        Assert.True(cluster.RunUntil(5_000, () => cluster.IsSettled() && cluster.AllSlotsServed()));
        for (var i = 0; i < Grains.Length; i++)
        {
            cluster.Silos[i % cluster.Silos.Count].Activate(Grains[i]);
        }

        cluster.Run(500);
    }

    private static SimulatedSilo? Holder(SimulatedCluster cluster, GrainId grain) =>
        cluster.Running.FirstOrDefault(silo => silo.Activations.ContainsKey(grain));

    private static SortedDictionary<GrainId, Location> Activations(SimulatedCluster cluster) =>
        new(cluster.Running.SelectMany(silo => silo.Activations).ToDictionary());

    private static void Traffic(SimulatedCluster cluster, long until)
    {
        if (cluster.Now >= until)
        {
            return;
        }

        var silos = cluster.Running.ToArray();
        var silo = silos.Length > 0 ? silos[cluster.Random.Next(silos.Length)] : cluster.Start(8);
        var grain = Grains[cluster.Random.Next(Grains.Length)];
        switch (cluster.Random.Next(4))
        {
            case 0:
                silo.Deactivate(grain);
                break;
            case 1:
                Holder(cluster, grain)?.Migrate(grain, silo, activationTime: cluster.Random.Next(1, 3_000));
                break;
            default:
                silo.Activate(grain);
                break;
        }

        cluster.After(cluster.Random.Next(1, 30), () => Traffic(cluster, until));
    }

    private static void Havoc(SimulatedCluster cluster, long until)
    {
        if (cluster.Now >= until)
        {
            return;
        }

        var silos = cluster.Running.ToArray();
        var one = silos.Length > 0 ? silos[cluster.Random.Next(silos.Length)] : cluster.Start(8);
        switch (cluster.Random.Next(9))
        {
            case 0 when silos.Length > 2:
                one.Kill();
                break;
            case 1 when silos.Length > 2:
                one.LoseHost();
                break;
            case 2 when silos.Length > 2:
                one.BeginShutdown();
                cluster.After(3_000, () => one.EndGracefully());
                break;
            case 3:
                cluster.Isolate(one);
                break;
            case 4:
                cluster.Cut(one, silos[cluster.Random.Next(silos.Length)]);
                break;
            case 5:
                one.ReachesTable = false;
                break;
            case 6:
                var faults = cluster.Faults;
                cluster.Heal();
                cluster.Faults = faults;
                break;
            default:
                var port = cluster.Random.Next(8);
                if (!cluster.Running.Any(silo => silo.Port == port) && cluster.Running.Count() < 7)
                {
                    cluster.Start(port);
                }

                break;
        }

        cluster.After(cluster.Random.Next(200, 5_000), () => Havoc(cluster, until));
    }

    private static void CheckSafety(SimulatedCluster cluster)
    {
        var table = cluster.TableNow;
        var living = cluster.Silos.Where(silo => silo.IsUp && !silo.Protocol.IsStopped && table.FindRow(silo.Address) is { IsAlive: true })
            .ToArray();
        for (var slot = 0; slot < SlotMap.SlotCount; slot += 37)
        {
            Assert.True(living.Count(silo => silo.Directory.StateOf(slot) == SlotState.Ready) <= 1,
                $"Two living silos serve slot {slot} at {cluster.Now}.");
        }

        foreach (var grain in Grains)
        {
            var running = cluster.Silos.Where(silo => silo.MayRunTurns && silo.Activations.TryGetValue(grain, out var here)
                && here.Epoch != 0).ToArray();
            Assert.True(
                running.Length <= 1, $"{grain} runs on {string.Join(" and ", running.Select(silo => silo.Address))} at {cluster.Now}.");
        }
    }

    private static void CheckSettled(SimulatedCluster cluster)
    {
        Assert.True(cluster.IsSettled(), "Views differ.");
        Assert.True(
            cluster.AllSlotsServed(), "Some slot is not served: " + string.Join("; ", cluster.Running.Select(silo => silo.Describe())));
        foreach (var silo in cluster.Running)
        {
            foreach (var (grain, location) in silo.Activations.Where(one => one.Value.Epoch != 0))
            {
                var owner = cluster.Running.Single(other => other.Address.Equals(silo.Directory.Map.OwnerOf(grain)));
                Assert.Equal(location.Activation, owner.Directory.Lookup(grain).Location.Activation);
            }
        }
    }
}
