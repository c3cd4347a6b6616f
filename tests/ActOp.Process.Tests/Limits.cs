namespace ActOp.Process.Tests;

/// <summary>Bounds of the tests. A call's response timeout is 30 s: what fails within a step did not wait for it.</summary>
internal static class Limits
{
    public static readonly TimeSpan Step = TimeSpan.FromSeconds(25);

    /// <summary>For what waits for no call: processes that start, tell and end, on a machine that may be slow.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
}
