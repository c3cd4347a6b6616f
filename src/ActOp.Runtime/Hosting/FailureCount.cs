namespace ActOp.Runtime.Hosting;

/// <summary>Counts failures of one kind, so that the log has the first three and each thousandth. One thread, or racy.</summary>
internal sealed class FailureCount
{
    private long _count;

    /// <summary>Of attempts with pauses between them.</summary>
    internal static bool IsTold(long failures) => failures <= 3 || failures % 100 == 0;

    /// <summary>Counts one more. True if it is to be logged.</summary>
    internal bool IsTold(out long count) => (count = ++_count) <= 3 || count % 1000 == 0;
}
