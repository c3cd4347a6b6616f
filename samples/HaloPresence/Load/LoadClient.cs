using HaloPresence.Options;
using HaloPresence.Simulation;

namespace HaloPresence.Load;

/// <summary>
/// Drives the load: moves the simulated players through their games, sends status requests at an open-loop Poisson rate, then, if
/// asked, saturates in a closed loop. One pacing thread does all that is timed; answers are counted where they complete.
/// </summary>
public sealed class LoadClient
{
    private const int SetupConcurrency = 64;
    private const int MaxChangesInFlight = 10_000;
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan ReportPeriod = TimeSpan.FromSeconds(1);
    private readonly HaloOptions _options;
    private readonly ILoadTarget _target;
    private readonly IClock _clock;
    private readonly Action<LoadReport> _report;
    private readonly GameSimulation _simulation;
    private readonly Random _picks;
    private readonly List<GameEvent> _events = [];
    private readonly double[] _phaseStarts = new double[Enum.GetValues<LoadPhase>().Length];
    private readonly LatencyHistogram _warmupLatency = new();
    private readonly LatencyHistogram _latency = new();
    private readonly RequestTally _warmup = new();
    private readonly RequestTally _measured = new();
    private readonly RequestTally _changes = new();
    private readonly ClosedLoop _closedLoop;
    private readonly Lock _simulationLock = new();
    private LoadPhase _phase;
    private TimeSpan _start;
    private TimeSpan _nextReport;
    private TimeSpan _maxLag;
    private long _outstanding;
    private long _changesInFlight;

    /// <summary>Creates the client; <paramref name="report"/> is called about once a second from the pacing thread.</summary>
    public LoadClient(HaloOptions options, ILoadTarget target, IClock clock, Action<LoadReport> report)
    {
        _options = options;
        _target = target;
        _clock = clock;
        _report = report;
        _simulation = new GameSimulation(options, options.Seed);
        _picks = new Random(options.Seed + 1);
        _closedLoop = new ClosedLoop(target, clock, Pick, options.Concurrency);
    }

    /// <summary>Runs all phases on the calling thread, bounded in time by the options, and returns the last report.</summary>
    public LoadReport Run(CancellationToken cancellation)
    {
        Enter(LoadPhase.Setup);
        SetUp(cancellation);
        _start = _clock.Now;
        TimeSpan measureAt = _start + TimeSpan.FromSeconds(_options.Warmup);
        TimeSpan saturateAt = measureAt + TimeSpan.FromSeconds(_options.Measure);
        var arrivals = new PoissonArrivals(_options.Rate, _start, _options.Seed + 2);
        Enter(LoadPhase.Warmup);
        OpenLoop(arrivals, measureAt, _warmupLatency, _warmup, cancellation);
        Enter(LoadPhase.Measure);
        OpenLoop(arrivals, saturateAt, _latency, _measured, cancellation);
        Drain(cancellation);
        Enter(LoadPhase.Saturate);
        Saturate(cancellation);
        Enter(LoadPhase.Done);
        return Report();
    }

    private void Enter(LoadPhase phase)
    {
        _phase = phase;
        _phaseStarts[(int)phase] = _clock.Now.TotalSeconds;
        if (phase != LoadPhase.Done)
            ReportNow();
    }

    private void SetUp(CancellationToken cancellation)
    {
        _simulation.Begin(_events);
        foreach (GameEvent change in _events)
        {
            while (Volatile.Read(ref _changesInFlight) >= SetupConcurrency)
                Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
            Apply(change);
            ReportWhenDue();
        }
        _events.Clear();
        while (Volatile.Read(ref _changesInFlight) > 0)
            Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
    }

    private void OpenLoop(PoissonArrivals arrivals, TimeSpan until, LatencyHistogram latency, RequestTally tally, CancellationToken cancellation)
    {
        while (true)
        {
            TimeSpan now = _clock.Now;
            Advance(now);
            for (; arrivals.Next <= now && arrivals.Next < until; arrivals.Pass())
                Send(arrivals.Next, now, latency, tally);
            ReportWhenDue();
            if (now >= until)
                return;
            Wait(Earliest(arrivals.Next < until ? arrivals.Next : until), cancellation);
        }
    }

    private void Saturate(CancellationToken cancellation)
    {
        if (_options.Saturate <= 0)
            return;
        TimeSpan until = _clock.Now + TimeSpan.FromSeconds(_options.Saturate);
        _closedLoop.Start(until);
        while (_clock.Now < until)
        {
            Advance(_clock.Now);
            ReportWhenDue();
            Wait(Earliest(until), cancellation);
        }
        TimeSpan limit = until + DrainLimit;
        while (!_closedLoop.IsIdle && _clock.Now < limit)
            Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
    }

    // Requests of the measured phase that get no answer must not vanish from the result.
    private void Drain(CancellationToken cancellation)
    {
        TimeSpan limit = _clock.Now + DrainLimit;
        while (Volatile.Read(ref _outstanding) > 0 && _clock.Now < limit)
            Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
        long lost = Volatile.Read(ref _outstanding);
        if (lost > 0)
            _measured.Fail($"no answer within {DrainLimit.TotalSeconds} s of the end", lost);
    }

    private void Advance(TimeSpan now)
    {
        lock (_simulationLock)
            _simulation.AdvanceTo(now - _start, _events);
        foreach (GameEvent change in _events)
            Apply(change);
        _events.Clear();
    }

    private void Apply(GameEvent change)
    {
        if (change.Kind == GameEventKind.Arrive)
            return;
        if (Volatile.Read(ref _changesInFlight) >= MaxChangesInFlight)
        {
            _changes.Fail($"more than {MaxChangesInFlight} game changes in flight");
            return;
        }
        Interlocked.Increment(ref _changesInFlight);
        _ = Track(change);
    }

    private async Task Track(GameEvent change)
    {
        try
        {
            await (change.Kind switch
            {
                GameEventKind.StartGame => _target.StartGame(change.Game, change.Players),
                GameEventKind.EndGame => _target.EndGame(change.Game),
                _ => _target.Depart(change.Players[0]),
            }).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            _changes.Fail($"{change.Kind}: {error.GetType().Name}: {error.Message}");
        }
        Interlocked.Decrement(ref _changesInFlight);
    }

    private void Send(TimeSpan intended, TimeSpan now, LatencyHistogram latency, RequestTally tally)
    {
        if (now - intended > _maxLag)
            _maxLag = now - intended;
        if (Volatile.Read(ref _outstanding) >= _options.MaxOutstanding)
        {
            tally.Fail($"rejected: more than {_options.MaxOutstanding} requests in flight");
            return;
        }
        Interlocked.Increment(ref _outstanding);
        _ = Request(Pick(), intended, latency, tally);
    }

    private async Task Request(long player, TimeSpan intended, LatencyHistogram latency, RequestTally tally)
    {
        try
        {
            int messages = await _target.RequestStatus(player).ConfigureAwait(false);
            latency.Record(_clock.Now - intended);
            tally.Answer(messages);
        }
        catch (Exception error)
        {
            tally.Fail($"{error.GetType().Name}: {error.Message}");
        }
        Interlocked.Decrement(ref _outstanding);
    }

    private long Pick()
    {
        lock (_simulationLock)
            return _simulation.PickPlaying(_picks);
    }

    private TimeSpan Earliest(TimeSpan time)
    {
        TimeSpan change = _start + _simulation.NextAt;
        TimeSpan next = change < time ? change : time;
        return next < _nextReport ? next : _nextReport;
    }

    private void Wait(TimeSpan until, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        _clock.WaitUntil(until);
    }

    private void ReportWhenDue()
    {
        if (_clock.Now >= _nextReport)
            ReportNow();
    }

    private void ReportNow()
    {
        _nextReport = _clock.Now + ReportPeriod;
        _report(Report());
    }

    private LoadReport Report()
    {
        bool done = _phase == LoadPhase.Done;
        LatencyHistogram latency = _options.Measure > 0 ? _latency : _closedLoop.Latency;
        LatencyHistogram shown = _phase < LoadPhase.Measure ? _warmupLatency : latency;
        return new LoadReport
        {
            T = _clock.Now.TotalSeconds,
            Phase = _phase,
            PhaseStarts = [.. _phaseStarts],
            Requests = _measured.Answered,
            AllRequests = _warmup.Answered + _measured.Answered + _closedLoop.Tally.Answered,
            Alone = _measured.Alone,
            Messages = _measured.Messages,
            Errors = _warmup.Errors + _measured.Errors + _changes.Errors + _closedLoop.Tally.Errors,
            ErrorTexts = [.. _changes.ErrorTexts, .. _warmup.ErrorTexts, .. _measured.ErrorTexts, .. _closedLoop.Tally.ErrorTexts],
            Outstanding = Volatile.Read(ref _outstanding),
            MaxLagMs = _maxLag.TotalMilliseconds,
            LatencyMs = shown.Summarize(),
            ClosedLoopRequests = _closedLoop.Tally.Answered,
            ClosedLoopSeconds = _closedLoop.Elapsed.TotalSeconds,
            Histogram = done ? latency.ToPairs() : null,
        };
    }
}
