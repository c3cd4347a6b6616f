namespace ActOp.Runtime.Activations;

/// <summary>A span of time that begins now, for steps of code that is not the runtime's: what has not ended by then is left
/// behind.</summary>
internal sealed class TimeLimit(TimeProvider time, TimeSpan length)
{
    private readonly long _began = time.GetTimestamp();

    internal TimeSpan Length => length;

    /// <summary>Waits for the step as long as time is left; true when it has ended, in whatever way. Goes on in the caller's
    /// context.</summary>
    internal async Task<bool> EndsAsync(Task step)
    {
        if (!step.IsCompleted)
            await step.WaitAsync(Left(), time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        return step.IsCompleted;
    }

    private TimeSpan Left()
    {
        if (length == Timeout.InfiniteTimeSpan)
            return length;
        var left = length - time.GetElapsedTime(_began);
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }
}
