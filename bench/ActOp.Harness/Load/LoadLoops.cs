using System.Collections.Concurrent;
using System.Runtime.CompilerServices;

namespace ActOp.Harness.Load;

/// <summary>
/// The intended starts of an open-loop load: a Poisson process from a seed. A request's latency counts from its intended start,
/// so that a stall of the server or of the load client shows up in every request it delays (no coordinated omission).
/// </summary>
public sealed class PoissonArrivals
{
    private readonly Random _random;
    private readonly double _start;
    private readonly double _perSecond;
    private readonly double _ramp;
    private double _expected;
    private double _next;

    /// <summary>Creates the process beginning at <paramref name="start"/> with <paramref name="perSecond"/> arrivals per second.</summary>
    /// <param name="perSecond">The rate, above zero.</param>
    /// <param name="start">When it begins.</param>
    /// <param name="seed">Of its random choices.</param>
    /// <param name="ramp">Time in which the rate rises from nothing in a straight line; zero for none.</param>
    public PoissonArrivals(double perSecond, TimeSpan start, int seed, TimeSpan ramp = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(perSecond);
        ArgumentOutOfRangeException.ThrowIfLessThan(ramp, TimeSpan.Zero);
        _random = new Random(seed);
        _start = start.TotalSeconds;
        _perSecond = perSecond;
        _ramp = ramp.TotalSeconds;
        Pass();
    }

    /// <summary>The next intended start.</summary>
    public TimeSpan Next => TimeSpan.FromTicks((long)(_next * TimeSpan.TicksPerSecond));

    /// <summary>Goes on to the arrival after <see cref="Next"/>.</summary>
    public void Pass()
    {
        _expected -= Math.Log(1 - _random.NextDouble());
        _next = _start + TimeOf(_expected);
    }

    /// <summary>When so many arrivals are to be expected: a process of rate one, on the clock of the mean number of arrivals.</summary>
    private double TimeOf(double arrivals)
    {
        var inRamp = _perSecond * _ramp / 2;
        return arrivals < inRamp ? Math.Sqrt(2 * _ramp * arrivals / _perSecond) : _ramp + ((arrivals - inRamp) / _perSecond);
    }
}

/// <summary>
/// Sends requests at their intended starts, however long the answers take; a request's latency counts from its intended start. Paced by one
/// thread; answers are counted where they complete.
/// </summary>
/// <param name="clock">The time.</param>
/// <param name="ask">Sends a request and returns the grain messages that it took.</param>
/// <param name="maxOutstanding">Most requests in flight; one beyond is an error, as when a server rejects it.</param>
public sealed class OpenLoop(IClock clock, Func<ValueTask<int>> ask, int maxOutstanding)
{
    private readonly IClock _clock = clock;
    private readonly Func<ValueTask<int>> _ask = ask;
    // Free requests: those of the pacing thread, and those that came back since it last took them all.
    private Request? _free;
    private Request? _returned;
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
        var end = _clock.Now + limit;
        while (Outstanding > 0 && _clock.Now < end)
        {
            cancellation.ThrowIfCancellationRequested();
            _clock.WaitUntil(_clock.Now + TimeSpan.FromMilliseconds(1));
        }
        var lost = Outstanding;
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
        var request = _free ?? Interlocked.Exchange(ref _returned, null) ?? new Request(this);
        _free = request.Next;
        request.Begin(intended, latency, tally);
    }

    /// <summary>The request may be used for another one; on any thread.</summary>
    private void Return(Request request)
    {
        var head = Volatile.Read(ref _returned);
        while (true)
        {
            request.Next = head;
            var seen = Interlocked.CompareExchange(ref _returned, request, head);
            if (seen == head)
                break;
            head = seen;
        }
        Interlocked.Decrement(ref _outstanding);
    }

    /// <summary>
    /// One request in flight, used again after its answer: at some hundred thousand requests a second, a task for each would have the
    /// collector pause the load for a percent of the time. Belongs to the pacing thread until it is sent, then to who completes it.
    /// </summary>
    private sealed class Request
    {
        private readonly OpenLoop _loop;
        private readonly Action _complete;
        private ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter _answer;
        private TimeSpan _intended;
        private LatencyHistogram _latency = null!;
        private RequestTally _tally = null!;

        internal Request(OpenLoop loop)
        {
            _loop = loop;
            _complete = Complete;
        }

        /// <summary>The one below it on a stack of requests that are free.</summary>
        internal Request? Next { get; set; }

        internal void Begin(TimeSpan intended, LatencyHistogram latency, RequestTally tally)
        {
            (_intended, _latency, _tally) = (intended, latency, tally);
            try
            {
                _answer = _loop._ask().ConfigureAwait(false).GetAwaiter();
            }
            catch (Exception error)
            {
                End(error);
                return;
            }
            if (_answer.IsCompleted)
                Complete();
            else
                _answer.UnsafeOnCompleted(_complete);
        }

        private void Complete()
        {
            try
            {
                var messages = _answer.GetResult();
                _latency.Record(_loop._clock.Now - _intended);
                _tally.Answer(messages);
                End(null);
            }
            catch (Exception error)
            {
                End(error);
            }
        }

        private void End(Exception? error)
        {
            if (error is not null)
                _tally.Fail($"{error.GetType().Name}: {error.Message}");
            _answer = default;
            _loop.Return(this);
        }
    }
}

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
            var now = _clock.Now;
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
        for (var i = 0; i < _concurrency; i++)
            _ = Task.Run(Work);
    }

    /// <summary>One worker: asks until the time is over.</summary>
    private async Task Work()
    {
        var failures = 0;
        for (var now = _clock.Now; now < _until && failures < MaxFailuresInRow;)
        {
            try
            {
                var messages = await _ask().ConfigureAwait(false);
                var sent = now;
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

/// <summary>Counts of requests and their errors, with the first few distinct error texts. Safe for concurrent use.</summary>
public sealed class RequestTally
{
    private const int MaxTexts = 5;
    private readonly ConcurrentDictionary<string, long> _texts = new();
    private long _answered;
    private long _empty;
    private long _messages;
    private long _errors;
    private long _otherErrors;

    /// <summary>Requests answered.</summary>
    public long Answered => Volatile.Read(ref _answered);

    /// <summary>Requests whose answer took no grain message.</summary>
    public long Empty => Volatile.Read(ref _empty);

    /// <summary>Grain messages of the answered requests.</summary>
    public long Messages => Volatile.Read(ref _messages);

    /// <summary>Failed calls.</summary>
    public long Errors => Volatile.Read(ref _errors);

    /// <summary>The first distinct error texts with their counts.</summary>
    public string[] ErrorTexts =>
        [.. _texts.Select(pair => $"{pair.Value} x {pair.Key}"), .. _otherErrors > 0 ? [$"{_otherErrors} x other"] : Array.Empty<string>()];

    /// <summary>Counts an answer that took <paramref name="messages"/> grain messages.</summary>
    public void Answer(int messages)
    {
        Interlocked.Increment(ref _answered);
        Interlocked.Add(ref _messages, messages);
        if (messages == 0)
            Interlocked.Increment(ref _empty);
    }

    /// <summary>Counts <paramref name="count"/> failures described by <paramref name="text"/>.</summary>
    public void Fail(string text, long count = 1)
    {
        Interlocked.Add(ref _errors, count);
        var line = text.Length > 300 ? text[..300] : text;
        if (_texts.Count < MaxTexts || _texts.ContainsKey(line))
            _texts.AddOrUpdate(line, count, (_, seen) => seen + count);
        else
            Interlocked.Add(ref _otherErrors, count);
    }
}
