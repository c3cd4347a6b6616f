namespace ActOp.Tool.Checks;

/// <summary>What one check has found.</summary>
/// <param name="Name">What was checked.</param>
/// <param name="State">How it ended.</param>
/// <param name="Text">What was found, and what to do if it has failed.</param>
internal sealed record CheckLine(string Name, CheckState State, string Text)
{
    internal static CheckLine Ok(string name, string text) => new(name, CheckState.Ok, text);

    internal static CheckLine Failed(string name, string text) => new(name, CheckState.Failed, text);

    internal static CheckLine Skipped(string name, string text) => new(name, CheckState.Skipped, text);
}

/// <summary>How a check has ended.</summary>
internal enum CheckState
{
    /// <summary>All is well.</summary>
    Ok,

    /// <summary>Something must be done.</summary>
    Failed,

    /// <summary>It could not be checked, or there is nothing to check.</summary>
    Skipped,
}
