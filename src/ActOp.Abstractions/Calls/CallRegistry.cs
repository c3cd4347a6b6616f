namespace ActOp.Calls;

/// <summary>
/// Every pooled call of the process has one slot here for life: the slot's number and the call's version are its id on
/// the wire, and the sweep of timeouts and dead silos walks the slots. So neither sending nor completing a call touches
/// a shared table.
/// </summary>
/// <remarks>Adding and removing are rare (a pool grows or shrinks) and take the lock; reading takes none.</remarks>
internal static class CallRegistry
{
    private const int ChunkBits = 10;
    private const int ChunkSize = 1 << ChunkBits;

    /// <summary>4,096 chunks of 1,024: four million calls in flight; beyond that a call is refused.</summary>
    private const int MaxChunks = 4096;

    private static readonly Call?[]?[] Chunks = new Call?[MaxChunks][];
    private static readonly Stack<int> Free = new();
    private static readonly Lock Gate = new();
    private static int s_next;

    /// <summary>One more than the highest slot in use.</summary>
    internal static int Limit => Volatile.Read(ref s_next);

    internal static void Add(Call call)
    {
        lock (Gate)
        {
            if (!Free.TryPop(out var slot))
            {
                slot = s_next;
                if (slot >= MaxChunks * ChunkSize)
                    throw new Orleans.Runtime.LimitExceededException("More than " + (MaxChunks * ChunkSize) + " calls are in flight in this process.");
                Chunks[slot >> ChunkBits] ??= new Call?[ChunkSize];
                Volatile.Write(ref s_next, slot + 1);
            }

            call.Slot = slot;
            Volatile.Write(ref Chunks[slot >> ChunkBits]![slot & (ChunkSize - 1)], call);
        }
    }

    internal static void Remove(Call call)
    {
        lock (Gate)
        {
            var slot = call.Slot;
            if (slot < 0)
                return;
            call.Slot = -1;
            Volatile.Write(ref Chunks[slot >> ChunkBits]![slot & (ChunkSize - 1)], null);
            Free.Push(slot);
        }
    }

    internal static Call? Find(int slot) =>
        (uint)slot < (uint)Limit ? Volatile.Read(ref Chunks[slot >> ChunkBits]![slot & (ChunkSize - 1)]) : null;
}
