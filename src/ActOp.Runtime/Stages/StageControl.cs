using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Staging.Control;
using ActOp.Staging.Measuring;

namespace ActOp.Runtime.Stages;

/// <summary>
/// Gives the stages of a silo their threads (paper section 5): in each period it reads their usage, gets the cost of an event from the
/// source, asks the controller and changes the numbers of threads. The control stage, on which it runs, has one thread always.
/// </summary>
/// <remarks>
/// All but the timer's callback and the end runs on the control stage; <see cref="_gate"/> excludes a stop during a decision.
/// </remarks>
internal sealed class StageControl : IDisposable
{
    private readonly LocalNode _local;
    private readonly NodeStages _nodeStages;
    private readonly IReadOnlyList<SizedStage> _stages;
    private readonly IThreadController _controller;
    private readonly IDemandSource _source;
    private readonly CoupledStages _coupled = new();
    private readonly Starvation? _starvation;
    private readonly TimeSpan _period;
    private readonly Lock _gate = new();
    private long _borrowed;
    private StageUsage[] _usage;
    private long _since;
    private ITimer? _timer;
    private bool _disposed;

    internal StageControl(LocalNode local, NodeStages nodeStages, IReadOnlyList<SizedStage> stages, StageOptions options,
        IStageTracing? tracing)
    {
        _local = local;
        _nodeStages = nodeStages;
        _stages = stages;
        var processors = ProcessorQuota.Read();
        var isModel = options.Controller == StageController.Model;
        _starvation = isModel ? new Starvation(stages, processors) : null;
        _period = isModel ? options.ModelPeriod : options.QueuePeriod;
        _controller = isModel
            ? new ModelController(new ModelControllerSettings(processors, options.ThreadPenalty.TotalSeconds)
            {
                Headroom = options.ProcessorHeadroom,
                Period = options.ModelPeriod.TotalSeconds,
                Minimum = options.MinThreads,
                Maximum = options.MaxThreads,
                Smoothing = options.Smoothing,
                Hysteresis = options.Hysteresis,
                PeriodsToReverse = (int)Math.Ceiling(TimeSpan.FromMinutes(1) / options.ModelPeriod),
            })
            : new QueueLengthController(options.QueueHigh, options.QueueLow, options.MaxThreads);
        _source = DemandSources.Choose(options.DemandSource, tracing, [.. stages.Select(static stage => (stage.Name, stage.NeverBlocks))],
            out var reason)
            ?? throw StageOptions.Unavailable(options.DemandSource, reason);
        _local.Log.StagesControlled(options.Controller.ToString(), _source.Name, reason, processors);
        _usage = [.. stages.Select(static stage => stage.Usage())];
    }

    internal void Start()
    {
        _since = _local.Time.GetTimestamp();
        _timer = _local.Background.Part("stages").Every(_period, () => _nodeStages.Control.Post(new StageAction(Step)));
    }

    /// <summary>Called several times in a period, by one timer.</summary>
    internal void Sample() => _starvation?.Sample();

    public void Dispose()
    {
        _timer?.Dispose();
        lock (_gate)
        {
            if (_disposed)
                return;
            _disposed = true;
            _source.Dispose();
        }
    }

    private void Step()
    {
        lock (_gate)
        {
            if (!_disposed)
                Decide();
        }
    }

    private void Decide()
    {
        Invariant.Held(_gate);
        var now = _local.Time.GetTimestamp();
        var seconds = _local.Time.GetElapsedTime(_since, now).TotalSeconds;
        // Periods that were delayed on a busy machine count as one.
        if (seconds < _period.TotalSeconds / 2)
            return;
        StageUsage[] usage = [.. _stages.Select(static stage => stage.Usage())];
        var demands = _source.Estimate([.. _usage.Zip(usage)], seconds);
        demands = _starvation?.AddTo(demands, _usage, usage, seconds) ?? demands;
        NoteBorrowing(usage[1].Executed - _usage[1].Executed);
        (_usage, _since) = (usage, now);
        var periods = _stages.Select((stage, i) =>
            new StagePeriod(stage.Threads(), usage[i].Queued, demands[i], usage[i].Held, stage.Fewest));
        Apply(_controller.Decide(_coupled.Join([.. periods])));
    }

    private void NoteBorrowing(long executed)
    {
        var borrowed = _nodeStages.Work.Borrowed;
        if (executed > 0)
            _coupled.Note((double)(borrowed - _borrowed) / executed);
        _borrowed = borrowed;
    }

    private void Apply(ThreadDecision decision)
    {
        var threads = _coupled.Split(decision.Threads);
        Invariant.Holds(threads.Count == _stages.Count);
        int[] before = [.. _stages.Select(static stage => stage.Threads())];
        for (var i = 0; i < _stages.Count; i++)
        {
            if (_stages[i].Given is null)
                _stages[i].Change(threads[i]);
        }

        int[] after = [.. _stages.Select(static stage => stage.Threads())];
        if (!after.SequenceEqual(before))
        {
            _local.Log.StagesSized(string.Join('/', _stages.Select(static stage => stage.Name)), string.Join('/', before),
                string.Join('/', after), decision.Reason);
        }
    }
}

/// <summary>A stage as its controller and the metrics see it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="NeverBlocks">Whether its events are internal to the runtime and do not block.</param>
/// <param name="Given">The threads that the options give it; null leaves them to the controller.</param>
/// <param name="Threads">Reads its number of threads.</param>
/// <param name="SetThreads">Changes it.</param>
/// <param name="Usage">Reads what it has done.</param>
/// <remarks><see cref="Sample"/> is called by one timer; the sums may be read by any thread.</remarks>
internal sealed record SizedStage(string Name, bool NeverBlocks, int? Given, Func<int> Threads, Action<int> SetThreads,
    Func<StageUsage> Usage)
{
    private const double NanosecondsPerSecond = 1e9;

    /// <summary>
    /// For events that may block or take long. The model knows their mean: at a low load it needs one thread, but then one turn of a
    /// hundred times the mean delays all others. A second thread that is parked costs nothing.
    /// </summary>
    private const int FewestOfApplications = 2;

    private StageUsage _last;
    private double _waited;
    private double _wall;
    private double _cpu;
    private double _ready;
    private long _changes;
    private int _leastQueued = int.MaxValue;

    /// <summary>The fewest threads that a controller leaves it, unless the most are fewer.</summary>
    internal int Fewest => NeverBlocks ? 1 : FewestOfApplications;

    /// <summary>Seconds that events have waited: queue length over time (Little's law), sampled a few times a second.</summary>
    internal double Waited => Volatile.Read(ref _waited);

    /// <summary>Seconds that threads were busy with events (z), measured on a sample and scaled up to all.</summary>
    internal double Wall => Volatile.Read(ref _wall);

    /// <summary>Seconds of processor time that events took (x), scaled up like <see cref="Wall"/>.</summary>
    internal double Cpu => Volatile.Read(ref _cpu);

    /// <summary>Seconds that busy threads were ready without a processor (r), scaled up like <see cref="Wall"/>.</summary>
    internal double Ready => Volatile.Read(ref _ready);

    /// <summary>How often the number of threads was changed.</summary>
    internal long Changes => Interlocked.Read(ref _changes);

    internal void Sample(double seconds)
    {
        var usage = Usage();
        Volatile.Write(ref _waited, _waited + (usage.Queued * seconds));
        // A controller that takes the value concurrently may lose one sample.
        Volatile.Write(ref _leastQueued, Math.Min(Volatile.Read(ref _leastQueued), usage.Queued));
        var sample = usage.Busy - _last.Busy;
        if (sample.Items <= 0)
            return;
        var scale = (usage.Executed - _last.Executed) / (sample.Items * NanosecondsPerSecond);
        _last = usage;
        Volatile.Write(ref _wall, _wall + (sample.Wall * scale));
        Volatile.Write(ref _cpu, _cpu + (sample.Cpu * scale));
        Volatile.Write(ref _ready, _ready + (sample.Ready * scale));
    }

    /// <summary>The shortest sampled queue since the last call; 0 without a sample.</summary>
    internal int TakeLeastQueued()
    {
        var least = Interlocked.Exchange(ref _leastQueued, int.MaxValue);
        return least == int.MaxValue ? 0 : least;
    }

    internal void Change(int threads)
    {
        if (threads == Threads())
            return;
        Interlocked.Increment(ref _changes);
        SetThreads(threads);
    }
}
