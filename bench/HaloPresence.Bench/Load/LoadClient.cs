using ActOp.Harness.Load;
using ActOp.Harness.Processes;

namespace HaloPresence.Bench.Load;

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
    private readonly OpenLoop _openLoop;
    private readonly ClosedLoop _closedLoop;
    private readonly Lock _simulationLock = new();
    private LoadPhase _phase;
    private TimeSpan _start;
    private TimeSpan _nextReport;
    private long _changesInFlight;

    /// <summary>Creates the client; <paramref name="report"/> is called about once a second from the pacing thread.</summary>
    public LoadClient(HaloOptions options, ILoadTarget target, IClock clock, Action<LoadReport> report)
    {
        _options = options;
        _target = target;
        _clock = clock;
        _report = report;
        _simulation = new GameSimulation(options.Games, options.Seed);
        _picks = new Random(options.Seed + 1);
        _openLoop = new OpenLoop(clock, Ask, options.MaxOutstanding);
        _closedLoop = new ClosedLoop(clock, Ask, options.Concurrency);
    }

    /// <summary>Runs all phases on the calling thread, bounded in time by the options, and returns the last report.</summary>
    public LoadReport Run(CancellationToken cancellation)
    {
        Enter(LoadPhase.Setup);
        SetUp(cancellation);
        _start = _clock.Now;
        var measureAt = _start + TimeSpan.FromSeconds(_options.Warmup);
        var saturateAt = measureAt + TimeSpan.FromSeconds(_options.Measure);
        var arrivals = new PoissonArrivals(_options.Rate, _start, _options.Seed + 2, TimeSpan.FromSeconds(_options.Ramp));
        Enter(LoadPhase.Warmup);
        Send(arrivals, measureAt, _warmupLatency, _warmup, cancellation);
        Enter(LoadPhase.Measure);
        Send(arrivals, saturateAt, _latency, _measured, cancellation);
        _openLoop.Drain(DrainLimit, _measured, cancellation);
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
        foreach (var change in _events)
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

    private void Send(
        PoissonArrivals arrivals, TimeSpan until, LatencyHistogram latency, RequestTally tally, CancellationToken cancellation)
    {
        while (true)
        {
            var now = _clock.Now;
            Advance(now);
            _openLoop.SendDue(arrivals, now, until, latency, tally);
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
        var until = _clock.Now + TimeSpan.FromSeconds(_options.Saturate);
        _closedLoop.Start(until);
        while (_clock.Now < until)
        {
            Advance(_clock.Now);
            ReportWhenDue();
            Wait(Earliest(until), cancellation);
        }
        var limit = until + DrainLimit;
        while (!_closedLoop.IsIdle && _clock.Now < limit)
            Wait(_clock.Now + TimeSpan.FromMilliseconds(1), cancellation);
    }

    private void Advance(TimeSpan now)
    {
        lock (_simulationLock)
            _simulation.AdvanceTo(now - _start, _events);
        foreach (var change in _events)
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

    private ValueTask<int> Ask() => _target.RequestStatus(Pick());

    private long Pick()
    {
        lock (_simulationLock)
            return _simulation.PickPlaying(_picks);
    }

    private TimeSpan Earliest(TimeSpan time)
    {
        var change = _start + _simulation.NextAt;
        var next = change < time ? change : time;
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
        var done = _phase == LoadPhase.Done;
        var latency = _options.Measure > 0 ? _latency : _closedLoop.Latency;
        var shown = _phase < LoadPhase.Measure ? _warmupLatency : latency;
        return new LoadReport
        {
            T = _clock.Now.TotalSeconds,
            Phase = _phase,
            PhaseStarts = [.. _phaseStarts],
            Requests = _measured.Answered,
            AllRequests = _warmup.Answered + _measured.Answered + _closedLoop.Tally.Answered,
            Alone = _measured.Empty,
            Messages = _measured.Messages,
            Errors = _warmup.Errors + _measured.Errors + _changes.Errors + _closedLoop.Tally.Errors,
            ErrorTexts = [.. _changes.ErrorTexts, .. _warmup.ErrorTexts, .. _measured.ErrorTexts, .. _closedLoop.Tally.ErrorTexts],
            Outstanding = _openLoop.Outstanding,
            MaxLagMs = _openLoop.MaxLag.TotalMilliseconds,
            LatencyMs = shown.Summarize(),
            ClosedLoopRequests = _closedLoop.Tally.Answered,
            ClosedLoopSeconds = _closedLoop.Elapsed.TotalSeconds,
            Histogram = done ? latency.ToPairs() : null,
        };
    }
}

/// <summary>The phases of a load, in order.</summary>
public enum LoadPhase
{
    /// <summary>The games that run at the start are being created.</summary>
    Setup,

    /// <summary>Open-loop load that does not count.</summary>
    Warmup,

    /// <summary>Open-loop load that counts.</summary>
    Measure,

    /// <summary>Closed-loop load that finds the peak throughput.</summary>
    Saturate,

    /// <summary>Over; the report carries the whole histogram.</summary>
    Done,
}

/// <summary>What the load client says once a second, cumulative over the measured phase unless noted.</summary>
public sealed record LoadReport : ILoadReport
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    public required double T { get; init; }

    /// <summary>The phase at <see cref="T"/>.</summary>
    public required LoadPhase Phase { get; init; }

    /// <summary>When each phase began, on the same clock, indexed by phase; 0 while not reached.</summary>
    public required double[] PhaseStarts { get; init; }

    bool ILoadReport.IsDone => Phase == LoadPhase.Done;

    /// <summary>Requests answered in the measured phase.</summary>
    public long Requests { get; init; }

    /// <summary>Requests answered over the whole load.</summary>
    public long AllRequests { get; init; }

    /// <summary>Requests answered by a player without a game, of <see cref="Requests"/>.</summary>
    public long Alone { get; init; }

    /// <summary>Grain messages of <see cref="Requests"/>.</summary>
    public long Messages { get; init; }

    /// <summary>Requests and game changes that failed, in all phases.</summary>
    public long Errors { get; init; }

    /// <summary>The first distinct error texts.</summary>
    public string[] ErrorTexts { get; init; } = [];

    /// <summary>Requests in flight.</summary>
    public long Outstanding { get; init; }

    /// <summary>
    /// The furthest that the client itself was behind an intended start, in ms. Large values say that the machine is overloaded.
    /// </summary>
    public double MaxLagMs { get; init; }

    /// <summary>Latency since the intended start: of the measured phase once it has begun, of the warm-up before.</summary>
    public LatencySummary? LatencyMs { get; init; }

    /// <summary>Requests answered by the closed loop.</summary>
    public long ClosedLoopRequests { get; init; }

    /// <summary>Seconds that the closed loop ran.</summary>
    public double ClosedLoopSeconds { get; init; }

    /// <summary>The latency histogram of the measured phase (of the closed loop when nothing else was measured); only when done.</summary>
    public long[][]? Histogram { get; init; }
}
