namespace ActOp.Tool;

/// <summary>What a script learns of a command without reading its output. Documented in docs/operating.md.</summary>
internal static class ExitCode
{
    /// <summary>It was done, or all is well.</summary>
    internal const int Done = 0;

    /// <summary>The cluster was reached, and something is not well: a silo does not answer, a check has failed.</summary>
    internal const int NotWell = 1;

    /// <summary>The command line is wrong.</summary>
    internal const int Usage = 2;

    /// <summary>No silo could be reached, or none let the tool in.</summary>
    internal const int NotConnected = 3;

    /// <summary>The tool has no right to it.</summary>
    internal const int NotAllowed = 4;

    /// <summary>There is no such silo, or the grain is not active.</summary>
    internal const int NotFound = 5;

    /// <summary>It was begun, and had not ended when the time was over.</summary>
    internal const int NotYet = 6;

    /// <summary>The cluster has refused it, and says why.</summary>
    internal const int Refused = 7;
}

/// <summary>A failure that ends a command, with its exit code.</summary>
internal sealed class ToolException(int exitCode, string message, Exception? inner = null) : Exception(message, inner)
{
    internal int ExitCode => exitCode;
}
