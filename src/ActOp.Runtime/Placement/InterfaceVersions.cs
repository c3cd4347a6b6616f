using System.Collections.Frozen;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Runtime.Placement;

/// <summary>What the management grain has set for the versions of an interface.</summary>
/// <param name="InterfaceName">The interface; null for all without strategies of their own.</param>
/// <param name="Compatibility">The name of the class of the strategy; null if the other one was set.</param>
/// <param name="Selector">As <paramref name="Compatibility"/>.</param>
/// <param name="Stamp">When: of two settings of the same, the later one holds, whatever arrives first.</param>
[GenerateSerializer]
internal sealed record VersionSetting(
    [property: Id(0)] string? InterfaceName, [property: Id(1)] string? Compatibility, [property: Id(2)] string? Selector,
    [property: Id(3)] long Stamp);

/// <summary>
/// Which versions of an interface can serve a call, by <see cref="GrainVersioningOptions"/> or what the management grain has set since.
/// </summary>
/// <remarks>Any thread: what was set is replaced as a whole. Strategies of the application are keyed services, see
/// <see cref="CompatibilityStrategy"/>.</remarks>
internal sealed class InterfaceVersions
{
    private readonly IServiceProvider _services;
    private readonly Lock _gate = new();
    private readonly Strategies _configured;
    private volatile Strategies _default;
    private readonly Dictionary<(string?, bool), VersionSetting> _settings = [];
    private volatile FrozenDictionary<string, Strategies> _byInterface = FrozenDictionary<string, Strategies>.Empty;

    /// <exception cref="OrleansConfigurationException">An option names a strategy that does not exist.</exception>
    internal InterfaceVersions(IServiceProvider services)
    {
        _services = services;
        var options = services.GetService<IOptions<GrainVersioningOptions>>()?.Value ?? new GrainVersioningOptions();
        _default = _configured = new Strategies(CompatibilityOf(options.DefaultCompatibilityStrategy),
            SelectorOf(options.DefaultVersionSelectorStrategy));
    }

    /// <summary>Whether a call may run on an activation of a silo with version <paramref name="current"/> of the interface.</summary>
    internal bool IsCompatible(string? interfaceName, ushort requested, ushort current) =>
        requested == 0 || requested == current || StrategiesOf(interfaceName).Compatibility.IsCompatible(requested, current);

    /// <summary>The versions that may get a new activation. Without a requested version, all.</summary>
    /// <exception cref="OrleansException">The selector has returned null, or a version that no silo has.</exception>
    internal ushort[] Select(string? interfaceName, ushort requested, ushort[] available)
    {
        if (requested == 0)
            return available;
        var strategies = StrategiesOf(interfaceName);
        var selected = strategies.Selector.GetSuitableVersion(requested, available, strategies.Compatibility);
        if (selected is not null && Array.TrueForAll(selected, version => Array.IndexOf(available, version) >= 0))
            return selected;
        throw new OrleansException("The version selector " + strategies.Selector.GetType() + " has returned "
            + (selected is null ? "null" : string.Join(", ", selected)) + " for " + interfaceName + ", of which there are versions "
            + string.Join(", ", available) + ".");
    }

    /// <summary>All that was set, for a silo that has started later.</summary>
    internal VersionSetting[] Settings
    {
        get
        {
            lock (_gate)
                return [.. _settings.Values];
        }
    }

    /// <summary>Replaces strategies, by the names of their classes, unless a later setting was there before.</summary>
    internal void Set(VersionSetting setting)
    {
        lock (_gate)
        {
            // First, because an unknown name throws.
            Over(_configured, setting);
            var key = (setting.InterfaceName, setting.Selector is null);
            if (_settings.TryGetValue(key, out var known) && known.Stamp >= setting.Stamp)
                return;
            _settings[key] = setting;
            // From the beginning, so that the order in which settings arrive does not matter.
            _default = All(null).Aggregate(_configured, Over);
            _byInterface = _settings.Values.Select(static one => one.InterfaceName).OfType<string>().Distinct()
                .ToFrozenDictionary(static name => name, name => All(name).Aggregate(_default, Over));
        }
    }

    private IEnumerable<VersionSetting> All(string? interfaceName) => _settings.Values.Where(one => one.InterfaceName == interfaceName);

    private Strategies Over(Strategies before, VersionSetting setting) => new(
        setting.Compatibility is null ? before.Compatibility : CompatibilityOf(setting.Compatibility),
        setting.Selector is null ? before.Selector : SelectorOf(setting.Selector));

    private Strategies StrategiesOf(string? interfaceName) =>
        interfaceName is not null && _byInterface.Count > 0 && _byInterface.TryGetValue(interfaceName, out var own) ? own : _default;

    private ICompatibilityDirector CompatibilityOf(string? name) => name switch
    {
        nameof(BackwardCompatible) => new Compatibility(static (requested, current) => current >= requested),
        nameof(StrictVersionCompatible) => new Compatibility(static (requested, current) => current == requested),
        nameof(AllVersionsCompatible) => new Compatibility(static (_, _) => true),
        _ => FindDirector<CompatibilityStrategy, ICompatibilityDirector>(
            _services, name, nameof(GrainVersioningOptions.DefaultCompatibilityStrategy)),
    };

    private IVersionSelector SelectorOf(string? name) => name switch
    {
        nameof(AllCompatibleVersions) => new Selector(static compatible => compatible),
        nameof(LatestVersion) => new Selector(static compatible => compatible.Length == 0 ? [] : [compatible.Max()]),
        nameof(MinimumVersion) => new Selector(static compatible => compatible.Length == 0 ? [] : [compatible.Min()]),
        _ => FindDirector<VersionSelectorStrategy, IVersionSelector>(
            _services, name, nameof(GrainVersioningOptions.DefaultVersionSelectorStrategy)),
    };

    private sealed record Strategies(ICompatibilityDirector Compatibility, IVersionSelector Selector);

    private static TDirector FindDirector<TStrategy, TDirector>(IServiceProvider services, string? name, string option)
        where TStrategy : class
        where TDirector : class =>
        (services.GetKeyedService<TStrategy>(name) is { } strategy ? services.GetKeyedService<TDirector>(strategy.GetType()) : null)
            ?? throw new OrleansConfigurationException("GrainVersioningOptions." + option + " names the strategy " + (name ?? "null")
                + ", for which there is no " + typeof(TStrategy).Name + " with a " + typeof(TDirector).Name + ".");

    private sealed class Compatibility(Func<ushort, ushort, bool> isCompatible) : ICompatibilityDirector
    {
        public bool IsCompatible(ushort requestedVersion, ushort currentVersion) => isCompatible(requestedVersion, currentVersion);
    }

    private sealed class Selector(Func<ushort[], ushort[]> choose) : IVersionSelector
    {
        public ushort[] GetSuitableVersion(
            ushort requestedVersion, ushort[] availableVersions, ICompatibilityDirector compatibilityDirector) =>
            choose(Array.FindAll(availableVersions, version => compatibilityDirector.IsCompatible(requestedVersion, version)));
    }
}
