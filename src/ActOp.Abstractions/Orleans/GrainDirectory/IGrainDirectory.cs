using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans.GrainDirectory;

/// <summary>
/// Where grains are registered: at most one activation of each. An application may register one of its own under a name
/// (<c>AddGrainDirectory</c>) for the classes that name it (<see cref="GrainDirectoryAttribute"/>).
/// </summary>
public interface IGrainDirectory
{
    /// <summary>
    /// Registers the activation unless another one is registered. Returns the one that is registered now.
    /// </summary>
    Task<GrainAddress?> Register(GrainAddress address);

    /// <inheritdoc cref="Register(GrainAddress)"/>
    Task<GrainAddress?> Register(GrainAddress address, CancellationToken cancellationToken) => Register(address);

    /// <summary>
    /// Registers the activation in place of <paramref name="previousAddress"/>, if that is what is registered. Returns what is registered
    /// now.
    /// </summary>
    async Task<GrainAddress?> Register(GrainAddress address, GrainAddress? previousAddress)
    {
        if (previousAddress is not null)
            await Unregister(previousAddress).ConfigureAwait(true);
        return await Register(address).ConfigureAwait(true);
    }

    /// <inheritdoc cref="Register(GrainAddress, GrainAddress)"/>
    Task<GrainAddress?> Register(GrainAddress address, GrainAddress? previousAddress, CancellationToken cancellationToken) =>
        Register(address, previousAddress);

    /// <summary>Removes the registration, if it is this one.</summary>
    Task Unregister(GrainAddress address);

    /// <inheritdoc cref="Unregister(GrainAddress)"/>
    Task Unregister(GrainAddress address, CancellationToken cancellationToken) => Unregister(address);

    /// <summary>What is registered for the grain, or null.</summary>
    Task<GrainAddress?> Lookup(GrainId grainId);

    /// <inheritdoc cref="Lookup(GrainId)"/>
    Task<GrainAddress?> Lookup(GrainId grainId, CancellationToken cancellationToken) => Lookup(grainId);

    /// <summary>Removes all registrations of silos that are gone.</summary>
    Task UnregisterSilos(List<SiloAddress> siloAddresses);

    /// <inheritdoc cref="UnregisterSilos(List{SiloAddress})"/>
    Task UnregisterSilos(List<SiloAddress> siloAddresses, CancellationToken cancellationToken) => UnregisterSilos(siloAddresses);
}

/// <summary>Names the grain directory in which the grains of the marked class are registered.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class GrainDirectoryAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>The directory of the runtime, or the one that the application has registered under this name.</summary>
    public const string DEFAULT_GRAIN_DIRECTORY = "default";

    /// <summary>The default directory.</summary>
    public GrainDirectoryAttribute()
        : this(DEFAULT_GRAIN_DIRECTORY)
    {
    }

    /// <summary>The directory that the application has registered under this name.</summary>
    public GrainDirectoryAttribute(string grainDirectoryName) => GrainDirectoryName = grainDirectoryName;

    /// <summary>The name of the directory.</summary>
    public string GrainDirectoryName { get; set; }

    void IGrainPropertiesProviderAttribute.Populate(
        IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.GrainDirectory] = GrainDirectoryName;
}

/// <summary>Why a registration is removed.</summary>
public enum UnregistrationCause : byte
{
    /// <summary>In any case: an activation that lives ends.</summary>
    Force = 0,

    /// <summary>The activation does not exist: one that lives stays.</summary>
    NonexistentActivation = 1,
}

/// <summary>Where grains are active, as a service of a silo: its cache of locations, and the directory that the grain is in.</summary>
public interface IGrainLocator
{
    /// <summary>Forgets the cached location, if it is this one.</summary>
    void InvalidateCache(GrainAddress address);

    /// <summary>Forgets the cached location of the grain.</summary>
    void InvalidateCache(GrainId grainId);

    /// <summary>Where the grain is active: by the cache, else by the directory; null if it is not.</summary>
    ValueTask<GrainAddress?> Lookup(GrainId grainId);

    /// <summary>
    /// Registers an activation of this silo unless another one is registered. Returns the one that is registered now. An address of
    /// another silo, or of no activation, is not registered.
    /// </summary>
    /// <param name="address">The activation.</param>
    /// <param name="previousRegistration">What it replaces; null for nothing.</param>
    Task<GrainAddress?> Register(GrainAddress address, GrainAddress? previousRegistration);

    /// <summary>The cached location; false if there is none.</summary>
    bool TryLookupInCache(GrainId grainId, out GrainAddress? address);

    /// <summary>Removes the registration, if it is this one.</summary>
    Task Unregister(GrainAddress address, UnregistrationCause cause);

    /// <summary>Remembers that the grain is active on the silo. A location that the directory has confirmed stays.</summary>
    void UpdateCache(GrainId grainId, SiloAddress siloAddress);
}
