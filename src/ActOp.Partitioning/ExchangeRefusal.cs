namespace ActOp.Partitioning;

/// <summary>Why an offer led to no plan.</summary>
public enum ExchangeRefusal
{
    /// <summary>It was accepted.</summary>
    None,

    /// <summary>The silo took part in an exchange within the rejection window.</summary>
    Recent,

    /// <summary>The silo waits for the reply to an offer of its own.</summary>
    Busy,

    /// <summary>Both silos offered to each other; the offer with the smaller origin goes on, so this one ends its round.</summary>
    Crossing,

    /// <summary>No choice of vertices lowers the cut within the balance.</summary>
    NoGain,

    /// <summary>A newer offer of the same silo was already answered.</summary>
    Stale,
}
