using System.Collections.Immutable;

namespace Orleans.Runtime.MembershipService.SiloMetadata;

/// <summary>What the application says of a silo, such as its zone: values by key. Set by <c>UseSiloMetadata</c>.</summary>
public record SiloMetadata()
{
    /// <summary>The metadata of a silo without metadata, and of one that is not known.</summary>
    public static SiloMetadata Empty { get; } = new();

    /// <summary>The values by key.</summary>
    public ImmutableDictionary<string, string> Metadata { get; internal init; } = ImmutableDictionary<string, string>.Empty;
}

/// <summary>The metadata of the silos of the cluster.</summary>
public interface ISiloMetadataCache
{
    /// <summary>The metadata of a silo; empty if it has none, is no member, or has not told it yet.</summary>
    SiloMetadata GetSiloMetadata(SiloAddress siloAddress);
}
