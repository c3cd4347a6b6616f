using ActOp.Staging;

namespace ActOp.Simulation.World;

/// <summary>How long items wait and how much they overtake each other, drawn once per run.</summary>
/// <param name="Threads">Threads that a stage seems to have, except the control stage, which has one.</param>
/// <param name="Wait">Mean time from post to run, in ticks.</param>
/// <param name="Hiccup">Share of the items that wait a thousand times as long.</param>
/// <param name="FlushesItself">Whether an idle send stage leaves the write to whoever has put the frame into the link.</param>
internal sealed record Pace(int Threads, long Wait, double Hiccup, bool FlushesItself)
{
    /// <summary>The longest wait of one item, in ticks: a longer one is a fault of the machine.</summary>
    internal long Longest { get; init; } = long.MaxValue;
}

/// <summary>Runs the stages of one machine's process: each item is an event of the pump.</summary>
/// <remarks>
/// A stage seems to have some threads, its lanes: items of one lane run in the order in which they were posted, those of different lanes in
/// any. An item that was taken by a thread which then lost its processor is overtaken by those of the other lanes, as in life.
/// </remarks>
internal sealed class MachineDriver(Pump pump, Machine machine, Dice dice, Pace pace) : StageDriver
{
    /// <summary>
    /// No item waits for longer, also where a slow machine has a hiccup: that stopped the only lane of the control stage for 10 s. A machine
    /// that stands still for longer is paused, a fault of its own that the checks know.
    /// </summary>
    private const long LongestWait = Pump.Second;

    private readonly Dictionary<Stage, Lanes> _stages = [];

    /// <summary>Items that wait in all stages.</summary>
    internal int Waiting { get; private set; }

    /// <summary>Stretches all waits: a machine whose processors are taken by others.</summary>
    internal int Slowness { get; set; } = 1;

    /// <summary>The step of a poll stage that is being made.</summary>
    internal Poll? Current { get; private set; }

    internal override void Post(Stage stage, IStageItem item)
    {
        if (machine.IsDead)
            return;
        if (!_stages.TryGetValue(stage, out var lanes))
            _stages.Add(stage, lanes = new Lanes(stage.Name == "control" ? 1 : pace.Threads));
        lanes.Waiting++;
        Waiting++;
        var lane = lanes.Due.Length == 1 ? 0 : dice.Below(lanes.Due.Length);
        var due = Math.Max(lanes.Due[lane] + 1, pump.Now + Delay());
        lanes.Due[lane] = due;
        pump.At(due, machine, EventKind.Item, stage.Name, () =>
        {
            lanes.Waiting--;
            Waiting--;
            stage.RunDriven(item);
        });
    }

    internal override void Begin(PollStage stage, int index) => Schedule(new Poll(this, stage, index));

    internal override bool IsAsleep(Stage stage) =>
        pace.FlushesItself && (!_stages.TryGetValue(stage, out var lanes) || lanes.Waiting == 0);

    internal void Schedule(Poll poll)
    {
        if (poll.IsScheduled || poll.HasEnded || machine.IsDead)
            return;
        poll.IsScheduled = true;
        pump.After(Delay(), machine, EventKind.Poll, "poll", () =>
        {
            poll.IsScheduled = false;
            poll.WouldWait = false;
            Current = poll;
            var goesOn = poll.Stage.StepOnce(poll.Index);
            Current = null;
            poll.HasEnded = !goesOn;
            // A thread would make its next step at once; only a wait without reports ends that.
            if (!poll.WouldWait)
                Schedule(poll);
        });
    }

    private long Delay()
    {
        var mean = pace.Wait * Slowness;
        return Math.Min(dice.Exponential(dice.Chance(pace.Hiccup) ? mean * 1000 : mean), Math.Min(pace.Longest, LongestWait));
    }

    /// <summary>What would be one thread of a poll stage.</summary>
    internal sealed class Poll(MachineDriver driver, PollStage stage, int index)
    {
        internal PollStage Stage => stage;

        internal int Index => index;

        internal bool IsScheduled { get; set; }

        internal bool HasEnded { get; set; }

        /// <summary>The last wait found nothing and would have blocked the thread.</summary>
        internal bool WouldWait { get; set; }

        internal void Wake() => driver.Schedule(this);
    }

    private sealed class Lanes(int count)
    {
        internal long[] Due { get; } = new long[count];

        internal int Waiting { get; set; }
    }
}
