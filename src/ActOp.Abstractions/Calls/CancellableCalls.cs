using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>What a node has done with a cancellation that has arrived.</summary>
internal enum CancelStep : byte
{
    /// <summary>The request is here and was told, or the cancellation is known already.</summary>
    Ended,

    /// <summary>The request was here and has left: the cancellation goes after it.</summary>
    Follows,

    /// <summary>Nothing is known of the request: the cancellation waits for it.</summary>
    Waits,
}

/// <summary>
/// The requests of other nodes that this node has, has passed on, or will get, and whose methods take a token. A request is found by the
/// node that waits for the answer, and its ticket.
/// </summary>
/// <remarks>
/// <para>Any thread. An entry belongs to a request from its arrival until the call returns to its pool
/// (<see cref="CallCancellation.Reset"/>) or is passed on, so these entries are as many as the requests of this node. While the lock of its
/// part is held, an entry does not change.</para>
/// <para>Beside them are notes: where a request went that was passed on, and which requests were cancelled before they arrived. So a
/// cancellation always meets the request or a note, wherever it overtakes or misses the request. A note is given back when the request
/// arrives (again), when the deadline of the request has passed (<see cref="Expire"/>), or when more than <see cref="MaxNotes"/> are
/// there: then the oldest ones of the part are forgotten, and the cancellation of such a request may be lost.</para>
/// </remarks>
internal sealed class CancellableCalls
{
    /// <summary>Notes of one node.</summary>
    internal const int MaxNotes = Parts * Part.MaxNotes;

    private const int Parts = 16;

    private readonly Part[] _parts = [.. Enumerable.Range(0, Parts).Select(static _ => new Part())];

    /// <summary>Requests in the table.</summary>
    internal int Count => _parts.Sum(static part => part.Count);

    /// <summary>Notes about requests that are not here.</summary>
    internal int Notes => _parts.Sum(static part => part.Notes);

    /// <summary>Adds a request that has arrived, before anybody else gets it. It may be cancelled already.</summary>
    internal void Add(CallCancellation cancellation)
    {
        Invariant.Holds(cancellation.Table is null);
        var call = cancellation.Call;
        var key = new Key(call.Remote!, call.ReplyTo);
        // A ticket is used once. If a peer uses it twice, the second request cannot be cancelled.
        if (!PartOf(call.ReplyTo).TryAdd(key, cancellation))
            return;
        cancellation.Key = (call.Remote!, call.ReplyTo);
        cancellation.Table = this;
    }

    internal void Remove(CallCancellation cancellation)
    {
        Invariant.Holds(cancellation.Table == this);
        var (origin, ticket) = cancellation.Key;
        cancellation.Table = null;
        cancellation.Key = default;
        PartOf(ticket).Remove(new Key(origin, ticket));
    }

    /// <summary>
    /// A request of the table is about to be sent to another node. False if it was cancelled: it must not be sent. A cancellation that
    /// comes later goes to <paramref name="next"/>, where it may arrive before the request, and waits.
    /// </summary>
    /// <param name="cancellation">The cancellation of the request. Not in the table any more if this returns true.</param>
    /// <param name="next">The other node.</param>
    /// <param name="until">When the note about it may be forgotten, as this node's clock says.</param>
    internal bool TryLeave(CallCancellation cancellation, SiloAddress next, long until)
    {
        var (origin, ticket) = cancellation.Key;
        if (!PartOf(ticket).TryLeave(new Key(origin, ticket), cancellation, next, until))
            return false;
        cancellation.Table = null;
        cancellation.Key = default;
        return true;
    }

    /// <summary>Cancels a request, here or where it went. If neither is known, the cancellation is kept for it.</summary>
    /// <param name="origin">The node that waits for the answer.</param>
    /// <param name="ticket">The ticket of the request there.</param>
    /// <param name="until">When a cancellation that is kept may be forgotten, as this node's clock says.</param>
    /// <param name="next">Where the request went.</param>
    internal CancelStep Cancel(object origin, ulong ticket, long until, out SiloAddress? next) =>
        PartOf(ticket).Cancel(new Key(origin, ticket), until, out next);

    /// <summary>Cancels the requests of a node that is gone; returns how many.</summary>
    internal int CancelAllOf(object origin) => _parts.Sum(part => part.CancelAllOf(origin));

    /// <summary>Forgets the notes about requests whose deadlines have passed.</summary>
    internal void Expire(long now)
    {
        foreach (var part in _parts)
            part.Expire(now);
    }

    private Part PartOf(ulong ticket) => _parts[ticket % Parts];

    private readonly record struct Key(object Origin, ulong Ticket);

    /// <summary>About a request that is not here.</summary>
    /// <param name="Next">Where it went; null if it was cancelled before it came.</param>
    /// <param name="Until">When this may be forgotten.</param>
    /// <param name="Number">Its number among the notes of the part.</param>
    private readonly record struct Note(SiloAddress? Next, long Until, long Number);

    /// <summary>The requests and notes whose tickets have the same remainder, under one lock.</summary>
    private sealed class Part
    {
        internal const int MaxNotes = 1_024;

        private readonly Lock _gate = new();
        private readonly Dictionary<Key, CallCancellation> _requests = [];
        private readonly Dictionary<Key, Note> _notes = [];

        /// <summary>The notes in the order in which they were made, and some that have been given back.</summary>
        private readonly Queue<(Key Key, long Number)> _order = new();
        private long _made;

        internal int Count
        {
            get
            {
                lock (_gate)
                    return _requests.Count;
            }
        }

        internal int Notes
        {
            get
            {
                lock (_gate)
                    return _notes.Count;
            }
        }

        internal bool TryAdd(Key key, CallCancellation cancellation)
        {
            lock (_gate)
            {
                if (!_requests.TryAdd(key, cancellation))
                    return false;
                Invariant.Holds(_notes.Count <= _order.Count);
                if (_notes.Count > 0 && _notes.Remove(key, out var note) && note.Next is null)
                    cancellation.ArriveCancelled();
                return true;
            }
        }

        internal void Remove(Key key)
        {
            lock (_gate)
            {
                if (Invariant.AreChecked)
                    Invariant.Holds(_requests.ContainsKey(key));
                _requests.Remove(key);
            }
        }

        internal bool TryLeave(Key key, CallCancellation cancellation, SiloAddress next, long until)
        {
            lock (_gate)
            {
                if (cancellation.IsCancelled)
                    return false;
                _requests.Remove(key);
                Write(key, next, until);
                return true;
            }
        }

        internal CancelStep Cancel(Key key, long until, out SiloAddress? next)
        {
            next = null;
            lock (_gate)
            {
                if (_requests.TryGetValue(key, out var cancellation))
                {
                    Tell(cancellation);
                    return CancelStep.Ended;
                }

                if (_notes.TryGetValue(key, out var note))
                {
                    next = note.Next;
                    return next is null ? CancelStep.Ended : CancelStep.Follows;
                }

                Write(key, null, until);
                return CancelStep.Waits;
            }
        }

        internal int CancelAllOf(object origin)
        {
            var cancelled = 0;
            lock (_gate)
            {
                foreach (var (key, cancellation) in _requests)
                {
                    if (!origin.Equals(key.Origin))
                        continue;
                    cancellation.IsCallerLost |= !cancellation.IsCancelled;
                    Tell(cancellation);
                    cancelled++;
                }
            }

            return cancelled;
        }

        internal void Expire(long now)
        {
            lock (_gate)
            {
                if (_order.Count == 0)
                    return;
                foreach (var (key, note) in _notes)
                {
                    if (note.Until <= now)
                        _notes.Remove(key);
                }

                while (_order.TryPeek(out var oldest) && !IsWritten(oldest.Key, oldest.Number))
                    _order.Dequeue();
                Invariant.Holds(_notes.Count <= _order.Count);
            }
        }

        private void Write(Key key, SiloAddress? next, long until)
        {
            Invariant.Held(_gate);
            // A note is about a request that is not here.
            if (Invariant.AreChecked)
                Invariant.Holds(!_requests.ContainsKey(key));
            if (_order.Count >= MaxNotes && _order.Dequeue() is var oldest && IsWritten(oldest.Key, oldest.Number))
                _notes.Remove(oldest.Key);
            _notes[key] = new Note(next, until, ++_made);
            _order.Enqueue((key, _made));
            Invariant.Holds(_order.Count <= MaxNotes && _notes.Count <= _order.Count);
        }

        private bool IsWritten(Key key, long number) => _notes.TryGetValue(key, out var note) && note.Number == number;

        private static void Tell(CallCancellation cancellation)
        {
            if (cancellation.Mark())
                cancellation.TellHost();
        }
    }
}
