namespace ActOp.Mesh;

/// <summary>
/// The pollers of one <see cref="MeshNode"/>: the control poller, the data pollers, and the one for large frames, if there is one. Owns the
/// pollers and which of them reads each open data link.
/// <para>Threads: any, but <see cref="Set"/> not from a callback of the mesh. One gate, taken before the gate of a data poller, and after
/// that of the others.</para>
/// </summary>
internal sealed class MeshPollers : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Func<int, Poller> _create;
    private readonly MeshTables _tables;
    private readonly int _largeBytes;
    private volatile Poller[] _data = [];
    private volatile int _count;
    private bool _disposed;

    public MeshPollers(Func<int, Poller> create, MeshTables tables, int? largeFrameBytes)
    {
        _create = create;
        _tables = tables;
        _largeBytes = largeFrameBytes ?? int.MaxValue;
        Control = create(-1);
        Large = largeFrameBytes is null ? null : create(-2);
        Set(1);
    }

    public Poller Control { get; }

    /// <summary>Reads the links on which large frames arrive; null if the data pollers do.</summary>
    public Poller? Large { get; }

    /// <summary>Data pollers in use.</summary>
    public int Count => _count;

    /// <summary>All data pollers that were ever made.</summary>
    public IReadOnlyList<Poller> Data => _data;

    /// <summary>Changes the number of data pollers and moves the links accordingly, each between two of its reads.</summary>
    public void Set(int count)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, WireLimits.Pollers);
        if (Control.IsHeldByCaller || _data.Any(poller => poller.IsHeldByCaller))
            throw new InvalidOperationException("SetPollers must not be called from a callback of the mesh.");

        lock (_gate)
        {
            // After the end nobody would free a new poller.
            if (_disposed)
                return;

            while (_data.Length < count)
                _data = [.. _data, _create(_data.Length)];

            _count = count;
            foreach (var link in _tables.Links())
            {
                var poller = link.Poller;
                while (poller != Control && poller != Large && poller != PollerOf(link) && !poller.TryMove(link, PollerOf(link)))
                    poller = link.Poller;
            }

            foreach (var poller in _data.Skip(count))
                poller.Wake();
        }
    }

    /// <summary>
    /// Moves an open data link from the control poller to its data poller. If the poller of large frames has it already, it goes there from
    /// that.
    /// </summary>
    public void Assign(Link link) => Control.Post(
        () =>
        {
            // Posted so that no read of this link is under way; under the gate so that Set misses no link. At the end the link stays
            // with the control poller, which is disposed last and closes it.
            lock (_gate)
            {
                if (!_disposed)
                    Control.TryMove(link, PollerOf(link));
            }
        },
        link);

    /// <summary>
    /// Hands an open link to the poller that should read the frame under way, by its length with prefix, 0 if none is known. True if it was
    /// handed over. Called by its poller between two reads.
    /// </summary>
    public bool Reassign(Link link, int frame)
    {
        if (Large is null || frame > _largeBytes == (link.Poller == Large) || link.Phase != LinkPhase.Open)
            return false;
        if (link.Poller != Large)
            return link.Poller.TryMove(link, Large);
        if (link.Channel == Channel.Control)
            return Large.TryMove(link, Control);
        // At the end the link stays where it is: data pollers are disposed first.
        lock (_gate)
            return !_disposed && Large.TryMove(link, PollerOf(link));
    }

    public void Dispose()
    {
        lock (_gate)
            _disposed = true;

        foreach (var poller in _data)
            poller.Dispose();

        Large?.Dispose();
        Control.Dispose();
    }

    private Poller PollerOf(Link link)
    {
        Invariant.Held(_gate);
        Invariant.Holds(_count >= 1 && _count <= _data.Length);
        return _data[(int)(link.Sequence % _count)];
    }
}
