namespace ActOp.Runtime.Directory;

/// <summary>
/// Keeps a silo from believing registrations made by an owner that the cluster has left behind. When the silo reports its activations to a
/// slot's new owner in view v, answers to its registrations in that slot from before v no longer count: they may not be in the report.
/// </summary>
/// <remarks>
/// Order that makes it safe with concurrent turns: the report raises the fence, then collects; whoever gets a reply first marks the
/// activation as registered, then asks <see cref="Accepts"/> and registers again when refused (registering the same activation twice is
/// harmless).
/// </remarks>
internal sealed class RegistrationFence
{
    private readonly long[] _views = new long[SlotMap.SlotCount];

    /// <summary>From now on only answers served in <paramref name="view"/> or later count for these slots.</summary>
    public void Raise(SlotSet slots, long view)
    {
        for (var slot = slots.Next(-1); slot >= 0; slot = slots.Next(slot))
        {
            _views[slot] = Math.Max(_views[slot], view);
        }

        Interlocked.MemoryBarrier();
    }

    /// <summary>Whether an answer served in <paramref name="view"/> counts.</summary>
    public bool Accepts(int slot, long view)
    {
        Interlocked.MemoryBarrier();
        return view >= Volatile.Read(ref _views[slot]);
    }
}
