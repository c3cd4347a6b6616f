namespace ActOp.Configuration;

/// <summary>How a grain changes its silo.</summary>
public enum MigrationMode
{
    /// <summary>Its state goes along, its queue is sent on, and it runs on the target when the move ends (default).</summary>
    Live,

    /// <summary>
    /// As in the paper (section 4.3): it is deactivated, both silos of the exchange remember where it belongs, and its next call activates
    /// it there. It carries nothing: grains that hold state in memory move like this only where <see cref="MovableGrains.All"/> says so.
    /// </summary>
    Opportunistic,
}

/// <summary>Which grains locality may move.</summary>
public enum MovableGrains
{
    /// <summary>
    /// Those that lose nothing (default): that take part in migration (they implement
    /// <see cref="Orleans.Runtime.IGrainMigrationParticipant"/>, or a part of them has registered one, as state that is stored and carried
    /// does), that hold no state in memory as the generator sees it, or that are marked <see cref="ActOp.Placement.MovableAttribute"/>. The
    /// others stay, are counted (<c>actop.locality.unmovable</c>) and named in the log, once per class.
    /// </summary>
    NothingLost,

    /// <summary>All but immovable ones, as in the paper: what a grain holds in memory and does not carry is lost when it moves.</summary>
    All,
}
