using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Harness.Load;

/// <summary>The machine's monotonic clock with waits precise to about 0.1 ms, so that pacing adds little to the measured latency.</summary>
public sealed partial class MonotonicClock : IClock
{
    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(100);

    /// <inheritdoc/>
    public TimeSpan Now => Stopwatch.GetElapsedTime(0, Stopwatch.GetTimestamp());

    /// <inheritdoc/>
    public void WaitUntil(TimeSpan time)
    {
        for (TimeSpan left = time - Now; left > TimeSpan.Zero; left = time - Now)
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
