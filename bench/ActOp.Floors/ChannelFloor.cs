using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Threading.Channels;

namespace ActOp.Floors;

/// <summary>The floor of a local call: two tasks that ping-pong over a pair of channels on the thread pool.</summary>
public static class ChannelFloor
{
    // The clock is read once per batch, so that reading it does not count.
    private const int Batch = 256;

    /// <summary>Measures round trips per second.</summary>
    /// <param name="pairs">Pairs of tasks at the same time.</param>
    /// <param name="oneCore">Pins the whole process to one core meanwhile (Linux and Windows).</param>
    /// <param name="runs">Runs after one warm-up.</param>
    /// <param name="duration">Length of one run.</param>
    public static async Task<ChannelResult> MeasureAsync(int pairs, bool oneCore, int runs, TimeSpan duration)
    {
        using var affinity = oneCore ? Affinity.OneCore() : Affinity.Unchanged();
        await RunAsync(pairs, duration / 2).ConfigureAwait(false);
        var rates = new double[runs];
        for (var i = 0; i < runs; i++)
            rates[i] = await RunAsync(pairs, duration).ConfigureAwait(false);
        return new ChannelResult(pairs, oneCore, Spread.Of(rates));
    }

    private static async Task<double> RunAsync(int pairs, TimeSpan duration)
    {
        var start = Stopwatch.GetTimestamp();
        var counts = new Task<long>[pairs];
        for (var i = 0; i < pairs; i++)
        {
            var to = Create();
            var from = Create();
            _ = Task.Run(() => EchoAsync(to.Reader, from.Writer));
            counts[i] = Task.Run(() => AskAsync(to.Writer, from.Reader, start, duration));
        }
        var sum = (await Task.WhenAll(counts).ConfigureAwait(false)).Sum();
        return sum / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }

    private static Channel<int> Create() =>
        Channel.CreateBounded<int>(new BoundedChannelOptions(16) { SingleReader = true, SingleWriter = true });

    private static async Task<long> AskAsync(ChannelWriter<int> to, ChannelReader<int> from, long start, TimeSpan duration)
    {
        long count = 0;
        while (Stopwatch.GetElapsedTime(start) < duration)
        {
            for (var i = 0; i < Batch; i++)
            {
                await to.WriteAsync(i).ConfigureAwait(false);
                await from.ReadAsync().ConfigureAwait(false);
            }
            count += Batch;
        }
        to.Complete();
        return count;
    }

    private static async Task EchoAsync(ChannelReader<int> from, ChannelWriter<int> to)
    {
        while (await from.WaitToReadAsync().ConfigureAwait(false))
        {
            while (from.TryRead(out var value))
                await to.WriteAsync(value).ConfigureAwait(false);
        }
    }
}

/// <summary>What bare channels do.</summary>
/// <param name="Pairs">Pairs of tasks that ping-pong.</param>
/// <param name="OneCore">Whether the process was pinned to one core.</param>
/// <param name="RoundTripsPerSecond">Round trips per second of all pairs, over the runs.</param>
public sealed record ChannelResult(int Pairs, bool OneCore, Spread RoundTripsPerSecond);

/// <summary>Which of the first 64 cores this process may use, restored when disposed.</summary>
public sealed partial class Affinity : IDisposable
{
    private readonly nint? _before;

    private Affinity(nint? before) => _before = before;

    /// <summary>Leaves the process as it is.</summary>
    public static Affinity Unchanged() => new(null);

    /// <summary>Pins all threads of the process to the first core that it may use.</summary>
    /// <exception cref="PlatformNotSupportedException">Neither Linux nor Windows.</exception>
    public static Affinity OneCore()
    {
        var before = Read();
        Write(before & -before);
        return new Affinity(before);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_before is { } before)
            Write(before);
    }

    private static nint Read()
    {
        using var self = Process.GetCurrentProcess();
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
            return self.ProcessorAffinity;
        throw new PlatformNotSupportedException("Pinning to a core needs Linux or Windows.");
    }

    // On Linux the affinity of a "process" is that of its first thread only, so every thread is set. Threads made later inherit it.
    private static void Write(nint mask)
    {
        if (OperatingSystem.IsWindows())
        {
            using var self = Process.GetCurrentProcess();
            self.ProcessorAffinity = mask;
            return;
        }
        foreach (var task in Directory.EnumerateDirectories("/proc/self/task"))
            _ = SetAffinity(int.Parse(Path.GetFileName(task), CultureInfo.InvariantCulture), sizeof(ulong), (ulong)mask);
    }

    [LibraryImport("libc", EntryPoint = "sched_setaffinity")]
    private static partial int SetAffinity(int thread, nint size, in ulong mask);
}
