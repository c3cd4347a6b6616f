using Orleans.Metadata;

namespace ActOp.Orleans.Locality;

/// <summary>
/// The other active silos that run locality too. Their manifests say so: silos without the package are never sent a message that they do
/// not know.
/// </summary>
/// <remarks>Belongs to the turns of locality; <see cref="Changed"/> is called on a thread of Orleans.</remarks>
internal sealed class Participants : ISiloStatusListener, IDisposable
{
    private readonly ISiloStatusOracle _silos;
    private readonly IClusterManifestProvider _manifests;
    private HashSet<SiloAddress> _all = [];

    public Participants(ISiloStatusOracle silos, IClusterManifestProvider manifests)
    {
        (_silos, _manifests) = (silos, manifests);
        silos.SubscribeToSiloStatusEvents(this);
    }

    /// <summary>A silo has changed its status.</summary>
    internal Action? Changed { get; set; }

    internal IReadOnlyCollection<SiloAddress> All => _all;

    internal int Count => _all.Count;

    internal bool Contains(SiloAddress silo) => _all.Contains(silo);

    internal void Refresh()
    {
        var manifests = _manifests.Current.Silos;
        HashSet<SiloAddress> all = [];
        foreach (var (silo, _) in _silos.GetApproximateSiloStatuses(onlyActive: true))
        {
            if (!silo.Equals(_silos.SiloAddress) && manifests.TryGetValue(silo, out var manifest) && LocalityMark.IsOn(manifest))
                all.Add(silo);
        }

        _all = all;
    }

    public void SiloStatusChangeNotification(SiloAddress updatedSilo, SiloStatus status) => Changed?.Invoke();

    public void Dispose()
    {
        Changed = null;
        _silos.UnSubscribeFromSiloStatusEvents(this);
    }
}

/// <summary>Marks the manifest of a silo that runs locality, with the version of its messages.</summary>
internal sealed class LocalityMark : IGrainPropertiesProvider
{
    private const string Property = "actop.locality";

    /// <summary>Silos with other messages do not take part with this one.</summary>
    private const string Version = "3";

    public void Populate(Type grainClass, GrainType grainType, Dictionary<string, string> properties) => properties[Property] = Version;

    /// <summary>Every class of a marked silo is marked.</summary>
    internal static bool IsOn(GrainManifest manifest) =>
        manifest.Grains.Values.FirstOrDefault()?.Properties.GetValueOrDefault(Property) == Version;
}
