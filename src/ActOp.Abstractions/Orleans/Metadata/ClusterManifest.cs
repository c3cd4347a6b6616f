using System.Collections.Immutable;
using System.Globalization;
using Orleans.Runtime;

namespace Orleans.Metadata;

/// <summary>A version of two numbers, the first one of which counts more.</summary>
public readonly struct MajorMinorVersion : IComparable<MajorMinorVersion>, IEquatable<MajorMinorVersion>
{
    /// <summary>Creates the version.</summary>
    public MajorMinorVersion(long majorVersion, long minorVersion)
    {
        Major = majorVersion;
        Minor = minorVersion;
    }

    /// <summary>0.0.</summary>
    public static MajorMinorVersion Zero => default;

    /// <summary>The lowest version.</summary>
    public static MajorMinorVersion MinValue => new(long.MinValue, long.MinValue);

    /// <summary>The number that counts more.</summary>
    public long Major { get; }

    /// <summary>The number that counts less.</summary>
    public long Minor { get; }

    /// <inheritdoc/>
    public static bool operator ==(MajorMinorVersion left, MajorMinorVersion right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(MajorMinorVersion left, MajorMinorVersion right) => !left.Equals(right);

    /// <inheritdoc/>
    public static bool operator <(MajorMinorVersion left, MajorMinorVersion right) => left.CompareTo(right) < 0;

    /// <inheritdoc/>
    public static bool operator >(MajorMinorVersion left, MajorMinorVersion right) => left.CompareTo(right) > 0;

    /// <inheritdoc/>
    public static bool operator <=(MajorMinorVersion left, MajorMinorVersion right) => left.CompareTo(right) <= 0;

    /// <inheritdoc/>
    public static bool operator >=(MajorMinorVersion left, MajorMinorVersion right) => left.CompareTo(right) >= 0;

    /// <summary>Reads <c>major.minor</c>.</summary>
    /// <exception cref="FormatException">The text is something else.</exception>
    public static MajorMinorVersion Parse(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        var dot = value.IndexOf('.', StringComparison.Ordinal);
        return dot > 0
            && long.TryParse(value.AsSpan(0, dot), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var major)
            && long.TryParse(value.AsSpan(dot + 1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var minor)
            ? new MajorMinorVersion(major, minor)
            : throw new FormatException("'" + value + "' is not a version: expected major.minor.");
    }

    /// <inheritdoc/>
    public readonly int CompareTo(MajorMinorVersion other) =>
        Major.CompareTo(other.Major) is not 0 and var order ? order : Minor.CompareTo(other.Minor);

    /// <inheritdoc/>
    public bool Equals(MajorMinorVersion other) => Major == other.Major && Minor == other.Minor;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is MajorMinorVersion other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Major, Minor);

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Major}.{Minor}");
}

/// <summary>What the cluster knows of a grain interface: values by key.</summary>
public sealed class GrainInterfaceProperties
{
    /// <summary>Creates the properties.</summary>
    public GrainInterfaceProperties(ImmutableDictionary<string, string> values) => Properties = values;

    /// <summary>The values by key, see <see cref="WellKnownGrainInterfaceProperties"/>.</summary>
    public ImmutableDictionary<string, string> Properties { get; }

    /// <summary>All keys and values for people, in the order of the keys.</summary>
    public string ToDetailedString() => new GrainProperties(Properties).ToDetailedString();
}

/// <summary>What one silo hosts.</summary>
public sealed class GrainManifest
{
    /// <summary>Creates the manifest.</summary>
    public GrainManifest(ImmutableDictionary<GrainType, GrainProperties> grains,
        ImmutableDictionary<GrainInterfaceType, GrainInterfaceProperties> interfaces)
    {
        Grains = grains;
        Interfaces = interfaces;
    }

    /// <summary>The grain types that it hosts.</summary>
    public ImmutableDictionary<GrainType, GrainProperties> Grains { get; }

    /// <summary>The grain interfaces that it has.</summary>
    public ImmutableDictionary<GrainInterfaceType, GrainInterfaceProperties> Interfaces { get; }
}

/// <summary>What the silos of the cluster host.</summary>
public sealed class ClusterManifest
{
    /// <summary>Creates the manifest.</summary>
    public ClusterManifest(MajorMinorVersion version, ImmutableDictionary<SiloAddress, GrainManifest> silos)
        : this(version, silos, [.. silos.Values])
    {
    }

    /// <summary>Creates the manifest.</summary>
    /// <param name="version">Newer ones have higher versions.</param>
    /// <param name="silos">The manifests of the silos.</param>
    /// <param name="allGrainManifests">These, and that of the client that has them.</param>
    public ClusterManifest(MajorMinorVersion version, ImmutableDictionary<SiloAddress, GrainManifest> silos,
        ImmutableArray<GrainManifest> allGrainManifests)
    {
        Version = version;
        Silos = silos;
        AllGrainManifests = allGrainManifests;
    }

    /// <summary>Newer ones have higher versions.</summary>
    public MajorMinorVersion Version { get; }

    /// <summary>The manifests by silo.</summary>
    public ImmutableDictionary<SiloAddress, GrainManifest> Silos { get; }

    /// <summary>All manifests.</summary>
    public ImmutableArray<GrainManifest> AllGrainManifests { get; }
}

/// <summary>A service that names grain types.</summary>
public interface IGrainTypeProvider
{
    /// <summary>The grain type of a class; false if another provider must be asked.</summary>
    bool TryGetGrainType(Type type, out GrainType grainType);
}

/// <summary>Names grain types by <see cref="IGrainTypeProviderAttribute"/>.</summary>
public class AttributeGrainTypeProvider : IGrainTypeProvider
{
    private readonly IServiceProvider _services;

    /// <summary>Creates the provider.</summary>
    public AttributeGrainTypeProvider(IServiceProvider serviceProvider) => _services = serviceProvider;

    /// <inheritdoc/>
    public bool TryGetGrainType(Type grainClass, out GrainType grainType)
    {
        var attribute = grainClass.GetCustomAttributes(inherit: false).OfType<IGrainTypeProviderAttribute>().FirstOrDefault();
        grainType = attribute?.GetGrainType(_services, grainClass) ?? default;
        return attribute is not null;
    }
}

/// <summary>Adds what <see cref="IGrainPropertiesProviderAttribute"/> says to the properties of grain types.</summary>
public sealed class AttributeGrainPropertiesProvider : IGrainPropertiesProvider
{
    private readonly IServiceProvider _services;

    /// <summary>Creates the provider.</summary>
    public AttributeGrainPropertiesProvider(IServiceProvider serviceProvider) => _services = serviceProvider;

    /// <inheritdoc/>
    public void Populate(Type grainClass, GrainType grainType, Dictionary<string, string> properties)
    {
        ArgumentNullException.ThrowIfNull(grainClass);
        foreach (var attribute in grainClass.GetCustomAttributes(inherit: true).OfType<IGrainPropertiesProviderAttribute>())
            attribute.Populate(_services, grainClass, grainType, properties);
    }
}

/// <summary>Finds the properties of grain types in what the cluster hosts.</summary>
public class GrainPropertiesResolver
{
    private readonly IClusterManifestProvider _manifests;

    /// <summary>Creates the resolver.</summary>
    public GrainPropertiesResolver(IClusterManifestProvider clusterManifestProvider) => _manifests = clusterManifestProvider;

    /// <summary>The properties of the grain type, which may name type arguments.</summary>
    /// <exception cref="KeyNotFoundException">No silo hosts it.</exception>
    public GrainProperties GetGrainProperties(GrainType grainType) => TryGetGrainProperties(grainType, out var properties)
        ? properties!
        : throw new KeyNotFoundException("No silo hosts the grain type " + grainType + ".");

    /// <summary>The properties of the grain type; false if no silo hosts it.</summary>
    public bool TryGetGrainProperties(GrainType grainType, out GrainProperties? properties)
    {
        var text = grainType.ToString()!;
        var definition = text.IndexOf("[[", StringComparison.Ordinal) is > 0 and var end ? GrainType.Create(text[..end]) : grainType;
        // A manifest that a test does not provide knows nothing.
        foreach (var manifest in _manifests.Current?.AllGrainManifests ?? [])
        {
            if (manifest.Grains.TryGetValue(definition, out properties))
                return true;
        }

        properties = null;
        return false;
    }
}

/// <summary>Finds the bindings of grain types in what the cluster hosts.</summary>
public class GrainBindingsResolver
{
    private readonly IClusterManifestProvider _manifests;

    /// <summary>Creates the resolver.</summary>
    public GrainBindingsResolver(IClusterManifestProvider clusterManifestProvider) => _manifests = clusterManifestProvider;

    /// <summary>The bindings of the grain type; empty if it has none.</summary>
    public GrainBindings GetBindings(GrainType grainType) =>
        GetAllBindings().Bindings.GetValueOrDefault(grainType) ?? new GrainBindings(grainType, []);

    /// <summary>The bindings of all grain types, and the version of the manifest that they are from.</summary>
    public (MajorMinorVersion Version, ImmutableDictionary<GrainType, GrainBindings> Bindings) GetAllBindings()
    {
        var manifest = _manifests.Current;
        var bindings = manifest.AllGrainManifests.SelectMany(static one => one.Grains).DistinctBy(static grain => grain.Key)
            .ToImmutableDictionary(
                static grain => grain.Key, static grain => GrainBindings.FromProperties(grain.Key, grain.Value.Properties));
        return (manifest.Version, bindings);
    }
}
