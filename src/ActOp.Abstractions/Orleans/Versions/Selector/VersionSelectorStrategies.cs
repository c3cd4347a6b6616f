using Orleans.Versions.Compatibility;

namespace Orleans.Versions.Selector;

/// <summary>Says which of the compatible versions get new activations; a selector of the same strategy chooses.</summary>
/// <remarks>An own strategy is a keyed service under the name of its class, its selector one under the type of the strategy.</remarks>
public abstract class VersionSelectorStrategy
{
}

/// <summary>Chooses for a <see cref="VersionSelectorStrategy"/>.</summary>
public interface IVersionSelector
{
    /// <summary>The versions that may get the activation; none if no available one is compatible.</summary>
    /// <param name="requestedVersion">The caller's version, above 0.</param>
    /// <param name="availableVersions">The versions on the silos that host the class, in ascending order.</param>
    /// <param name="compatibilityDirector">Decides what is compatible.</param>
    ushort[] GetSuitableVersion(ushort requestedVersion, ushort[] availableVersions, ICompatibilityDirector compatibilityDirector);
}

/// <summary>All compatible versions. The default.</summary>
public sealed class AllCompatibleVersions : VersionSelectorStrategy
{
    private AllCompatibleVersions()
    {
    }

    /// <summary>The only instance needed.</summary>
    public static AllCompatibleVersions Singleton { get; } = new();
}

/// <summary>The latest compatible version.</summary>
public sealed class LatestVersion : VersionSelectorStrategy
{
    private LatestVersion()
    {
    }

    /// <summary>The only instance needed.</summary>
    public static LatestVersion Singleton { get; } = new();
}

/// <summary>The lowest compatible version.</summary>
public sealed class MinimumVersion : VersionSelectorStrategy
{
    private MinimumVersion()
    {
    }

    /// <summary>The only instance needed.</summary>
    public static MinimumVersion Singleton { get; } = new();
}
