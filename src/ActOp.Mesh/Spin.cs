using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// How a poller waits: while that pays, it looks over and over for a moment before it sleeps.
/// <para>A sleep and its end cost tens of microseconds, of the answer's way and of processor time, far more than what is waited for in a
/// conversation of two nodes that are idle otherwise. But a spin that finds nothing is lost, and so is one that keeps another thread from
/// the processor. So a poller spins only after <see cref="ShortSleeps"/> sleeps in a row that were all shorter than a spin: each of them
/// would have been spared. A spin that finds nothing until its time is over ends that, and so does a look that took long, because a
/// thread that got the processor in between wants it more: twice as many short sleeps as the last time must come first.</para>
/// <para>Threads: belongs to the polling thread. Any thread may read the counts.</para>
/// </summary>
/// <param name="readiness">What is waited for.</param>
/// <param name="time">The clock of sleeps and looks.</param>
/// <param name="length">The longest spin; zero: never.</param>
internal sealed class Spin(Readiness readiness, TimeProvider time, TimeSpan length)
{
    /// <summary>Sleeps in a row that a spin would have spared, before there is one: chance alone rarely brings so many.</summary>
    internal const int ShortSleeps = 16;

    /// <summary>The same after a look that took long, the first time: an interrupt, or the machine's host, is no other thread.</summary>
    internal const int SleepsIfTaken = 2;

    /// <summary>The most after one that took long: one look and one yield in so many sleeps cost nothing.</summary>
    internal const int MostSleepsIfTaken = 64;

    /// <summary>Looks of one spin at most, whatever the clock says: it may be one that only a test moves.</summary>
    internal const int MostLooks = 1024;

    /// <summary>A look takes about half a microsecond. What has run in between was no interrupt.</summary>
    private static readonly TimeSpan Taken = TimeSpan.FromMicroseconds(20);

    private readonly long _length = Ticks(time, length);
    private readonly long _taken = Ticks(time, Taken);
    private readonly bool _isOn = length > TimeSpan.Zero && readiness.CanLook;
    private int _sleepsBefore = ShortSleeps;
    private int _sleepsIfTaken = SleepsIfTaken;
    private long _sleeps;
    private long _looks;
    private long _found;

    /// <summary>Waits that slept, or would have if there had been nothing.</summary>
    public long Sleeps => Volatile.Read(ref _sleeps);

    /// <summary>Looks of all spins.</summary>
    public long Looks => Volatile.Read(ref _looks);

    /// <summary>Spins that found something.</summary>
    public long Found => Volatile.Read(ref _found);

    /// <summary>As <see cref="Readiness.Wait"/>.</summary>
    public int Wait(Span<Ready> reports, int timeoutMs)
    {
        if (!_isOn || timeoutMs == 0)
        {
            return readiness.Wait(reports, timeoutMs);
        }

        var start = time.GetTimestamp();
        if (_sleepsBefore == 0)
        {
            if (TryFind(reports, ref start, out var found))
            {
                return found;
            }
        }

        var count = readiness.Wait(reports, timeoutMs);
        _sleeps++;
        if (time.GetTimestamp() - start > _length)
        {
            _sleepsBefore = Math.Max(_sleepsBefore, ShortSleeps);
        }
        else if (_sleepsBefore > 0)
        {
            _sleepsBefore--;
        }

        return count;
    }

    /// <summary>Looks until something is found, the time is over, or another thread had the processor.</summary>
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
            {
                break;
            }
        }

        _sleepsBefore = ShortSleeps;
        found = 0;
        return false;
    }

    private static long Ticks(TimeProvider time, TimeSpan span) => (long)(span.TotalSeconds * time.TimestampFrequency);
}
