namespace ActOp.Process.Tests;

/// <summary>Bounds of the tests. A call's response timeout is 30 s: what fails within a step did not wait for it.</summary>
internal static class Limits
{
    public static readonly TimeSpan Step = TimeSpan.FromSeconds(25);
}
