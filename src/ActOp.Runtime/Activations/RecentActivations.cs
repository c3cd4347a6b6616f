using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Finds an activation by the bytes of its grain's id, as they stand in a request from the wire, without making an id of them. Holds one
/// activation for each remainder of the hash, the one that was asked for last; what it does not know is found in the table.
/// </summary>
/// <remarks>
/// <para>Any thread, without a lock: a slot is one reference, and an activation that is found is compared with the bytes. What a peer says
/// is the hash decides nothing but where to look.</para>
/// <para>No activation stays after its end: whoever enters one looks into the table afterwards, and whoever takes one out of the table
/// looks into its slot afterwards, with a full fence between. One of them sees the other.</para>
/// </remarks>
internal sealed class RecentActivations
{
    /// <summary>Grains that a silo works with in a while; 8 bytes each.</summary>
    private const int Size = 1 << 14;

    private Activation?[]? _slots;

    /// <summary>The activation of the grain, if it is held; null says nothing.</summary>
    internal Activation? Find(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (Volatile.Read(ref _slots) is not { } slots || Volatile.Read(ref slots[hash & (Size - 1)]) is not { } found)
            return null;
        var id = found.GrainId;
        return id.Key.AsSpan().SequenceEqual(key) && id.Type.AsSpan().SequenceEqual(type) ? found : null;
    }

    /// <summary>Holds an activation that was found in the table.</summary>
    internal void Put(Activation activation, ActivationTable table)
    {
        var slots = Volatile.Read(ref _slots) ?? Make();
        ref var slot = ref slots[SlotOf(activation)];
        if (ReferenceEquals(Volatile.Read(ref slot), activation))
            return;
        Interlocked.Exchange(ref slot, activation);
        if (!table.TryGet(activation.GrainId, out var present) || !ReferenceEquals(present, activation))
            Interlocked.CompareExchange(ref slot, null, activation);
    }

    /// <summary>The activation is not in the table any more.</summary>
    internal void Forget(Activation activation)
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _slots) is not { } slots)
            return;
        ref var slot = ref slots[SlotOf(activation)];
        if (ReferenceEquals(Volatile.Read(ref slot), activation))
            Interlocked.CompareExchange(ref slot, null, activation);
    }

    private static int SlotOf(Activation activation) => (int)(activation.GrainId.GetUniformHashCode() & (Size - 1));

    private Activation?[] Make()
    {
        var slots = new Activation?[Size];
        return Interlocked.CompareExchange(ref _slots, slots, null) ?? slots;
    }
}
