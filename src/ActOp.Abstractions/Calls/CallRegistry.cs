using System.Runtime.CompilerServices;

namespace ActOp.Calls;

/// <summary>
/// The calls of one runtime that are in flight: sent by a caller of this process that waits for the answer, and not ended yet. A slot of
/// the table belongs to a call from <see cref="TryAdd"/> until its claim is won. Finds calls by their id on the wire, and those whose
/// deadline has passed.
/// </summary>
/// <remarks>
/// <para>Any thread. A free slot is a ticket: its number, and how often it has been used. The ticket that a call takes is its id on the
/// wire and is needed to claim it. No ticket is used twice, so an answer to an earlier use of a slot or of a call object has no
/// effect.</para>
/// <para>Each thread keeps free tickets in a magazine of its own. Whole magazines are exchanged through a shared stack, which is used under
/// the lock. The finalizer of a magazine returns the tickets of a thread that has ended.</para>
/// <para>Each chunk of slots knows a time before which none of its calls ends, so that a tick reads only the chunks where that time has
/// passed. A sender first puts its call into the slot, then reads that time, without a fence between. A thread that sets the time to a
/// later one makes all threads pass a fence (<see cref="Interlocked.MemoryBarrierProcessWide"/>) before reading the slots. So
/// either the sender sees the change, or the reader sees the call. Closing the registry uses the same rule.</para>
/// </remarks>
internal sealed class CallRegistry
{
    /// <summary>The deadline of a call without a timeout.</summary>
    internal const long NoDeadline = long.MaxValue - 2;

    /// <summary>The time of a chunk without calls.</summary>
    private const long Never = long.MaxValue - 1;

    /// <summary>The time of every chunk when the registry is closed. Later than all deadlines, so that every sender sees it.</summary>
    private const long Closed = long.MaxValue;

    private const int ChunkBits = CallSlots.ChunkBits;
    private const int ChunkSize = 1 << ChunkBits;
    private const int MaxSlots = 1 << CallSlots.SlotBits;

    /// <summary>
    /// The difference between two successive tickets of a slot. The 42 bits above last for five days if a slot is used ten million times
    /// per second. No answer is that late.
    /// </summary>
    private const long NextUse = 1L << CallSlots.SlotBits;

    private const int MagazineSize = CallSlots.MagazineSize;

    private static readonly List<WeakReference<CallRegistry>> All = [];

    [ThreadStatic]
    private static Magazine? t_magazine;

    private readonly Lock _gate = new();
    private readonly Chunk?[] _chunks = new Chunk?[MaxSlots / ChunkSize];
    private readonly Stack<(long[] Tickets, int Count)> _shared = new();
    private readonly Stack<long[]> _empty = new();
    private int _capacity;
    private volatile bool _closed;

    internal CallRegistry()
    {
        lock (All)
        {
            All.RemoveAll(static known => !known.TryGetTarget(out _));
            All.Add(new WeakReference<CallRegistry>(this));
        }
    }

    /// <summary>True if no call is accepted any more: the node has stopped.</summary>
    internal bool IsClosed => _closed;

    /// <summary>Slots created so far: at least the highest number of calls in flight, plus the tickets in magazines.</summary>
    internal int Capacity => Volatile.Read(ref _capacity);

    /// <summary>Calls in flight. Walks all slots: for tests and diagnosis.</summary>
    internal int InFlight => Read().Count;

    /// <summary>
    /// Tickets in the shared stack and in the magazine of the calling thread. Together with the calls in flight these are all tickets, if
    /// no other thread has used the registry. For tests.
    /// </summary>
    internal int Free
    {
        get
        {
            lock (_gate)
            {
                return _shared.Sum(static magazine => magazine.Count)
                    + (t_magazine is { } own && ReferenceEquals(own.Owner, this) ? own.Count : 0);
            }
        }
    }

    /// <summary>Calls in flight of all runtimes of the process; as <see cref="InFlight"/>.</summary>
    internal static int InFlightInProcess
    {
        get
        {
            var count = 0;
            lock (All)
            {
                foreach (var known in All)
                    count += known.TryGetTarget(out var registry) ? registry.InFlight : 0;
            }

            return count;
        }
    }

    /// <summary>
    /// Gives the call a slot; its deadline must be set. False if the registry is closed or full: then the call is unchanged.
    /// </summary>
    internal bool TryAdd(Call call)
    {
        var magazine = t_magazine;
        if (magazine is null || !ReferenceEquals(magazine.Owner, this) || magazine.Count == 0)
        {
            magazine = Refill();
            if (magazine is null)
                return false;
        }

        var count = magazine.Count - 1;
        magazine.Count = count;
        var ticket = magazine.Tickets[count];
        var slot = SlotOf(ticket);
        if (Invariant.AreChecked)
            Invariant.Holds(ticket >= NextUse && slot < _capacity);
        var chunk = magazine.ChunkOf(slot);
        if (Invariant.AreChecked)
            Invariant.Holds(chunk.Entries[slot & (ChunkSize - 1)].Call is null);
        call.Register(ticket);
        Volatile.Write(ref chunk.Entries[slot & (ChunkSize - 1)].Call, call);
        return call.Deadline >= Volatile.Read(ref chunk.Earliest) || AddEarlier(call, ticket, chunk);
    }

    /// <summary>
    /// Takes the slot back. Called by the party that has won the claim of <paramref name="ticket"/>, before the call is passed on.
    /// </summary>
    internal void Remove(long ticket)
    {
        var slot = SlotOf(ticket);
        var magazine = t_magazine;
        if (magazine is null || !ReferenceEquals(magazine.Owner, this) || magazine.Count == MagazineSize)
            magazine = Empty();
        if (Invariant.AreChecked)
        {
            Invariant.Holds(ticket >= NextUse && slot < _capacity && magazine.Count < MagazineSize);
            Invariant.Holds(magazine.ChunkOf(slot).Entries[slot & (ChunkSize - 1)].Call is not null);
        }

        Volatile.Write(ref magazine.ChunkOf(slot).Entries[slot & (ChunkSize - 1)].Call, null);
        magazine.Tickets[magazine.Count++] = ticket + NextUse;
    }

    /// <summary>
    /// The call that may be in flight with this ticket; only its claim decides. Null for a ticket that no call has, whatever a peer has
    /// sent.
    /// </summary>
    internal Call? FindCall(long ticket)
    {
        if (ticket < NextUse)
            return null;
        var slot = SlotOf(ticket);
        return Volatile.Read(ref _chunks[slot >> ChunkBits]) is { } chunk
            ? Volatile.Read(ref chunk.Entries[slot & (ChunkSize - 1)].Call) : null;
    }

    /// <summary>The calls in flight and their tickets. What is read of a call is valid only if its ticket is claimed afterwards.</summary>
    internal List<(Call Call, long Ticket)> Read()
    {
        var calls = new List<(Call, long)>();
        for (var index = 0; index < _chunks.Length && Volatile.Read(ref _chunks[index]) is { } chunk; index++)
            ReadChunk(chunk, index, long.MaxValue, calls);
        return calls;
    }

    /// <summary>
    /// The calls whose deadline is not after <paramref name="now"/>. Called by one thread at a time; touches only chunks that may have such
    /// calls.
    /// </summary>
    internal List<(Call Call, long Ticket)> ReadExpired(long now)
    {
        var calls = new List<(Call, long)>();
        List<int>? due = null;
        for (var index = 0; index < _chunks.Length && Volatile.Read(ref _chunks[index]) is { } chunk; index++)
        {
            if (chunk.TryTakeDue(now))
                (due ??= []).Add(index);
        }

        if (due is null)
            return calls;
        Interlocked.MemoryBarrierProcessWide();
        foreach (var index in due)
        {
            var chunk = _chunks[index]!;
            chunk.Lower(ReadChunk(chunk, index, now, calls));
        }

        return calls;
    }

    /// <summary>No call is accepted from now on. When this returns, <see cref="Read"/> finds all calls that were accepted.</summary>
    internal void Close()
    {
        lock (_gate)
        {
            _closed = true;
            foreach (var chunk in _chunks)
                chunk?.Close();
        }

        Interlocked.MemoryBarrierProcessWide();
    }

    private static int SlotOf(long ticket) => (int)ticket & (MaxSlots - 1);

    /// <summary>Adds the chunk's calls that end by <paramref name="until"/>; returns the earliest deadline of the others.</summary>
    private static long ReadChunk(Chunk chunk, int index, long until, List<(Call, long)> calls)
    {
        var earliest = Never;
        for (var entry = 0; entry < ChunkSize; entry++)
        {
            if (Volatile.Read(ref chunk.Entries[entry].Call) is not { } call)
                continue;
            // An object that has moved to another slot, or to none, has another ticket.
            var ticket = call.Ticket;
            if (ticket < NextUse || SlotOf(ticket) != (index << ChunkBits) + entry)
                continue;
            var deadline = Volatile.Read(ref call.Deadline);
            if (deadline <= until)
                calls.Add((call, ticket));
            else
                earliest = Math.Min(earliest, deadline);
        }

        return earliest;
    }

    /// <summary>The call may end before all others of its chunk, or the registry is closed.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool AddEarlier(Call call, long ticket, Chunk chunk)
    {
        if (chunk.Lower(call.Deadline))
            return true;
        // The thread that closes the registry may have found the call already, and ends it.
        if (!call.TryClaim(ticket))
            return true;
        call.Unregister();
        return false;
    }

    /// <summary>The magazine of this thread with at least one ticket; null if the registry is closed or full.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Magazine? Refill()
    {
        var magazine = Own();
        if (magazine.Count > 0)
            return magazine;
        lock (_gate)
        {
            if (_closed)
                return null;
            if (_shared.TryPop(out var full))
            {
                _empty.Push(magazine.Tickets);
                (magazine.Tickets, magazine.Count) = full;
                if (Invariant.AreChecked)
                    Invariant.Holds(magazine.Count > 0 && magazine.Count <= MagazineSize);
                return magazine;
            }

            if (_capacity == MaxSlots)
                return null;
            if (Invariant.AreChecked)
                Invariant.Holds(_capacity < MaxSlots && _capacity % MagazineSize == 0);
            var first = _capacity;
            if ((first & (ChunkSize - 1)) == 0)
                Volatile.Write(ref _chunks[first >> ChunkBits], new Chunk());
            Volatile.Write(ref _capacity, first + MagazineSize);
            for (var index = 0; index < MagazineSize; index++)
                magazine.Tickets[index] = NextUse + first + index;
            magazine.Count = MagazineSize;
            return magazine;
        }
    }

    /// <summary>The magazine of this thread with room for at least one ticket.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private Magazine Empty()
    {
        var magazine = Own();
        if (magazine.Count < MagazineSize)
            return magazine;
        lock (_gate)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(magazine.Count == MagazineSize);
            _shared.Push((magazine.Tickets, magazine.Count));
            magazine.Tickets = _empty.TryPop(out var empty) ? empty : new long[MagazineSize];
            magazine.Count = 0;
        }

        return magazine;
    }

    /// <summary>The magazine of this thread. If it was used for another registry, that one gets its tickets back first.</summary>
    private Magazine Own()
    {
        var magazine = t_magazine ??= new Magazine();
        if (ReferenceEquals(magazine.Owner, this))
            return magazine;
        magazine.GiveBack();
        magazine.Use(this);
        return magazine;
    }

    private void TakeBack(long[] tickets, int count)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(count > 0 && count <= MagazineSize);
        lock (_gate)
            _shared.Push((tickets, count));
    }

    /// <summary>A struct around the reference: the write to an array of references would check the type.</summary>
    private struct Entry
    {
        internal Call? Call;
    }

    [InlineArray(ChunkSize)]
    private struct Entries
    {
        private Entry _first;
    }

    private sealed class Chunk
    {
        internal Entries Entries;

        /// <summary>No call of the chunk ends before this.</summary>
        internal long Earliest = Never;

        /// <summary>True if deadlines may have passed. The time is then that of an empty chunk, until the calls have been read.</summary>
        internal bool TryTakeDue(long now)
        {
            while (true)
            {
                var seen = Volatile.Read(ref Earliest);
                if (seen > now)
                    return false;
                if (Interlocked.CompareExchange(ref Earliest, Never, seen) == seen)
                    return true;
            }
        }

        /// <summary>False when the registry is closed.</summary>
        internal bool Lower(long deadline)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(deadline < Closed);
            while (true)
            {
                var seen = Volatile.Read(ref Earliest);
                if (seen == Closed)
                    return false;
                if (seen <= deadline || Interlocked.CompareExchange(ref Earliest, deadline, seen) == seen)
                    return true;
            }
        }

        internal void Close() => Interlocked.Exchange(ref Earliest, Closed);
    }

    /// <summary>The free tickets of one thread, used by that thread only.</summary>
    private sealed class Magazine
    {
        internal CallRegistry? Owner;
        internal long[] Tickets = new long[MagazineSize];
        internal int Count;

        /// <summary>The chunk that was used last; the next ticket is usually in the same one.</summary>
        private Chunk? _chunk;
        private int _chunkIndex = -1;

        ~Magazine() => GiveBack();

        internal void Use(CallRegistry owner)
        {
            // The tickets of one registry mean nothing in another.
            if (Invariant.AreChecked)
                Invariant.Holds(Count == 0);
            Owner = owner;
            _chunkIndex = -1;
            _chunk = null;
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal Chunk ChunkOf(int slot) => slot >> ChunkBits == _chunkIndex ? _chunk! : Change(slot >> ChunkBits);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private Chunk Change(int index)
        {
            _chunkIndex = index;
            return _chunk = Owner!._chunks[index]!;
        }

        internal void GiveBack()
        {
            if (Owner is null || Count == 0)
                return;
            Owner.TakeBack(Tickets, Count);
            Tickets = new long[MagazineSize];
            Count = 0;
        }
    }
}
