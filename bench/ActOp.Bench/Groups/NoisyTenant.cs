using System.Diagnostics;
using ActOp.Bench.Calls;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;

namespace ActOp.Bench.Groups;

/// <summary>
/// Nine tenants of one silo call grains at a low rate, and a tenth floods the silo with turns: the latency of the nine alone, and beside
/// the flood, without groups and with a group for each tenant.
/// </summary>
internal static class NoisyTenant
{
    private const int Quiet = 9;
    private const int QuietTurnMicroseconds = 20;

    /// <summary>What floods: many short turns, or long ones.</summary>
    private static readonly (string Name, int Grains, int Microseconds)[] Floods =
        [("turns of 20 us", 500, 20), ("turns of 5 ms", 20, 5_000)];

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        var alone = new Latencies();
        var open = Floods.Select(static _ => new Latencies()).ToArray();
        var grouped = Floods.Select(static _ => new Latencies()).ToArray();
        for (var run = 0; run < settings.Runs; run++)
        {
            alone.Add(await RunAsync(settings, null, withGroups: false));
            for (var flood = 0; flood < Floods.Length; flood++)
            {
                open[flood].Add(await RunAsync(settings, flood, withGroups: false));
                grouped[flood].Add(await RunAsync(settings, flood, withGroups: true));
            }
        }

        Report("nine tenants alone", alone, null);
        for (var flood = 0; flood < Floods.Length; flood++)
        {
            Report("beside " + Floods[flood].Name + ", no groups", open[flood], alone);
            Report("beside " + Floods[flood].Name + ", groups", grouped[flood], alone);
        }

        void Report(string name, Latencies latencies, Latencies? floor)
        {
            report(new Row(name + ", p50", "ms", latencies.At(0.5)));
            var p99 = latencies.At(0.99);
            report(new Row(name + ", p99", "ms", p99, floor is null ? null : p99.Median / floor.At(0.99).Median));
            report(new Row(name + ", calls", "calls/s", latencies.Rates));
        }
    }

    private static async Task<(double[] Milliseconds, double Rate)> RunAsync(CallSettings settings, int? flood, bool withGroups)
    {
        await using var silo = await BenchHost.StartSilo(locality: false, configure: withGroups ? AddGroups : null);
        for (var tenant = 0; tenant < Quiet; tenant++)
            await silo.Grains.GetGrain<ITenantGrain>("quiet" + tenant + "/0").Compute(QuietTurnMicroseconds);
        List<Task> noise = [];
        if (flood is { } index)
        {
            for (var grain = 0; grain < Floods[index].Grains; grain++)
            {
                noise.Add(silo.Grains.GetGrain<ITenantGrain>("noisy/" + grain)
                    .Flood(Floods[index].Microseconds, settings.Milliseconds + 200));
            }
        }

        await Task.Delay(100);
        var began = Stopwatch.GetTimestamp();
        var tenants = Enumerable.Range(0, Quiet).Select(tenant => CallAsync(silo, tenant, settings.Duration)).ToArray();
        var all = (await Task.WhenAll(tenants)).SelectMany(static one => one).Order().ToArray();
        var rate = all.Length / Stopwatch.GetElapsedTime(began).TotalSeconds;
        await Task.WhenAll(noise);
        return (all, rate);
    }

    /// <summary>A call every 2 ms, or as soon as the one before has ended. In milliseconds.</summary>
    private static async Task<List<double>> CallAsync(BenchHost silo, int tenant, TimeSpan duration)
    {
        List<double> latencies = [];
        var began = Stopwatch.GetTimestamp();
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(2));
        for (var call = 0; Stopwatch.GetElapsedTime(began) < duration && await timer.WaitForNextTickAsync(); call++)
        {
            var sent = Stopwatch.GetTimestamp();
            await silo.Grains.GetGrain<ITenantGrain>("quiet" + tenant + "/" + (call % 10)).Compute(QuietTurnMicroseconds);
            latencies.Add(Stopwatch.GetElapsedTime(sent).TotalMilliseconds);
        }

        return latencies;
    }

    private static void AddGroups(ISiloBuilder silo) => silo.AddGroups(static groups =>
    {
        for (var tenant = 0; tenant < Quiet; tenant++)
            groups.Add("quiet" + tenant);
        groups.Add("noisy").Select = TenantGrain.GroupOf;
    });

    private sealed class Latencies
    {
        private readonly List<double[]> _runs = [];
        private readonly List<double> _rates = [];

        internal Spread Rates => Spread.Of([.. _rates]);

        internal void Add((double[] Milliseconds, double Rate) run)
        {
            _runs.Add(run.Milliseconds);
            _rates.Add(run.Rate);
        }

        internal Spread At(double share) => Spread.Of([.. _runs.Select(run => run.Length == 0 ? 0 : run[(int)(share * (run.Length - 1))])]);
    }
}
