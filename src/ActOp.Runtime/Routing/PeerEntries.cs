using System.Collections.Concurrent;
using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>The connected and addressed nodes: an entry for each address.</summary>
/// <remarks>
/// Any thread. Connects and disconnects are reported one at a time by the control thread of the mesh; other threads remove entries at the
/// same time, and send through entries that they have found before.
/// </remarks>
internal sealed class PeerEntries(Func<SiloAddress, PeerEntry> make)
{
    /// <summary>Entries that are found without the table: one for each remainder of the address' hash.</summary>
    private const int RecentCount = 64;

    private readonly ConcurrentDictionary<SiloAddress, PeerEntry> _entries = new();
    private readonly PeerEntry?[] _recent = new PeerEntry?[RecentCount];

    internal int Count => _entries.Count;

    /// <summary>All entries. Others change the table meanwhile.</summary>
    internal IEnumerable<PeerEntry> All
    {
        get
        {
            foreach (var (_, entry) in _entries)
                yield return entry;
        }
    }

    internal PeerEntry? FindEntry(SiloAddress address)
    {
        ref var recent = ref RecentOf(address);
        if (Volatile.Read(ref recent) is { IsRemoved: false } found && found.Address.Equals(address))
            return found;
        if (_entries.TryGetValue(address, out found))
            Volatile.Write(ref recent, found);
        return found;
    }

    internal PeerEntry GetOrAdd(SiloAddress address) => _entries.GetOrAdd(address, make);

    /// <summary>A peer has connected. Its entry sends through it from now on, a new one if the present one is being removed.</summary>
    /// <param name="address">The address of the node.</param>
    /// <param name="peer">The peer.</param>
    /// <param name="prepare">Called with the entry before it sends.</param>
    internal void Connect(SiloAddress address, Peer peer, Action<PeerEntry, Peer> prepare)
    {
        while (true)
        {
            var entry = GetOrAdd(address);
            prepare(entry, peer);
            if (entry.TryConnect(peer))
                return;
            TryRemove(entry);
        }
    }

    /// <summary>A peer has lost its session: what waits for it is given up.</summary>
    /// <param name="entry">Its entry.</param>
    /// <param name="peer">The peer.</param>
    /// <param name="isGone">It does not come again: its entry is removed.</param>
    internal void Disconnect(PeerEntry entry, Peer peer, bool isGone)
    {
        if (entry.Disconnected(peer, isGone) && isGone)
            TryRemove(entry);
    }

    /// <summary>Nothing more is sent to a node.</summary>
    internal void Remove(SiloAddress address)
    {
        if (_entries.TryGetValue(address, out var entry) && TryRemove(entry))
            entry.Close();
    }

    private bool TryRemove(PeerEntry entry)
    {
        if (!_entries.TryRemove(new KeyValuePair<SiloAddress, PeerEntry>(entry.Address, entry)))
            return false;
        entry.IsRemoved = true;
        Interlocked.CompareExchange(ref RecentOf(entry.Address), null, entry);
        return true;
    }

    private ref PeerEntry? RecentOf(SiloAddress address) => ref _recent[(uint)address.GetHashCode() % RecentCount];
}
