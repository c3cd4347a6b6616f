using ActOp.Interleaving.Tests.Exploring;

// Names in a namespace go before imported ones: in the sources of this namespace these are what they are written for in System.Threading.
namespace ActOp.Staging;

internal sealed class Permit
{
    private bool _isGiven;

    internal bool IsAwaited { get; private set; }

    internal void WaitAndTake()
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
