namespace ActOp.Orleans.Threads;

/// <summary>
/// Sets the limits of the pool for one silo, and gives back what the host has configured. If somebody else changes a limit meanwhile, that
/// is what the host has configured from then on.
/// </summary>
/// <remarks>Any thread. The lock is held only while the pool is read and set.</remarks>
internal sealed class PoolSize(IPool pool)
{
    private readonly object _gate = new();
    private PoolLimits _host;
    private PoolLimits _set;
    private bool _isTaken;
    private bool _isClosed;

    /// <summary>The fewest threads: what the host has configured.</summary>
    internal int Floor
    {
        get
        {
            lock (_gate)
                return _host.Minimum;
        }
    }

    /// <summary>The pool's minimum now.</summary>
    internal int Threads
    {
        get
        {
            lock (_gate)
                return _set.Minimum;
        }
    }

    /// <summary>Takes the pool, if no other silo of the process has it.</summary>
    internal bool TryTake()
    {
        lock (_gate)
        {
            if (_isTaken)
                return true;
            if (_isClosed || !pool.TryTake(this))
                return false;
            _isTaken = true;
            _host = _set = pool.ReadLimits();
            return true;
        }
    }

    /// <summary>Sets the minimum, and on request the maximum; never below what the host has configured.</summary>
    /// <returns>The minimum from now on.</returns>
    /// <exception cref="NotSupportedException">The pool refuses: its limits are fixed by the configuration of the process.</exception>
    internal int Set(int threads, bool alsoMaximum)
    {
        lock (_gate)
        {
            if (!_isTaken)
                return _set.Minimum;
            Notice();
            var minimum = Math.Clamp(threads, _host.Minimum, Math.Max(_host.Minimum, _host.Maximum));
            // .NET takes no maximum below the number of processors.
            var least = Math.Min(Environment.ProcessorCount, _host.Maximum);
            var maximum = alsoMaximum ? Math.Clamp(minimum, least, _host.Maximum) : _host.Maximum;
            Apply(new PoolLimits(minimum, maximum));
            return minimum;
        }
    }

    /// <summary>Gives back what the host has configured. The pool may be taken again.</summary>
    internal void GiveBack()
    {
        lock (_gate)
        {
            if (!_isTaken)
                return;
            try
            {
                Notice();
                Apply(_host);
            }
            finally
            {
                _isTaken = false;
                pool.Leave(this);
            }
        }
    }

    /// <summary>Gives it back for good.</summary>
    internal void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
            GiveBack();
        }
    }

    private void Notice()
    {
        var now = pool.ReadLimits();
        if (now.Minimum != _set.Minimum)
            _host = _host with { Minimum = now.Minimum };
        if (now.Maximum != _set.Maximum)
            _host = _host with { Maximum = now.Maximum };
        _set = now;
    }

    private void Apply(PoolLimits limits)
    {
        if (limits == _set)
            return;
        var isSet = pool.TrySet(limits);
        // What a refusal has left half done is not a change by the host.
        _set = pool.ReadLimits();
        if (!isSet)
        {
            throw new NotSupportedException(
                "The thread pool refuses to change its limits: they are fixed by the configuration of the process.");
        }
    }
}
