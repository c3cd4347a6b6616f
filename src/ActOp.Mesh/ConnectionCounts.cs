using System.Net;
using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// How many accepted connections are open, for each listener and for each remote address. Owns one count for each, taken by
/// <see cref="TryEnter"/> before anything else is made for a connection, and returned by <see cref="Leave"/> when its link is closed, for
/// whatever reason. The table of addresses has no more entries than there are connections.
/// <para>Threads: any; one gate, with no other taken inside.</para>
/// </summary>
internal sealed class ConnectionCounts(MeshOptions options)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<object, int> _ofAddress = [];
    private readonly List<ListenerCount> _listeners = [];

    /// <summary>A listener begins to accept.</summary>
    public ListenerCount Add(NodeKind accepts)
    {
        var listener = new ListenerCount(accepts);
        lock (_gate)
            _listeners.Add(listener);

        return listener;
    }

    /// <summary>Takes the counts of a connection; else returns the reason of its refusal.</summary>
    public DisconnectReason TryEnter(ListenerCount listener, ByteStream stream)
    {
        var address = AddressOf(stream.RemoteEndPoint);
        lock (_gate)
        {
            var ofAddress = _ofAddress.GetValueOrDefault(address);
            if (listener.Count >= options.MaxConnections)
                return DisconnectReason.TooManyConnections;

            if (ofAddress >= options.MaxConnectionsPerAddress)
                return DisconnectReason.TooManyConnectionsOfAddress;

            listener.Count++;
            _ofAddress[address] = ofAddress + 1;
            if (Invariant.AreChecked)
                Invariant.Holds(_ofAddress.Count <= _listeners.Sum(static one => one.Count));
            return DisconnectReason.None;
        }
    }

    /// <summary>Returns the counts of a connection.</summary>
    public void Leave(ListenerCount listener, ByteStream stream)
    {
        var address = AddressOf(stream.RemoteEndPoint);
        lock (_gate)
        {
            listener.Count--;
            Invariant.Holds(listener.Count >= 0);
            if (--_ofAddress[address] == 0)
                _ofAddress.Remove(address);

            if (Invariant.AreChecked)
                Invariant.Holds(_ofAddress.Count <= _listeners.Sum(static one => one.Count));
        }
    }

    /// <summary>Connections accepted for a kind of nodes.</summary>
    public int CountOf(NodeKind kind)
    {
        lock (_gate)
            return _listeners.Sum(listener => listener.Accepts == kind ? listener.Count : 0);
    }

    /// <summary>What the limits of an address hold for: the address without its port.</summary>
    public static object AddressOf(EndPoint? endPoint)
        => endPoint is IPEndPoint ip ? ip.Address.IsIPv4MappedToIPv6 ? ip.Address.MapToIPv4() : ip.Address : (object?)endPoint ?? "unknown";
}

/// <summary>One listener: whom it accepts, and its open connections, guarded by the gate of <see cref="ConnectionCounts"/>.</summary>
internal sealed class ListenerCount(NodeKind accepts)
{
    public NodeKind Accepts => accepts;

    public int Count { get; set; }
}
