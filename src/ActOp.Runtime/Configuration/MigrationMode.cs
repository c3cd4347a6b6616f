namespace ActOp.Configuration;

/// <summary>How a grain changes its silo.</summary>
public enum MigrationMode
{
    /// <summary>Its state goes along, its queue is sent on, and it runs on the target when the move ends (default).</summary>
    Live,

    /// <summary>
    /// As in the paper (section 4.3): it is deactivated, both silos of the exchange remember where it belongs, and its
    /// next call activates it there. State that is not stored is lost.
    /// </summary>
    Opportunistic,
}
