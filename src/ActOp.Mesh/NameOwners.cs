using System.Security.Cryptography;

namespace ActOp.Mesh;

/// <summary>
/// Which process a name belongs to: the one that used it first, as shown by its token (<see cref="HandshakeKeys.TokenFor"/>). So nobody
/// replaces the session of another node, or takes over the replies to it, by using its name. A name without a session stays reserved for
/// <see cref="MeshOptions.NameReservation"/>: a node that has lost its connection comes back.
/// <para>Owns one entry for each name, at most <see cref="MeshOptions.MaxPeers"/>. A full table drops the names without a session, the
/// oldest first, and refuses new names when all have one. Control thread.</para>
/// </summary>
internal sealed class NameOwners(MeshOptions options, TimeProvider time)
{
    private readonly Dictionary<NodeId, Owner> _owners = [];
    private readonly LinkedList<Owner> _released = [];

    /// <summary>Names that are known; for the meter, from any thread.</summary>
    public int Count => _owners.Count;

    /// <summary>Whether the token is that of the name's owner, who may be new; else the reason of the refusal.</summary>
    public DisconnectReason Check(NodeId name, byte[] token)
    {
        DropExpired();
        if (_owners.TryGetValue(name, out var owner))
            return CryptographicOperations.FixedTimeEquals(owner.Token, token) ? DisconnectReason.None : DisconnectReason.NameTaken;

        return _owners.Count < options.MaxPeers || _released.Count > 0 ? DisconnectReason.None : DisconnectReason.TooManyPeers;
    }

    /// <summary>A session with the name begins; <see cref="Check"/> has permitted it.</summary>
    public void BeginSession(NodeId name, byte[] token)
    {
        if (!_owners.TryGetValue(name, out var owner))
        {
            if (_owners.Count >= options.MaxPeers)
                DropOldest();

            _owners.Add(name, owner = new Owner(name, token));
        }

        Invariant.Holds(_released.Count <= _owners.Count);
        if (owner.ReleasedNode is { } node)
        {
            _released.Remove(node);
            owner.ReleasedNode = null;
        }
    }

    /// <summary>No session with the name is left.</summary>
    public void Release(NodeId name)
    {
        if (_owners.TryGetValue(name, out var owner) && owner.ReleasedNode is null)
        {
            owner.Since = time.GetTimestamp();
            owner.ReleasedNode = _released.AddLast(owner);
            Invariant.Holds(owner.ReleasedNode.Previous is null || owner.ReleasedNode.Previous.Value.Since <= owner.Since);
        }

        DropExpired();
    }

    private void DropExpired()
    {
        while (_released.First is { } oldest && time.GetElapsedTime(oldest.Value.Since) >= options.NameReservation)
            DropOldest();
    }

    private void DropOldest()
    {
        if (_released.First is { } oldest)
        {
            Invariant.Holds(oldest.Value.ReleasedNode == oldest);
            _owners.Remove(oldest.Value.Name);
            _released.Remove(oldest);
        }
    }

    private sealed class Owner(NodeId name, byte[] token)
    {
        public NodeId Name => name;

        public byte[] Token => token;

        /// <summary>When its last session ended, and its place among the names without a session; null while it has one.</summary>
        public long Since { get; set; }

        public LinkedListNode<Owner>? ReleasedNode { get; set; }
    }
}
