using ActOp.Lab.Seda;

namespace ActOp.Lab.Tests.Seda;

/// <summary>Short ways to play a server.</summary>
internal static class Runs
{
    /// <summary>One stage; times in seconds.</summary>
    internal static SedaPlan OneStage(double rate, double compute, int processors, ServiceShape shape = ServiceShape.Exponential) =>
        new([new(compute)], rate, processors) { Shape = shape, SwitchCost = 0 };

    /// <summary>Six stages, two of them blocking, as the command has them. The processors are 62 % busy.</summary>
    internal static SedaPlan SixStages { get; } = new(
        [new(0.8e-3), new(2.6e-3), new(1.6e-3, 3.4e-3), new(3.0e-3), new(0.6e-3, 6.2e-3), new(1.4e-3)], 500, 8);

    /// <summary>The mean latency of the requests of a run, in seconds.</summary>
    internal static double MeanLatency(SedaPlan plan, int threads, double seconds)
    {
        EmulatedServer server = new(plan, [.. plan.Stages.Select(_ => threads)]);
        LatencyRecord latencies = new(server, seconds / 20);
        server.RunUntil(seconds);
        return latencies.Mean;
    }

    /// <summary>True when the number is within this share of what is expected.</summary>
    internal static void AssertNear(double expected, double actual, double share) =>
        Assert.True(Math.Abs(actual - expected) <= share * expected, $"{actual} is not within {share:P0} of {expected}.");
}
