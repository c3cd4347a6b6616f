namespace ActOp.Staging;

/// <summary>
/// A worker's queue: first in, first out, fixed size. The owner pushes at the tail; the owner and thieves take at the head.
/// </summary>
/// <remarks>
/// <see cref="_tail"/> is written by the owner only. <see cref="_head"/> moves by compare-and-swap; it only grows, so a
/// thief that read a slot which was reused meanwhile loses the swap. A slot is reused, or emptied, only after the head has passed it.
/// Emptying is left to the owner's rest: a busy queue goes round and overwrites what it held.
/// </remarks>
internal sealed class RunQueue
{
    internal const int Capacity = Tuning.QueueCapacity;

    private readonly IStageItem?[] _items = new IStageItem?[Capacity];
    private long _head;
    private long _tail;

    /// <summary>Slots before this one are empty or hold later items. Belongs to the owner.</summary>
    private long _emptied;

    /// <summary>Items in the queue; exact for the owner when no thief is at work.</summary>
    internal int Count => (int)Math.Max(0, Volatile.Read(ref _tail) - Volatile.Read(ref _head));

    /// <summary>Owner only. False when the queue is full.</summary>
    internal bool TryPush(IStageItem item)
    {
        var tail = _tail;
        if (tail - Volatile.Read(ref _head) >= Capacity)
            return false;
        Volatile.Write(ref _items[tail & (Capacity - 1)], item);
        Volatile.Write(ref _tail, tail + 1);
        return true;
    }

    /// <summary>Any thread. The oldest item, or null.</summary>
    internal IStageItem? TryTake()
    {
        while (true)
        {
            var head = Volatile.Read(ref _head);
            if (head >= Volatile.Read(ref _tail))
                return null;
            var item = Volatile.Read(ref _items[head & (Capacity - 1)]);
            if (Interlocked.CompareExchange(ref _head, head + 1, head) == head)
                return item;
        }
    }

    /// <summary>Owner only, before it rests: the items that have been taken are not kept any longer.</summary>
    internal void EmptySlots()
    {
        var head = Volatile.Read(ref _head);
        for (var slot = Math.Max(_emptied, head - Capacity); slot < head; slot++)
        {
            // One that was used again holds an item that waits.
            if (slot + Capacity >= _tail)
                _items[slot & (Capacity - 1)] = null;
        }

        _emptied = head;
    }
}
