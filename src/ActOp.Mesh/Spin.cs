using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// The wait of a poller: it may poll without blocking for a short time (spin) before it blocks.
/// <para>Blocking and waking up cost tens of microseconds of latency and processor time. Between two nodes that are otherwise idle this is
/// far more than the time until the next bytes arrive. But a spin that finds nothing is wasted, and so is one that keeps the processor from
/// another thread. So a poller spins only after <see cref="ShortSleeps"/> blocking waits in a row that were shorter than a spin. It stops
/// spinning after a spin that found nothing, and after a poll that took so long that another thread must have had the processor; in the
/// second case the required number of short waits doubles.</para>
/// <para>Threads: belongs to the polling thread. Any thread may read the counts.</para>
/// </summary>
/// <param name="readiness">The set of streams to wait for.</param>
/// <param name="time">The clock that measures waits and polls.</param>
/// <param name="length">The longest spin; zero disables it.</param>
internal sealed class Spin(Readiness readiness, TimeProvider time, TimeSpan length)
{
    /// <summary>Short waits in a row before the first spin; chance alone rarely produces so many.</summary>
    internal const int ShortSleeps = 16;

    /// <summary>
    /// The same after the first poll that took long, which may have been an interrupt or the hypervisor and not another thread.
    /// </summary>
    internal const int SleepsIfTaken = 2;

    /// <summary>The maximum after polls that took long: one poll and one yield in so many waits cost little.</summary>
    internal const int MostSleepsIfTaken = 64;

    /// <summary>The most polls of one spin, for clocks that advance only when a test moves them.</summary>
    internal const int MostLooks = 1024;

    /// <summary>A poll takes about half a microsecond. A poll that takes this long was interrupted by another thread.</summary>
    private static readonly TimeSpan Taken = TimeSpan.FromMicroseconds(20);

    private readonly long _length = Ticks(time, length);
    private readonly long _taken = Ticks(time, Taken);
    private readonly bool _isOn = length > TimeSpan.Zero && readiness.CanLook;
    private int _sleepsBefore = ShortSleeps;
    private int _sleepsIfTaken = SleepsIfTaken;
    private long _sleeps;
    private long _looks;
    private long _found;

    /// <summary>Blocking waits, including those that found something at once.</summary>
    public long Sleeps => Volatile.Read(ref _sleeps);

    /// <summary>Polls in all spins.</summary>
    public long Looks => Volatile.Read(ref _looks);

    /// <summary>Spins that found something.</summary>
    public long Found => Volatile.Read(ref _found);

    /// <summary>As <see cref="Readiness.Wait"/>.</summary>
    public int Wait(Span<Ready> reports, int timeoutMs)
    {
        if (!_isOn || timeoutMs == 0)
            return readiness.Wait(reports, timeoutMs);

        var start = time.GetTimestamp();
        if (_sleepsBefore == 0)
        {
            if (TryFind(reports, ref start, out var found))
                return found;
        }

        var count = readiness.Wait(reports, timeoutMs);
        _sleeps++;
        if (time.GetTimestamp() - start > _length)
            _sleepsBefore = Math.Max(_sleepsBefore, ShortSleeps);
        else if (_sleepsBefore > 0)
            _sleepsBefore--;

        return count;
    }

    /// <summary>Polls until something is found, the time is over, or another thread had the processor.</summary>
    private bool TryFind(Span<Ready> reports, ref long now, out int found)
    {
        var end = now + _length;
        for (var looks = 0; looks < MostLooks; looks++)
        {
            _looks++;
            if (readiness.TryLook(reports, out found))
            {
                _found++;
                _sleepsIfTaken = Math.Max(SleepsIfTaken, _sleepsIfTaken / 2);
                return true;
            }

            var before = now;
            now = time.GetTimestamp();
            if (now - before > _taken)
            {
                _sleepsBefore = _sleepsIfTaken;
                _sleepsIfTaken = Math.Min(MostSleepsIfTaken, 2 * _sleepsIfTaken);
                return false;
            }

            if (now >= end)
                break;
        }

        _sleepsBefore = ShortSleeps;
        found = 0;
        return false;
    }

    private static long Ticks(TimeProvider time, TimeSpan span) => (long)(span.TotalSeconds * time.TimestampFrequency);
}
