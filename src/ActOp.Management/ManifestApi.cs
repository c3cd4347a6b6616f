using System.Collections.Immutable;
using System.Globalization;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using Orleans.Metadata;
using Orleans.Runtime;

namespace ActOp.Management;

/// <summary>What the silos host, as applications see it.</summary>
/// <remarks>
/// Any thread. Holds the last manifest with what it was made from. A client knows the classes of the cluster but not which silo hosts
/// which: all silos that it knows have the same manifest there. A reader of the updates that stops reading holds nothing.
/// </remarks>
internal sealed class ManifestApi(LocalNode local, ClusterView cluster, ClusterManifests manifests, GrainClasses classes)
    : IClusterManifestProvider
{
    private readonly Lock _gate = new();
    private (KnownManifests? Known, GrainTypeEntry[]? Entries, ClusterManifest Manifest) _last =
        (null, null, new ClusterManifest(MajorMinorVersion.MinValue, ImmutableDictionary<SiloAddress, GrainManifest>.Empty));
    private GrainManifest? _own;
    private long _minor;

    public ClusterManifest Current
    {
        get
        {
            var (known, entries, major) = (manifests.Known, classes.Entries, cluster.View.Number);
            lock (_gate)
            {
                if (!ReferenceEquals(_last.Known, known) || !ReferenceEquals(_last.Entries, entries))
                    _last = (known, entries, Make(known, entries, major));
                return _last.Manifest;
            }
        }
    }

    public IAsyncEnumerable<ClusterManifest> Updates => Management.Updates.Read(
        () => Task.WhenAny(manifests.Changed, cluster.Changed), () => Current, local.Background.Part("manifest updates").Stopping);

    public GrainManifest LocalGrainManifest => _own ??= ManifestOf(local.IsSilo ? manifests.Own : classes.LocalInterfaces());

    private ClusterManifest Make(KnownManifests known, GrainTypeEntry[] entries, long major)
    {
        var silos = known.Manifests.ToImmutableDictionary(
            static pair => pair.Key,
            pair => ManifestOf(local.IsSilo ? pair.Value.Manifest
                : new SiloManifest { Grains = entries, Interfaces = pair.Value.Manifest.Interfaces }));
        var version = new MajorMinorVersion(major, ++_minor);
        return local.IsSilo ? new ClusterManifest(version, silos)
            : new ClusterManifest(version, silos, [LocalGrainManifest, .. silos.Values]);
    }

    private static GrainManifest ManifestOf(SiloManifest manifest) => new(
        manifest.Grains.DistinctBy(static entry => entry.GrainType).ToImmutableDictionary(
            static entry => GrainType.Create(entry.GrainType),
            static entry => new GrainProperties(entry.Properties.ToImmutableDictionary(StringComparer.Ordinal))),
        manifest.Interfaces.DistinctBy(static entry => entry.Name).ToImmutableDictionary(
            static entry => GrainInterfaceType.Create(entry.Name), static entry => PropertiesOf(entry)));

    /// <summary>Silos tell each other names and versions only; the rest is known where the interface is.</summary>
    private static GrainInterfaceProperties PropertiesOf(InterfaceEntry entry)
    {
        var properties = ImmutableDictionary.CreateBuilder<string, string>(StringComparer.Ordinal);
        properties[WellKnownGrainInterfaceProperties.Version] = entry.Version.ToString(CultureInfo.InvariantCulture);
        if (ActOp.Serialization.TypeManifest.TryGetInterface(entry.Name, out var found))
        {
            properties[WellKnownGrainInterfaceProperties.TypeName] = found.Type.Name;
            if (Attribute.GetCustomAttribute(found.Type, typeof(DefaultGrainTypeAttribute)) is DefaultGrainTypeAttribute named)
                properties[WellKnownGrainInterfaceProperties.DefaultGrainType] = named.GrainType.ToString()!;
        }

        return new GrainInterfaceProperties(properties.ToImmutable());
    }
}
