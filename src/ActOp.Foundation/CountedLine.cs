namespace ActOp.Foundation;

/// <summary>
/// Counts what happens often, and lets one log line about it pass every ten seconds, so that who causes it cannot fill the log.
/// </summary>
/// <remarks>Any thread: the two words are independent. A struct, because each peer has one for each reason; never copied.</remarks>
internal struct CountedLine
{
    /// <summary>Time between two log lines.</summary>
    private const long QuietMs = 10_000;

    private long _count;
    private long _quietUntil;

    /// <summary>Counts one more. True if a line should be logged now, with the number since the last one.</summary>
    /// <param name="now">The time in milliseconds.</param>
    /// <param name="count">Gets the number.</param>
    internal bool Add(long now, out long count)
    {
        count = Interlocked.Increment(ref _count);
        var until = Volatile.Read(ref _quietUntil);
        // 0 is the first time, whatever the clock says.
        if ((until != 0 && now < until) || Interlocked.CompareExchange(ref _quietUntil, now + QuietMs, until) != until)
            return false;
        count = Interlocked.Exchange(ref _count, 0);
        return true;
    }
}
