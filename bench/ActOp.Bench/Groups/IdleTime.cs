using System.Diagnostics;
using ActOp.Bench.Calls;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Configuration;
using ActOp.Floors;
using ActOp.Runtime.Groups;

namespace ActOp.Bench.Groups;

/// <summary>
/// How long a thread of a silo has nothing to run although messages with known costs wait (paper on actor groups, section 4.3, Figure 13):
/// ten groups of one actor with 100 ticks of 1 ms per second, one thread.
/// </summary>
internal static class IdleTime
{
    private const int Groups = 10;

    /// <summary>What the paper measured from 90 ms on, in percent.</summary>
    private const double Paper = 4.9;

    internal static async Task Measure(CallSettings settings, Action<Row> report)
    {
        int[] points = settings.OnlyEnds ? [10, 100] : [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        foreach (var milliseconds in points)
        {
            var rounds = new double[settings.Runs];
            for (var run = 0; run < rounds.Length; run++)
                rounds[run] = await IdleAsync(milliseconds, settings.Duration);
            var idle = Spread.Of(rounds);
            report(new Row(
                $"idle, messages of {milliseconds} ms", "%", idle, Bar: "below " + Paper, Met: idle.Median < Paper, Line: "here", At: milliseconds));
        }
    }

    private static async Task<double> IdleAsync(int milliseconds, TimeSpan duration)
    {
        await using var silo = await BenchHost.StartSilo(
            locality: false,
            static stages => (stages.Controller, stages.WorkThreads) = (StageController.Fixed, 1),
            builder => AddGroups(builder, TimeSpan.FromMilliseconds(milliseconds)));
        var actors = Enumerable.Range(0, Groups).Select(group => silo.Grains.GetGrain<ITenantGrain>("group" + group + "/0")).ToArray();
        await Task.WhenAll(actors.Select(static actor => actor.Compute(1).AsTask()));
        // Several intervals, and two messages of each actor at any time, so that its next one waits always.
        var ended = false;
        var calls = actors.SelectMany(actor => Enumerable.Repeat(actor, 2)).Select(async actor =>
        {
            while (!Volatile.Read(ref ended))
                await actor.Compute(1_000 * milliseconds);
        }).ToArray();
        var all = silo.Node.Stages.Groups!.All.ToArray();
        var (used, began) = await NextChargeAsync(all);
        await Task.Delay(TimeSpan.FromMilliseconds(Math.Max(duration.TotalMilliseconds, 2_500)));
        var (usedAfter, now) = await NextChargeAsync(all);
        Volatile.Write(ref ended, true);
        await Task.WhenAll(calls);
        return 100 * Math.Max(0, 1 - ((usedAfter - used) / Stopwatch.GetElapsedTime(began, now).TotalMicroseconds));
    }

    /// <summary>The time that all groups have used, and when that was: just after a turn has been charged.</summary>
    private static async Task<(double Used, long At)> NextChargeAsync(GrainGroup[] groups)
    {
        var before = groups.Sum(static group => group.Used);
        while (true)
        {
            await Task.Delay(1);
            var used = groups.Sum(static group => group.Used);
            if (used > before)
                return (used, Stopwatch.GetTimestamp());
        }
    }

    private static void AddGroups(ISiloBuilder silo, TimeSpan cost) => silo.AddGroups(options =>
    {
        options.Mode = BudgetMode.Ticks;
        options.Cost = (_, method, _) => method.Name == nameof(ITenantGrain.Compute) ? cost : null;
        options.Select = TenantGrain.GroupOf;
        for (var group = 0; group < Groups; group++)
            options.Add("group" + group, static one => one.Ticks = 100);
    });
}
