namespace ActOp.Mesh;

/// <summary>What became of a frame offered to a link.</summary>
public enum SendResult
{
    /// <summary>Copied into the link's buffer; it will be sent in order unless the link breaks.</summary>
    Accepted,

    /// <summary>The link's buffer holds <see cref="MeshOptions.SendQueueBytes"/>; see <see cref="Link.WaitForRoomAsync"/>.</summary>
    Full,

    /// <summary>The link is closed or closing; it will never accept a frame again.</summary>
    Closed,

    /// <summary>The frame exceeds <see cref="MeshOptions.MaxFrameBytes"/>; no link will ever accept it.</summary>
    TooLarge,
}
