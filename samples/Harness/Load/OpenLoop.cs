namespace Harness.Load;

/// <summary>
/// Sends requests at their intended starts, however long the answers take; a request's latency counts from its intended start. Paced by one
/// thread; answers are counted where they complete.
/// </summary>
/// <param name="clock">The time.</param>
/// <param name="ask">Sends a request and returns the grain messages that it took.</param>
/// <param name="maxOutstanding">Most requests in flight; one beyond is an error, as when a server rejects it.</param>
public sealed class OpenLoop(IClock clock, Func<ValueTask<int>> ask, int maxOutstanding)
{
    private TimeSpan _maxLag;
    private long _outstanding;

    /// <summary>Requests in flight.</summary>
    public long Outstanding => Volatile.Read(ref _outstanding);

    /// <summary>The furthest that the pacing thread was behind an intended start.</summary>
    public TimeSpan MaxLag => _maxLag;

    /// <summary>Sends what is due at <paramref name="now"/> and meant to start before <paramref name="until"/>.</summary>
    public void SendDue(PoissonArrivals arrivals, TimeSpan now, TimeSpan until, LatencyHistogram latency, RequestTally tally)
    {
        for (; arrivals.Next <= now && arrivals.Next < until; arrivals.Pass())
            Send(arrivals.Next, now, latency, tally);
    }

    /// <summary>
    /// Waits at most <paramref name="limit"/> for what is in flight: requests that get no answer must not vanish from the result.
    /// </summary>
    public void Drain(TimeSpan limit, RequestTally tally, CancellationToken cancellation)
    {
        TimeSpan end = clock.Now + limit;
        while (Outstanding > 0 && clock.Now < end)
        {
            cancellation.ThrowIfCancellationRequested();
            clock.WaitUntil(clock.Now + TimeSpan.FromMilliseconds(1));
        }
        long lost = Outstanding;
        if (lost > 0)
            tally.Fail($"no answer within {limit.TotalSeconds} s of the end", lost);
    }

    private void Send(TimeSpan intended, TimeSpan now, LatencyHistogram latency, RequestTally tally)
    {
        if (now - intended > _maxLag)
            _maxLag = now - intended;
        if (Outstanding >= maxOutstanding)
        {
            tally.Fail($"rejected: more than {maxOutstanding} requests in flight");
            return;
        }
        Interlocked.Increment(ref _outstanding);
        _ = Request(intended, latency, tally);
    }

    private async Task Request(TimeSpan intended, LatencyHistogram latency, RequestTally tally)
    {
        try
        {
            int messages = await ask().ConfigureAwait(false);
            latency.Record(clock.Now - intended);
            tally.Answer(messages);
        }
        catch (Exception error)
        {
            tally.Fail($"{error.GetType().Name}: {error.Message}");
        }
        Interlocked.Decrement(ref _outstanding);
    }
}
