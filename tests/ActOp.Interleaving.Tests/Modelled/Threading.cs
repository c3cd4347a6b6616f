using System.Runtime.CompilerServices;
using ActOp.Interleaving.Tests.Exploring;

// Names in a namespace go before imported ones: in the sources of ActOp these are what they are written for in System.Threading.
namespace ActOp;

/// <summary>
/// Where a schedule may switch. Counters and clocks on which no decision about threads depends are no places to switch, which keeps the
/// schedules few.
/// </summary>
internal static class Point
{
    private static readonly HashSet<string> Unimportant =
        ["_steps", "_pauses", "_pauseInterval", "_posted", "_wakes", "_emptyWakes", "_borrowed", "_pooled", "_held", "_heldAt", "_begun",
            "_sampledBegun", "_itemsPerWake", "_pause", "_until", "_threads", "Steals", "_isOn", "_lastWrite", "_capacity",
            "_framesSent", "_bytesSent", "_flushes", "_queued", "_bytes"];

    internal static void At(string location)
    {
        // The check at the end is no thread of the model.
        if (Interleaver.IsModelled && !Unimportant.Contains(location))
            Interleaver.Current.Step();
    }

    internal static void Fence(string location)
    {
        At(location);
        if (Interleaver.IsModelled)
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

    internal static T CompareExchange<T>(
        ref T location, T value, T comparand, [CallerArgumentExpression(nameof(location))] string name = "")
        where T : class?
    {
        Point.Fence(name);
        var before = location;
        if (ReferenceEquals(before, comparand))
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

    internal static void MemoryBarrier()
    {
        if (Interleaver.IsModelled)
            Interleaver.Fence();
    }

    /// <summary>A fence of all threads.</summary>
    internal static void MemoryBarrierProcessWide()
    {
        Point.Fence("process-wide");
        if (Interleaver.IsModelled)
            Interleaver.Current.FenceAll();
    }
}

/// <summary>
/// Stores take effect at once, except those of objects that are <see cref="IBuffered"/>: what is read of these places is the value before,
/// by all threads but the writer, until the store has left the writer's store buffer. The shared queue of a stage has a store buffer too.
/// </summary>
internal static class Volatile
{
    internal static T Read<T>(ref readonly T location, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.At(name);
        return location is IPending pending ? (T)pending.Seen! : location;
    }

    internal static void Write<T>(ref T location, T value, [CallerArgumentExpression(nameof(location))] string name = "")
    {
        Point.At(name);
        if (value is not IBuffered buffered || !Interleaver.IsModelled)
        {
            location = value;
            return;
        }

        var store = new PendingStore(value, location is IPending before ? before.Seen : location);
        location = (T)buffered.Pend(store);
        Interleaver.Buffer(store.Show);
    }
}

/// <summary>An object whose references are kept back in store buffers, so that a missing fence after such a store is found.</summary>
internal interface IBuffered
{
    /// <summary>An object of the same kind that is <see cref="IPending"/>.</summary>
    object Pend(PendingStore store);
}

/// <summary>Stands in a place in memory while the store of a reference to this place waits in a store buffer.</summary>
internal interface IPending
{
    object? Seen { get; }
}

/// <summary>A store that waits in the store buffer of the thread that has made it.</summary>
internal sealed class PendingStore(object value, object? before)
{
    private readonly int _writer = Environment.CurrentManagedThreadId;
    private bool _isShown;

    /// <summary>What the calling thread sees.</summary>
    internal object? Seen => _isShown || Environment.CurrentManagedThreadId == _writer ? value : before;

    internal void Show() => _isShown = true;
}
