namespace ActOp.Partitioning;

/// <summary>What an <see cref="ExchangeProtocol{TVertex}"/> is doing.</summary>
public enum ExchangeState
{
    /// <summary>Nothing is under way.</summary>
    Idle,

    /// <summary>An offer waits for its reply; other offers are refused.</summary>
    Offering,

    /// <summary>An offer is being decided.</summary>
    Deciding,

    /// <summary>Promised vertices are on their way. New exchanges may start; promised vertices take no part in them.</summary>
    Migrating,
}
