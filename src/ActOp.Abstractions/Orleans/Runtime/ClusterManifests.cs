using System.Collections.Immutable;
using Orleans.Metadata;

namespace Orleans.Runtime;

/// <summary>What the silos of the cluster host, as this silo or client knows it. A singleton.</summary>
public interface IClusterManifestProvider
{
    /// <summary>What is known now.</summary>
    ClusterManifest Current { get; }

    /// <summary>What is known now and each later change. Ends when the node has stopped.</summary>
    IAsyncEnumerable<ClusterManifest> Updates { get; }

    /// <summary>What this process has.</summary>
    GrainManifest LocalGrainManifest { get; }
}

/// <summary>A change of what the silos host.</summary>
public class ClusterManifestUpdate
{
    /// <summary>Creates the update.</summary>
    public ClusterManifestUpdate(MajorMinorVersion manifestVersion, ImmutableDictionary<SiloAddress, GrainManifest> siloManifests,
        bool includesAllActiveServers)
    {
        Version = manifestVersion;
        SiloManifests = siloManifests;
        IncludesAllActiveServers = includesAllActiveServers;
    }

    /// <summary>The version of the manifest.</summary>
    public MajorMinorVersion Version { get; }

    /// <summary>The manifests by silo.</summary>
    public ImmutableDictionary<SiloAddress, GrainManifest> SiloManifests { get; }

    /// <summary>Whether no active silo is left out.</summary>
    public bool IncludesAllActiveServers { get; }
}

/// <summary>A service that names grain interfaces.</summary>
public interface IGrainInterfaceTypeProvider
{
    /// <summary>The name of an interface; false if another provider must be asked.</summary>
    bool TryGetGrainInterfaceType(Type type, out GrainInterfaceType grainInterfaceType);
}

/// <summary>Names grain interfaces by <see cref="IGrainInterfaceTypeProviderAttribute"/>.</summary>
public class AttributeGrainInterfaceTypeProvider : IGrainInterfaceTypeProvider
{
    private readonly IServiceProvider _services;

    /// <summary>Creates the provider.</summary>
    public AttributeGrainInterfaceTypeProvider(IServiceProvider serviceProvider) => _services = serviceProvider;

    /// <inheritdoc/>
    public bool TryGetGrainInterfaceType(Type type, out GrainInterfaceType grainInterfaceType)
    {
        var attribute = type.GetCustomAttributes(inherit: false).OfType<IGrainInterfaceTypeProviderAttribute>().FirstOrDefault();
        grainInterfaceType = attribute?.GetGrainInterfaceType(_services, type) ?? default;
        return attribute is not null;
    }
}

/// <summary>An attribute of grain interfaces that names the interface.</summary>
public interface IGrainInterfaceTypeProviderAttribute
{
    /// <summary>The name of the marked interface.</summary>
    GrainInterfaceType GetGrainInterfaceType(IServiceProvider services, Type type);
}
