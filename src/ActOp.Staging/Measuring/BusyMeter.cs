using System.Diagnostics.Tracing;

namespace ActOp.Staging.Measuring;

/// <summary>
/// Measures a sample of the busy times of a thread: each begins after a wait for work and ends before the next one, so idle time does not
/// count. The sample is small enough that the measurement takes less than 0.5 % of the time.
/// </summary>
/// <remarks>Begin and End belong to one thread at a time, the owner of the worker; any thread may read <see cref="Total"/>.</remarks>
internal sealed class BusyMeter(string stage)
{
    /// <summary>The approximate cost of two marks.</summary>
    private const long CostNanoseconds = 4000;

    private const long TimePerCost = 200;

    /// <summary>
    /// At most this many busy times are skipped in a row, however short they are, so that a stage that becomes slow is noticed soon.
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
        // A thread that loses its processor while it reads the clocks was ready outside the busy time: hence the upper limit.
        var busy = new BusyTime(items, wall, cpu, Math.Clamp(now.Ready - _begun.Ready, 0, Math.Max(0, wall - cpu)));
        StageEvents.Log.End(stage, items, busy.Cpu);
        Volatile.Write(ref _version, _version + 1);
        Interlocked.MemoryBarrier();
        _total += busy;
        Volatile.Write(ref _version, _version + 1);
        _skip = Math.Min(CostNanoseconds * TimePerCost / Math.Max(busy.Wall, 1), MaxSkipped);
    }
}

/// <summary>
/// The measured busy times as events of the provider <c>ActOp-Stages</c>, for <c>dotnet-trace</c>, <c>dotnet-counters</c> and
/// the package ActOp.Staging.Tracing. Nothing is written without a listener.
/// </summary>
[EventSource(Name = ProviderName)]
internal sealed class StageEvents : EventSource
{
    internal const string ProviderName = "ActOp-Stages";

    internal static StageEvents Log { get; } = new();

    [NonEvent]
    internal void Begin(string stage)
    {
        if (IsEnabled())
            BusyBegin(stage);
    }

    [NonEvent]
    internal void End(string stage, int items, long cpu)
    {
        if (IsEnabled())
            BusyEnd(stage, items, cpu);
    }

    /// <summary>A thread begins to run events of a stage.</summary>
    [Event(1)]
    private void BusyBegin(string stage) => WriteEvent(1, stage);

    /// <summary>It has no more events, or has run enough for one measurement.</summary>
    [Event(2)]
    private void BusyEnd(string stage, int items, long cpuNanoseconds) => WriteEvent(2, stage, items, cpuNanoseconds);
}
