using ActOp.Runtime.Activations;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// Holds back the turns of grains while this silo does not know whether it is still a member. Any thread; an open gate costs one read.
/// </summary>
internal sealed class LeaseGate
{
    private readonly Lock _gate = new();
    private readonly List<Activation> _parked = [];
    private volatile bool _closed;

    /// <summary>Whether turns must wait.</summary>
    internal bool IsClosed => _closed;

    /// <summary>
    /// Keeps an activation whose turn is due until the gate opens; false when it is open by now. An activation is here at most once, as it
    /// is with its stage at most once.
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

    /// <summary>From now on no turn begins.</summary>
    internal void Close() => _closed = true;

    /// <summary>Lets the held turns go; returns how many there were.</summary>
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
