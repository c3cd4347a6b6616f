namespace ActOp.Staging;

/// <summary>What a sample has found.</summary>
internal enum StageActivity
{
    /// <summary>No thread runs that could be kept by an item.</summary>
    None,

    /// <summary>Threads run.</summary>
    Running,

    /// <summary>A thread is inside an item that the next sample may find to take long.</summary>
    InsideItem,

    /// <summary>Items were left to threads of the thread pool since the last sample (<see cref="StageMonitor.SampleSoon"/>).</summary>
    InlineRuns,
}

/// <summary>A stage that the <see cref="StageMonitor"/> samples.</summary>
internal interface ISampled
{
    /// <summary>Handles items that take long. Must not block.</summary>
    /// <param name="microseconds">The time since the last sample.</param>
    StageActivity Sample(int microseconds);
}

/// <summary>
/// Samples all stages of the process every few milliseconds while a thread of any of them runs; otherwise its timer is off.
/// </summary>
/// <remarks>
/// <para>A sample is cheap, but waking a thread for it on an idle processor takes 0.1 ms: at 500 samples a second that was a fifth of the
/// CPU time of a silo under a light load. So the interval is <see cref="LongIntervalMilliseconds"/> when no thread is inside an item and
/// <see cref="ShortIntervalMilliseconds"/> otherwise. An item that takes long is found after at most the sum of both. After an item was
/// left to the thread pool, the next sample follows after <see cref="InlineIntervalMilliseconds"/>.</para>
/// <para>A stage calls <see cref="Arm"/> after it has woken or lent a worker: one read while the monitor is armed. Before the monitor
/// disarms, it clears the flag and samples once more; both sides pass a full fence in between, so one of them sees the other. Samples run
/// on the thread of the timers, one at a time.</para>
/// </remarks>
internal sealed class StageMonitor
{
    /// <summary>The interval when no thread was seen inside an item.</summary>
    internal const int LongIntervalMilliseconds = 8;

    /// <summary>The interval after a thread was seen inside an item: if it still is, the item takes long.</summary>
    internal const int ShortIntervalMilliseconds = 2;

    /// <summary>The interval while items are left to threads of the thread pool, which may be busy.</summary>
    internal const int InlineIntervalMilliseconds = 1;

    /// <summary>
    /// A thread that samples have seen inside one item for this long counts as held in <see cref="Measuring.StageUsage"/>.
    /// </summary>
    internal const int HeldMicroseconds = 250_000;

    /// <summary>
    /// The monitor disarms after this many samples in a row without activity. Otherwise each single request would arm it again.
    /// </summary>
    private const int QuietSamples = 4;

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private ISampled[] _stages = [];
    private int _isArmed;
    private int _isSampleSoon;
    private int _quietSamples;
    private long _lastSample;

    /// <param name="time">Its timer triggers the samples.</param>
    internal StageMonitor(TimeProvider time)
    {
        _time = time;
        var never = Timeout.InfiniteTimeSpan;
        _timer = time.CreateTimer(static state => ((StageMonitor)state!).OnTimer(), this, never, never);
    }

    /// <summary>The monitor of the process.</summary>
    internal static StageMonitor Shared { get; } = new(TimerThread.Shared);

    internal bool IsArmed => Volatile.Read(ref _isArmed) != 0;

    internal void Add(ISampled stage)
    {
        lock (_gate)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(!_stages.Contains(stage));
            Volatile.Write(ref _stages, [.. _stages, stage]);
        }

        Arm();
    }

    internal void Remove(ISampled stage)
    {
        lock (_gate)
            Volatile.Write(ref _stages, [.. _stages.Where(one => !ReferenceEquals(one, stage))]);
    }

    /// <summary>Called when a thread of a stage runs: starts the timer if it is off.</summary>
    internal void Arm()
    {
        if (Volatile.Read(ref _isArmed) != 0 || Interlocked.Exchange(ref _isArmed, 1) != 0)
            return;
        ScheduleIn(LongIntervalMilliseconds);
    }

    /// <summary>
    /// As <see cref="Arm"/>, and the next sample follows after <see cref="InlineIntervalMilliseconds"/>. Mostly one read, since the flag
    /// stays set while such calls continue.
    /// </summary>
    internal void SampleSoon()
    {
        Arm();
        if (Volatile.Read(ref _isSampleSoon) == 0 && Interlocked.Exchange(ref _isSampleSoon, 1) == 0)
            ScheduleIn(InlineIntervalMilliseconds);
    }

    private void ScheduleIn(int milliseconds) => _timer.Change(TimeSpan.FromMilliseconds(milliseconds), Timeout.InfiniteTimeSpan);

    private void OnTimer()
    {
        // Before the sample: a later request sets the flag again.
        Interlocked.Exchange(ref _isSampleSoon, 0);
        var activity = SampleAll();
        _quietSamples = activity == StageActivity.None ? _quietSamples + 1 : 0;
        if (_quietSamples < QuietSamples)
        {
            Continue(activity);
            return;
        }

        _quietSamples = 0;
        // Before the last sample: a later Arm starts the timer again.
        Interlocked.Exchange(ref _isArmed, 0);
        activity = SampleAll();
        if (activity == StageActivity.None)
            return;
        Arm();
        Continue(activity);
    }

    private void Continue(StageActivity activity)
    {
        if (activity == StageActivity.InlineRuns)
            Interlocked.Exchange(ref _isSampleSoon, 1);
        ScheduleIn(activity switch
        {
            StageActivity.InlineRuns => InlineIntervalMilliseconds,
            StageActivity.InsideItem => ShortIntervalMilliseconds,
            _ => LongIntervalMilliseconds,
        });
        // A request during the sample may have set the timer before this did.
        if (activity != StageActivity.InlineRuns && Volatile.Read(ref _isSampleSoon) != 0)
            ScheduleIn(InlineIntervalMilliseconds);
    }

    private StageActivity SampleAll()
    {
        var now = _time.GetTimestamp();
        var microseconds = (int)Math.Min(_time.GetElapsedTime(_lastSample, now).TotalMicroseconds, int.MaxValue);
        _lastSample = now;
        var activity = StageActivity.None;
        foreach (var stage in Volatile.Read(ref _stages))
        {
            var one = stage.Sample(microseconds);
            activity = one > activity ? one : activity;
        }

        return activity;
    }
}
