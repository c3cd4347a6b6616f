namespace ActOp.Staging.Groups;

/// <summary>
/// The items whose cost is known and does not fit into what their group has left: they wait for the next interval, in order, at the front
/// (paper on actor groups, section 3.2). If nothing else may run, the processor would be idle, as in figure 13 of the paper. So one of them
/// runs then, of the group that has most left; what it uses too much is deducted from the next intervals. Not thread-safe.
/// </summary>
/// <param name="lends">Whether an item may run before the next interval. False: as in the paper.</param>
internal sealed class HeldItems(bool lends)
{
    private readonly Dictionary<StageGroup, Queue<IStageItem>> _byGroup = [];
    private readonly PriorityQueue<StageGroup, double> _byLeft = new();

    /// <summary>Something waits for the next interval.</summary>
    internal bool HasAny => _byGroup.Count > 0;

    /// <summary>Something may run if nothing else may.</summary>
    internal bool MayLend => lends && _byLeft.Count > 0;

    /// <summary>An item waits.</summary>
    /// <param name="group">Its group.</param>
    /// <param name="item">The item.</param>
    /// <param name="left">What its group has left.</param>
    internal void Add(StageGroup group, IStageItem item, double left)
    {
        if (!_byGroup.TryGetValue(group, out var items))
            _byGroup.Add(group, items = []);
        items.Enqueue(item);
        if (lends)
            _byLeft.Enqueue(group, -left);
        group.SetHeld(items.Count);
    }

    /// <summary>The group that has most left and may run, with its first item. Others wait for the next interval.</summary>
    internal StageGroup? TryLend(Func<StageGroup, bool> mayRun, out IStageItem? item)
    {
        while (_byLeft.TryDequeue(out var group, out _))
        {
            if (!mayRun(group))
                continue;
            var items = _byGroup[group];
            item = items.Dequeue();
            if (items.Count == 0)
                _byGroup.Remove(group);
            group.SetHeld(items.Count);
            return group;
        }

        item = null;
        return null;
    }

    /// <summary>All that wait, each group's in order; nothing waits from then on.</summary>
    internal IEnumerable<KeyValuePair<StageGroup, Queue<IStageItem>>> TakeAll()
    {
        _byLeft.Clear();
        KeyValuePair<StageGroup, Queue<IStageItem>>[] all = [.. _byGroup];
        _byGroup.Clear();
        foreach (var (group, _) in all)
            group.SetHeld(0);
        return all;
    }
}
