namespace ActOp.Staging;

/// <summary>One permit, for one thread that waits for it: given twice before it is taken, it is still one.</summary>
/// <remarks>
/// Any thread gives; only the owner of the permit takes. Giving comes before the taking that it allows, with all that was written until
/// then.
/// </remarks>
internal sealed class Permit
{
    private readonly object _gate = new();
    private bool _isGiven;
    private bool _isAwaited;

    /// <summary>The owner sleeps; a moment's truth.</summary>
    internal bool IsAwaited
    {
        get
        {
            lock (_gate)
                return _isAwaited;
        }
    }

    /// <summary>Waits until the permit is there and takes it.</summary>
    internal void Take()
    {
        lock (_gate)
        {
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
