using ActOp.Staging.Measuring;
using ActOp.Staging.Model;

namespace ActOp.Staging.Tests.Measuring;

/// <summary>Two stages: one computes, the other computes and blocks. More threads compete than there are processors.</summary>
internal static class SyntheticLoad
{
    private const int Items = 150;
    private const long ComputeNanoseconds = 1_000_000;
    private const int BlockMilliseconds = 20;

    /// <summary>Other processes of the machine can spoil a run: a thread that is ready and has no processor looks blocked to the sources that the scheduler does not tell.</summary>
    private const int Attempts = 5;

    internal static string[] StageNames { get; } = ["computing", "blocking"];

    internal static bool[] NeverBlock { get; } = [true, false];

    /// <summary>Asserts that the source sees, in one of a few runs, what the items do, within a share of it.</summary>
    internal static async Task AssertSourceSees(Func<IDemandSource> create, double tolerance)
    {
        var seen = new List<string>();
        do
        {
            var demands = await RunAsync(create());
            if (IsNear(ComputeNanoseconds / 1e9, demands[0].Compute, tolerance)
                && IsNear(ComputeNanoseconds / 1e9, demands[1].Compute, tolerance)
                && IsNear(BlockMilliseconds / 1e3, demands[1].Blocked, tolerance)
                && demands[0].Blocked < tolerance * demands[0].Compute)
                return;
            seen.Add(string.Join(" and ", demands.Select(static demand => FormattableString.Invariant($"x {demand.Compute * 1e6:0} us, w {demand.Blocked * 1e6:0} us"))));
        }
        while (seen.Count < Attempts);
        Assert.Fail("Known: x 1000 us, w 0 and x 1000 us, w 20000 us; measured: " + string.Join("; ", seen));
    }

    private static async Task<StageDemand[]> RunAsync(IDemandSource source)
    {
        using (source)
        {
            var stages = Array.ConvertAll(StageNames, static name => new Stage(name, Environment.ProcessorCount, StageMode.OwnThreads, static error => throw new InvalidOperationException("An item threw.", error)));
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
            var usage = Array.ConvertAll(stages, static stage => stage.Usage);
            var demands = await EstimateAsync(source, begin, usage);
            foreach (var stage in stages)
                await Stages.Stop(stage);
            return demands;
        }
    }

    private static async Task<StageDemand[]> EstimateAsync(IDemandSource source, StageUsage[] begin, StageUsage[] end)
    {
        // A trace arrives with a delay; its first estimates may be empty.
        var demands = source.Estimate([.. begin.Zip(end)], 1);
        for (var tries = 0; source is TraceSource && demands[1].Blocked == 0 && tries < 100; tries++)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(100), TimeProvider.System, TestContext.Current.CancellationToken);
            demands = source.Estimate([.. begin.Zip(end)], 1);
        }

        return [.. demands];
    }

    private static void Compute()
    {
        var start = ThreadClock.Begin().Cpu;
        while (ThreadClock.Begin().Cpu - start < ComputeNanoseconds)
            Thread.SpinWait(20);
    }

    private static bool IsNear(double known, double measured, double tolerance) => Math.Abs(measured - known) <= tolerance * known;
}
