using System.Diagnostics.Metrics;

namespace ActOp.Mesh;

/// <summary>
/// The meter "ActOp.Mesh". Links count in plain fields, once per batch. The instruments add them up when they are read, so there is no cost
/// without a listener.
/// </summary>
internal sealed class MeshMetrics : IDisposable
{
    private readonly MeshNode _node;
    private readonly Meter _meter;
    private readonly Lock _gate = new();
    private readonly long[] _closedLinks = new long[Enum.GetValues<Total>().Length];
    private long _linksClosed;

    public MeshMetrics(MeshNode node)
    {
        _node = node;
        _meter = new Meter("ActOp.Mesh", null, [new("node", node.Id.Name)]);
        Observe("actop.mesh.frames.sent", Total.FramesSent, "{frame}");
        Observe("actop.mesh.frames.received", Total.FramesReceived, "{frame}");
        Observe("actop.mesh.bytes.sent", Total.BytesSent, "By");
        Observe("actop.mesh.bytes.received", Total.BytesReceived, "By");
        Observe("actop.mesh.flushes", Total.Flushes, "{send}");
        _meter.CreateObservableCounter("actop.mesh.sleeps", () => _node.Pollers.Sum(static poller => poller.Spin.Sleeps), "{sleep}");
        _meter.CreateObservableCounter("actop.mesh.spins", () => _node.Pollers.Sum(static poller => poller.Spin.Found), "{spin}");
        _meter.CreateObservableCounter("actop.mesh.looks", () => _node.Pollers.Sum(static poller => poller.Spin.Looks), "{look}");
        _meter.CreateObservableUpDownCounter("actop.mesh.links", () => _node.LinkCount, "{link}");
        _meter.CreateObservableUpDownCounter("actop.mesh.send_queue", QueuedBytes, "By");
        _meter.CreateObservableUpDownCounter("actop.mesh.connections", Connections, "{connection}");
        _meter.CreateObservableUpDownCounter("actop.mesh.handshakes", () => _node.PendingHandshakes.Count, "{handshake}");
        _meter.CreateObservableUpDownCounter("actop.mesh.names", () => _node.NamesKnown, "{name}");
        _meter.CreateObservableUpDownCounter("actop.mesh.unfinished", () => _node.Unfinished.All, "By");
        DialsDelayed = _meter.CreateCounter<long>("actop.mesh.dials.delayed", "{dial}");
        LinksBroken = _meter.CreateCounter<long>("actop.mesh.links.broken", "{link}");
        HandshakeFailures = _meter.CreateCounter<long>("actop.mesh.handshake.failures", "{handshake}");
        Sessions = _meter.CreateCounter<long>("actop.mesh.sessions", "{session}");
    }

    private enum Total
    {
        FramesSent,
        FramesReceived,
        BytesSent,
        BytesReceived,
        Flushes,
    }

    public Counter<long> HandshakeFailures { get; }

    public Counter<long> Sessions { get; }

    public Counter<long> DialsDelayed { get; }

    public Counter<long> LinksBroken { get; }

    /// <summary>Of all links so far, open and closed.</summary>
    public long FramesSent => Sum(Total.FramesSent);

    /// <inheritdoc cref="FramesSent"/>
    public long FramesReceived => Sum(Total.FramesReceived);

    /// <inheritdoc cref="FramesSent"/>
    public long BytesSent => Sum(Total.BytesSent);

    /// <inheritdoc cref="FramesSent"/>
    public long BytesReceived => Sum(Total.BytesReceived);

    /// <summary>Links whose counts are in the totals.</summary>
    public long LinksClosed
    {
        get
        {
            lock (_gate)
                return _linksClosed;
        }
    }

    /// <summary>Adds the counts of a link that is closed to the totals.</summary>
    public void Fold(Link link)
    {
        lock (_gate)
        {
            _linksClosed++;
            foreach (var total in Enum.GetValues<Total>())
                _closedLinks[(int)total] += Read(link, total);
        }
    }

    public void Dispose() => _meter.Dispose();

    private void Observe(string name, Total total, string unit) => _meter.CreateObservableCounter(name, () => Sum(total), unit);

    private long Sum(Total total)
    {
        long sum;
        lock (_gate)
            sum = _closedLinks[(int)total];

        foreach (var link in _node.Links())
            sum += Read(link, total);

        return sum;
    }

    private IEnumerable<Measurement<int>> Connections() =>
        [
            new(_node.ConnectionsOf(NodeKind.Silo), new KeyValuePair<string, object?>("role", "silo")),
            new(_node.ConnectionsOf(NodeKind.Client), new KeyValuePair<string, object?>("role", "client")),
        ];

    private long QueuedBytes()
    {
        var sum = 0L;
        foreach (var link in _node.Links())
            sum += link.QueuedBytes;

        return sum;
    }

    private static long Read(Link link, Total total) => total switch
    {
        Total.FramesSent => link.FramesSent,
        Total.FramesReceived => link.FramesReceived,
        Total.BytesSent => link.BytesSent,
        Total.BytesReceived => link.BytesReceived,
        _ => link.Flushes,
    };
}
