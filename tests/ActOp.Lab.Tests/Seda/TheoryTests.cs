using ActOp.Lab.Seda;

namespace ActOp.Lab.Tests.Seda;

/// <summary>The emulated server against what queueing theory proves.</summary>
public class TheoryTests
{
    private const double Compute = 0.001;

    [Theory]
    [InlineData(300)]
    [InlineData(800)]
    public void One_thread_is_an_MM1_queue(double rate) =>
        Runs.AssertNear(1 / ((1 / Compute) - rate), Runs.MeanLatency(Runs.OneStage(rate, Compute, 1), 1, 1000), 0.03);

    [Theory]
    [InlineData(2, 1500)]
    [InlineData(4, 3400)]
    public void Threads_with_a_processor_each_are_an_MMc_queue(int threads, double rate)
    {
        var expected = Compute + (ErlangC(threads, rate * Compute) / ((threads / Compute) - rate));
        Runs.AssertNear(expected, Runs.MeanLatency(Runs.OneStage(rate, Compute, 8), threads, 300), 0.03);
    }

    /// <summary>Pollaczek-Khinchine: waiting grows with the second moment of the service times.</summary>
    [Theory]
    [InlineData(nameof(ServiceShape.Deterministic), 0.02)]
    [InlineData(nameof(ServiceShape.Hyperexponential), 0.04)]
    [InlineData(nameof(ServiceShape.Lognormal), 0.08)]
    public void One_thread_is_an_MG1_queue(string name, double share)
    {
        const double Load = 0.6;
        var shape = Enum.Parse<ServiceShape>(name);
        var expected = Compute * (1 + (Load * (1 + ServiceTimes.SquaredVariation(shape)) / (2 * (1 - Load))));
        Runs.AssertNear(expected, Runs.MeanLatency(Runs.OneStage(Load / Compute, Compute, 1, shape), 1, 2000), share);
    }

    /// <summary>With threads for all, processor sharing does not care how service times scatter.</summary>
    [Theory]
    [InlineData(nameof(ServiceShape.Exponential))]
    [InlineData(nameof(ServiceShape.Deterministic))]
    [InlineData(nameof(ServiceShape.Hyperexponential))]
    public void A_shared_processor_is_insensitive_to_the_shape(string name) =>
        Runs.AssertNear(
            Compute / (1 - 0.6), Runs.MeanLatency(Runs.OneStage(600, Compute, 1, Enum.Parse<ServiceShape>(name)), 100_000, 600), 0.03);

    [Fact]
    public void Blocked_threads_leave_their_processor_to_others()
    {
        // Ten times as long blocked as computing: eleven threads on one processor carry what one alone could not.
        SedaPlan plan = new([new(Compute, 10 * Compute)], 600, 1) { SwitchCost = 0 };
        var latency = Runs.MeanLatency(plan, 1000, 500);
        Runs.AssertNear((Compute / (1 - 0.6)) + (10 * Compute), latency, 0.03);
    }

    [Fact]
    public void Switching_costs_what_the_plan_says()
    {
        // Two threads always runnable on one processor: each runs at half speed, and both a tenth slower than that.
        SedaPlan plan = new([new(1)], 0, 1) { Shape = ServiceShape.Deterministic, SwitchCost = 0.1 };
        List<double> finished = [];
        EmulatedServer server = new(plan, [2]);
        server.Finished = _ => finished.Add(server.Now);
        server.Rate = 1e9;
        server.RunUntil(1e-6);
        server.Rate = 0;
        server.RunUntil(2.5);
        Assert.Equal(2, finished.Count);
        Assert.All(finished, time => Runs.AssertNear(2 * 1.1, time, 1e-3));
    }

    private static double ErlangC(int servers, double offered)
    {
        var blocking = 1.0;
        for (var i = 1; i <= servers; i++)
            blocking = offered * blocking / (i + (offered * blocking));
        return blocking / (1 - (offered / servers * (1 - blocking)));
    }
}
