#pragma warning disable RS0030 // The stage is a sanctioned owner of threads.
namespace ActOp.Staging;

/// <summary>A stage whose threads wait for the outside (sockets) instead of a queue: each thread runs one step function over and over.</summary>
/// <remarks>The step function decides how long to wait and must return when asked to (<paramref name="wake"/>).</remarks>
/// <param name="name">Name of the stage; its threads are called <c>actop-name-i</c>.</param>
/// <param name="step">One wait and the work that it brings, for thread i; false ends the thread.</param>
/// <param name="wake">Makes thread i return from its wait soon.</param>
/// <param name="onError">Told of what escapes a step: a defect of the step.</param>
public sealed class PollStage(string name, Func<int, bool> step, Action<int> wake, Action<Exception> onError)
{
    private readonly Lock _gate = new();
    private readonly List<Thread> _threads = [];
    private volatile int _count;

    /// <summary>How many threads serve the stage.</summary>
    public int Threads => _count;

    /// <summary>Changes the number of threads; those with the highest numbers end after their present step.</summary>
    public void SetThreads(int threads)
    {
        lock (_gate)
        {
            _count = threads;
            while (_threads.Count > threads)
            {
                var index = _threads.Count - 1;
                var ending = _threads[index];
                _threads.RemoveAt(index);
                wake(index);
                ending.Join();
            }

            while (_threads.Count < threads)
            {
                var index = _threads.Count;
                var thread = new Thread(() => Loop(index)) { IsBackground = true, Name = "actop-" + name + "-" + index };
                _threads.Add(thread);
                thread.UnsafeStart();
            }
        }
    }

    private void Loop(int index)
    {
        while (index < _count)
        {
            try
            {
                if (!step(index))
                    return;
            }
            catch (Exception exception)
            {
                onError(exception);
            }
        }
    }
}
