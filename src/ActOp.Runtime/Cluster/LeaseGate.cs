using ActOp.Foundation;
using ActOp.Runtime.Activations;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// Delays the turns of grains while the membership of this silo is not confirmed. Any thread. An open gate costs two reads; with a finite
/// lease also one of the clock, once for each visit of an activation.
/// </summary>
/// <remarks>
/// The protocol closes the gate at a tick, but ticks stop when the process does (SIGSTOP, a paused machine): the first turns after a
/// pause longer than the lease would run before the first tick. So each visit compares the time itself with the end of the lease.
/// Holds the parked activations until the gate opens or the lease is renewed.
/// </remarks>
internal sealed class LeaseGate(Clock clock)
{
    private readonly Lock _gate = new();
    private readonly List<Activation> _parked = [];
    private volatile bool _closed;
    private long _end = long.MaxValue;

    /// <summary>Whether the membership has told turns to wait.</summary>
    internal bool IsClosed => _closed;

    /// <summary>Whether turns must wait: for the membership, or because the lease has ended although no tick has said so yet.</summary>
    internal bool Holds => _closed || HasEnded;

    private bool HasEnded => Volatile.Read(ref _end) is not long.MaxValue and var end && clock.Exact >= end;

    /// <summary>
    /// Parks an activation with a due turn until the gate opens. Returns false if the gate is open. Each activation is parked at most once,
    /// because it is queued in its stage at most once.
    /// </summary>
    internal bool TryPark(Activation activation)
    {
        lock (_gate)
        {
            if (!Holds)
                return false;
            if (Invariant.AreChecked)
                Invariant.Holds(!_parked.Contains(activation));
            _parked.Add(activation);
            return true;
        }
    }

    /// <summary>Closes the gate: no further turn starts.</summary>
    internal void Close() => _closed = true;

    /// <summary>Opens the gate and releases the parked activations. Returns their number.</summary>
    internal int Open()
    {
        lock (_gate)
            _closed = false;
        return Release();
    }

    /// <summary>
    /// The lease ends at this time of the clock; <see cref="long.MaxValue"/> for never, or while the gate is closed anyway. Releases
    /// what was parked because the lease before had ended.
    /// </summary>
    internal void Renew(long end)
    {
        if (Interlocked.Exchange(ref _end, end) != end && !_closed)
            Release();
    }

    private int Release()
    {
        Activation[] parked;
        lock (_gate)
        {
            parked = [.. _parked];
            _parked.Clear();
        }

        foreach (var activation in parked)
            activation.PostTurn();
        return parked.Length;
    }
}
