using System.Collections.Concurrent;

namespace ActOp.Staging.Groups;

/// <summary>What a group gets of a stage. Immutable: a change is another one.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Weight">Its share among the groups with the same parent that compete, above 0.</param>
/// <param name="Parent">The name of the group in whose share it is; null for none.</param>
/// <param name="Max">The most that it gets, as a share of all processors, above 0 to 1; null for no limit.</param>
/// <param name="Ticks">Milliseconds of one processor per interval that it gets; null for no limit.</param>
internal sealed record GroupShape(string Name, double Weight, string? Parent = null, double? Max = null, double? Ticks = null);

/// <summary>What is common to the groups of a stage.</summary>
/// <param name="Quantum">The length of a slice.</param>
/// <param name="Interval">The interval of the ticks.</param>
/// <param name="Processors">Processors that the stage may use.</param>
/// <param name="Time">The time of intervals. Its time stamps are those of the stop watch.</param>
/// <param name="Lends">Whether an item that does not fit into what its group has left runs if nothing else may.</param>
internal sealed record GroupSetting(TimeSpan Quantum, TimeSpan Interval, int Processors, TimeProvider Time, bool Lends = true)
{
    /// <summary>The weight of a group if nothing is said.</summary>
    internal const double DefaultWeight = 100;
}

/// <summary>One group of a stage: the items of it that wait, and where it competes.</summary>
/// <remarks>
/// Any thread adds items and reads the figures. All else belongs to <see cref="StageGroups"/> and is changed under its lock.
/// </remarks>
internal sealed class StageGroup(GroupShape shape, StageGroup? parent)
{
    internal readonly ConcurrentQueue<IStageItem> Items = new();

    /// <summary>Items that wait: counted after they were added, so never more than there are.</summary>
    internal int Count;

    /// <summary>Times of slices of this group, in microseconds, whole turns.</summary>
    private double _used;
    private double _debt;
    private int _held;
    private long _slices;
    private long _items;
    private double _itemMicroseconds = 1;
    private int _checkEvery = 1;

    /// <summary>What it gets now.</summary>
    internal GroupShape Shape { get; set; } = shape;

    internal StageGroup? Parent { get; } = parent;

    /// <summary>The share among the groups with the same parent. Null for the group of the runtime, which does not compete.</summary>
    internal Share? Share { get; set; }

    /// <summary>Where its own items compete with its children; null if it has none.</summary>
    internal ShareLevel? Level { get; set; }

    /// <summary>The share of its own items.</summary>
    internal Share? Direct { get; set; }

    /// <summary>The levels at which its items compete, from its own up to the first.</summary>
    internal Competition[] Path { get; set; } = [];

    /// <summary>Its budgets that can end; empty for most.</summary>
    internal List<TickBudget> Budgets { get; } = [];

    /// <summary>The one in ticks; null without.</summary>
    internal TickBudget? Ticks { get; set; }

    /// <summary>The budgets in ticks of the group and of those above it.</summary>
    internal IEnumerable<TickBudget> AllTicks
    {
        get
        {
            for (var one = this; one is not null; one = one.Parent)
            {
                if (one.Ticks is { } ticks)
                    yield return ticks;
            }
        }
    }

    /// <summary>Items that have waited for an interval: they run before those in <see cref="Items"/>. Null before the first.</summary>
    internal Queue<IStageItem>? Due { get; set; }

    /// <summary>
    /// The item with a known cost that begins whether it fits or not: it has waited for this interval, or the time would be lost.
    /// </summary>
    internal IStageItem? Passes { get; set; }

    /// <summary>A budget of it is spent: nothing of it and of its children is picked.</summary>
    internal bool IsBlocked { get; set; }

    /// <summary>How long it waited for a thread each time.</summary>
    internal WaitTimes Waits { get; } = new();

    /// <summary>Since when it waits for a thread, a time stamp; 0 if it does not.</summary>
    internal long WaitsSince { get; set; }

    /// <summary>Items that wait. A racy snapshot.</summary>
    internal int Queued => Math.Max(0, Volatile.Read(ref Count));

    /// <summary>Items with a known cost that wait for the next interval. A racy snapshot.</summary>
    internal int Held => Volatile.Read(ref _held);

    /// <summary>The time for which it has held threads of the stage, in microseconds.</summary>
    internal double Used => Volatile.Read(ref _used);

    /// <summary>What it had used too much when it last ended a slice, in microseconds; 0 if it owes nothing.</summary>
    internal double Debt => Volatile.Read(ref _debt);

    /// <summary>Items run.</summary>
    internal long Ran => Volatile.Read(ref _items);

    /// <summary>The mean time of an item, in microseconds; 0 before the first.</summary>
    internal double MeanItem => Used / Math.Max(1, Ran);

    /// <summary>Slices that it was picked for.</summary>
    internal long Slices => Volatile.Read(ref _slices);

    /// <summary>
    /// After so many items a thread reads the clock: a quarter of a quantum if they take as long as before. Items that suddenly take longer
    /// are found by the <see cref="StageMonitor"/> after some milliseconds.
    /// </summary>
    internal int CheckEvery => Volatile.Read(ref _checkEvery);

    /// <summary>Under the lock: a slice has ended.</summary>
    internal void Add(double used, int items, double quantum)
    {
        Volatile.Write(ref _used, _used + used);
        Volatile.Write(ref _slices, _slices + 1);
        Volatile.Write(ref _items, _items + items);
        if (items == 0)
            return;
        var mean = used / items;
        // Up at once: the next slice must not be as long. Down slowly.
        _itemMicroseconds = mean > _itemMicroseconds ? mean : _itemMicroseconds + ((mean - _itemMicroseconds) / 8);
        Volatile.Write(ref _checkEvery, Math.Clamp((int)(quantum / 4 / Math.Max(_itemMicroseconds, 0.01)), 1, 32));
    }

    /// <summary>Under the lock: how many items wait for the next interval.</summary>
    internal void SetHeld(int items) => Volatile.Write(ref _held, items);

    /// <summary>Under the lock: what it owes now.</summary>
    internal void SetDebt(double debt) => Volatile.Write(ref _debt, debt);
}

/// <summary>A level at which the items of a group compete.</summary>
/// <param name="Level">The level.</param>
/// <param name="Share">The share that stands there for the group.</param>
/// <param name="Group">The group whose whole share it is, which a budget may block; null for the share of a group's own items.</param>
internal readonly record struct Competition(ShareLevel Level, Share Share, StageGroup? Group);
