using ActOp.Orleans.Threads;
using ActOp.Staging.Measuring;

namespace ActOp.Orleans.Tests.Threads;

/// <summary>
/// A pool in virtual time whose threads run items that compute, work under a lock that all share, and block. A step is a millisecond, or
/// less when there are more processors than its threads. As that of .NET it has as many threads as its minimum when items wait, and gets
/// one more each half second; threads stay.
/// </summary>
internal sealed class SimulatedPool(double processors) : IPool
{
    private readonly Queue<Item> _queued = new();
    private readonly List<Item> _running = [];
    private readonly HashSet<int> _active = [];
    private object? _owner;
    private RunTimes _times;
    private long _completed;
    private int _threads = 2;
    private double _starved;
    private double _paused;

    /// <summary>Thrown by the next reading.</summary>
    internal Exception? Failure { get; set; }

    /// <summary>Whether it refuses new limits.</summary>
    internal bool IsFixed { get; set; }

    internal PoolLimits Limits { get; set; } = new(2, 1000);

    internal int Queued => _queued.Count;

    internal List<PoolLimits> History { get; } = [];

    public PoolReading Read() =>
        Failure is null ? new(_completed, _queued.Count, _running.Count, _paused) : throw Failure;

    public RunTimes? TakeTimes()
    {
        var times = _times with { Active = _active.Count };
        _times = default;
        _active.Clear();
        return times;
    }

    public double ProcessTime() => 0;

    public PoolLimits ReadLimits() => Limits;

    public bool TrySet(PoolLimits limits)
    {
        if (IsFixed)
            return false;
        Limits = limits;
        History.Add(limits);
        return true;
    }

    public bool TryTake(object owner)
    {
        _owner ??= owner;
        return ReferenceEquals(_owner, owner);
    }

    public void Leave(object owner) => _owner = ReferenceEquals(_owner, owner) ? null : _owner;

    internal void Add(double compute, double blocked, double locked = 0) =>
        _queued.Enqueue(new Item { Compute = compute, Locked = locked, Blocked = blocked });

    /// <summary>A garbage collection stops all threads for so many seconds.</summary>
    internal void Pause(double seconds) => _paused += seconds;

    /// <summary>Runs for so many seconds.</summary>
    internal void Run(double seconds)
    {
        if (_queued.Count > 0)
            _threads = Math.Max(_threads, Limits.Minimum);
        _starved = _queued.Count > 0 && _running.Count == _threads ? _starved + seconds : 0;
        if (_starved >= 0.5)
            (_threads, _starved) = (Math.Min(_threads + 1, Limits.Maximum), 0);
        Begin();
        Compute(seconds);
        foreach (var item in _running.Where(static item => item is { Compute: <= 0, Locked: <= 0 }))
            item.Blocked -= seconds;
        _completed += _running.RemoveAll(static item => item is { Compute: <= 0, Locked: <= 0, Blocked: <= 0 });
        Begin();
    }

    private void Begin()
    {
        while (_queued.Count > 0 && _running.Count < _threads)
        {
            var item = _queued.Dequeue();
            item.Thread = Enumerable.Range(0, _threads).First(thread => _running.All(one => one.Thread != thread));
            _running.Add(item);
        }
    }

    /// <summary>
    /// Those that compute, and the one that has the lock, share the processors; the rest of their time they are ready. The others that need
    /// the lock are blocked.
    /// </summary>
    private void Compute(double seconds)
    {
        var holder = _running.Find(static item => item is { Compute: <= 0, Locked: > 0 });
        Item[] ready = [.. _running.Where(item => item.Compute > 0 || item == holder)];
        var each = Math.Min(seconds, processors * seconds / Math.Max(1, ready.Length));
        foreach (var item in ready)
        {
            if (item == holder)
                item.Locked -= each;
            else
                item.Compute -= each;
            _active.Add(item.Thread);
            _times = _times with { Ran = _times.Ran + each, Waited = _times.Waited + seconds - each };
        }
    }

    private sealed class Item
    {
        internal double Compute { get; set; }

        internal double Locked { get; set; }

        internal double Blocked { get; set; }

        internal int Thread { get; set; }
    }
}
