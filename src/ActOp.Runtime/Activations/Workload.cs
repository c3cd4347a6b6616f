using System.Collections.Concurrent;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Staging;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Looks periodically for requests that run or wait for too long, for long queues, and for turns that get no thread. Warns of them, and
/// gives up activations whose request never ends.
/// </summary>
/// <remarks>
/// <para>Holds the activations that have had a request which did not end in its first turn (<see cref="Watch"/>), each once, until a look
/// finds it at rest; so at most the activations of the silo. Any thread adds; everything else runs on the control stage. No clock is read
/// for a request: a time starts when a look sees the request first, so a warning comes up to one period late.</para>
/// <para>If a look throws, the other ones go on with the next period; the turn of an activation that is given up handles failures itself
/// (<see cref="Departure"/>). An activation that blocks its thread has no turn in which it could be given up: it is only logged.</para>
/// <para>An activation becomes busy (its own thread) while a look finds it at rest: it is watched again with its next request. Both fields
/// could only be read in a fixed order with a fence for each request.</para>
/// </remarks>
internal sealed class Workload(
    LocalNode local, ActivationTable activations, Stage work, SiloMessagingOptions messaging, SchedulingOptions scheduling)
{
    /// <summary>Lines of one kind in one look; the remaining ones are counted in one more line.</summary>
    private const int MaxLines = 10;

    private const string SoftLimit = "SiloMessagingOptions.MaxEnqueuedRequestsSoftLimit";

    private readonly ConcurrentQueue<Activation> _arrived = new();
    private readonly List<Watched> _watched = [];
    private readonly long _period = (long)messaging.GrainWorkloadAnalysisPeriod.TotalMilliseconds;
    private readonly long _longRun = (long)messaging.RequestProcessingWarningTime.TotalMilliseconds;
    private readonly long _longest = (long)messaging.MaxRequestProcessingTime.TotalMilliseconds;
    private readonly long _longWait = (long)messaging.RequestQueueDelayWarningTime.TotalMilliseconds;
    private readonly long _longDelay = (long)scheduling.DelayWarningThreshold.TotalMilliseconds;
    private readonly bool _hasSoftLimit = scheduling.MaxPendingWorkItemsSoftLimit > 0 || messaging.MaxEnqueuedRequestsSoftLimit > 0
        || messaging.MaxEnqueuedRequestsSoftLimit_StatelessWorker > 0;

    private long _lastLook;
    private int _lines;

    /// <summary>When the item that measures the delay of turns was posted; 0 if it has run.</summary>
    private long _postedAt;
    private bool _hasWarnedOfDelay;

    /// <summary>Activations that are watched now, for tests.</summary>
    internal int Count => _watched.Count + _arrived.Count;

    /// <summary>A request of the activation goes on after its first turn. Any thread; once until a look finds it at rest.</summary>
    internal void Watch(Activation activation) => _arrived.Enqueue(activation);

    /// <summary>Looks, if a period has passed.</summary>
    internal void Tick(long now)
    {
        CheckDelay(now);
        if (now - _lastLook < _period)
            return;
        _lastLook = now;
        _lines = 0;
        while (_arrived.TryDequeue(out var activation))
            _watched.Add(new Watched(activation));
        _watched.RemoveAll(watched => !IsStillBusy(watched.Activation));
        foreach (var watched in _watched)
            CheckTimes(watched, now);
        if (_hasSoftLimit)
            LookForLongQueues();
        if (_lines > MaxLines)
            local.Log.MoreWorkload(_lines - MaxLines);
    }

    /// <summary>False if the activation is at rest, or another entry of it has arrived.</summary>
    private static bool IsStillBusy(Activation activation)
    {
        activation.Life.IsWatched = false;
        Interlocked.MemoryBarrier();
        return activation.State == ActivationState.Active && activation.Admission.HasRunning && activation.Life.TryWatch();
    }

    private void CheckTimes(Watched watched, long now)
    {
        var activation = watched.Activation;
        var ran = watched.Running.For(activation.Admission.Blocking, now);
        var waited = watched.Waiting.For(activation.Admission.FirstWaiting, now);
        if (ran >= _longest)
            GiveUp(watched, ran);
        else if (ran >= _longRun && watched.Running.TryWarn() && HasLine())
            local.Log.RequestRunsLong(activation.GrainId, watched.Running.Name, ran / 1000.0);
        if (waited >= _longWait && watched.Waiting.TryWarn() && HasLine())
            local.Log.RequestWaitsLong(activation.GrainId, watched.Waiting.Name, waited / 1000.0, activation.Admission.Count);
    }

    private void GiveUp(Watched watched, long ran)
    {
        if (watched.IsGivenUp)
            return;
        watched.IsGivenUp = true;
        local.Log.ActivationStuck(watched.Activation.GrainId, watched.Running.Name, ran / 1000.0);
        watched.Activation.GiveUp(new DeactivationReason(DeactivationReasonCode.ActivationUnresponsive,
            "The request " + watched.Running.Name + " has run for more than " + messaging.MaxRequestProcessingTime
            + " (SiloMessagingOptions.MaxRequestProcessingTime)."));
    }

    private void LookForLongQueues()
    {
        foreach (var activation in activations)
        {
            if (!activation.Class.IsOrdinary)
                continue;
            var (queued, isWorker) = (activation.QueueLength, activation.Class.Worker is not null);
            var requests = isWorker ? messaging.MaxEnqueuedRequestsSoftLimit_StatelessWorker : messaging.MaxEnqueuedRequestsSoftLimit;
            if (requests > 0 && queued > requests && HasLine())
                local.Log.LongQueue(activation.GrainId, queued, SoftLimit + (isWorker ? "_StatelessWorker" : ""), requests);
            else if (scheduling.MaxPendingWorkItemsSoftLimit is > 0 and var items && queued > items && HasLine())
                local.Log.LongQueue(activation.GrainId, queued, "SchedulingOptions.MaxPendingWorkItemsSoftLimit", items);
        }
    }

    /// <summary>An item of the work stage waits as long as turns do.</summary>
    private void CheckDelay(long now)
    {
        var postedAt = Volatile.Read(ref _postedAt);
        if (postedAt == 0)
        {
            if (now - _lastLook < _period || now == 0)
                return;
            _hasWarnedOfDelay = false;
            Volatile.Write(ref _postedAt, now);
            work.Post(new StageAction(() => Volatile.Write(ref _postedAt, 0)));
        }
        else if (now - postedAt >= _longDelay && !_hasWarnedOfDelay)
        {
            _hasWarnedOfDelay = true;
            local.Log.TurnsDelayed((now - postedAt) / 1000.0);
        }
    }

    private bool HasLine() => ++_lines <= MaxLines;

    /// <summary>One watched activation. On the control stage.</summary>
    private sealed class Watched(Activation activation)
    {
        internal Seen Running;
        internal Seen Waiting;

        internal Activation Activation { get; } = activation;

        internal bool IsGivenUp { get; set; }
    }

    /// <summary>
    /// One use of a call object, and since when it was seen. The object may be recycled at any time; then its version differs.
    /// </summary>
    private struct Seen
    {
        private Call? _call;
        private int _version;
        private long _since;
        private bool _hasWarned;

        internal readonly string Name => _call?.Method.ActivityName ?? "";

        /// <summary>For how many milliseconds the same use was seen.</summary>
        internal long For(Call? call, long now)
        {
            if (call is null || !ReferenceEquals(call, _call) || call.Version != _version)
                (_call, _version, _since, _hasWarned) = (call, call?.Version ?? 0, now, false);
            return call is null ? 0 : now - _since;
        }

        internal bool TryWarn()
        {
            var isFirst = !_hasWarned;
            _hasWarned = true;
            return isFirst;
        }
    }
}

/// <summary>
/// Counts the tasks of grain code that run after their activation has ended, and logs them at most once per interval. Any thread.
/// </summary>
internal sealed class LateWork(LocalNode local, TimeSpan interval)
{
    private long _count;
    private long _nextLine;

    internal void Ran(GrainId grain)
    {
        Interlocked.Increment(ref _count);
        var (now, next) = (local.Clock.Now, Volatile.Read(ref _nextLine));
        if (now < next || Interlocked.CompareExchange(ref _nextLine, now + (long)interval.TotalMilliseconds, next) != next)
            return;
        local.Log.LateWork(Interlocked.Exchange(ref _count, 0), grain);
    }
}
