using ActOp.Runtime.Activations;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// Delays the turns of grains while the membership of this silo is not confirmed. Any thread. An open gate costs one read.
/// </summary>
internal sealed class LeaseGate
{
    private readonly Lock _gate = new();
    private readonly List<Activation> _parked = [];
    private volatile bool _closed;

    /// <summary>Whether turns must wait.</summary>
    internal bool IsClosed => _closed;

    /// <summary>
    /// Parks an activation with a due turn until the gate opens. Returns false if the gate is open. Each activation is parked at most once,
    /// because it is queued in its stage at most once.
    /// </summary>
    internal bool TryPark(Activation activation)
    {
        lock (_gate)
        {
            if (!_closed)
                return false;
            _parked.Add(activation);
            return true;
        }
    }

    /// <summary>Closes the gate: no further turn starts.</summary>
    internal void Close() => _closed = true;

    /// <summary>Opens the gate and releases the parked activations. Returns their number.</summary>
    internal int Open()
    {
        Activation[] parked;
        lock (_gate)
        {
            _closed = false;
            parked = [.. _parked];
            _parked.Clear();
        }

        foreach (var activation in parked)
            activation.PostTurn();
        return parked.Length;
    }
}
