using ActOp.Staging.Measuring;

namespace ActOp.Runtime.Stages;

/// <summary>A stage as its controller and the metrics see it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="NeverBlocks">Its events are the runtime's own and wait for nothing.</param>
/// <param name="Given">The threads that the options give it; null leaves them to the controller.</param>
/// <param name="Threads">Reads its number of threads.</param>
/// <param name="SetThreads">Changes it.</param>
/// <param name="Usage">Reads what it has done.</param>
/// <remarks><see cref="Look"/> is called by one timer; the sums are read by anybody.</remarks>
internal sealed record SizedStage(string Name, bool NeverBlocks, int? Given, Func<int> Threads, Action<int> SetThreads, Func<StageUsage> Usage)
{
    private const double NanosecondsPerSecond = 1e9;

    private StageUsage _last;
    private double _waited;
    private double _wall;
    private double _cpu;
    private double _ready;
    private long _changes;
    private int _leastQueued = int.MaxValue;

    /// <summary>Seconds that events have waited: the queue's length over time (Little), looked at a few times a second.</summary>
    internal double Waited => Volatile.Read(ref _waited);

    /// <summary>Seconds that threads were busy with events (z), measured on a sample and scaled up to all.</summary>
    internal double Wall => Volatile.Read(ref _wall);

    /// <summary>Seconds of processor time that events took (x), scaled up like <see cref="Wall"/>.</summary>
    internal double Cpu => Volatile.Read(ref _cpu);

    /// <summary>Seconds that busy threads were ready without a processor (r), scaled up like <see cref="Wall"/>.</summary>
    internal double Ready => Volatile.Read(ref _ready);

    /// <summary>How often the number of threads was changed.</summary>
    internal long Changes => Interlocked.Read(ref _changes);

    internal void Look(double seconds)
    {
        var usage = Usage();
        Volatile.Write(ref _waited, _waited + (usage.Queued * seconds));
        // A controller that takes it meanwhile loses one look at worst.
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

    /// <summary>The shortest queue at the looks since the last call; 0 when there was none.</summary>
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
