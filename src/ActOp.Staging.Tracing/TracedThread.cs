namespace ActOp.Staging.Tracing;

/// <summary>What a trace has told about one thread so far. Times in milliseconds.</summary>
internal sealed class TracedThread
{
    private bool _isBusy;
    private double _waited;
    private double _waitBegan = double.NaN;

    internal void Begin(double now)
    {
        _isBusy = true;
        _waited = 0;
        // A wait that began before is the one for work.
        _waitBegan = double.NaN;
    }

    internal void BeginWait(double now) => _waitBegan = now;

    internal void EndWait(double now)
    {
        if (_isBusy && !double.IsNaN(_waitBegan))
            _waited += now - _waitBegan;
        _waitBegan = double.NaN;
    }

    /// <summary>The time that the thread waited in its busy time.</summary>
    internal double End(double now)
    {
        _isBusy = false;
        return double.IsNaN(_waitBegan) ? _waited : _waited + (now - _waitBegan);
    }
}
