namespace ActOp.Staging;

/// <summary>
/// The timers that wait, the next due on top; each knows its place, so that one that is changed or disposed leaves at once. Not thread
/// safe.
/// </summary>
internal sealed class TimerHeap
{
    /// <summary>The place of a timer that does not wait.</summary>
    internal const int Nowhere = -1;

    private ThreadTimer[] _timers = new ThreadTimer[16];

    internal int Count { get; private set; }

    internal ThreadTimer Top => _timers[0];

    internal void Add(ThreadTimer timer)
    {
        if (Count == _timers.Length)
            Array.Resize(ref _timers, 2 * Count);
        Up(Count++, timer);
    }

    internal void Remove(ThreadTimer timer)
    {
        var hole = timer.Place;
        timer.Place = Nowhere;
        var last = _timers[--Count];
        _timers[Count] = null!;
        if (ReferenceEquals(last, timer))
            return;
        Up(hole, last);
        Down(last.Place, last);
    }

    private void Up(int place, ThreadTimer timer)
    {
        for (int parent; place > 0 && timer.Due < _timers[parent = (place - 1) / 2].Due; place = parent)
            Put(place, _timers[parent]);
        Put(place, timer);
    }

    private void Down(int place, ThreadTimer timer)
    {
        for (int child; (child = (2 * place) + 1) < Count; place = child)
        {
            if (child + 1 < Count && _timers[child + 1].Due < _timers[child].Due)
                child++;
            if (_timers[child].Due >= timer.Due)
                break;
            Put(place, _timers[child]);
        }

        Put(place, timer);
    }

    private void Put(int place, ThreadTimer timer)
    {
        _timers[place] = timer;
        timer.Place = place;
    }
}
