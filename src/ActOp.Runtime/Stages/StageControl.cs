using ActOp.Configuration;
using ActOp.Runtime.Hosting;
using ActOp.Staging.Control;
using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Runtime.Stages;

/// <summary>
/// Gives the stages of a silo their threads (paper section 5): period by period it reads what they did, has the source say what an event
/// costs, asks the controller and changes the numbers of threads. The control stage, on which it runs, has one thread always.
/// </summary>
/// <remarks>
/// All but the timer's callback and the end runs on the control stage; <see cref="_gate"/> keeps an end from a decision that is under way.
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

    internal StageControl(LocalNode local, NodeStages nodeStages, IReadOnlyList<SizedStage> stages, StageOptions options, IStageTracing? tracing)
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
        _source = DemandSources.Choose(options.DemandSource, tracing, [.. stages.Select(static stage => (stage.Name, stage.NeverBlocks))], out var reason)
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
    internal void Look() => _starvation?.Look();

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
        var now = _local.Time.GetTimestamp();
        var seconds = _local.Time.GetElapsedTime(_since, now).TotalSeconds;
        // Periods that a busy machine has run together are one.
        if (seconds < _period.TotalSeconds / 2)
            return;
        StageUsage[] usage = [.. _stages.Select(static stage => stage.Usage())];
        var demands = _source.Estimate([.. _usage.Zip(usage)], seconds);
        demands = _starvation?.AddTo(demands, _usage, usage, seconds) ?? demands;
        NoteBorrowing(usage[1].Executed - _usage[1].Executed);
        (_usage, _since) = (usage, now);
        var periods = _stages.Select((stage, i) => new StagePeriod(stage.Threads(), usage[i].Queued, demands[i], usage[i].Held));
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
        int[] before = [.. _stages.Select(static stage => stage.Threads())];
        for (var i = 0; i < _stages.Count; i++)
        {
            if (_stages[i].Given is null)
                _stages[i].Change(threads[i]);
        }

        int[] after = [.. _stages.Select(static stage => stage.Threads())];
        if (!after.SequenceEqual(before))
            _local.Log.StagesSized(string.Join('/', _stages.Select(static stage => stage.Name)), string.Join('/', before), string.Join('/', after), decision.Reason);
    }
}
