namespace Orleans.Runtime;

/// <summary>How far a silo's life has gone; it only goes on.</summary>
public enum SiloStatus
{
    /// <summary>Unknown.</summary>
    None = 0,

    /// <summary>It has an entry in the membership table.</summary>
    Created = 1,

    /// <summary>It is about to join.</summary>
    Joining = 2,

    /// <summary>It runs grains.</summary>
    Active = 3,

    /// <summary>It ends in order and takes no new grains.</summary>
    ShuttingDown = 4,

    /// <summary>It ends at once.</summary>
    Stopping = 5,

    /// <summary>It is gone, or was declared so.</summary>
    Dead = 6,
}
