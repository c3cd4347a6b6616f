using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.GrainDirectory;
using Orleans.Runtime.Hosting;

namespace ActOp.Surface.Tests;

/// <summary>Grain directories of the application.</summary>
public class DirectoryTests
{
    [Fact]
    public async Task Grains_are_registered_in_the_directory_that_their_class_names()
    {
        var directory = new MapDirectory();
        await using var cluster = await Start(directory);
        var grain = cluster.Client.GetGrain<IMapped>("a");
        var seat = await grain.Seat();
        Assert.Equal(seat, directory.Entries[grain.GetGrainId()].SiloAddress);
        foreach (var silo in cluster.Silos)
            Assert.Equal(seat, await silo.ServiceProvider.GetRequiredService<IGrainFactory>().GetGrain<IMapped>("a").Seat());
        await cluster.DeactivateAsync(grain);
        Assert.Empty(directory.Entries);
    }

    [Fact]
    public async Task A_registration_of_a_dead_silo_is_replaced_and_removed()
    {
        var directory = new MapDirectory();
        await using var cluster = await Start(directory);
        var grain = cluster.Client.GetGrain<IMapped>("b");
        var target = cluster.Silos[1].SiloAddress;
        Assert.Equal(target, await Place.On(target, grain.Seat));
        await cluster.KillSiloAsync(cluster.Silos[1]);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        await cluster.LinkLostAsync(target);
        Assert.Equal(cluster.Silos[0].SiloAddress, await grain.Seat());
        Assert.Equal(cluster.Silos[0].SiloAddress, directory.Entries[grain.GetGrainId()].SiloAddress);
        Assert.Contains(target, directory.Removed);
    }

    [Fact]
    public async Task A_grain_of_a_directory_of_the_application_moves()
    {
        var directory = new MapDirectory();
        await using var cluster = await Start(directory);
        var grain = cluster.Client.GetGrain<IMapped>("c");
        var seat = await grain.Seat();
        var target = cluster.Silos.Single(silo => !silo.SiloAddress.Equals(seat)).SiloAddress;
        await cluster.MigrateAsync(grain, target);
        Assert.Equal(target, await grain.Seat());
        Assert.Equal(target, directory.Entries[grain.GetGrainId()].SiloAddress);
    }

    [Fact]
    public async Task A_directory_that_fails_fails_the_call()
    {
        var directory = new MapDirectory { Fails = true };
        await using var cluster = await Start(directory);
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => cluster.Client.GetGrain<IMapped>("d").Seat());
        Assert.Contains("broken on purpose", exception.ToString(), StringComparison.Ordinal);
        directory.Fails = false;
        Assert.Contains(await cluster.Client.GetGrain<IMapped>("e").Seat(), cluster.Silos.Select(static silo => silo.SiloAddress));
    }

    /// <summary>Nobody would remove the entry of a start whose registration was done and not confirmed.</summary>
    [Fact]
    public async Task A_registration_whose_answer_was_lost_is_removed()
    {
        var directory = new MapDirectory { LosesAnswers = true };
        await using var cluster = await Start(directory);
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => cluster.Client.GetGrain<IMapped>("f").Seat());
        Assert.Contains("lost on purpose", exception.ToString(), StringComparison.Ordinal);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(directory.Entries.IsEmpty), Gate.Patience);
    }

    [Fact]
    public async Task A_directory_that_is_not_registered_fails_the_calls_of_its_grains_and_is_named()
    {
        await using var cluster = await Start(new MapDirectory());
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => cluster.Client.GetGrain<IAstray>("a").Touch());
        Assert.Contains("names the grain directory nowhere", exception.ToString(), StringComparison.Ordinal);
    }

    private static Task<InProcessTestCluster> Start(MapDirectory directory) =>
        TestSilos.StartAsync(2, silo => silo.AddGrainDirectory("map", (_, _) => directory));

    public interface IMapped : IGrainWithStringKey
    {
        Task<SiloAddress> Seat();
    }

    public interface IAstray : IGrainWithStringKey
    {
        Task Touch();
    }

    [GrainDirectory("nowhere")]
    public sealed class AstrayGrain : Grain, IAstray
    {
        public Task Touch() => Task.CompletedTask;
    }

    [GrainDirectory("map")]
    public sealed class MappedGrain : Grain, IMapped
    {
        public Task<SiloAddress> Seat() => Task.FromResult(ServiceProvider.GetRequiredService<ILocalSiloDetails>().SiloAddress);
    }

    private sealed class MapDirectory : IGrainDirectory
    {
        public ConcurrentDictionary<GrainId, GrainAddress> Entries { get; } = new();

        public ConcurrentBag<SiloAddress> Removed { get; } = [];

        public bool Fails { get; set; }

        public bool LosesAnswers { get; set; }

        public Task<GrainAddress?> Register(GrainAddress address)
        {
            if (Fails)
                throw new InvalidOperationException("broken on purpose");
            var registered = Entries.GetOrAdd(address.GrainId, address);
            return LosesAnswers
                ? throw new InvalidOperationException("lost on purpose")
                : Task.FromResult<GrainAddress?>(registered);
        }

        public Task Unregister(GrainAddress address)
        {
            if (Entries.TryGetValue(address.GrainId, out var found) && found.ActivationId.Equals(address.ActivationId))
                Entries.TryRemove(KeyValuePair.Create(address.GrainId, found));
            return Task.CompletedTask;
        }

        public Task<GrainAddress?> Lookup(GrainId grainId) => Task.FromResult(Entries.GetValueOrDefault(grainId));

        public Task UnregisterSilos(List<SiloAddress> siloAddresses)
        {
            foreach (var silo in siloAddresses)
            {
                Removed.Add(silo);
                foreach (var entry in Entries.Where(entry => silo.Equals(entry.Value.SiloAddress)))
                    Entries.TryRemove(entry);
            }

            return Task.CompletedTask;
        }
    }
}
