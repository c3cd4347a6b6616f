using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;

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
            var computed = _computing.TryPeek(out _, out var work) ? Math.Max(Now, Now + ((work - _work) / _speed)) : double.PositiveInfinity;
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
