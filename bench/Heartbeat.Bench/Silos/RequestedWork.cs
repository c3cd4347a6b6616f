using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Heartbeat.Bench.Load;

namespace Heartbeat.Bench.Silos;

/// <summary>
/// What a request costs in an experiment: the load client says it in the request's context, and the silo spends it on the grain's turn,
/// before the method. The application knows nothing of it. A silo whose requests cost nothing does without this filter.
/// </summary>
public sealed class RequestedWork : IIncomingGrainCallFilter
{
    private const string BlockKey = "block ms";
    private const string ComputeKey = "compute us";

    /// <summary>Adds to the context of the calls that follow in this method what the request costs.</summary>
    public static void Ask(Beat beat)
    {
        if (beat.BlockMs > 0)
            RequestContext.Set(BlockKey, beat.BlockMs);
        if (beat.ComputeUs > 0)
            RequestContext.Set(ComputeKey, beat.ComputeUs);
    }

    /// <inheritdoc/>
    public Task Invoke(IIncomingGrainCallContext context)
    {
        if (RequestContext.Get(BlockKey) is double milliseconds)
            Blocking.Wait(milliseconds);
        if (RequestContext.Get(ComputeKey) is double microseconds)
            Computing.Spin(microseconds);
        return context.Invoke();
    }
}

/// <summary>Stands for synchronous input and output in old code: the thread waits and uses no processor (paper section 5.2).</summary>
public static class Blocking
{
    /// <summary>Blocks the calling thread; 0 does nothing.</summary>
    public static void Wait(double milliseconds)
    {
        if (milliseconds > 0)
            Thread.Sleep(TimeSpan.FromMilliseconds(milliseconds));
    }
}

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
        var end = Used() + (long)(1000 * microseconds);
        for (uint state = 1; Used() < end;)
            state = Churn(state);
    }

    /// <summary>Processor time of this thread in ns. Elsewhere than on Linux the time of day has to do.</summary>
    private static long Used()
    {
        if (!OperatingSystem.IsLinux() || !Environment.Is64BitProcess)
            return Stopwatch.GetElapsedTime(0, Stopwatch.GetTimestamp()).Ticks * TimeSpan.NanosecondsPerTick;
        _ = GetTime(ThreadClock, out var used);
        return used.Seconds * 1_000_000_000 + used.Nanoseconds;
    }

    /// <summary>Each step needs the one before. A pause instruction would leave the core to whoever shares it.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static uint Churn(uint state)
    {
        for (var i = 0; i < Steps; i++)
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
