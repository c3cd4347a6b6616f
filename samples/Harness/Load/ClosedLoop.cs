namespace Harness.Load;

/// <summary>
/// Keeps a fixed number of requests in flight: each worker asks again as soon as it has its answer. Finds the peak throughput.
/// </summary>
public sealed class ClosedLoop
{
    // A worker whose requests all fail at once must not spin.
    private const int MaxFailuresInRow = 100;
    private readonly IClock _clock;
    private readonly Func<ValueTask<int>> _ask;
    private readonly int _concurrency;
    private TimeSpan _begin;
    private TimeSpan _until;
    private int _running;

    /// <summary>
    /// Creates the loop; <paramref name="ask"/> sends a request, returns the grain messages that it took, and is called from several
    /// threads.
    /// </summary>
    public ClosedLoop(IClock clock, Func<ValueTask<int>> ask, int concurrency)
    {
        _clock = clock;
        _ask = ask;
        _concurrency = concurrency;
    }

    /// <summary>Counts of the answers before the end.</summary>
    public RequestTally Tally { get; } = new();

    /// <summary>Latency since the request was sent.</summary>
    public LatencyHistogram Latency { get; } = new();

    /// <summary>How long the loop has run.</summary>
    public TimeSpan Elapsed
    {
        get
        {
            TimeSpan now = _clock.Now;
            return _until == TimeSpan.Zero ? TimeSpan.Zero : (now < _until ? now : _until) - _begin;
        }
    }

    /// <summary>Whether no request is in flight.</summary>
    public bool IsIdle => Volatile.Read(ref _running) == 0;

    /// <summary>Starts the workers; they stop by themselves at <paramref name="until"/>.</summary>
    public void Start(TimeSpan until)
    {
        _begin = _clock.Now;
        _until = until;
        _running = _concurrency;
        for (int i = 0; i < _concurrency; i++)
            _ = Task.Run(Work);
    }

    /// <summary>One worker: asks until the time is over.</summary>
    private async Task Work()
    {
        int failures = 0;
        for (TimeSpan now = _clock.Now; now < _until && failures < MaxFailuresInRow;)
        {
            try
            {
                int messages = await _ask().ConfigureAwait(false);
                TimeSpan sent = now;
                now = _clock.Now;
                if (now > _until)
                    break;
                Latency.Record(now - sent);
                Tally.Answer(messages);
                failures = 0;
            }
            catch (Exception error)
            {
                Tally.Fail($"{error.GetType().Name}: {error.Message}");
                failures++;
                now = _clock.Now;
            }
        }
        Interlocked.Decrement(ref _running);
    }
}
