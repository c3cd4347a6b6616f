using System.Runtime.CompilerServices;
using ActOp.Staging.Interleaving.Tests.Exploring;

// Names in a namespace go before imported ones: in the sources of this namespace these are what they are written for in System.Threading.
namespace ActOp.Staging;

/// <summary>
/// Where a schedule may switch. Counters and clocks on which no decision about threads depends are no places to switch, which keeps the
/// schedules few.
/// </summary>
internal static class Point
{
    private static readonly HashSet<string> Unimportant =
        ["_steps", "_pauses", "_pauseInterval", "_posted", "_wakes", "_emptyWakes", "_borrowed", "_pooled", "_held", "_heldAt", "_begun",
            "_sampledBegun", "_itemsPerWake", "_pause", "_until", "_threads", "Steals"];

    internal static void At(string location)
    {
        // The check at the end is no thread of the model.
        if (Interleaver.IsModelled && !Unimportant.Contains(location))
            Interleaver.Current.Step();
    }

    internal static void Fence(string location)
    {
        At(location);
        Interleaver.Fence();
    }
}

internal static class Interlocked
{
    internal static int Add(ref int location, int value, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.Fence(name);
        return location += value;
    }

    internal static long Add(ref long location, long value, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.Fence(name);
        return location += value;
    }

    internal static int Increment(ref int location, [CallerArgumentExpression(nameof(location))] string name = "") =>
        Add(ref location, 1, name);

    internal static int Decrement(ref int location, [CallerArgumentExpression(nameof(location))] string name = "") =>
        Add(ref location, -1, name);

    internal static long Increment(ref long location, [CallerArgumentExpression(nameof(location))] string name = "") =>
        Add(ref location, 1, name);

    internal static long Read(ref long location, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.Fence(name);
        return location;
    }

    internal static T Exchange<T>(ref T location, T value, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.Fence(name);
        var before = location;
        location = value;
        return before;
    }

    internal static int CompareExchange(
        ref int location, int value, int comparand, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.Fence(name);
        var before = location;
        if (before == comparand)
            location = value;
        return before;
    }

    internal static long CompareExchange(
        ref long location, long value, long comparand, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.Fence(name);
        var before = location;
        if (before == comparand)
            location = value;
        return before;
    }

    internal static void MemoryBarrier() => Interleaver.Fence();
}

/// <summary>
/// Stores take effect at once: a reference can't be kept until later. Only <see cref="ConcurrentQueue{T}"/> has a store buffer.
/// </summary>
internal static class Volatile
{
    internal static T Read<T>(ref readonly T location, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.At(name);
        return location;
    }

    internal static void Write<T>(ref T location, T value, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.At(name);
        location = value;
    }
}

internal sealed class Lock
{
    private bool _isTaken;

    internal Scope EnterScope()
    {
        Interleaver.Current.Block(() => !_isTaken, isLock: true);
        _isTaken = true;
        return new Scope(this);
    }

    internal readonly ref struct Scope(Lock owner)
    {
        public void Dispose()
        {
            Interleaver.Fence();
            owner._isTaken = false;
        }
    }
}

internal sealed class Permit
{
    private bool _isGiven;

    internal bool IsAwaited { get; private set; }

    internal void Take()
    {
        IsAwaited = true;
        Interleaver.Current.Block(() => _isGiven, isLock: false);
        IsAwaited = _isGiven = false;
    }

    internal void Give()
    {
        Point.Fence("permit");
        _isGiven = true;
    }
}

/// <summary>An item that was put in is seen by others when it has left the store buffer.</summary>
internal sealed class ConcurrentQueue<T>
    where T : class
{
    private readonly Queue<T> _items = new();

    internal int Count => _items.Count;

    internal bool IsEmpty
    {
        get
        {
            Point.At("shared");
            return _items.Count == 0;
        }
    }

    internal void Enqueue(T item)
    {
        Point.At("shared");
        Interleaver.Buffer(() => _items.Enqueue(item));
    }

    internal bool TryDequeue([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out T? item)
    {
        Point.Fence("shared");
        return _items.TryDequeue(out item);
    }
}

internal sealed class Thread(Action body)
{
    internal static (bool IsThreadPoolThread, int Unused) CurrentThread => (ThreadPool.IsHere, 0);

    internal bool IsBackground { get; set; }

    internal string Name { get; set; } = "";

    internal void UnsafeStart() => Interleaver.Current.Spawn(Name, body);
}

/// <summary>What a thread of the pool queues for itself runs when it is back in the pool; no other thread takes it.</summary>
internal static class ThreadPool
{
    [ThreadStatic]
    private static Queue<IThreadPoolWorkItem>? t_queue;

    internal static bool IsHere => t_queue is not null;

    internal static void UnsafeQueueUserWorkItem(IThreadPoolWorkItem item, bool preferLocal) => t_queue!.Enqueue(item);

    internal static void UnsafeQueueUserWorkItem<T>(Action<T> action, T state, bool preferLocal) =>
        throw new NotSupportedException(nameof(UnsafeQueueUserWorkItem));

    /// <summary>The calling thread is one of the pool, runs <paramref name="body"/> and then what that has queued.</summary>
    internal static void Run(Action body)
    {
        t_queue = new Queue<IThreadPoolWorkItem>();
        try
        {
            body();
            while (t_queue.TryDequeue(out var item))
            {
                Interleaver.Current.Step();
                item.Execute();
            }
        }
        finally
        {
            t_queue = null;
        }
    }
}

/// <summary>No time passes.</summary>
internal static class Stopwatch
{
    internal const long Frequency = 1_000_000;

    internal static long GetTimestamp() => 0;
}

internal static class Tuning
{
    internal const int QueueCapacity = 4;
    internal const int MaxLifoRuns = 2;
    internal const int SharedInterval = 3;

    /// <summary>Any item that waits is worth a wake-up.</summary>
    internal const double WakeWorthMicroseconds = 0;
    internal const int BorrowedRun = 2;

    /// <summary>Two items of a burst may be left to an inline run, the next one wakes a worker.</summary>
    internal static int ItemsPerWake(double itemMicroseconds) => 3;
}

internal enum StageActivity
{
    None,
    Running,
    InsideItem,
    InlineRuns,
}

internal interface ISampled
{
    StageActivity Sample(int microseconds);
}

/// <summary>Takes no samples by itself: models do.</summary>
internal sealed class StageMonitor
{
    internal const int HeldMicroseconds = 250_000;

    internal static StageMonitor Shared { get; } = new();

    internal void Add(ISampled watched)
    {
    }

    internal void Remove(ISampled watched)
    {
    }

    internal void Arm()
    {
    }

    internal void SampleSoon()
    {
    }
}

/// <summary>Only named by the driver.</summary>
internal sealed class PollStage
{
    internal bool StepOnce(int index) => throw new NotSupportedException(nameof(StepOnce));
}
