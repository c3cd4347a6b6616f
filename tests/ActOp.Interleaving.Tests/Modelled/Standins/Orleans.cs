namespace Orleans.Runtime;

/// <summary>
/// Hashes that are the same in each process: tables are read in the order of hashes, and a schedule that finds a fault in one process must
/// find it in all.
/// </summary>
internal static class Hash
{
    internal static int Of(string? name)
    {
        var hash = 0;
        foreach (var letter in name ?? "")
            hash = (hash * 31) + letter;
        return hash & int.MaxValue;
    }
}

/// <summary>The address of a node.</summary>
public sealed record SiloAddress(string Name, bool IsClient = false)
{
    internal System.Net.EndPoint Endpoint { get; } = new System.Net.DnsEndPoint(Name, 1);

    public override int GetHashCode() => Hash.Of(Name);

    public override string ToString() => Name;
}

/// <summary>The id of a grain.</summary>
public readonly record struct GrainId(string? Name)
{
    internal bool IsDefault => Name is null;

    public override int GetHashCode() => Hash.Of(Name);
}

/// <summary>The reference through which a grain is called.</summary>
public sealed class GrainReference
{
    internal GrainId GrainId { get; init; }
}

internal sealed class RequestContextData;

internal sealed class SiloUnavailableException(string message) : Exception(message);

internal sealed class LimitExceededException(string message) : Exception(message);

internal sealed class ClientNotAvailableException(GrainId client) : Exception("The client " + client + " is not available.");
