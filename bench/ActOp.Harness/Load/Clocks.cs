using System.Diagnostics;
using System.Runtime.InteropServices;

namespace ActOp.Harness.Load;

/// <summary>The time that paces the load: monotonic in a run, virtual in tests.</summary>
public interface IClock
{
    /// <summary>Time since an arbitrary moment, the same for all processes of one machine.</summary>
    TimeSpan Now { get; }

    /// <summary>Blocks the calling thread until <paramref name="time"/>; returns at once when that is past.</summary>
    void WaitUntil(TimeSpan time);
}

/// <summary>The machine's monotonic clock with waits precise to about 0.1 ms, so that pacing adds little to the measured latency.</summary>
public sealed partial class MonotonicClock : IClock
{
    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(100);

    /// <inheritdoc/>
    public TimeSpan Now => Stopwatch.GetElapsedTime(0, Stopwatch.GetTimestamp());

    /// <inheritdoc/>
    public void WaitUntil(TimeSpan time)
    {
        for (var left = time - Now; left > TimeSpan.Zero; left = time - Now)
            Sleep(left < Longest ? left : Longest);
    }

    // Thread.Sleep counts in whole milliseconds; that would be a good part of the median latency.
    private static void Sleep(TimeSpan left)
    {
        if (OperatingSystem.IsLinux() && Environment.Is64BitProcess)
        {
            var request = new TimeSpec { Seconds = 0, Nanoseconds = left.Ticks * 100 };
            _ = NanoSleep(in request, 0);
        }
        else if (left > TimeSpan.FromMilliseconds(2))
        {
            Thread.Sleep(1);
        }
        else
        {
            Thread.Sleep(0);
        }
    }

    [LibraryImport("libc", EntryPoint = "nanosleep")]
    private static partial int NanoSleep(in TimeSpec request, nint remaining);

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}

/// <summary>A clock that jumps to whatever is waited for, for tests of the load.</summary>
public sealed class VirtualClock : IClock
{
    private long _ticks;

    /// <inheritdoc/>
    public TimeSpan Now => TimeSpan.FromTicks(Volatile.Read(ref _ticks));

    /// <inheritdoc/>
    public void WaitUntil(TimeSpan time)
    {
        if (time > Now)
            Volatile.Write(ref _ticks, time.Ticks);
    }

    /// <summary>Lets time pass.</summary>
    public void Add(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);
}
