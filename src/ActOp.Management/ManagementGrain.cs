using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Placement;
using Orleans;
using Orleans.Concurrency;
using Orleans.Core.Internal;
using Orleans.Providers;
using Orleans.Runtime;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Management;

/// <summary>The parts of the silo that the management grain uses.</summary>
internal sealed record ManagementNeeds(
    LocalNode Local, ClusterView Cluster, GrainFactory Factory, DirectoryClient Directory, ClusterManifests Manifests);

/// <summary>Asks the silos, all at the same time. If one of them does not answer, the call fails with its error.</summary>
[GrainType("actop.management")]
[StatelessWorker]
[Reentrant]
internal sealed class ManagementGrain(ManagementNeeds parts) : Grain, IManagementGrain
{
    /// <summary>The generation of a silo is the number of seconds since then.</summary>
    private static readonly DateTime Epoch = new(2010, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    private long _lastStamp;

    public Task<Dictionary<SiloAddress, SiloStatus>> GetHosts(bool onlyActive = false) =>
        Task.FromResult(Members(onlyActive).ToDictionary(static member => member.Silo, static member => member.Status));

    public Task<MembershipEntry[]> GetDetailedHosts(bool onlyActive = false) =>
        Task.FromResult(Members(onlyActive).Select(member => new MembershipEntry
        {
            SiloAddress = member.Silo,
            SiloName = member.Name,
            Status = member.Status,
            RoleName = member.Name,
            HostName = member.Silo.Endpoint.Address.ToString(),
            ProxyPort = member.Gateway?.Port ?? 0,
            StartTime = Epoch.AddSeconds(member.Silo.Generation),
            IAmAliveTime = member.Status == SiloStatus.Active
                ? GrainContextTime.GetUtcNow().UtcDateTime
                : Epoch.AddSeconds(member.Silo.Generation),
        }).ToArray());

    public Task ForceGarbageCollection(SiloAddress[] hostsIds) => On(hostsIds, static silo => silo.CollectGarbage());

    public Task ForceActivationCollection(SiloAddress[] hostsIds, TimeSpan ageLimit) =>
        On(hostsIds, silo => silo.CollectActivations(ageLimit));

    public Task ForceActivationCollection(TimeSpan ageLimit) => ForceActivationCollection([], ageLimit);

    public Task ForceRuntimeStatisticsCollection(SiloAddress[] siloAddresses) => On(siloAddresses, static silo => silo.GetStatistics());

    public Task<SiloRuntimeStatistics[]> GetRuntimeStatistics(SiloAddress[] hostsIds) =>
        AskAsync(hostsIds, static silo => silo.GetStatistics());

    public async Task<SimpleGrainStatistic[]> GetSimpleGrainStatistics(SiloAddress[] hostsIds)
    {
        var silos = SilosOf(hostsIds);
        var counts = await AskAsync(silos, static silo => silo.CountActivations());
        return [.. silos.Zip(counts).SelectMany(static silo => silo.Second.Select(entry => new SimpleGrainStatistic
        {
            GrainType = entry.Key,
            SiloAddress = silo.First,
            ActivationCount = entry.Value,
        }))];
    }

    public Task<SimpleGrainStatistic[]> GetSimpleGrainStatistics() => GetSimpleGrainStatistics([]);

    public async Task<DetailedGrainStatistic[]> GetDetailedGrainStatistics(string[]? types = null, SiloAddress[]? hostsIds = null) =>
        [.. (await AskAsync(hostsIds, silo => silo.GetActivations(types))).SelectMany(static one => one)];

    public async Task<int> GetGrainActivationCount(GrainReference grainReference) =>
        (await AskAsync(null, silo => silo.CountActivationsOf(grainReference.GrainId))).Sum();

    public async Task<int> GetTotalActivationCount() =>
        (await AskAsync(null, static silo => silo.GetStatistics())).Sum(static one => one.ActivationCount);

    public Task<object?[]> SendControlCommandToProvider<T>(string providerName, int command, object? arg = null)
        where T : IControllable => AskAsync(null, silo => silo.RunCommand(typeof(T), providerName, command, arg));

    public async ValueTask<SiloAddress?> GetActivationAddress(IAddressable reference)
    {
        var location = await parts.Directory.LookupAsync(reference.GetGrainId());
        return location.IsNone ? null : location.Silo;
    }

    public async Task DeactivateGrain(GrainId grainId, CancellationToken cancellationToken = default)
    {
        var location = await parts.Directory.LookupAsync(grainId);
        cancellationToken.ThrowIfCancellationRequested();
        if (!location.IsNone)
            await parts.Factory.GetGrain(grainId).AsReference<IGrainManagementExtension>().DeactivateOnIdle();
    }

    public async ValueTask<List<GrainId>> GetActiveGrains(GrainType type) =>
        [.. (await AskAsync(null, silo => silo.GetActiveGrains(type))).SelectMany(static one => one).Distinct()];

    public Task<List<GrainCallFrequency>> GetGrainCallFrequencies(SiloAddress[]? hostsIds = null) => throw Frequencies();

    public ValueTask ResetGrainCallFrequencies(SiloAddress[]? hostsIds = null) => throw Frequencies();

    public Task SetCompatibilityStrategy(CompatibilityStrategy strategy) => SetVersions(null, strategy, null);

    public Task SetSelectorStrategy(VersionSelectorStrategy strategy) => SetVersions(null, null, strategy);

    public Task SetCompatibilityStrategy(GrainInterfaceType interfaceType, CompatibilityStrategy strategy) =>
        SetVersions(interfaceType.ToString(), strategy, null);

    public Task SetSelectorStrategy(GrainInterfaceType interfaceType, VersionSelectorStrategy strategy) =>
        SetVersions(interfaceType.ToString(), null, strategy);

    private TimeProvider GrainContextTime => ServiceProvider.GetService(typeof(TimeProvider)) as TimeProvider ?? TimeProvider.System;

    private static NotSupportedException Frequencies() => new(
        "Calls between grains are not counted but sampled as rates that decay (LocalityOptions, the meter ActOp.Runtime): there is no "
        + "frequency of calls to return or to reset.");

    /// <summary>On all silos, also on those that become active meanwhile; see <see cref="LateVersions"/>.</summary>
    private async Task SetVersions(string? interfaceName, CompatibilityStrategy? compatibility, VersionSelectorStrategy? selector)
    {
        _lastStamp = Math.Max(_lastStamp + 1, GrainContextTime.GetUtcNow().UtcTicks);
        var setting = new VersionSetting(interfaceName, compatibility?.GetType().Name, selector?.GetType().Name, _lastStamp);
        var told = new HashSet<SiloAddress>();
        while (parts.Cluster.Active.Where(told.Add).ToArray() is { Length: > 0 } next)
            await On(next, silo => silo.SetVersions(setting));
    }

    private IEnumerable<Member> Members(bool onlyActive) =>
        parts.Cluster.View.Members.Where(member => !onlyActive || member.Status == SiloStatus.Active);

    private SiloAddress[] SilosOf(SiloAddress[]? asked) => asked is { Length: > 0 } ? asked : [.. parts.Cluster.Active];

    private Task On(SiloAddress[]? silos, Func<IManagementTarget, Task> act) =>
        Task.WhenAll(SilosOf(silos).Select(silo => act(At(silo))));

    private Task<T[]> AskAsync<T>(SiloAddress[]? silos, Func<IManagementTarget, Task<T>> ask) =>
        Task.WhenAll(SilosOf(silos).Select(silo => ask(At(silo))));

    private IManagementTarget At(SiloAddress silo) => parts.Factory.GetSystemTarget<IManagementTarget>(ManagementTarget.Name, silo);
}

/// <summary>A strategy of versions has no content beyond its class.</summary>
[GenerateSerializer]
internal struct NoContent;

/// <inheritdoc cref="NoContent"/>
[RegisterConverter]
internal sealed class BackwardCompatibleConverter : IConverter<BackwardCompatible, NoContent>
{
    public BackwardCompatible ConvertFromSurrogate(in NoContent surrogate) => BackwardCompatible.Singleton;

    public NoContent ConvertToSurrogate(in BackwardCompatible value) => default;
}

/// <inheritdoc cref="NoContent"/>
[RegisterConverter]
internal sealed class StrictVersionCompatibleConverter : IConverter<StrictVersionCompatible, NoContent>
{
    public StrictVersionCompatible ConvertFromSurrogate(in NoContent surrogate) => StrictVersionCompatible.Singleton;

    public NoContent ConvertToSurrogate(in StrictVersionCompatible value) => default;
}

/// <inheritdoc cref="NoContent"/>
[RegisterConverter]
internal sealed class AllVersionsCompatibleConverter : IConverter<AllVersionsCompatible, NoContent>
{
    public AllVersionsCompatible ConvertFromSurrogate(in NoContent surrogate) => AllVersionsCompatible.Singleton;

    public NoContent ConvertToSurrogate(in AllVersionsCompatible value) => default;
}

/// <inheritdoc cref="NoContent"/>
[RegisterConverter]
internal sealed class AllCompatibleVersionsConverter : IConverter<AllCompatibleVersions, NoContent>
{
    public AllCompatibleVersions ConvertFromSurrogate(in NoContent surrogate) => AllCompatibleVersions.Singleton;

    public NoContent ConvertToSurrogate(in AllCompatibleVersions value) => default;
}

/// <inheritdoc cref="NoContent"/>
[RegisterConverter]
internal sealed class LatestVersionConverter : IConverter<LatestVersion, NoContent>
{
    public LatestVersion ConvertFromSurrogate(in NoContent surrogate) => LatestVersion.Singleton;

    public NoContent ConvertToSurrogate(in LatestVersion value) => default;
}

/// <inheritdoc cref="NoContent"/>
[RegisterConverter]
internal sealed class MinimumVersionConverter : IConverter<MinimumVersion, NoContent>
{
    public MinimumVersion ConvertFromSurrogate(in NoContent surrogate) => MinimumVersion.Singleton;

    public NoContent ConvertToSurrogate(in MinimumVersion value) => default;
}
