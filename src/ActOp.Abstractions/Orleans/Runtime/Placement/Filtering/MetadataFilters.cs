using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Metadata;
using Orleans.Placement;

namespace Orleans.Runtime.Placement.Filtering;

/// <summary>
/// Activations of the marked grain run only on silos whose metadata has the same values as that of the silo that places them.
/// </summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public class RequiredMatchSiloMetadataPlacementFilterAttribute : PlacementFilterAttribute
{
    /// <summary>Sets the keys that are compared.</summary>
    public RequiredMatchSiloMetadataPlacementFilterAttribute(string[] metadataKeys, int order = 0)
        : base(new RequiredMatchSiloMetadataPlacementFilterStrategy(metadataKeys, order))
    {
    }
}

/// <summary>
/// Activations of the marked grain run on silos whose metadata has the same values as that of the silo that places them, if there are
/// enough. If not, the first key is not compared any more, then the second, and so on.
/// </summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public class PreferredMatchSiloMetadataPlacementFilterAttribute : PlacementFilterAttribute
{
    /// <summary>Sets the keys that are compared, and the number of silos that are enough.</summary>
    public PreferredMatchSiloMetadataPlacementFilterAttribute(string[] orderedMetadataKeys, int minCandidates = 2, int order = 0)
        : base(new PreferredMatchSiloMetadataPlacementFilterStrategy(orderedMetadataKeys, minCandidates, order))
    {
    }
}

/// <summary>The filter of <see cref="RequiredMatchSiloMetadataPlacementFilterAttribute"/>.</summary>
public class RequiredMatchSiloMetadataPlacementFilterStrategy : PlacementFilterStrategy
{
    private const string KeysKey = "metadata-keys";

    /// <summary>Compares nothing.</summary>
    public RequiredMatchSiloMetadataPlacementFilterStrategy()
        : this([], 0)
    {
    }

    /// <summary>Sets the keys that are compared.</summary>
    public RequiredMatchSiloMetadataPlacementFilterStrategy(string[] metadataKeys, int order)
        : base(order) => MetadataKeys = metadataKeys;

    /// <summary>The keys that are compared.</summary>
    public string[] MetadataKeys { get; private set; }

    /// <inheritdoc/>
    public override void AdditionalInitialize(GrainProperties properties) =>
        MetadataKeys = MetadataKeyList.Read(GetPlacementFilterGrainProperty(KeysKey, properties));

    /// <inheritdoc/>
    protected override IEnumerable<KeyValuePair<string, string>> GetAdditionalGrainProperties(
        IServiceProvider services, Type grainClass, GrainType grainType, IReadOnlyDictionary<string, string> existingProperties) =>
        [new(KeysKey, string.Join(',', MetadataKeys))];
}

/// <summary>The filter of <see cref="PreferredMatchSiloMetadataPlacementFilterAttribute"/>.</summary>
public class PreferredMatchSiloMetadataPlacementFilterStrategy : PlacementFilterStrategy
{
    private const string KeysKey = "ordered-metadata-keys";
    private const string MinCandidatesKey = "min-candidates";

    /// <summary>Compares nothing.</summary>
    public PreferredMatchSiloMetadataPlacementFilterStrategy()
        : this([], 2, 0)
    {
    }

    /// <summary>Sets the keys that are compared, and the number of silos that are enough.</summary>
    public PreferredMatchSiloMetadataPlacementFilterStrategy(string[] orderedMetadataKeys, int minCandidates, int order)
        : base(order)
    {
        OrderedMetadataKeys = orderedMetadataKeys;
        MinCandidates = minCandidates;
    }

    /// <summary>The keys that are compared, the least important one first.</summary>
    public string[] OrderedMetadataKeys { get; private set; }

    /// <summary>The number of silos that are enough.</summary>
    public int MinCandidates { get; private set; }

    /// <inheritdoc/>
    public override void AdditionalInitialize(GrainProperties properties)
    {
        OrderedMetadataKeys = MetadataKeyList.Read(GetPlacementFilterGrainProperty(KeysKey, properties));
        if (int.TryParse(
            GetPlacementFilterGrainProperty(MinCandidatesKey, properties), NumberStyles.None, CultureInfo.InvariantCulture, out var number))
        {
            MinCandidates = number;
        }
    }

    /// <inheritdoc/>
    protected override IEnumerable<KeyValuePair<string, string>> GetAdditionalGrainProperties(
        IServiceProvider services, Type grainClass, GrainType grainType, IReadOnlyDictionary<string, string> existingProperties) =>
    [
        new(KeysKey, string.Join(',', OrderedMetadataKeys)),
        new(MinCandidatesKey, MinCandidates.ToString(CultureInfo.InvariantCulture)),
    ];
}

/// <summary>Keys of metadata in a property of a grain type.</summary>
internal static class MetadataKeyList
{
    internal static string[] Read(string? text) => string.IsNullOrEmpty(text) ? [] : text.Split(',');
}

/// <summary>Finds the directors of placement filters. Holds nothing; any thread.</summary>
public sealed class PlacementFilterDirectorResolver
{
    private readonly IServiceProvider _services;

    /// <summary>Creates the resolver.</summary>
    public PlacementFilterDirectorResolver(IServiceProvider services) => _services = services;

    /// <summary>The director of the filter.</summary>
    /// <exception cref="InvalidOperationException">None is registered.</exception>
    public IPlacementFilterDirector GetFilterDirector(PlacementFilterStrategy placementFilterStrategy)
    {
        ArgumentNullException.ThrowIfNull(placementFilterStrategy);
        return _services.GetRequiredKeyedService<IPlacementFilterDirector>(placementFilterStrategy.GetType());
    }
}
