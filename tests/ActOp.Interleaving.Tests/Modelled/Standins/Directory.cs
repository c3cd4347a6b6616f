using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>Nothing is known of where grains are.</summary>
internal sealed class LocationCache
{
    internal (KnownSilo Silo, long Epoch)? FindLocation(GrainId grain) => grain.IsDefault ? null : null;
}

internal sealed record KnownSilo(SiloAddress Address);

internal readonly record struct Location(SiloAddress Silo)
{
    internal bool IsNone => Silo is null;
}

/// <summary>Never asked.</summary>
internal sealed class DirectoryClient
{
    internal Task<Location> LookupAsync(GrainId grain) => throw new NotSupportedException("Nobody looks " + grain + " up.");
}
