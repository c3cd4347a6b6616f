#pragma warning disable RS0030 // The sanctioned reader of the clocks of threads.
using System.Buffers.Text;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace ActOp.Staging.Measuring;

/// <summary>
/// Reads the clocks of the calling thread: wall-clock time, its processor time and, on Linux (/proc/thread-self/schedstat), the time in
/// which it was ready without a processor. A mark takes about 2 microseconds.
/// </summary>
internal static partial class ThreadClock
{
    private const int MacThreadClock = 16;
    private const int LinuxThreadClock = 3;
    private const string Schedstat = "/proc/thread-self/schedstat";

    private static readonly int ClockId = OperatingSystem.IsMacOS() ? MacThreadClock : LinuxThreadClock;
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    [ThreadStatic]
    private static SafeFileHandle? t_schedstat;

    /// <summary>Whether the system reports the ready time of a thread.</summary>
    internal static bool KnowsReady { get; } = OperatingSystem.IsLinux() && File.Exists(Schedstat) && ReadyOf(Schedstat) >= 0;

    /// <summary>The processor time that reading it takes, in nanoseconds.</summary>
    internal static long CpuReadCost { get; } = Enumerable.Range(0, 64).Select(static _ => -Cpu() + Cpu()).Min();

    /// <summary>A mark for the beginning of an interval: the cost of reading lies before it.</summary>
    internal static ThreadMark Begin()
    {
        var ready = Ready();
        var cpu = Cpu();
        return new(Wall(), cpu, ready);
    }

    /// <summary>A mark for the end of an interval: the cost of reading lies after it.</summary>
    internal static ThreadMark End()
    {
        var wall = Wall();
        var cpu = Cpu();
        return new(wall, cpu, Ready());
    }

    private static long Wall() => (long)(Stopwatch.GetTimestamp() * NanosecondsPerTick);

    private static long Cpu()
    {
        if (OperatingSystem.IsWindows())
            return GetThreadTimes(GetCurrentThread(), out _, out _, out var kernel, out var user) ? (kernel + user) * 100 : 0;
        return ReadClock(ClockId, out var time) == 0 ? (time.Seconds * 1_000_000_000) + time.Nanoseconds : 0;
    }

    private static long Ready() => KnowsReady ? ReadyOf(t_schedstat ??= File.OpenHandle(Schedstat)) : 0;

    private static long ReadyOf(string path)
    {
        try
        {
            using var handle = File.OpenHandle(path);
            return ReadyOf(handle);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or NotSupportedException)
        {
            return -1;
        }
    }

    /// <summary>The second of "cpu ready slices".</summary>
    private static long ReadyOf(SafeFileHandle handle)
    {
        Span<byte> text = stackalloc byte[96];
        text = text[..RandomAccess.Read(handle, text, 0)];
        var second = text.IndexOf((byte)' ') + 1;
        return second > 0 && Utf8Parser.TryParse(text[second..], out long ready, out _) ? ready : -1;
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    [SuppressGCTransition]
    private static partial int ReadClock(int clock, out TimeSpec time);

    [LibraryImport("kernel32")]
    [return: MarshalAs(UnmanagedType.Bool)]
    private static partial bool GetThreadTimes(nint thread, out long creation, out long exit, out long kernel, out long user);

    [LibraryImport("kernel32")]
    private static partial nint GetCurrentThread();

    private struct TimeSpec
    {
        internal long Seconds;
        internal long Nanoseconds;
    }
}

/// <summary>The clocks of a thread, in nanoseconds.</summary>
/// <param name="Wall">Wall-clock time.</param>
/// <param name="Cpu">Processor time of the thread.</param>
/// <param name="Ready">Time that the thread was ready to run and had no processor; 0 where the system does not report it.</param>
internal readonly record struct ThreadMark(long Wall, long Cpu, long Ready);
