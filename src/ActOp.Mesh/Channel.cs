namespace ActOp.Mesh;

/// <summary>A named class of traffic between two nodes; each has its own links so that none waits behind another.</summary>
public enum Channel : byte
{
    /// <summary>Probes, votes, directory hand-over: one link, read by the control poller.</summary>
    Control = 1,

    /// <summary>Calls and replies: <see cref="MeshOptions.LinksPerPeer"/> links, read by the data pollers.</summary>
    Data = 2,
}
