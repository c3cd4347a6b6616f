using System.Diagnostics;
using ActOp.Harness.Load;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ActOp.Harness.Processes;

/// <summary>
/// Ends a child process with its parent: the parent holds the child's standard input open for as long as it wants the child.
/// </summary>
public static class ParentWatch
{
    /// <summary>A token that is cancelled when standard input ends.</summary>
    public static CancellationToken Start()
    {
        var ended = new CancellationTokenSource();
        var thread = new Thread(() =>
        {
            using var input = Console.OpenStandardInput();
            Span<byte> buffer = stackalloc byte[256];
            try
            {
                while (input.Read(buffer) > 0)
                {
                }
            }
            catch (IOException)
            {
                // A broken pipe means the same as a closed one.
            }
            ended.Cancel();
        })
        { IsBackground = true, Name = "parent watch" };
        thread.Start();
        return ended.Token;
    }
}

/// <summary>The load process: connects, runs the load on a thread of its own and prints the last report.</summary>
public static class LoadChild
{
    /// <summary>Runs the load to its end, or until standard input ends; returns the exit code.</summary>
    public static async Task<int> RunAsync<TTarget, TReport>(
        Func<CancellationToken, Task<TTarget>> connect, Func<TTarget, CancellationToken, TReport> run)
        where TTarget : IAsyncDisposable
    {
        var ended = ParentWatch.Start();
        try
        {
            await using var target = await connect(ended).ConfigureAwait(false);
            var last = await Task.Factory.StartNew(() => run(target, ended), ended, TaskCreationOptions.LongRunning,
                TaskScheduler.Default).ConfigureAwait(false);
            JsonLines.Write(Console.Out, last);
            return 0;
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            return 130;
        }
    }
}

/// <summary>Prints a sample of a silo process in every period until its parent is gone.</summary>
public static class SampleLoop
{
    /// <summary>Runs until <paramref name="ended"/>, with one more sample then.</summary>
    public static async Task RunAsync<TSample>(TimeSpan period, Func<ProcessReading, TSample> read, CancellationToken ended)
    {
        var clock = new MonotonicClock();
        using var self = Process.GetCurrentProcess();
        using var timer = new PeriodicTimer(period);
        try
        {
            do
                JsonLines.Write(Console.Out, read(Read(clock, self)));
            while (await timer.WaitForNextTickAsync(ended).ConfigureAwait(false));
        }
        catch (OperationCanceledException)
        {
            JsonLines.Write(Console.Out, read(Read(clock, self)));
        }
    }

    private static ProcessReading Read(MonotonicClock clock, Process self)
    {
        self.Refresh();
        return new ProcessReading(clock.Now.TotalSeconds, self.TotalProcessorTime.TotalSeconds, GC.GetTotalAllocatedBytes());
    }
}

/// <summary>What every process can say about itself.</summary>
/// <param name="T">Seconds on the machine's monotonic clock.</param>
/// <param name="CpuSeconds">Processor time since its start.</param>
/// <param name="AllocatedBytes">Bytes allocated on the managed heap since its start.</param>
public readonly record struct ProcessReading(double T, double CpuSeconds, long AllocatedBytes);

/// <summary>
/// Hosts of the child processes: standard output belongs to the samples, so logs go to standard error, warnings and worse only.
/// </summary>
public static class QuietHost
{
    /// <summary>A builder without configuration files and arguments.</summary>
    public static HostApplicationBuilder CreateBuilder()
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Logging.AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace);
        // The parent decides when a child stops; a Ctrl+C reaches the whole process group and must not get ahead of it.
        builder.Services.AddSingleton<IHostLifetime, ParentLifetime>();
        return builder;
    }

    private sealed class ParentLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
