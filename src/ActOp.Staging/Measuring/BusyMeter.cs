namespace ActOp.Staging.Measuring;

/// <summary>
/// Measures a sample of the times in which a thread is busy for its stage, each from after the wait for work to before the next one, so
/// that idleness counts as nothing. The sample is so thin that measuring costs less than a two-hundredth of the time.
/// </summary>
/// <remarks>Begin and End belong to one thread at a time, the owner of the worker; any thread may read <see cref="Total"/>.</remarks>
internal sealed class BusyMeter(string stage)
{
    /// <summary>About what two marks cost.</summary>
    private const long CostNanoseconds = 4000;

    private const long TimePerCost = 200;

    /// <summary>
    /// However short the busy times are, this many of them are not passed over in a row: a stage that becomes slow must be seen soon.
    /// </summary>
    private const long MaxSkipped = 255;

    private ThreadMark _begun;
    private bool _isSampling;
    private long _skip;
    private int _version;
    private BusyTime _total;

    internal BusyTime Total
    {
        get
        {
            var spin = new SpinWait();
            while (true)
            {
                var before = Volatile.Read(ref _version);
                var total = _total;
                Interlocked.MemoryBarrier();
                if ((before & 1) == 0 && before == Volatile.Read(ref _version))
                    return total;
                spin.SpinOnce();
            }
        }
    }

    internal void Begin()
    {
        if (_skip > 0)
        {
            _skip--;
            return;
        }

        _isSampling = true;
        StageEvents.Log.Begin(stage);
        _begun = ThreadClock.Begin();
    }

    /// <summary>Ends the busy time that <see cref="Begin"/> began, in which <paramref name="items"/> events ran.</summary>
    internal void End(int items)
    {
        if (!_isSampling)
            return;
        _isSampling = false;
        if (items == 0)
            return;
        var now = ThreadClock.End();
        var (wall, cpu) = (now.Wall - _begun.Wall, Math.Max(0, now.Cpu - _begun.Cpu - ThreadClock.CpuReadCost));
        // A thread that loses its processor while it reads the clocks was ready outside of the busy time.
        var busy = new BusyTime(items, wall, cpu, Math.Clamp(now.Ready - _begun.Ready, 0, Math.Max(0, wall - cpu)));
        StageEvents.Log.End(stage, items, busy.Cpu);
        Volatile.Write(ref _version, _version + 1);
        Interlocked.MemoryBarrier();
        _total += busy;
        Volatile.Write(ref _version, _version + 1);
        _skip = Math.Min(CostNanoseconds * TimePerCost / Math.Max(busy.Wall, 1), MaxSkipped);
    }
}
