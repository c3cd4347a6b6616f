using ActOp.Staging;

namespace ActOp.Testing.Simulated;

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
/// A stage seems to have some threads, its rows: items of one row run in the order in which they were posted, those of different rows in
/// any. An item that was taken by a thread which then lost its processor is overtaken by those of the other rows, as in life.
/// </remarks>
internal sealed class MachineDriver(Pump pump, Machine machine, Dice dice, Pace pace) : StageDriver
{
    /// <summary>
    /// No item waits for longer, also where a slow machine has a hiccup: that stopped the only row of the control stage for 10 s. A machine
    /// that stands still for longer is paused, a fault of its own that the checks know.
    /// </summary>
    internal const long LongestWait = Pump.Second;

    private readonly Dictionary<Stage, Row[]> _stages = [];

    /// <summary>Stretches all waits: a machine whose processors are taken by others.</summary>
    internal int Slowness { get; set; } = 1;

    /// <summary>The step of a poll stage that is being made.</summary>
    internal Poll? Current { get; private set; }

    internal override void Post(Stage stage, IStageItem item)
    {
        if (machine.IsDead)
            return;
        if (!_stages.TryGetValue(stage, out var rows))
        {
            var count = stage.Name == "control" ? 1 : pace.Threads;
            _stages.Add(stage, rows = [.. Enumerable.Range(0, count).Select(_ => new Row(stage))]);
        }

        var row = rows.Length == 1 ? rows[0] : rows[dice.Below(rows.Length)];
        row.Due = Math.Max(row.Due + 1, pump.Now + Delay());
        row.Items.Enqueue(item);
        pump.At(row.Due, machine, EventKind.Item, stage.Name, row.RunNext, row);
    }

    /// <summary>
    /// After a pause all threads are due at once, and nobody knows which of them the processor takes first: each begins after a wait of its
    /// own, and makes what it has before it in its order. What follows from the steps of one may come before those of another one begin.
    /// </summary>
    /// <param name="held">Steps that came due during the pause, in the order in which they did.</param>
    internal void GoOn(List<PumpEvent> held)
    {
        var begins = new Dictionary<object, long>();
        foreach (var step in held)
        {
            var thread = step.Thread ?? step;
            var begin = begins.TryGetValue(thread, out var before) ? before + 1 : Delay();
            begins[thread] = begin;
            pump.Again(step, begin);
        }
    }

    internal override void Begin(PollStage stage, int index) => Schedule(new Poll(this, stage, index));

    internal override bool IsAsleep(Stage stage) =>
        pace.FlushesItself && (!_stages.TryGetValue(stage, out var rows) || Array.TrueForAll(rows, static row => row.Items.Count == 0));

    internal void Schedule(Poll poll)
    {
        if (poll.IsScheduled || poll.HasEnded || machine.IsDead)
            return;
        poll.IsScheduled = true;
        pump.After(Delay(), machine, EventKind.Poll, "poll", poll.Run);
    }

    private void Step(Poll poll)
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
    }

    private long Delay()
    {
        var mean = pace.Wait * Slowness;
        return Math.Min(dice.Exponential(dice.Chance(pace.Hiccup) ? mean * 1000 : mean), Math.Min(pace.Longest, LongestWait));
    }

    /// <summary>What would be one thread of a poll stage.</summary>
    internal sealed class Poll
    {
        private readonly MachineDriver _driver;

        internal Poll(MachineDriver driver, PollStage stage, int index)
        {
            (_driver, Stage, Index) = (driver, stage, index);
            Run = () => driver.Step(this);
        }

        internal PollStage Stage { get; }

        internal int Index { get; }

        internal Action Run { get; }

        internal bool IsScheduled { get; set; }

        internal bool HasEnded { get; set; }

        /// <summary>The last wait found nothing and would have blocked the thread.</summary>
        internal bool WouldWait { get; set; }

        internal void Wake() => _driver.Schedule(this);
    }

    /// <summary>What would be one thread of a stage: its items run in the order in which they were posted.</summary>
    private sealed class Row
    {
        internal Row(Stage stage) => RunNext = () => stage.RunDriven(Items.Dequeue());

        internal Queue<IStageItem> Items { get; } = new();

        /// <summary>When the last of them is due.</summary>
        internal long Due { get; set; }

        internal Action RunNext { get; }
    }
}
