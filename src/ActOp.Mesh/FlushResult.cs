namespace ActOp.Mesh;

/// <summary>What a flush left behind.</summary>
public enum FlushResult
{
    /// <summary>Nothing is pending. The next accepted frame raises <see cref="MeshEvents.SendPending"/>.</summary>
    Idle,

    /// <summary>Frames arrived during the flush; the caller owes the link another flush.</summary>
    More,

    /// <summary>The network takes no more now. <see cref="MeshEvents.SendPending"/> is raised when it does again.</summary>
    Blocked,

    /// <summary>The link is closed; nothing will be sent.</summary>
    Closed,
}
