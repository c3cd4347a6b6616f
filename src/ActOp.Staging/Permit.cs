namespace ActOp.Staging;

/// <summary>A binary semaphore for one waiting thread: given twice before it is taken, it is one permit.</summary>
/// <remarks>
/// Any thread gives; only the owner takes. Writes before <see cref="Give"/> are visible after the <see cref="WaitAndTake"/> that it
/// releases.
/// </remarks>
internal sealed class Permit
{
    private readonly object _gate = new();
    private bool _isGiven;
    private bool _isAwaited;

    /// <summary>The owner waits; a racy snapshot.</summary>
    internal bool IsAwaited
    {
        get
        {
            lock (_gate)
                return _isAwaited;
        }
    }

    /// <summary>Waits until the permit is given and takes it.</summary>
    internal void WaitAndTake()
    {
        lock (_gate)
        {
            // Two threads would wait for one permit.
            Invariant.Holds(!_isAwaited);
            _isAwaited = true;
            while (!_isGiven)
                Monitor.Wait(_gate);
            _isAwaited = _isGiven = false;
        }
    }

    internal void Give()
    {
        lock (_gate)
        {
            _isGiven = true;
            Monitor.Pulse(_gate);
        }
    }
}
