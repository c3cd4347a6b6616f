using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Heartbeat.Grains;

/// <summary>Stands for what a request computes: its turn uses so much processor time, however often the thread is put off.</summary>
public static partial class Computing
{
    /// <summary>A few microseconds of work between two looks at the clock, which costs a system call.</summary>
    private const int Steps = 2000;
    private const int ThreadClock = 3;

    /// <summary>Uses the processor for so many microseconds; 0 does nothing.</summary>
    public static void Spin(double microseconds)
    {
        if (!(microseconds > 0))
            return;
        long end = Used() + (long)(1000 * microseconds);
        for (uint state = 1; Used() < end;)
            state = Churn(state);
    }

    /// <summary>Processor time of this thread in ns. Elsewhere than on Linux the time of day has to do.</summary>
    private static long Used()
    {
        if (!OperatingSystem.IsLinux() || !Environment.Is64BitProcess)
            return Stopwatch.GetElapsedTime(0, Stopwatch.GetTimestamp()).Ticks * TimeSpan.NanosecondsPerTick;
        _ = GetTime(ThreadClock, out TimeSpec used);
        return used.Seconds * 1_000_000_000 + used.Nanoseconds;
    }

    /// <summary>Each step needs the one before. A pause instruction would leave the core to whoever shares it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint Churn(uint state)
    {
        for (int i = 0; i < Steps; i++)
            state = state * 1664525 + 1013904223;
        return state;
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int GetTime(int clock, out TimeSpec time);

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
