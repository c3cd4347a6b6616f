#pragma warning disable RS0030 // The thread pool is the stage of Orleans: this reads and sets its counts, and runs nothing on it.
using System.Diagnostics;
using ActOp.Staging.Measuring;

namespace ActOp.Orleans.Threads;

/// <summary>The counts of a pool at one moment.</summary>
/// <param name="Completed">Items that it has run since the process began.</param>
/// <param name="Queued">Items that wait.</param>
/// <param name="Busy">Threads that are inside an item.</param>
/// <param name="Paused">Time for which the garbage collector has stopped all threads since the process began, in seconds.</param>
internal readonly record struct PoolReading(long Completed, long Queued, int Busy, double Paused = 0);

/// <summary>The least and the greatest number of threads of a pool.</summary>
internal readonly record struct PoolLimits(int Minimum, int Maximum);

/// <summary>A thread pool, as thread control sees it.</summary>
internal interface IPool
{
    /// <summary>Its counts now.</summary>
    PoolReading Read();

    /// <summary>What its threads did since the last call; null if the system does not tell.</summary>
    RunTimes? TakeTimes();

    /// <summary>Processor time that the whole process has used, in seconds.</summary>
    double ProcessTime();

    /// <summary>Its limits now.</summary>
    PoolLimits ReadLimits();

    /// <summary>Sets its limits; false if it refuses.</summary>
    bool TrySet(PoolLimits limits);

    /// <summary>There is one pool for all silos of a process: the first that takes it sets its limits, until it leaves it.</summary>
    bool TryTake(object owner);

    /// <summary>Another one may take it.</summary>
    void Leave(object owner);
}

/// <summary>The thread pool of .NET.</summary>
/// <remarks>One thread at a time, but for the owner, which belongs to the process.</remarks>
internal sealed class DotNetPool : IPool
{
    /// <summary>The name that .NET gives to the threads that run items.</summary>
    private const string WorkerName = ".NET TP Worker";

    private static object? s_owner;

    private readonly Lazy<RunDelay?> _times =
        new(static () => SchedulerSource.IsSupported ? new RunDelay(name: WorkerName) : null);

    /// <summary>Whether it has, or had, a thread.</summary>
    internal static bool HasBegun => ThreadPool.ThreadCount > 0 || ThreadPool.CompletedWorkItemCount > 0;

    public PoolReading Read()
    {
        ThreadPool.GetMaxThreads(out var maximum, out _);
        ThreadPool.GetAvailableThreads(out var available, out _);
        return new(ThreadPool.CompletedWorkItemCount, ThreadPool.PendingWorkItemCount, Math.Max(0, maximum - available),
            GC.GetTotalPauseDuration().TotalSeconds);
    }

    public RunTimes? TakeTimes() => _times.Value?.TakeTimes();

    public double ProcessTime()
    {
        using var process = Process.GetCurrentProcess();
        return process.TotalProcessorTime.TotalSeconds;
    }

    public PoolLimits ReadLimits()
    {
        ThreadPool.GetMinThreads(out var minimum, out _);
        ThreadPool.GetMaxThreads(out var maximum, out _);
        return new(minimum, maximum);
    }

    public bool TrySet(PoolLimits limits)
    {
        ThreadPool.GetMinThreads(out var minimum, out var minimumPorts);
        ThreadPool.GetMaxThreads(out var maximum, out var maximumPorts);
        // In the order in which the minimum is never above the maximum: the pool refuses that.
        if (limits.Maximum > maximum && !ThreadPool.SetMaxThreads(limits.Maximum, maximumPorts))
            return false;
        if (limits.Minimum != minimum && !ThreadPool.SetMinThreads(limits.Minimum, minimumPorts))
            return false;
        return limits.Maximum >= maximum || ThreadPool.SetMaxThreads(limits.Maximum, maximumPorts);
    }

    public bool TryTake(object owner) =>
        Interlocked.CompareExchange(ref s_owner, owner, null) is var other && (other is null || ReferenceEquals(other, owner));

    public void Leave(object owner) => Interlocked.CompareExchange(ref s_owner, null, owner);
}
