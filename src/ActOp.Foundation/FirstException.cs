namespace ActOp.Foundation;

/// <summary>
/// The first text of an exception in a process takes some 50 ms: what reads stack traces and symbols is loaded and compiled. A silo has
/// that done when it starts, by a thread that nobody waits for. Otherwise the receive thread that logs the first refused frame would do it,
/// and the other connections of that thread would wait.
/// </summary>
internal static class FirstException
{
    private static int s_hasBegun;

    /// <summary>Without effect after the first call in a process.</summary>
    internal static void Prepare()
    {
        if (Interlocked.Exchange(ref s_hasBegun, 1) == 0)
            PoolStep.Begin(static () => _ = Text().Length);
    }

    private static string Text()
    {
        try
        {
            throw new InvalidOperationException(nameof(FirstException));
        }
        catch (InvalidOperationException exception)
        {
            return exception.ToString();
        }
    }
}
