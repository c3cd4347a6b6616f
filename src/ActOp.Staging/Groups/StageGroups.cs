namespace ActOp.Staging.Groups;

/// <summary>
/// The groups of a stage: the items that wait, by group, and the choice of the group that runs next. Takes the place of the shared queue of
/// a <see cref="Stage"/>.
/// </summary>
/// <remarks>
/// <para>A worker runs items of one group for a slice, up to about one quantum, with its own queue as usual. When the slice ends, it is
/// charged with the time that it has taken, by the clock, whole turns; that is the time for which the group has held a thread, also
/// if the thread was blocked or had no processor. What waits of the group in the worker's queue then goes back to the group's queue, unless
/// the same group goes on. Groups compete at <see cref="ShareLevel"/>s, one for each group with children and one above all.</para>
/// <para>Items without a group, and those of <see cref="Runtime"/>, are the runtime's own. They do not compete: every other choice is
/// theirs if any of them waits. So they wait for one slice of others per thread at most, and have at most half of the choices.</para>
/// <para>With ticks, an item whose cost is known asks before it begins (<see cref="TryReserve"/>); see <see cref="HeldItems"/>.</para>
/// <para>One lock, held for each slice, for each item that another thread or another group takes from or brings to an empty queue of a
/// group, and not for the items that a worker runs from its own queue. <see cref="HasRunnable"/> stands for "the shared queue is not empty"
/// in the proof of <see cref="Roster"/>: it is set before <see cref="Enqueue"/> returns, or by the thread that added an item to the same
/// group before and has not returned yet, which looks for a worker to wake itself.</para>
/// </remarks>
internal sealed class StageGroups
{
    /// <summary>How long <see cref="GroupShape.Max"/> is averaged over, in microseconds.</summary>
    private const double CapInterval = 100_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<string, StageGroup> _byName = [];
    private readonly ShareLevel _root;
    private readonly TimeProvider _time;
    private readonly long _start;
    private readonly GroupSetting _setting;
    private readonly HeldItems _held;

    /// <summary>For <see cref="GroupShape.Max"/>; null before the first group has one.</summary>
    private Gatekeeper? _caps;

    /// <summary>For <see cref="GroupShape.Ticks"/>; null before the first group has some.</summary>
    private Gatekeeper? _ticks;

    /// <summary>Null while no group has a budget that can end.</summary>
    private ITimer? _timer;
    private Action? _onRunnable;
    private bool _wasOfRuntime;
    private bool _isReleased;
    private bool _hasRunnable;
    private int _waiting;

    /// <param name="shapes">The groups, parents before children.</param>
    /// <param name="setting">What is common to all.</param>
    internal StageGroups(IReadOnlyList<GroupShape> shapes, GroupSetting setting)
    {
        Quantum = setting.Quantum.TotalMicroseconds;
        QuantumTicks = (long)(setting.Quantum.TotalSeconds * setting.Time.TimestampFrequency);
        _root = new ShareLevel(Quantum);
        _setting = setting;
        _held = new HeldItems(setting.Lends);
        _time = setting.Time;
        _start = _time.GetTimestamp();
        foreach (var shape in shapes)
            Add(shape);
        foreach (var group in _byName.Values)
            group.Path = PathOf(group);
    }

    /// <summary>What runs without a group: the runtime's own items.</summary>
    internal StageGroup Runtime { get; } = new(new GroupShape("(runtime)", 1), null);

    /// <summary>The length of a slice, in microseconds.</summary>
    internal double Quantum { get; }

    /// <summary>The same in ticks of the stop watch.</summary>
    internal long QuantumTicks { get; }

    /// <summary>Something waits that may run now.</summary>
    internal bool HasRunnable => Volatile.Read(ref _hasRunnable);

    /// <summary>Items that wait in the queues of all groups. A racy snapshot.</summary>
    internal int Waiting => Math.Max(0, Volatile.Read(ref _waiting));

    /// <summary>By what share the interval of the ticks is shorter than a full one; 0 without ticks.</summary>
    internal double Downsizing
    {
        get
        {
            lock (_gate)
                return _ticks?.Downsizing ?? 0;
        }
    }

    /// <summary>All groups of the application.</summary>
    internal IEnumerable<StageGroup> All => _byName.Values;

    /// <summary>The group of the name. Any thread.</summary>
    internal StageGroup this[string name] => _byName[name];

    /// <summary>The stage is told when a group may run again. Set once, before the first item.</summary>
    internal void Connect(Action onRunnable) => _onRunnable = onRunnable;

    /// <summary>The group whose budget an item uses.</summary>
    internal StageGroup GroupOf(IStageItem item) => item.Group ?? Runtime;

    /// <summary>Adds an item to the queue of its group. Any thread. Wakes nobody.</summary>
    internal void Enqueue(IStageItem item)
    {
        var group = GroupOf(item);
        group.Items.Enqueue(item);
        Interlocked.Increment(ref _waiting);
        if (Interlocked.Increment(ref group.Count) != 1)
            return;
        lock (_gate)
        {
            Wait(group);
            if (group.WaitsSince == 0)
                group.WaitsSince = _time.GetTimestamp();
            SetRunnable();
        }
    }

    /// <summary>One more item of the group that the thread runs; null if none waits or its budget is spent.</summary>
    internal IStageItem? TryTakeMore(StageGroup group)
    {
        if (Volatile.Read(ref group.Count) <= 0)
            return null;
        lock (_gate)
        {
            var item = IsBlocked(group) ? null : TryTake(group);
            // It has a thread: what is taken now has not waited for one.
            if (Volatile.Read(ref group.Count) <= 0)
                group.WaitsSince = 0;
            SetRunnable();
            return item;
        }
    }

    /// <summary>
    /// Whether something of a group begins now whose cost is known: if it fits into what the group, and those above it, have left of their
    /// ticks. If not, <paramref name="held"/> runs when the next interval begins, or when nothing else may run.
    /// </summary>
    /// <param name="group">The group, of which the calling thread runs a slice.</param>
    /// <param name="cost">In microseconds, above 0.</param>
    /// <param name="held">Asks again.</param>
    internal bool TryReserve(StageGroup group, double cost, IStageItem held)
    {
        lock (_gate)
        {
            var now = _time.GetTimestamp();
            Advance(now);
            var begins = _isReleased || ReferenceEquals(group.Passes, held)
                || group.AllTicks.All(ticks => ticks.Fits(cost));
            if (begins)
            {
                Reserve(group, cost, held);
            }
            else
            {
                _held.Add(group, held, group.AllTicks.Min(static ticks => ticks.Free));
                SetTimer(now);
            }

            SetRunnable();
            return begins;
        }
    }

    /// <summary>
    /// Ends a slice and begins the next one. Returns its group with its first item, or null if nothing may run. The same group without an
    /// item: the thread goes on with what it has.
    /// </summary>
    /// <param name="slice">The slice that ends; without a group for none.</param>
    /// <param name="hasOwn">The thread has items of that group in its own queue. It must add them to the queue of the group if another
    /// group is returned.</param>
    /// <param name="item">The first item.</param>
    internal StageGroup? Switch(in Slice slice, bool hasOwn, out IStageItem? item)
    {
        lock (_gate)
        {
            if (slice.Group is { } ended)
            {
                // Before the charge: a group of which nothing waits would lose its credit.
                if (hasOwn)
                    Wait(ended);
                Charge(ended, slice);
            }

            Advance(slice.Now);
            var next = Choose(hasOwn ? slice.Group : null, slice.Now, out item);
            SetRunnable();
            return next;
        }
    }

    /// <summary>Ends a slice: the thread runs nothing for now.</summary>
    internal void End(in Slice slice)
    {
        lock (_gate)
        {
            Charge(slice.Group!, slice);
            SetRunnable();
        }
    }

    /// <summary>Begins a slice of a group whose item the thread has stolen.</summary>
    internal void Begin(StageGroup group)
    {
        lock (_gate)
        {
            foreach (var one in group.Path)
                one.Level.Start(one.Share);
        }
    }

    /// <summary>
    /// Gives a group another weight and other budgets, from now on. Any thread. What it is owed or owes, and what it has used in the
    /// present interval, stays; a group that waits for a budget goes on if that has something left now.
    /// </summary>
    /// <param name="shape">The group by its name, with the parent that it has.</param>
    internal void Change(GroupShape shape)
    {
        lock (_gate)
        {
            var group = _byName[shape.Name];
            Invariant.Holds(group.Shape.Parent == shape.Parent);
            if (_isReleased)
                return;
            Advance(_time.GetTimestamp());
            (group.Parent?.Level ?? _root).SetWeight(group.Share!, shape.Weight);
            SetBudgets(group, shape);
            group.Shape = shape;
            ResumeHeld();
            if (group.IsBlocked && group.Budgets.TrueForAll(static budget => budget.IsActive))
                Unblock(group);
            SetRunnable();
        }

        // Whoever waits for a group that was inactive until now.
        if (HasRunnable)
            _onRunnable?.Invoke();
    }

    /// <summary>The stage stops: nothing is held back any more, so that all that waits is run.</summary>
    internal void Release()
    {
        lock (_gate)
        {
            _isReleased = true;
            foreach (var group in _byName.Values)
                Unblock(group);
            ResumeHeld();
            SetRunnable();
        }

        _timer?.Dispose();
    }

    /// <summary>Comparisons of all levels so far, for tests.</summary>
    internal long Steps => _root.Steps + _byName.Values.Sum(static group => group.Level?.Steps ?? 0);

    private void Add(GroupShape shape)
    {
        var parent = shape.Parent is { } name ? _byName[name] : null;
        var group = new StageGroup(shape, parent);
        group.Share = group.Direct = new Share(shape.Weight, group);
        _byName.Add(shape.Name, group);
        if (parent is { Level: null })
        {
            parent.Level = new ShareLevel(Quantum);
            // As one of its children, with the weight that a group has if nothing is said.
            parent.Direct = new Share(GroupSetting.DefaultWeight, parent);
        }

        SetBudgets(group, shape);
    }

    private void SetBudgets(StageGroup group, GroupShape shape)
    {
        if (shape.Max is not null)
            _caps ??= new Gatekeeper(CapInterval, _setting.Processors, downsizes: false);
        if (shape.Ticks is not null)
            _ticks ??= new Gatekeeper(_setting.Interval.TotalMicroseconds, _setting.Processors, downsizes: true);
        SetBudget(_caps, group, shape.Max * CapInterval * _setting.Processors);
        group.Ticks = SetBudget(_ticks, group, shape.Ticks * Gatekeeper.Tick);
        if (group.Budgets.Count > 0)
        {
            _timer ??= _time.CreateTimer(
                static state => ((StageGroups)state!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    private static TickBudget? SetBudget(Gatekeeper? gatekeeper, StageGroup group, double? allocation)
    {
        if (gatekeeper is null)
            return null;
        var budget = group.Budgets.Find(one => gatekeeper.Has(one));
        if (allocation is not { } amount)
        {
            if (budget is null)
                return null;
            gatekeeper.Remove(budget);
            group.Budgets.Remove(budget);
            return null;
        }

        if (budget is null)
        {
            gatekeeper.Add(budget = new TickBudget(group, amount));
            group.Budgets.Add(budget);
        }
        else
        {
            budget.Change(amount);
        }

        return budget;
    }

    private Competition[] PathOf(StageGroup group)
    {
        List<Competition> path = [];
        if (group.Level is { } own)
            path.Add(new(own, group.Direct!, null));
        for (var one = group; one is not null; one = one.Parent)
            path.Add(new(one.Parent?.Level ?? _root, one.Share!, one));
        return [.. path];
    }

    private StageGroup? Choose(StageGroup? own, long now, out IStageItem? item)
    {
        if (!_wasOfRuntime && TakeOfRuntime(out item))
            return Runtime;
        _wasOfRuntime = false;
        while (Pick() is { } picked)
        {
            if (ReferenceEquals(picked, own))
            {
                item = null;
                if (Volatile.Read(ref picked.Count) <= 0)
                    Rest(picked);
                return picked;
            }

            item = TryTake(picked);
            if (item is not null)
            {
                EndWait(picked, now);
                return picked;
            }

            // A thread that has ended its slice is about to bring its items.
            Rest(picked);
            foreach (var one in picked.Path)
                one.Level.Charge(one.Share, 0);
        }

        return TakeOfRuntime(out item) ? Runtime : TakeHeld(out item);
    }

    /// <summary>Nothing else may run: the time would be lost.</summary>
    private StageGroup? TakeHeld(out IStageItem? item)
    {
        if (_held.TryLend(static group => !IsBlocked(group), out item) is not { } group)
            return null;
        group.Passes = item;
        foreach (var one in group.Path)
            one.Level.Start(one.Share);
        return group;
    }

    /// <summary>A thread goes on with the group. What still waits of it does so from now on.</summary>
    private void EndWait(StageGroup group, long now)
    {
        if (group.WaitsSince != 0)
            group.Waits.Add(Math.Max(0, now - group.WaitsSince) * 1e6 / _time.TimestampFrequency);
        group.WaitsSince = Volatile.Read(ref group.Count) > 0 ? now : 0;
    }

    private bool TakeOfRuntime(out IStageItem? item)
    {
        item = TryTake(Runtime);
        _wasOfRuntime = item is not null;
        return _wasOfRuntime;
    }

    private StageGroup? Pick()
    {
        var level = _root;
        while (level.Pick() is { } share)
        {
            var group = (StageGroup)share.Owner;
            if (ReferenceEquals(share, group.Direct))
                return group;
            level = group.Level!;
        }

        Invariant.Holds(ReferenceEquals(level, _root));
        return null;
    }

    private IStageItem? TryTake(StageGroup group)
    {
        Invariant.Held(_gate);
        if (group.Due is not { } due || !due.TryDequeue(out var item))
        {
            if (!group.Items.TryDequeue(out item))
                return null;
        }

        Interlocked.Decrement(ref _waiting);
        if (Interlocked.Decrement(ref group.Count) <= 0)
            Rest(group);
        return item;
    }

    private void Wait(StageGroup group) => WaitFrom(group, 0);

    private static void WaitFrom(StageGroup group, int level)
    {
        for (var i = level; i < group.Path.Length; i++)
        {
            var (competesAt, share, guarded) = group.Path[i];
            if (share.Waits || guarded is { IsBlocked: true })
                return;
            competesAt.Wait(share);
        }
    }

    private static void Rest(StageGroup group) => RestFrom(group, 0);

    private static void RestFrom(StageGroup group, int level)
    {
        for (var i = level; i < group.Path.Length; i++)
        {
            var (competesAt, share, _) = group.Path[i];
            competesAt.Rest(share);
            if (competesAt.HasWaiting)
                return;
        }
    }

    private void Charge(StageGroup group, in Slice slice)
    {
        Invariant.Held(_gate);
        var used = slice.Ticks * 1e6 / _time.TimestampFrequency;
        group.Add(used, slice.Items, Quantum);
        foreach (var (level, share, guarded) in group.Path)
        {
            level.Charge(share, used);
            if (guarded is null)
                continue;
            guarded.Ticks?.EndReserved(slice.Reserved);
            foreach (var budget in guarded.Budgets)
            {
                if (!TickObserver.Observe(budget, used) && !guarded.IsBlocked && !_isReleased)
                    Block(guarded, slice.Now);
            }
        }

        if (group.Path is [var (at, its, _), ..])
            group.SetDebt(Math.Max(0, -at.LagOf(its)));
    }

    private static bool IsBlocked(StageGroup group)
    {
        for (var one = group; one is not null; one = one.Parent)
        {
            if (one.IsBlocked)
                return true;
        }

        return false;
    }

    private static void Reserve(StageGroup group, double cost, IStageItem item)
    {
        if (ReferenceEquals(group.Passes, item))
            group.Passes = null;
        foreach (var ticks in group.AllTicks)
            ticks.Reserve(cost);
    }

    /// <summary>What has waited for the interval runs before all else of its group.</summary>
    private void ResumeHeld()
    {
        if (!_held.HasAny)
            return;
        foreach (var (group, items) in _held.TakeAll())
        {
            group.Passes = items.Peek();
            var resumed = items.Count;
            // Those that were not reached in the last interval are behind them.
            foreach (var item in group.Due ?? [])
                items.Enqueue(item);
            group.Due = items;
            Interlocked.Add(ref _waiting, resumed);
            if (Interlocked.Add(ref group.Count, resumed) == resumed)
                Wait(group);
        }
    }

    private void Block(StageGroup group, long now)
    {
        group.IsBlocked = true;
        RestFrom(group, group.Level is null ? 0 : 1);
        SetTimer(now);
    }

    /// <summary>To the next start of an interval.</summary>
    private void SetTimer(long now)
    {
        var due = Math.Min(_caps?.Ends ?? double.MaxValue, _ticks?.Ends ?? double.MaxValue) - Since(now);
        _timer!.Change(TimeSpan.FromMicroseconds(Math.Max(0, due) + 1), Timeout.InfiniteTimeSpan);
    }

    private void Unblock(StageGroup group)
    {
        Invariant.Held(_gate);
        if (!group.IsBlocked)
            return;
        group.IsBlocked = false;
        if (group.Level?.HasWaiting ?? Volatile.Read(ref group.Count) > 0)
            WaitFrom(group, group.Level is null ? 0 : 1);
    }

    /// <summary>Begins the intervals that are due.</summary>
    private void Advance(long now)
    {
        if (_timer is null)
            return;
        var since = Since(now);
        _caps?.Advance(since, OnActive);
        if (_ticks?.Advance(since, OnActive) == true)
            ResumeHeld();
    }

    private void OnActive(TickBudget budget)
    {
        foreach (var one in budget.Group.Budgets)
        {
            if (!one.IsActive)
                return;
        }

        Unblock(budget.Group);
    }

    /// <summary>On the thread of the timers: wakes a worker if a group is active again, and looks again while one is not.</summary>
    private void OnTimer()
    {
        lock (_gate)
        {
            if (_isReleased)
                return;
            var now = _time.GetTimestamp();
            Advance(now);
            SetRunnable();
            if (_held.HasAny || _byName.Values.Any(static group => group.IsBlocked))
                SetTimer(now);
        }

        if (HasRunnable)
            _onRunnable?.Invoke();
    }

    private void SetRunnable() =>
        Volatile.Write(ref _hasRunnable, _root.HasWaiting || Volatile.Read(ref Runtime.Count) > 0 || _held.MayLend);

    private double Since(long now) => (now - _start) * 1e6 / _time.TimestampFrequency;
}

/// <summary>The time for which a thread has run items of a group.</summary>
/// <param name="Group">The group, or null.</param>
/// <param name="Began">Its beginning, a time stamp of the stop watch.</param>
/// <param name="Now">Its end.</param>
/// <param name="Items">Items run.</param>
/// <param name="Reserved">What has begun in it was known to cost, in microseconds (<see cref="StageGroups.TryReserve"/>).</param>
internal readonly record struct Slice(StageGroup? Group, long Began, long Now, int Items, double Reserved = 0)
{
    internal long Ticks => Now - Began;
}
