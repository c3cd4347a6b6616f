using ActOp.Staging.Control;
using ActOp.Staging.Model;

namespace ActOp.Staging.Tests.Control;

public class ModelControllerTests
{
    private readonly ModelController _controller = new(new ModelControllerSettings(8, 1e-4));
    private int[] _threads = [8, 8];

    [Fact]
    public void A_stage_that_has_done_nothing_yet_keeps_what_it_began_with()
    {
        Assert.Equal([8, 8], Repeat(5, default, default));
        Assert.Equal([1, 8], Repeat(5, new(10, 0.00005), default));
        Assert.Equal([1, 1], Repeat(5, new(10, 0.00005), new(10, 0.00005)));
    }

    [Fact]
    public void A_step_of_the_load_is_answered_within_three_periods()
    {
        var before = Repeat(5, new(1000, 0.0005), new(1000, 0.0005));
        var after = Repeat(3, new(6000, 0.0005), new(6000, 0.0005));
        Assert.All(after.Zip(before), static pair => Assert.True(pair.First > pair.Second));
        Assert.Equal(before, Repeat(3, new(1000, 0.0005), new(1000, 0.0005)));
    }

    [Fact]
    public void A_single_odd_period_is_no_step()
    {
        var before = Repeat(5, new(1000, 0.0005), new(1000, 0.0005));
        Assert.Equal(before, Decide(new(1900, 0.0005), new(1900, 0.0005)));
    }

    [Fact]
    public void A_stage_that_starts_to_block_gets_threads()
    {
        Repeat(5, new(1000, 0.0005), new(1000, 0.0005));
        var before = _threads;
        var after = Repeat(3, new(1000, 0.0005), new(1000, 0.0005, 0.005));
        Assert.True(after[1] > 5.5);
        Assert.True(before[1] < 4);
    }

    [Fact]
    public void Noise_of_a_constant_load_changes_nothing()
    {
        var random = new Random(1);
        double Noise() => 1 + (0.2 * (random.NextDouble() - 0.5));
        for (var load = 500; load <= 6500; load += 500)
        {
            Repeat(10, new(load, 0.0005), new(load, 0.0005, 0.001));
            var changes = 0;
            for (var period = 0; period < 300; period++)
            {
                var before = _threads;
                if (!Decide(new(load * Noise(), 0.0005 * Noise()),
                    new(load * Noise(), 0.0005 * Noise(), 0.001 * Noise())).SequenceEqual(before))
                {
                    changes++;
                }
            }

            Assert.InRange(changes, 0, 5);
        }
    }

    [Fact]
    public void A_stage_that_falls_behind_is_helped_at_once()
    {
        Repeat(5, new(1000, 0.0005), new(1000, 0.0005));
        _threads = [1, 1];
        // Slowly more, no step: 30 % a period at most.
        for (var load = 1000.0; load < 5000; load *= 1.2)
        {
            Decide(new(load, 0.0005), new(load, 0.0005));
            Assert.All(_threads, count => Assert.True(count > load * 0.0005 * 0.7));
        }
    }

    [Fact]
    public void Overload_shares_the_processors_and_every_stage_keeps_a_thread()
    {
        var threads = Decide(new(30_000, 0.0005), new(1, 0.0005));
        Assert.Equal([8, 1], threads);
    }

    [Fact]
    public void Threads_that_are_held_are_replaced_at_once_and_not_counted_twice()
    {
        StageDemand demand = new(10, 0.0005);
        var before = Repeat(5, demand, demand);
        var held = before[1];
        for (var period = 0; period < 3; period++)
        {
            _threads = [.. _controller.Decide([new(_threads[0], 0, demand), new(_threads[1], 1, demand, held)]).Threads];
            Assert.Equal([before[0], before[1] + held], _threads);
        }
    }

    [Fact]
    public void When_the_load_ends_every_stage_has_one_thread()
    {
        Repeat(5, new(3000, 0.0005), new(3000, 0.0005, 0.001));
        Assert.All(_threads, static count => Assert.True(count > 1));
        Assert.Equal([1, 1], Repeat(3, default, default));
    }

    [Theory]
    [InlineData(2, 0, 2)]
    [InlineData(100, 0, 64)]
    [InlineData(2, 3, 5)]
    public void A_stage_keeps_the_fewest_threads_that_it_needs_beside_those_that_are_held(int fewest, int held, int kept)
    {
        var demand = new StageDemand(10, 0.00005);
        for (var period = 0; period < 5; period++)
            _threads = [.. _controller.Decide([new(_threads[0], 0, demand), new(_threads[1], 0, demand, held, fewest)]).Threads];
        Assert.Equal([1, kept], _threads);
    }

    [Fact]
    public void Threads_that_are_too_few_are_no_reason_to_change_another_stage_again_and_again()
    {
        var demand = new StageDemand(1000, 0.0005);
        Repeat(5, demand, demand);
        var before = _threads[0];
        for (var period = 0; period < 100; period++)
        {
            // At the border of two numbers of threads.
            var noise = new StageDemand(period % 2 == 0 ? 1000 : 1040, 0.0005);
            _threads = [.. _controller.Decide([new(_threads[0], 0, noise), new(_threads[1], 0, new(10, 0.00005), 0, 2)]).Threads];
        }

        Assert.Equal([before, 2], _threads);
    }

    private int[] Repeat(int periods, StageDemand first, StageDemand second)
    {
        for (var period = 0; period < periods; period++)
            Decide(first, second);
        return _threads;
    }

    private int[] Decide(StageDemand first, StageDemand second) =>
        _threads = [.. _controller.Decide([new(_threads[0], 0, first), new(_threads[1], 0, second)]).Threads];
}
