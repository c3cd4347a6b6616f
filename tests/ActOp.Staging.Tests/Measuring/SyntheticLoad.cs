using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Staging.Tests.Measuring;

/// <summary>Two stages: one computes, the other computes and blocks. More threads compete than there are processors.</summary>
internal static class SyntheticLoad
{
    private const int Items = 150;
    private const long ComputeNanoseconds = 1_000_000;
    private const int BlockMilliseconds = 20;

    /// <summary>
    /// A virtual machine that stands still for a while spoils a run: its clocks count that as something else than it was.
    /// </summary>
    private const int Attempts = 20;

    internal static string[] StageNames { get; } = ["computing", "blocking"];

    internal static bool[] NeverBlock { get; } = [true, false];

    /// <summary>Where the system does not say how long threads were ready, they are taken to have had their processors at once.</summary>
    internal static (double Least, double Most) Known(BusyTime[] busy) => (BlockMilliseconds / 1e3, BlockMilliseconds / 1e3);

    /// <summary>A thread whose wait is over and that has no processor yet still waits, by the trace.</summary>
    internal static (double Least, double Most) KnownAndReady(BusyTime[] busy) =>
        (BlockMilliseconds / 1e3, (BlockMilliseconds / 1e3) + Ready(busy[1]));

    /// <summary>
    /// The ratio takes both stages to be as often ready without a processor; where one was so more often, the estimate is off by just that.
    /// </summary>
    internal static (double Least, double Most) KnownButForTheRatio(BusyTime[] busy)
    {
        var seen = (BlockMilliseconds / 1e3) + Ready(busy[1]) - (
            Ready(busy[0]) * busy[0].Items / busy[0].Cpu * busy[1].Cpu / busy[1].Items);
        return (Math.Max(0, seen), Math.Max(0, seen));
    }

    /// <summary>Asserts that the source sees, in one of some runs, what the items do, within a share of it.</summary>
    /// <param name="create">Makes the source.</param>
    /// <param name="tolerance">The share.</param>
    /// <param name="blocked">What the source must say of the blocking stage in a run with these samples, in seconds per item, however busy
    /// the machine is.</param>
    internal static async Task AssertSourceSees(
        Func<IDemandSource> create, double tolerance, Func<BusyTime[], (double Least, double Most)> blocked)
    {
        const double Compute = ComputeNanoseconds / 1e9;
        const double Slack = BlockMilliseconds / 1e3;
        var seen = new List<string>();
        do
        {
            var (demands, busy) = await RunAsync(create());
            var (least, most) = blocked(busy);
            if (Math.Abs(demands[0].Compute - Compute) <= tolerance * Compute
                && Math.Abs(demands[1].Compute - Compute) <= tolerance * Compute
                && demands[1].Blocked >= least - (tolerance * Slack)
                && demands[1].Blocked <= most + (tolerance * Slack)
                && demands[0].Blocked < tolerance * demands[0].Compute)
            {
                return;
            }

            seen.Add(string.Join(" and ",
                demands.Select(
                    static demand => FormattableString.Invariant($"x {demand.Compute * 1e6:0} us, w {demand.Blocked * 1e6:0} us")))
                + FormattableString.Invariant($" (w {least * 1e6:0} to {most * 1e6:0} us expected)"));
        }
        while (seen.Count < Attempts);
        Assert.Fail("Known: x 1000 us, w 0 and x 1000 us, w 20000 us; measured: " + string.Join("; ", seen));
    }

    private static async Task<(IReadOnlyList<StageDemand> Demands, BusyTime[] Busy)> RunAsync(IDemandSource source)
    {
        using (source)
        {
            var stages =
                Array.ConvertAll(StageNames,
                    static name => new Stage(name, Environment.ProcessorCount, StageMode.OwnThreads,
                        static error => throw new InvalidOperationException("An item threw.", error)));
            var begin = Array.ConvertAll(stages, static stage => stage.Usage);
            using var never = new ManualResetEventSlim();
            var left = 2 * Items;
            using var done = new ManualResetEventSlim();
            void End()
            {
                if (Interlocked.Decrement(ref left) == 0)
                    done.Set();
            }

            for (var item = 0; item < Items; item++)
            {
                stages[0].Post(new Item(_ =>
                {
                    Compute();
                    End();
                }));
                stages[1].Post(new Item(_ =>
                {
                    Compute();
                    never.WaitHandle.WaitOne(BlockMilliseconds);
                    End();
                }));
            }

            Assert.True(done.Wait(Stages.Patience));
            foreach (var stage in stages)
                await Stages.Stop(stage);
            var end = Array.ConvertAll(stages, static stage => stage.Usage);
            // A trace arrives with a delay; its source ends when it has read all of it, and still knows it then.
            source.Dispose();
            return (source.Estimate([.. begin.Zip(end)], 1), [.. begin.Zip(end, static (first, last) => last.Busy - first.Busy)]);
        }
    }

    private static double Ready(BusyTime busy) => busy.Ready / 1e9 / busy.Items;

    private static void Compute()
    {
        var start = ThreadClock.Begin().Cpu;
        while (ThreadClock.Begin().Cpu - start < ComputeNanoseconds)
            Thread.SpinWait(20);
    }
}
