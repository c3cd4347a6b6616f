namespace ActOp.Runtime.Locality;

/// <summary>What became of a wish to move an activation.</summary>
internal enum MigrationOutcome
{
    /// <summary>It runs on the target now.</summary>
    Moved,

    /// <summary>It was not at rest; it stays and may be asked again.</summary>
    Busy,

    /// <summary>The target did not take it; it ended and begins anew with its next call.</summary>
    Failed,
}
