namespace ActOp.Runtime.Hosting;

/// <summary>Tells one listener of the application, in order and one call at a time, on the thread pool.</summary>
/// <remarks>
/// Any thread. A listener that throws is logged, and is told what comes next. One that hangs holds one thread of the pool; others are told,
/// and the node stops. What waits for it is limited: then the oldest is left out.
/// </remarks>
/// <param name="tell">Calls the listener.</param>
/// <param name="failed">Logs what it throws.</param>
internal sealed class ListenerQueue<T>(Action<T> tell, Action<Exception> failed)
{
    private const int Most = 1024;

    private readonly Queue<T> _waiting = new();
    private bool _tells;

    internal void Tell(T what)
    {
        lock (_waiting)
        {
            if (_waiting.Count == Most)
                _waiting.Dequeue();
            _waiting.Enqueue(what);
            if (_tells)
                return;
            _tells = true;
        }

        PoolStep.Begin(TellAll);
    }

    private void TellAll()
    {
        while (TryTake(out var next))
        {
            try
            {
                tell(next);
            }
            catch (Exception exception)
            {
                failed(exception);
            }
        }
    }

    private bool TryTake(out T next)
    {
        lock (_waiting)
        {
            _tells = _waiting.TryDequeue(out next!);
            return _tells;
        }
    }
}
