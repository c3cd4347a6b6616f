namespace Harness.Supervision;

/// <summary>Chooses how to show progress.</summary>
public static class ProgressView
{
    /// <summary>
    /// In place on a terminal, line by line elsewhere. For many short runs what was shown in place can leave one line only.
    /// </summary>
    public static IProgressView ForConsole(bool leavesLine = false) => Console.IsOutputRedirected ? new PlainView(Console.Out) : new LiveView(leavesLine);
}
