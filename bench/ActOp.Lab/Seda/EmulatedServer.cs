using ActOp.Staging.Control;
using ActOp.Staging.Model;
using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;
using MathNet.Numerics.Statistics;

namespace ActOp.Lab.Seda;

/// <summary>
/// A server with stages in virtual time, event by event (paper section 5.1). A thread takes an event from its stage's queue, computes,
/// blocks, and hands the request to the next stage. Runnable threads share the processors: n of them on p run at p/n each, less what
/// switching costs.
/// </summary>
/// <remarks>
/// Sharing changes the speed of all computing threads alike, so one clock of work done per thread serves them all: a thread is done when
/// that clock shows the value it had at the start plus the work. A change of speed changes no entry of the queue.
/// </remarks>
internal sealed class EmulatedServer
{
    private const int StreamsASeed = 7919;

    private readonly PriorityQueue<Turn, double> _computing = new();
    private readonly PriorityQueue<Turn, double> _blocked = new();
    private readonly Stack<Turn> _spare = new();
    private readonly EmulatedStage[] _stages;
    private readonly SedaPlan _plan;
    private readonly Random _arrivals;
    private double _nextArrival;
    private double _work;
    private double _speed = 1;
    private double _used;
    private double _share = 1;
    private double _rate;

    /// <summary>Begins empty at time 0.</summary>
    /// <param name="plan">The server.</param>
    /// <param name="threads">The threads of each stage.</param>
    public EmulatedServer(SedaPlan plan, IReadOnlyList<int> threads)
    {
        _plan = plan;
        _stages = [.. plan.Stages.Select((load, i) => new EmulatedStage(load, threads[i], new(plan.Shape, Stream(i + 1))))];
        _arrivals = Stream(0);
        Rate = plan.Rate;
    }

    /// <summary>The stages, in the order in which a request visits them.</summary>
    public IReadOnlyList<EmulatedStage> Stages => _stages;

    /// <summary>Virtual time, in seconds.</summary>
    public double Now { get; private set; }

    /// <summary>Processor time used by all threads, in seconds.</summary>
    public double ProcessorSeconds { get; private set; }

    /// <summary>Requests that came in.</summary>
    public long Arrived { get; private set; }

    /// <summary>Called with each request that has left the last stage.</summary>
    public Action<Request>? Finished { get; set; }

    /// <summary>Requests a second from now on; with 0 none come any more.</summary>
    public double Rate
    {
        get => _rate;
        set
        {
            _rate = value;
            ScheduleArrival();
        }
    }

    /// <summary>Gives a stage other threads: more begin at once, fewer take effect as events end.</summary>
    public void SetThreads(int stage, int threads)
    {
        _stages[stage].Threads = threads;
        Start(stage);
    }

    /// <summary>Lets time pass.</summary>
    /// <param name="end">Until then, in seconds since the start.</param>
    public void RunUntil(double end)
    {
        while (true)
        {
            var computed = _computing.TryPeek(out _, out var work)
                ? Math.Max(Now, Now + ((work - _work) / _speed)) : double.PositiveInfinity;
            var returned = _blocked.TryPeek(out _, out var due) ? due : double.PositiveInfinity;
            var next = Math.Min(_nextArrival, Math.Min(computed, returned));
            if (next > end)
            {
                Advance(end);
                return;
            }

            Advance(next);
            if (next == computed)
                Compute(work);
            else if (next == returned)
                Complete(_blocked.Dequeue());
            else
                Arrive();
        }
    }

    private void Advance(double time)
    {
        var elapsed = time - Now;
        _work += elapsed * _speed;
        _used += elapsed * _share;
        ProcessorSeconds += elapsed * _share * _computing.Count;
        Now = time;
    }

    private void Arrive()
    {
        Enter(new(Arrived++, Now), 0);
        ScheduleArrival();
    }

    private void ScheduleArrival() => _nextArrival = _rate > 0 ? Now + Exponential.Sample(_arrivals, _rate) : double.PositiveInfinity;

    private void Enter(Request request, int stage)
    {
        _stages[stage].Enter(request);
        Start(stage);
    }

    private void Start(int number)
    {
        var stage = _stages[number];
        while (stage.TryStart(out var request))
        {
            if (!_spare.TryPop(out var turn))
                turn = new();
            (turn.Stage, turn.Request, turn.UsedBefore) = (number, request, _used);
            _computing.Enqueue(turn, _work + stage.DrawCompute());
            turn.Blocked = stage.DrawBlocked();
        }

        Share();
    }

    private void Compute(double work)
    {
        // Exactly the value that was waited for, so that rounding does not add up.
        _work = work;
        var turn = _computing.Dequeue();
        turn.Compute = _used - turn.UsedBefore;
        Share();
        if (turn.Blocked > 0)
            _blocked.Enqueue(turn, Now + turn.Blocked);
        else
            Complete(turn);
    }

    private void Complete(Turn turn)
    {
        var (stage, request) = (turn.Stage, turn.Request);
        _stages[stage].Complete(turn.Compute, turn.Blocked);
        _spare.Push(turn);
        Start(stage);
        if (stage + 1 < _stages.Length)
            Enter(request, stage + 1);
        else
            Finished?.Invoke(request);
    }

    /// <summary>The speed at which each runnable thread computes, and the share of a processor that it is charged for.</summary>
    private void Share()
    {
        var excess = _computing.Count - _plan.Processors;
        _share = excess <= 0 ? 1 : (double)_plan.Processors / _computing.Count;
        _speed = excess <= 0 ? 1 : _share / (1 + (_plan.SwitchCost * excess));
    }

    private Xoshiro256StarStar Stream(int number) => new(unchecked((_plan.Seed * StreamsASeed) + number), threadSafe: false);
}

/// <summary>A queue and its threads, and what they did since the last look.</summary>
/// <param name="load">What an event takes.</param>
/// <param name="threads">Threads at first.</param>
/// <param name="times">Draws the times.</param>
internal sealed class EmulatedStage(StageLoad load, int threads, ServiceTimes times)
{
    private readonly Queue<Request> _queue = new();
    private int _arrived;
    private int _completed;
    private double _computed;
    private double _blocked;
    private StageDemand _last;

    /// <summary>What an event takes on average, from the next one on.</summary>
    public StageLoad Load { get; set; } = load;

    /// <summary>Threads; for a while more may be <see cref="Busy"/> after it fell: each of them ends its event first.</summary>
    public int Threads { get; set; } = threads;

    /// <summary>Threads that have an event.</summary>
    public int Busy { get; private set; }

    /// <summary>Events that wait.</summary>
    public int Queued => _queue.Count;

    public void Enter(Request request)
    {
        _arrived++;
        _queue.Enqueue(request);
    }

    /// <summary>The next event, if a thread is free for it.</summary>
    public bool TryStart(out Request request)
    {
        request = default;
        if (Busy >= Threads || !_queue.TryDequeue(out request))
            return false;
        Busy++;
        return true;
    }

    public double DrawCompute() => times.Next(Load.Compute);

    public double DrawBlocked() => times.Next(Load.Blocked);

    public void Complete(double compute, double blocked)
    {
        Busy--;
        _completed++;
        _computed += compute;
        _blocked += blocked;
    }

    /// <summary>What a silo would have measured since the last look; the means are those of completed events, or the last known.</summary>
    /// <param name="seconds">Time since then.</param>
    public StagePeriod Collect(double seconds)
    {
        _last = _completed > 0
            ? new(_arrived / seconds, _computed / _completed, _blocked / _completed)
            : _last with { Arrivals = _last.Compute > 0 ? _arrived / seconds : 0 };
        (_arrived, _completed, _computed, _blocked) = (0, 0, 0, 0);
        return new(Threads, Queued, _last);
    }
}

/// <summary>An event in the hands of a thread. Used again and again.</summary>
internal sealed class Turn
{
    /// <summary>The stage.</summary>
    public int Stage { get; set; }

    /// <summary>Whose event it is.</summary>
    public Request Request { get; set; }

    /// <summary>How long the thread blocks once it has computed, in seconds.</summary>
    public double Blocked { get; set; }

    /// <summary>The processor time of an always runnable thread when this one began.</summary>
    public double UsedBefore { get; set; }

    /// <summary>The processor time it took, what switching costs included: what an operating system would report.</summary>
    public double Compute { get; set; }
}

/// <summary>A request in the emulated server.</summary>
/// <param name="Number">Counted from 0 in the order of arrival.</param>
/// <param name="Arrived">When it came in, in seconds.</param>
internal readonly record struct Request(long Number, double Arrived);

/// <summary>Draws the times of one stage.</summary>
/// <param name="shape">How they scatter.</param>
/// <param name="random">Their own source, so that the n-th time is the same whatever the threads are.</param>
internal sealed class ServiceTimes(ServiceShape shape, Random random)
{
    // Sigma of the logarithm, and the squared coefficient of variation of the mixture; the mixture has balanced means.
    private const double Sigma = 1.5;
    private const double Mixed = 4;
    private static readonly double Short = (1 + Math.Sqrt((Mixed - 1) / (Mixed + 1))) / 2;

    /// <summary>The squared coefficient of variation: variance over squared mean.</summary>
    public static double SquaredVariation(ServiceShape shape) => shape switch
    {
        ServiceShape.Deterministic => 0,
        ServiceShape.Lognormal => Math.Exp(Sigma * Sigma) - 1,
        ServiceShape.Hyperexponential => Mixed,
        _ => 1,
    };

    /// <summary>The next time with this mean.</summary>
    public double Next(double mean) => mean == 0 ? 0 : mean * shape switch
    {
        ServiceShape.Deterministic => 1,
        ServiceShape.Lognormal => LogNormal.Sample(random, -Sigma * Sigma / 2, Sigma),
        ServiceShape.Hyperexponential => Exponential.Sample(random, 2 * (random.NextDouble() < Short ? Short : 1 - Short)),
        _ => Exponential.Sample(random, 1),
    };
}

/// <summary>How the times of a stage scatter around their mean.</summary>
internal enum ServiceShape
{
    /// <summary>As equation (1) of the paper assumes.</summary>
    Exponential,

    /// <summary>All alike.</summary>
    Deterministic,

    /// <summary>A heavy tail: the largest one in a hundred is eleven times the mean.</summary>
    Lognormal,

    /// <summary>Many short ones and a few long ones, both exponential.</summary>
    Hyperexponential,
}

/// <summary>The latencies of a server's requests, end to end, in seconds.</summary>
internal sealed class LatencyRecord
{
    private readonly List<double> _latencies = [];

    /// <summary>Records what the server finishes.</summary>
    /// <param name="server">The server.</param>
    /// <param name="from">Requests that came before are left out, in seconds since the start.</param>
    public LatencyRecord(EmulatedServer server, double from) => server.Finished += request =>
    {
        if (request.Arrived >= from)
            _latencies.Add(server.Now - request.Arrived);
    };

    public int Count => _latencies.Count;

    public double Mean => _latencies.Mean();

    public double Quantile(double share) => ArrayStatistics.QuantileInplace([.. _latencies], share);
}
