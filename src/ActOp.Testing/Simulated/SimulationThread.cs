#pragma warning disable RS0030 // Whoever runs a simulation waits for it on a thread of its own: the pool is the simulation's.

using ActOp.Serialization.Codecs;
using ActOp.Wire;

namespace ActOp.Testing.Simulated;

/// <summary>Runs simulations one after the other, each on a thread of its own, which waits while the pump has the thread pool.</summary>
/// <remarks>
/// Owns, while a simulation runs, the thread pool and what is static in the runtime, and gives them back at the end, also when the
/// simulation fails. Any thread.
/// </remarks>
internal static class SimulationThread
{
    /// <summary>
    /// Stands for the stack trace of each exception that is sent: what a real one says depends on the build, and its length moves time.
    /// </summary>
    private const string Stack = "   at Simulation.Of.A.Method(That has thrown)\n";

    /// <summary>Milliseconds that other work of the process may keep threads of the pool.</summary>
    private const int LongestWait = 30_000;

    private static readonly Lock OneAtATime = new();

    internal static Task<T> Run<T>(Func<T> work)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        var thread = new Thread(() =>
        {
            try
            {
                lock (OneAtATime)
                    done.SetResult(WithThePool(work));
            }
            catch (Exception exception)
            {
                done.SetException(exception);
            }
        })
        { IsBackground = true, Name = "actop-simulation" };
        thread.UnsafeStart();
        return done.Task;
    }

    private static T WithThePool<T>(Func<T> work)
    {
        var (isRandom, stackOf) = (StableHash.IsRandom, ExceptionBody.StackOf);
        ThreadPool.GetMinThreads(out var leastWorkers, out var leastIo);
        ThreadPool.GetMaxThreads(out var mostWorkers, out var mostIo);
        try
        {
            StableHash.IsRandom = false;
            ExceptionBody.StackOf = static _ => Stack;
            Pump.OwnThePool();
            WaitForTheOthers();
            return work();
        }
        finally
        {
            ThreadPool.SetMaxThreads(mostWorkers, mostIo);
            ThreadPool.SetMinThreads(leastWorkers, leastIo);
            (StableHash.IsRandom, ExceptionBody.StackOf) = (isRandom, stackOf);
        }
    }

    /// <summary>Threads of the pool that are at work when it gets smaller end after what they do: two items do not meet any more.</summary>
    /// <exception cref="InvalidOperationException">They do not end.</exception>
    private static void WaitForTheOthers()
    {
        var until = Environment.TickCount64 + LongestWait;
        for (var meeting = new Meeting(); meeting.TakesPlace(); meeting = new Meeting())
        {
            if (Environment.TickCount64 > until)
            {
                throw new InvalidOperationException(
                    "Other threads of the thread pool have been busy for " + (LongestWait / 1000) + " s. A simulation needs the pool for "
                    + "itself: do not run other tests of the process beside it.");
            }
        }
    }

    /// <summary>Two items of the pool that wait a moment for each other.</summary>
    private sealed class Meeting : IThreadPoolWorkItem
    {
        private const int Moment = 5;

        private const int Patience = 100;

        private readonly CountdownEvent _left = new(2);
        private int _inside;
        private volatile bool _haveMet;

        internal bool TakesPlace()
        {
            for (var item = 0; item < 2; item++)
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
            // A worker that ends because there are too many may leave an item behind, which the next item that is queued wakes.
            return !_left.Wait(Patience) || _haveMet;
        }

        public void Execute()
        {
            _haveMet |= Interlocked.Increment(ref _inside) > 1;
            SpinWait.SpinUntil(() => _haveMet, Moment);
            Interlocked.Decrement(ref _inside);
            _left.Signal();
        }
    }
}
