using ActOp.Runtime.Stages;
using ActOp.Staging.Control;
using ActOp.Staging.Model;
using FsCheck;
using FsCheck.Fluent;

namespace ActOp.Hosting.Tests.Stages;

public class StarvationEstimateTests
{
    [Theory]
    [InlineData(1, 1, 1, 3, 8, 4)] // Four threads of ours and four of others share two processors.
    [InlineData(1, 1, 1, 3, 6, 2)] // But two at a time are all that were seen of them,
    [InlineData(1, 1, 1, 3, 2, 1)] // or not even as many as had processors.
    [InlineData(0.5, 1, 0.5, 0, 9, 1)] // Nobody waits.
    [InlineData(2, 0, 2, 8, 10, 1)] // We wait for each other.
    [InlineData(1.4, 0.3, 1.7, 6, 10, 1)] // We work a backlog off, and there is enough for all.
    public void Others_stretch_events_as_far_as_they_leave_too_little(
        double needed, double foreign, double ran, double waited, double runnable, double expected)
    {
        Assert.Equal(expected, new StarvationEstimate(2).Stretch(needed, foreign, ran, waited, runnable), 9);
    }

    [Fact]
    public void Others_that_get_less_while_a_backlog_is_worked_off_are_not_taken_for_small()
    {
        var estimate = new StarvationEstimate(2);
        Assert.Equal(4, estimate.Stretch(1, 1, 1, 3, 8), 9);
        Assert.True(estimate.Stretch(1, 0.5, 1.5, 5, 10) > 1);
    }

    [Fact]
    public void Nobody_needs_so_much_that_the_estimate_knows_no_bounds() =>
        Assert.Equal(8 / 0.4, new StarvationEstimate(2).Stretch(100, 1, 1, 7, null), 9);

    [Fact]
    public void A_starved_stage_has_its_threads_within_three_periods() => Prop.ForAll(Machines, static machine =>
    {
        machine.Run(3);
        return machine.KeepsUp;
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_stage_that_keeps_up_beside_others_keeps_its_threads() =>
        Prop.ForAll(Machines, KeepsItsThreads).QuickCheckThrowOnFailure();

    /// <summary>A backlog that is worked off slowly: others get less than they want for so long that they seem to want no more.</summary>
    [Fact]
    public void A_stage_that_works_a_backlog_off_slowly_keeps_its_threads() => Assert.True(KeepsItsThreads(new FluidMachine(7, 4, 4.62)));

    /// <summary>More threads wait more; that must not bring more threads.</summary>
    [Fact]
    public void An_overloaded_stage_has_a_few_threads_for_each_of_the_others_and_no_more() => Prop.ForAll(Machines, static machine =>
    {
        machine.Load = 3 * machine.Processors;
        machine.Run(200);
        var threads = machine.Threads;
        machine.Run(200);
        return machine.Threads == threads && threads <= machine.Most;
    }).QuickCheckThrowOnFailure();

    /// <summary>A container with a fixed share: threads of ours take from each other only.</summary>
    [Fact]
    public void Where_more_threads_gain_nothing_they_still_have_a_limit() => Prop.ForAll(Machines, static machine =>
    {
        machine.FixedShare = machine.Load / 2;
        machine.Run(200);
        var threads = machine.Threads;
        machine.Run(200);
        return machine.Threads == threads && threads <= machine.Most;
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_stage_that_has_the_machine_to_itself_is_not_starved_by_its_own_threads()
    {
        var machine = new FluidMachine(2, 0, 100);
        machine.Run(100);
        Assert.InRange(machine.Threads, 1, 2);
    }

    [Fact]
    public void When_the_others_have_gone_their_threads_go_too()
    {
        var machine = new FluidMachine(2, 12, 0.8);
        var alone = new FluidMachine(2, 0, 0.8);
        machine.Run(10);
        alone.Run(10);
        Assert.True(machine.Threads > 4 * alone.Threads);
        machine.Others = 0;
        machine.Run(130);
        Assert.Equal(alone.Threads, machine.Threads);
    }

    private static bool KeepsItsThreads(FluidMachine machine)
    {
        machine.Run(10);
        var threads = machine.Threads;
        for (var minute = 0; minute < 5; minute++)
        {
            machine.Run(60);
            if (!machine.KeepsUp || machine.Threads > threads + 1)
                return false;
        }

        return true;
    }

    private static Arbitrary<FluidMachine> Machines => Arb.From(
        from processors in Gen.Choose(1, 8)
        from others in Gen.Choose(1, 16)
        from load in Gen.Choose(10, 75)
        select new FluidMachine(processors, others, load / 100.0 * processors));

    /// <summary>
    /// Processors that a fair scheduler shares between threads of others, which always run, and one stage under the model's control.
    /// </summary>
    private sealed class FluidMachine(int processors, int others, double load)
    {
        private const double Compute = 1e-4;
        private readonly StarvationEstimate _estimate = new(processors);
        private readonly ModelController _controller = new(new ModelControllerSettings(processors, 25e-6) { Maximum = 1000 });
        private double _backlog;

        internal int Processors => processors;

        internal int Others { get; set; } = others;

        /// <summary>Processors that the stage needs.</summary>
        internal double Load { get; set; } = load;

        /// <summary>Processors that the stage gets at most, however many threads it has.</summary>
        internal double FixedShare { get; set; } = double.PositiveInfinity;

        internal int Threads { get; private set; } = 1;

        /// <summary>As many as are wanted at four fifths of the processors, and once more as many to keep the queue short.</summary>
        internal int Most => 2 * ((5 * Others) + processors);

        internal bool KeepsUp => Capacity >= Load;

        private double Capacity => Math.Min(FixedShare, Math.Min(Threads, processors * (double)Threads / (Threads + Others)));

        public override string ToString() => $"{processors} processors, {Others} others, load {Load}, {Threads} threads";

        internal void Run(int periods)
        {
            for (var period = 0; period < periods; period++)
                Run();
        }

        private void Run()
        {
            var ran = Math.Min(Load + _backlog, Capacity);
            _backlog += Load - ran;
            // With a backlog all threads are runnable, otherwise as many as share the processors with the others so that they get what they
            // need.
            var ready = _backlog > 0 ? Threads : Math.Min(Threads, Math.Max(ran, ran * Others / Math.Max(processors - ran, 1e-9)));
            var foreign = Math.Min(Others, processors - ran);
            var stretch = _estimate.Stretch(Load, foreign, ran, ready - ran, ready + Others);
            var demand = new StageDemand(Load / Compute, Compute, Compute * (stretch - 1));
            Threads = _controller.Decide([new StagePeriod(Threads, (int)Math.Min(_backlog / Compute, int.MaxValue), demand)]).Threads[0];
        }
    }
}
