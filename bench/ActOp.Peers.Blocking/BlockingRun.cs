using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans;
using Orleans.Hosting;
using Spectre.Console;

namespace ActOp.Peers.Blocking;

/// <summary>What is asked of a silo.</summary>
/// <param name="Rate">Beats per second, a Poisson process.</param>
/// <param name="Seconds">For so long, from the first beat that blocks.</param>
/// <param name="Block">Milliseconds that a beat keeps its thread.</param>
/// <param name="Monitors">Grains, all of which exist before the load begins.</param>
internal sealed record BlockingLoad(double Rate, int Seconds, int Block, int Monitors);

/// <summary>What came of it. Latencies in milliseconds.</summary>
internal sealed record BlockingResult(LatencySummary Latency, long Answered, long Errors, double CpuMilliseconds, int Threads);

/// <summary>
/// Plays the load on Orleans, and on Orleans with thread control, in turn. The silo is a process of its own, new for each run, and this
/// process is the client: one thread sends each beat at its intended start, however long the answers take, and latency counts from there.
/// </summary>
internal sealed class BlockingRun(BlockingLoad load, int runs, bool log)
{
    private const int MaxOutstanding = 100_000;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    internal async Task<int> PlayAsync(CancellationToken cancellation)
    {
        List<BlockingResult> plain = [], controlled = [];
        for (var run = 0; run < runs; run++)
        {
            plain.Add(await PlayAsync(false, run, cancellation));
            controlled.Add(await PlayAsync(true, run, cancellation));
        }

        Show(plain, controlled);
        return plain.Concat(controlled).All(static result => result.Errors == 0) ? 0 : 1;
    }

    private async Task<BlockingResult> PlayAsync(bool threads, int seed, CancellationToken cancellation)
    {
        var port = Ports.FindFree(2).Min();
        var said = new Transcript();
        await using var silo = ChildProcess.Start("silo", BlockingSilo.Arguments(port, threads, log), said.Take);
        await said.WaitForAsync(static line => line == BlockingSilo.Ready).WaitAsync(Patience, cancellation);
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering(port + 1));
        using var host = builder.Build();
        await host.StartAsync(cancellation);
        var grains = host.Services.GetRequiredService<IGrainFactory>();
        IMonitorGrain[] monitors = [.. Enumerable.Range(0, load.Monitors).Select(key => grains.GetGrain<IMonitorGrain>(key))];
        // Activations and code are there before the load, on both sides.
        foreach (var some in monitors.Chunk(100))
            await Task.WhenAll(some.Select(static monitor => monitor.Beat(0))).WaitAsync(Patience, cancellation);
        var before = await monitors[0].Use();
        var (latency, tally) = (new LatencyHistogram(), new RequestTally());
        var thread = Task.Factory.StartNew(
            () => Send(monitors, seed, latency, tally, cancellation), cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await thread;
        var after = await monitors[0].Use();
        if (log)
            await Console.Error.WriteLineAsync(silo.Tail);
        foreach (var text in tally.ErrorTexts)
            await Console.Error.WriteLineAsync(text);
        await host.StopAsync(cancellation);
        return new BlockingResult(latency.Summarize(), tally.Answered, tally.Errors,
            (after.CpuSeconds - before.CpuSeconds) * 1000 / Math.Max(1, tally.Answered), after.Threads);
    }

    private void Send(IMonitorGrain[] monitors, int seed, LatencyHistogram latency, RequestTally tally, CancellationToken cancellation)
    {
        var clock = new MonotonicClock();
        var random = new Random(seed);
        var loop = new OpenLoop(clock, async () =>
        {
            await monitors[random.Next(monitors.Length)].Beat(load.Block);
            return 1;
        }, MaxOutstanding);
        var begin = clock.Now;
        var end = begin + TimeSpan.FromSeconds(load.Seconds);
        var arrivals = new PoissonArrivals(load.Rate, begin, seed);
        while (arrivals.Next < end && !cancellation.IsCancellationRequested)
        {
            clock.WaitUntil(arrivals.Next);
            loop.SendDue(arrivals, clock.Now, end, latency, tally);
        }

        // All that was sent counts, however late.
        loop.Drain(Patience, tally, cancellation);
    }

    private void Show(List<BlockingResult> plain, List<BlockingResult> controlled)
    {
        var title = string.Create(CultureInfo.InvariantCulture,
            $"{load.Rate:0} beats/s, {load.Block} ms each, {load.Seconds} s, {runs} runs in turn; min / median / max");
        var table = new Table { Title = new TableTitle(title) };
        table.AddColumns("", "Orleans", "Orleans + AddActOpThreads", "ratio of the medians");
        Add("p50, ms", static result => result.Latency.P50);
        Add("p95, ms", static result => result.Latency.P95);
        Add("p99, ms", static result => result.Latency.P99);
        Add("longest, ms", static result => result.Latency.Max);
        Add("answered", static result => result.Answered);
        Add("errors", static result => result.Errors);
        Add("processor time of a beat, ms", static result => result.CpuMilliseconds);
        Add("threads of the pool at the end", static result => result.Threads);
        AnsiConsole.Write(table);

        void Add(string name, Func<BlockingResult, double> read)
        {
            double[] one = [.. plain.Select(read).Order()], other = [.. controlled.Select(read).Order()];
            table.AddRow(name, Spread(one), Spread(other), Text(other[other.Length / 2] / one[one.Length / 2]));
        }
    }

    private static string Spread(double[] sorted) => $"{Text(sorted[0])} / {Text(sorted[sorted.Length / 2])} / {Text(sorted[^1])}";

    private static string Text(double number) => number.ToString("0.###", CultureInfo.InvariantCulture);
}
