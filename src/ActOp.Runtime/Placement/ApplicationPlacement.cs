using System.Collections.Concurrent;
using ActOp.Foundation;
using Orleans.Runtime;

namespace ActOp.Runtime.Placement;

/// <summary>Calls the code of the application that chooses silos for grains: placement directors and filters.</summary>
/// <remarks>
/// <para>Any thread may ask. The code runs on the thread pool, under no lock, at most <see cref="MaxThreads"/> at the same time per grain
/// type until it returns its task; others of the type wait. The task itself may take its time beside them.</para>
/// <list type="table">
/// <item><term>it throws</term><description> The calls that wait for the choice get its exception.</description></item>
/// <item><term>it does not end within <see cref="Limit"/></term><description> They get an <see cref="OrleansException"/>. What comes later
/// is ignored, and a failure observed.</description></item>
/// <item><term>it blocks all threads of the type for longer</term><description> New grains of the type are refused at once until one
/// of them returns.</description></item>
/// <item><term>it answers wrongly</term><description> The caller checks the answer, see <see cref="GrainPlacement"/>.</description></item>
/// <item><term>the silo stops</term><description> Nobody waits any longer.</description></item>
/// </list>
/// </remarks>
internal sealed class ApplicationPlacement(LocalNode local)
{
    /// <summary>
    /// Time for a choice. Much longer than one that asks another service takes, and short beside the time that callers wait.
    /// </summary>
    internal static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    /// <summary>Threads of the pool that the code for one grain type may hold.</summary>
    internal const int MaxThreads = 4;

    /// <summary>By the grain type without type arguments, so that peers cannot fill it.</summary>
    private readonly ConcurrentDictionary<string, TypeThreads> _threads = new(StringComparer.Ordinal);

    /// <summary>Runs <paramref name="choose"/> for a grain of the hosted type <paramref name="grainType"/>.</summary>
    /// <exception cref="OrleansException">It did not end in time, or those before it have not.</exception>
    internal async Task<T> RunAsync<T>(string grainType, GrainId grain, Func<Task<T>> choose)
    {
        var threads = _threads.GetOrAdd(grainType, static _ => new TypeThreads());
        if (threads.IsBlocked)
        {
            throw new OrleansException("No silo is chosen for " + grain + ": the placement director or filters of its class block "
                + MaxThreads + " threads for longer than " + Limit + ".");
        }

        using var givenUp = new CancellationTokenSource();
        var visit = new Visit<T>(threads);
        var choice = visit.RunAsync(choose, givenUp.Token);
        Task ended = choice;
        await ended.WaitAsync(Limit, local.TaskTime, local.Background.Stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (choice.IsCompleted)
            return await choice.ConfigureAwait(false);
        visit.GiveUp();
        await givenUp.CancelAsync().ConfigureAwait(false);
        throw new OrleansException("The placement director or filters of its class did not choose a silo for " + grain + " within " + Limit
            + ".");
    }

    /// <summary>The threads that the code of one grain type holds.</summary>
    private sealed class TypeThreads
    {
        private int _stuck;

        internal SemaphoreSlim Permits { get; } = new(MaxThreads);

        internal bool IsBlocked => Volatile.Read(ref _stuck) >= MaxThreads;

        internal void CountStuck(int change) => Interlocked.Add(ref _stuck, change);
    }

    /// <summary>One choice.</summary>
    private sealed class Visit<T>(TypeThreads threads)
    {
        private const int Waiting = 0;
        private const int Running = 1;
        private const int Stuck = 2;
        private const int Returned = 3;

        private int _state = Waiting;

        internal async Task<T> RunAsync(Func<Task<T>> choose, CancellationToken givenUp)
        {
            try
            {
                return await ChooseAsync(choose, givenUp).ConfigureAwait(false);
            }
            catch (Exception) when (givenUp.IsCancellationRequested)
            {
                // Nobody reads it.
                return default!;
            }
        }

        /// <summary>Nobody waits for it any longer.</summary>
        internal void GiveUp()
        {
            if (Interlocked.CompareExchange(ref _state, Stuck, Running) == Running)
                threads.CountStuck(1);
        }

        private async Task<T> ChooseAsync(Func<Task<T>> choose, CancellationToken givenUp)
        {
            await threads.Permits.WaitAsync(givenUp).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            Task<T> chosen;
            Volatile.Write(ref _state, Running);
            try
            {
                givenUp.ThrowIfCancellationRequested();
                chosen = choose();
            }
            finally
            {
                if (Interlocked.Exchange(ref _state, Returned) == Stuck)
                    threads.CountStuck(-1);
                threads.Permits.Release();
            }

            return await chosen.ConfigureAwait(false);
        }
    }
}
