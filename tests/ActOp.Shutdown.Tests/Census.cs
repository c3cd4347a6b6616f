using System.Runtime.CompilerServices;
using ActOp.Staging;

// What a process holds is counted: nothing else may run meanwhile.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace ActOp.Shutdown.Tests;

/// <summary>What the runtime holds of this process: threads, timers, sockets and the like.</summary>
internal static class Census
{
    /// <summary>Threads and descriptors end a moment after whoever closed them has gone on; only a defect reaches this bound.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private const string ThreadLine = "thread ";
    private const string TimerLine = "timer";

    /// <summary>The framework opens its own poll of sockets with the first one, and keeps it.</summary>
    static Census()
    {
        using var listener = Nodes.Listen();
        using var client = new System.Net.Sockets.TcpClient();
        client.ConnectAsync(System.Net.IPAddress.Loopback, Nodes.PortOf(listener)).GetAwaiter().GetResult();
        listener.AcceptSocketAsync().GetAwaiter().GetResult().Dispose();
    }

    private static volatile int s_looks;

    /// <summary>How often somebody has looked.</summary>
    internal static int Looks => s_looks;

    /// <summary>Waits until somebody has looked since <see cref="Looks"/> had that value; any thread.</summary>
    internal static void AwaitLook(int looks) => SpinWait.SpinUntil(() => Looks > looks, Patience);

    /// <summary>
    /// What is held before a test. Threads of the test before, which ends before they do, are none of this one's: they would be missed at
    /// its end. So they are waited for. What is left at the bound is a defect that the test before has told, or could not see; the census
    /// then goes on with it.
    /// </summary>
    internal static string[] Begin()
    {
        string[] held = [];
        SpinWait.SpinUntil(
            () =>
            {
                held = Take();
                return !StageMonitor.Shared.IsArmed && !held.Any(IsRuntimes);
            },
            Patience);
        return held;
    }

    /// <summary>Of what is listed: without descriptors, of which the framework has its own.</summary>
    private static bool IsRuntimes(string held) => held == TimerLine || held.StartsWith(ThreadLine, StringComparison.Ordinal);

    /// <summary>One line for each thing held.</summary>
    internal static string[] Take()
    {
        string[] held = [.. Threads(), .. Descriptors(), .. Timers()];
        s_looks++;
        return held;
    }

    /// <summary>
    /// What is held by nodes that run: what they hold for a moment, such as the timer of a request that is just ending, is none of it. So
    /// it must stay the same for many looks in a row.
    /// </summary>
    internal static string[] Steady()
    {
        var (held, same) = (Take(), 0);
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                var now = Take();
                same = now.SequenceEqual(held) ? same + 1 : 0;
                held = now;
                return same == 50;
            },
            Patience));
        return held;
    }

    /// <summary>Waits until exactly what <paramref name="before"/> lists is held.</summary>
    internal static void Is(string[] before)
    {
        string[] left = [];
        SpinWait.SpinUntil(
            () =>
            {
                left = Take();
                return left.SequenceEqual(before);
            },
            Patience);
        Assert.Equal(string.Join('\n', before), string.Join('\n', left));
    }

    /// <summary>Waits until the collector has taken everything that the references mean.</summary>
    internal static async Task CollectedAsync(params (string Name, WeakReference Reference)[] references)
    {
        // Away from the stack of whatever has just ended, whose frames keep what they have used.
        await Task.Yield();
        string[] left = [];
        SpinWait.SpinUntil(
            () =>
            {
                Collect();
                left = [.. references.Where(static one => one.Reference.IsAlive).Select(static one => one.Name)];
                return left.Length == 0;
            },
            Patience);
        Assert.Empty(left);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }

    /// <summary>Those of the runtime, but for the one thread that serves the timers of the whole process.</summary>
    private static IEnumerable<string> Threads() =>
        from task in Directory.EnumerateDirectories("/proc/self/task")
        let name = Read(Path.Combine(task, "comm"))
        where name.StartsWith("actop-", StringComparison.Ordinal) && name != "actop-timers"
        orderby name
        select ThreadLine + name;

    private static IEnumerable<string> Descriptors() =>
        from path in Directory.EnumerateFiles("/proc/self/fd")
        let target = Link(path)
        where target.StartsWith("socket:", StringComparison.Ordinal) || target.Contains("eventpoll", StringComparison.Ordinal)
            || target.Contains("eventfd", StringComparison.Ordinal)
        let kind = target.Split('[')[0].TrimEnd(':') + (target.Contains("eventpoll", StringComparison.Ordinal) ? " eventpoll" : "")
        orderby kind
        select "descriptor " + kind;

    /// <summary>
    /// Without the one of the monitor of all stages, which goes to sleep by itself when none runs: perhaps between the two looks here, so
    /// that there is one less than none.
    /// </summary>
    private static IEnumerable<string> Timers()
    {
        bool isArmed;
        int waiting;
        do
        {
            isArmed = StageMonitor.Shared.IsArmed;
            waiting = TimerThread.Shared.Waiting;
        }
        while (isArmed != StageMonitor.Shared.IsArmed);
        return Enumerable.Repeat(TimerLine, Math.Max(0, waiting - (isArmed ? 1 : 0)));
    }

    private static string Link(string path)
    {
        try
        {
            return new FileInfo(path).LinkTarget ?? "";
        }
        catch (IOException)
        {
            return "";
        }
    }

    private static string Read(string path)
    {
        try
        {
            return File.ReadAllText(path).Trim();
        }
        catch (IOException)
        {
            // The thread has ended meanwhile.
            return "";
        }
    }
}
