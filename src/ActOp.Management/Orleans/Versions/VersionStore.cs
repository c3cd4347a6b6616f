using ActOp.Runtime.Placement;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace Orleans.Versions;

/// <summary>The strategies of versions that were set since the cluster has started.</summary>
public interface IVersionStore : IVersionManager
{
    /// <summary>Whether strategies are kept.</summary>
    bool IsEnabled { get; }

    /// <summary>The strategies of interfaces with ones of their own.</summary>
    Task<Dictionary<GrainInterfaceType, CompatibilityStrategy>> GetCompatibilityStrategies();

    /// <summary>The strategies of interfaces with ones of their own.</summary>
    Task<Dictionary<GrainInterfaceType, VersionSelectorStrategy>> GetSelectorStrategies();

    /// <summary>The strategy of all other interfaces; null for the one of the options.</summary>
    Task<CompatibilityStrategy?> GetCompatibilityStrategy();

    /// <summary>The strategy of all other interfaces; null for the one of the options.</summary>
    Task<VersionSelectorStrategy?> GetSelectorStrategy();
}

/// <summary>
/// The strategies of versions that were set, as this silo knows them. Setting one goes through the management grain to all silos; a silo
/// that starts later learns them from the others (<see cref="ActOp.Management.LateVersions"/>).
/// </summary>
/// <remarks>Holds nothing. Any thread.</remarks>
internal sealed class VersionStore(IServiceProvider services, IGrainFactory grains, InterfaceVersions versions) : IVersionStore
{
    public bool IsEnabled => true;

    private IManagementGrain Management => grains.GetGrain<IManagementGrain>(0);

    public Task SetCompatibilityStrategy(CompatibilityStrategy strategy) => Management.SetCompatibilityStrategy(strategy);

    public Task SetSelectorStrategy(VersionSelectorStrategy strategy) => Management.SetSelectorStrategy(strategy);

    public Task SetCompatibilityStrategy(GrainInterfaceType interfaceType, CompatibilityStrategy strategy) =>
        Management.SetCompatibilityStrategy(interfaceType, strategy);

    public Task SetSelectorStrategy(GrainInterfaceType interfaceType, VersionSelectorStrategy strategy) =>
        Management.SetSelectorStrategy(interfaceType, strategy);

    public Task<CompatibilityStrategy?> GetCompatibilityStrategy() =>
        Task.FromResult(versions.Settings.Where(static one => one.InterfaceName is null && one.Compatibility is not null)
            .Select(one => CompatibilityOf(one.Compatibility!)).FirstOrDefault());

    public Task<VersionSelectorStrategy?> GetSelectorStrategy() =>
        Task.FromResult(versions.Settings.Where(static one => one.InterfaceName is null && one.Selector is not null)
            .Select(one => SelectorOf(one.Selector!)).FirstOrDefault());

    public Task<Dictionary<GrainInterfaceType, CompatibilityStrategy>> GetCompatibilityStrategies() =>
        Task.FromResult(versions.Settings.Where(static one => one.InterfaceName is not null && one.Compatibility is not null)
            .ToDictionary(static one => GrainInterfaceType.Create(one.InterfaceName!), one => CompatibilityOf(one.Compatibility!)!));

    public Task<Dictionary<GrainInterfaceType, VersionSelectorStrategy>> GetSelectorStrategies() =>
        Task.FromResult(versions.Settings.Where(static one => one.InterfaceName is not null && one.Selector is not null)
            .ToDictionary(static one => GrainInterfaceType.Create(one.InterfaceName!), one => SelectorOf(one.Selector!)!));

    private CompatibilityStrategy? CompatibilityOf(string name) => name switch
    {
        nameof(BackwardCompatible) => BackwardCompatible.Singleton,
        nameof(StrictVersionCompatible) => StrictVersionCompatible.Singleton,
        nameof(AllVersionsCompatible) => AllVersionsCompatible.Singleton,
        _ => services.GetKeyedService<CompatibilityStrategy>(name),
    };

    private VersionSelectorStrategy? SelectorOf(string name) => name switch
    {
        nameof(AllCompatibleVersions) => AllCompatibleVersions.Singleton,
        nameof(LatestVersion) => LatestVersion.Singleton,
        nameof(MinimumVersion) => MinimumVersion.Singleton,
        _ => services.GetKeyedService<VersionSelectorStrategy>(name),
    };
}
