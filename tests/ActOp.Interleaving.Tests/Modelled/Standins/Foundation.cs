using System.Diagnostics.CodeAnalysis;
using Orleans.Runtime;

namespace ActOp.Foundation;

/// <summary>A node: its address, its clock and its counters.</summary>
internal sealed class LocalNode(SiloAddress address)
{
    internal SiloAddress Address => address;

    internal bool IsSilo => !address.IsClient;

    internal NodeCounts Counts { get; } = new();
}

/// <summary>A part of a node with work in the background.</summary>
internal sealed class BackgroundPart
{
    internal void Follow(Task task) => throw new NotSupportedException("No model looks a grain up: " + task.Status);
}

/// <summary>No time passes.</summary>
internal sealed class NodeTime
{
    internal long TimestampFrequency => 1_000_000;

    internal long GetTimestamp() => 0;
}

internal enum NodeEvent
{
    SendFailed,
}

internal sealed class NodeCounts
{
    private readonly List<NodeEvent> _events = [];

    internal void Add(NodeEvent seen) => _events.Add(seen);
}

internal static class SystemGrainIds
{
    internal static bool TryGetAddress(GrainId id, [NotNullWhen(true)] out SiloAddress? address)
    {
        address = null;
        return false;
    }

    internal static GrainId Client(SiloAddress address) => new(address.Name);
}
