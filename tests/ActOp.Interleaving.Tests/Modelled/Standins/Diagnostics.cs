namespace ActOp.Runtime.Diagnostics;

internal enum NodeEvent
{
    SendFailed,
}

internal sealed class NodeCounts
{
    private readonly List<NodeEvent> _events = [];

    internal void Add(NodeEvent seen) => _events.Add(seen);
}
