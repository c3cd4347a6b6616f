using System.Collections.Concurrent;
using ActOp.TestClusters;
using Orleans.CodeGeneration;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Placement.Tests;

/// <summary>Silos 0 and 1 have version 1 of the interface, silo 2 version 2; all host the class.</summary>
public class VersionTests
{
    [Fact]
    public async Task A_reference_has_the_version_of_its_interface()
    {
        await using var cluster = await Deploy();
        Assert.Equal(1, ((GrainReference)Get(cluster, 0, 1)).InterfaceVersion);
        Assert.Equal(2, ((GrainReference)Get(cluster, 2, 1)).InterfaceVersion);
        Assert.Equal(0, ((GrainReference)(object)ClientOf(cluster, 2).GetGrain<IEchoGrain>("a")).InterfaceVersion);
        Assert.Equal(7, new VersionAttribute(7).Version);
    }

    [Fact]
    public async Task A_new_grain_is_placed_on_a_compatible_version_only()
    {
        await using var cluster = await Deploy();
        var old = await Seats(cluster, caller: 0, firstKey: 0);
        Assert.Equal(3, old.Distinct().Count());
        Assert.All(await Seats(cluster, caller: 2, firstKey: 1000), seat => Assert.Equal(AddressOf(cluster, 2), seat));
        var client = cluster.Client;
        Assert.All(
            await Task.WhenAll(Enumerable.Range(2000, 20).Select(key => client.GetGrain<IVersionedGrain>(key).Where())),
            seat => Assert.Equal(AddressOf(cluster, 2), seat));
    }

    [Fact]
    public async Task A_call_of_an_incompatible_version_ends_the_activation_and_places_the_grain_on_a_compatible_silo()
    {
        await using var cluster = await Deploy();
        foreach (var newer in new[] { ClientOf(cluster, 2), cluster.Client })
        {
            var key = newer == cluster.Client ? 1 : 2;
            Assert.Equal(AddressOf(cluster, 1), await Place.On(AddressOf(cluster, 1), Get(cluster, 0, key).Where));
            var id = Get(cluster, 0, key).GetGrainId();

            Assert.Equal(AddressOf(cluster, 2), await newer.GetGrain<IVersionedGrain>(key).Where());

            Assert.Equal(DeactivationReasonCode.IncompatibleRequest, VersionedGrain.Ends[id]);
            // An older caller stays with the newer activation.
            Assert.Equal(AddressOf(cluster, 2), await Get(cluster, 0, key).Where());
        }
    }

    [Fact]
    public async Task Many_callers_of_both_versions_get_an_answer_each()
    {
        await using var cluster = await Deploy();
        var calls = new List<Task<SiloAddress>>();
        for (var round = 0; round < 20; round++)
        {
            for (var caller = 0; caller < 3; caller++)
                calls.AddRange(Enumerable.Range(100, 20).Select(key => Get(cluster, caller, key).Where()));
        }

        await Task.WhenAll(calls).WaitAsync(Gate.Patience);
        Assert.All(await Seats(cluster, 2, 100), seat => Assert.Equal(AddressOf(cluster, 2), seat));
    }

    [Fact]
    public async Task A_stateless_worker_runs_on_a_silo_with_a_compatible_version()
    {
        await using var cluster = await Deploy();
        Assert.Equal(AddressOf(cluster, 0), await ClientOf(cluster, 0).GetGrain<IVersionedWorker>(0).Where());
        for (var call = 0; call < 10; call++)
            Assert.Equal(AddressOf(cluster, 2), await cluster.Client.GetGrain<IVersionedWorker>(0).Where());
    }

    [Theory]
    [InlineData(nameof(LatestVersion), new[] { 2 })]
    [InlineData(nameof(MinimumVersion), new[] { 0, 1 })]
    [InlineData(nameof(AllCompatibleVersions), new[] { 0, 1, 2 })]
    public async Task The_selector_chooses_among_the_compatible_versions(string selector, int[] silos)
    {
        await using var cluster = await Deploy(options => options.DefaultVersionSelectorStrategy = selector);
        var seats = await Seats(cluster, caller: 0, firstKey: 0);
        Assert.Equal(silos.Select(silo => AddressOf(cluster, silo)).Order(), seats.Distinct().Order());
    }

    [Theory]
    [InlineData(nameof(StrictVersionCompatible), new[] { 0, 1 }, new[] { 2 })]
    [InlineData(nameof(AllVersionsCompatible), new[] { 0, 1, 2 }, new[] { 0, 1, 2 })]
    [InlineData(nameof(BackwardCompatible), new[] { 0, 1, 2 }, new[] { 2 })]
    public async Task The_compatibility_strategy_decides_which_versions_serve_which(string strategy, int[] ofOld, int[] ofNew)
    {
        await using var cluster = await Deploy(options => options.DefaultCompatibilityStrategy = strategy);
        var seats = await Seats(cluster, caller: 0, firstKey: 0);
        Assert.Equal(ofOld.Select(silo => AddressOf(cluster, silo)).Order(), seats.Distinct().Order());
        seats = await Seats(cluster, caller: 2, firstKey: 1000);
        Assert.Equal(ofNew.Select(silo => AddressOf(cluster, silo)).Order(), seats.Distinct().Order());
    }

    [Fact]
    public async Task A_version_that_no_silo_has_is_an_error_that_names_it()
    {
        await using var cluster = await Deploy(clientVersion: 3);
        var exception = await Assert.ThrowsAnyAsync<OrleansException>(
            () => cluster.Client.GetGrain<IVersionedGrain>(1).Where().WaitAsync(Gate.Patience));
        Assert.Contains("version 3", exception.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(IVersionedGrain), exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_unknown_strategy_fails_the_start_with_the_name_of_the_option()
    {
        var exception = await Assert.ThrowsAnyAsync<Exception>(
            () => Deploy(options => options.DefaultCompatibilityStrategy = "Whatever"));
        Assert.Contains("GrainVersioningOptions.DefaultCompatibilityStrategy", exception.ToString(), StringComparison.Ordinal);
    }

    private static async Task<InProcessTestCluster> Deploy(Action<GrainVersioningOptions>? configure = null, int clientVersion = 2)
    {
        var builder = new InProcessTestClusterBuilder(3);
        builder.ConfigureSilo((options, silo) =>
        {
            silo.Configure<GrainVersioningOptions>(configured => configure?.Invoke(configured));
            silo.Services.AddSingleton<IGrainInterfacePropertiesProvider>(new Versions(options.SiloName == "Silo_2" ? 2 : 1));
        });
        builder.ConfigureClient(client => client.Services.AddSingleton<IGrainInterfacePropertiesProvider>(new Versions(clientVersion)));
        var cluster = builder.Build();
        try
        {
            await cluster.DeployAsync();
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    private static SiloAddress AddressOf(InProcessTestCluster cluster, int silo) => cluster.Silos[silo].SiloAddress;

    private static IClusterClient ClientOf(InProcessTestCluster cluster, int silo) =>
        cluster.Silos[silo].ServiceProvider.GetRequiredService<IClusterClient>();

    private static IVersionedGrain Get(InProcessTestCluster cluster, int caller, int key) =>
        ClientOf(cluster, caller).GetGrain<IVersionedGrain>(key);

    private static Task<SiloAddress[]> Seats(InProcessTestCluster cluster, int caller, int firstKey) =>
        Task.WhenAll(Enumerable.Range(firstKey, 60).Select(key => Get(cluster, caller, key).Where()));

    /// <summary>The version of this build of the process: in one process, an attribute can say only one.</summary>
    private sealed class Versions(int version) : IGrainInterfacePropertiesProvider
    {
        public void Populate(Type interfaceType, GrainInterfaceType grainInterfaceType, Dictionary<string, string> properties)
        {
            if (properties.ContainsKey(WellKnownGrainInterfaceProperties.Version))
                properties[WellKnownGrainInterfaceProperties.Version] = version.ToString(System.Globalization.CultureInfo.InvariantCulture);
        }
    }

    [Version(1)]
    public interface IVersionedGrain : IGrainWithIntegerKey
    {
        Task<SiloAddress> Where();
    }

    [Version(1)]
    public interface IVersionedWorker : IGrainWithIntegerKey
    {
        Task<SiloAddress> Where();
    }

    // At random: by their use of resources, the busiest of the compatible silos may get no grain.
    [RandomPlacement]
    public sealed class VersionedGrain(ILocalSiloDetails silo) : Grain, IVersionedGrain
    {
        public static ConcurrentDictionary<GrainId, DeactivationReasonCode> Ends { get; } = new();

        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);

        public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
        {
            Ends[this.GetGrainId()] = reason.ReasonCode;
            return Task.CompletedTask;
        }
    }

    [StatelessWorker]
    public sealed class VersionedWorker(ILocalSiloDetails silo) : Grain, IVersionedWorker
    {
        public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);
    }
}
