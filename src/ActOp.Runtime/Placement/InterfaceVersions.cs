using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Runtime.Placement;

/// <summary>Which versions of an interface can serve a call, by <see cref="GrainVersioningOptions"/>. Immutable; any thread.</summary>
/// <remarks>Strategies of the application are keyed services, see <see cref="CompatibilityStrategy"/>.</remarks>
internal sealed class InterfaceVersions
{
    private readonly ICompatibilityDirector _compatibility;
    private readonly IVersionSelector _selector;

    /// <exception cref="OrleansConfigurationException">An option names a strategy that does not exist.</exception>
    internal InterfaceVersions(IServiceProvider services)
    {
        var options = services.GetService<IOptions<GrainVersioningOptions>>()?.Value ?? new GrainVersioningOptions();
        _compatibility = options.DefaultCompatibilityStrategy switch
        {
            nameof(BackwardCompatible) => new Compatibility(static (requested, current) => current >= requested),
            nameof(StrictVersionCompatible) => new Compatibility(static (requested, current) => current == requested),
            nameof(AllVersionsCompatible) => new Compatibility(static (_, _) => true),
            var name => Find<CompatibilityStrategy, ICompatibilityDirector>(
                services, name, nameof(GrainVersioningOptions.DefaultCompatibilityStrategy)),
        };
        _selector = options.DefaultVersionSelectorStrategy switch
        {
            nameof(AllCompatibleVersions) => new Selector(static compatible => compatible),
            nameof(LatestVersion) => new Selector(static compatible => compatible.Length == 0 ? [] : [compatible.Max()]),
            nameof(MinimumVersion) => new Selector(static compatible => compatible.Length == 0 ? [] : [compatible.Min()]),
            var name => Find<VersionSelectorStrategy, IVersionSelector>(
                services, name, nameof(GrainVersioningOptions.DefaultVersionSelectorStrategy)),
        };
    }

    /// <summary>Whether a call may run on an activation of a silo with version <paramref name="current"/> of the interface.</summary>
    internal bool IsCompatible(ushort requested, ushort current) =>
        requested == 0 || requested == current || _compatibility.IsCompatible(requested, current);

    /// <summary>The versions that may get a new activation. Without a requested version, all.</summary>
    internal ushort[] Select(ushort requested, ushort[] available) =>
        requested == 0 ? available : _selector.GetSuitableVersion(requested, available, _compatibility);

    private static TDirector Find<TStrategy, TDirector>(IServiceProvider services, string? name, string option)
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
