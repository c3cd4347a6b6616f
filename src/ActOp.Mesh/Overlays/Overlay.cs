namespace ActOp.Mesh.Overlays;

/// <summary>A node of an overlay. Unique for each start of a node.</summary>
/// <param name="Value">The number.</param>
internal readonly record struct OverlayId(long Value)
{
    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>A message between nodes of an overlay.</summary>
internal abstract record OverlayMessage;

/// <summary>
/// What a strategy does to the world. Messages from one node to another arrive in the order in which they were sent, or
/// <see cref="MembershipStrategy.OnLost"/> says that the other one is gone.
/// </summary>
internal interface IOverlayPort
{
    /// <summary>Sends a message. Opens a link to the node if there is none.</summary>
    void Send(OverlayId to, OverlayMessage message);

    /// <summary>The node is a neighbour from now on.</summary>
    void OnNeighbourUp(OverlayId peer);

    /// <summary>The node is no neighbour any more.</summary>
    void OnNeighbourDown(OverlayId peer);
}

/// <summary>
/// Chooses the neighbours of a node: the nodes that it has links to. Pure: all that comes from outside is an argument, all that goes out is
/// a call of the port. One thread at a time.
/// </summary>
/// <remarks>
/// Whoever drives it passes each message that has arrived, tells each loss of a link or failure to open one, and calls
/// <see cref="OnPeriod"/> at equal intervals. A message that comes twice, or from a node that is no neighbour, does no harm.
/// </remarks>
internal abstract class MembershipStrategy
{
    /// <summary>The neighbours now.</summary>
    internal abstract IReadOnlyList<OverlayId> Neighbours { get; }

    /// <summary>Joins the overlay that a node is in.</summary>
    internal abstract void Join(OverlayId contact);

    /// <summary>A period has passed.</summary>
    internal abstract void OnPeriod();

    /// <summary>A message has arrived.</summary>
    internal abstract void Receive(OverlayId from, OverlayMessage message);

    /// <summary>The link to a node has failed, or cannot be opened.</summary>
    internal abstract void OnLost(OverlayId peer);

    /// <summary>Tells the neighbours that the node leaves.</summary>
    internal abstract void Leave();
}
