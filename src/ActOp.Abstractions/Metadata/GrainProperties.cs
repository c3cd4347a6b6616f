using System.Collections.Immutable;

namespace Orleans.Metadata;

/// <summary>What the cluster knows of a grain type: values by key.</summary>
public sealed class GrainProperties
{
    /// <summary>Creates the properties.</summary>
    public GrainProperties(ImmutableDictionary<string, string> values) => Properties = values;

    /// <summary>The values by key, see <see cref="WellKnownGrainTypeProperties"/>.</summary>
    public ImmutableDictionary<string, string> Properties { get; }

    /// <summary>All keys and values for people, in the order of the keys.</summary>
    public string ToDetailedString() =>
        Properties is null ? "" : "[" + string.Join(", ", Properties.OrderBy(pair => pair.Key, StringComparer.Ordinal).Select(pair => "{'" + pair.Key + "': '" + pair.Value + "'}")) + "]";
}
