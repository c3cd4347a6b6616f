using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The shares that clients have in starting activations. The work stage runs what is posted in order, so a client that calls thousands of
/// new grains at once would hold up all others behind them. So of each client, the stage has at most <see cref="Quantum"/> starts that have
/// not run; further requests that would start one wait here, and follow behind what others have posted meanwhile. A client that has used up
/// a quantum gets the next one after <see cref="Pace"/>: what starts leave behind outlives collections, so a burst of them would make one
/// long pause of the collector.
/// </summary>
/// <remarks>
/// <para>Owns the requests that wait, and the pause of the links of their clients. If <see cref="PauseAt"/> requests of a client wait, its
/// links are not read until <see cref="ResumeAt"/> are left: requests that have not been read cost the silo nothing, while thousands of
/// objects that live for some milliseconds make the pauses of the collector long for all. What was read before, or comes through another
/// silo, waits up to the limit; others are refused. A client has an entry from its first start until its item in the stage has found
/// nothing to do. Any thread: each entry has a lock, under which of others only the links are marked.</para>
/// <para>The order of a client's requests to one grain stays: while one of them waits, those behind it wait, too. The length of a start
/// does not count: a start that waits for a storage gives its place to the next one.</para>
/// <para>The clients that wait for the pace are a list with a lock and one timer; all of them get their quantum at the same tick, so they
/// take turns. The lock is the innermost one.</para>
/// <para>Failures. The request has expired or its caller is gone: it is dropped when its turn comes. The start throws: the request fails.
/// The silo stops: a request whose turn comes is routed to another silo. The client is gone: its requests still take their turns.
/// The timers of the node have ended: what waits here ends with the node, as what is in the stage does.</para>
/// </remarks>
/// <param name="time">The time of the node.</param>
/// <param name="work">The stage that runs turns.</param>
/// <param name="begin">Starts the activation of a request, or routes it if it cannot start here.</param>
/// <param name="abandoned">Drops requests that nobody waits for.</param>
/// <param name="limit">How many requests of one client may wait.</param>
/// <param name="pause">Pauses (true) or resumes reading the links of a client. Must not call back.</param>
internal sealed class StartShares(
    NodeTime time, Stage work, Action<Call, GrainId> begin, AbandonedRequests abandoned, int limit, Action<SiloAddress, bool> pause)
{
    /// <summary>Some hundred microseconds of the stage: little beside a round trip, much beside the cost of a visit.</summary>
    internal const int Quantum = 32;

    /// <summary>A few visits: the stage has work until a link that is read again has brought more.</summary>
    internal const int PauseAt = 8 * Quantum;

    internal const int ResumeAt = 2 * Quantum;

    /// <summary>The shortest time that timers keep. With the quantum, a client gets up to 32,000 starts a second of each silo.</summary>
    internal static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(1);

    /// <summary>
    /// Quanta after which the youngest generation is collected, if it was not meanwhile: 1,024 starts, of which some 0.5 MB survive. A
    /// pause takes longer the more survives: 40 ms for the whole budget of 16 MB, 10 to 28 ms for 4,096 starts, 7 to 16 ms for these.
    /// </summary>
    internal const int CollectAfter = 32;

    private readonly NodeTime _time = time;
    private readonly Stage _work = work;
    private readonly Action<Call, GrainId> _begin = begin;
    private readonly AbandonedRequests _abandoned = abandoned;
    private readonly int _limit = limit;
    private readonly Action<SiloAddress, bool> _pause = pause;
    private readonly ConcurrentDictionary<SiloAddress, Share> _shares = new();
    private readonly Lock _paceGate = new();
    private List<Share> _paced = [];
    private ITimer? _timer;
    private int _collection;
    private int _quanta;
    private int _waiting;

    /// <summary>
    /// How often the pace has let clients go on, how many turns found less than a quantum, and how many collections it has asked for. For
    /// tests.
    /// </summary>
    internal (int Ticks, int Partial, int Collections) Paced;

    /// <summary>Requests that wait, of all clients.</summary>
    internal int Waiting => Volatile.Read(ref _waiting);

    /// <summary>A request that starts an activation. True if it has to wait, or was refused; else the caller starts it now.</summary>
    internal bool Holds(Call call, GrainId target)
    {
        if (ClientOf(call) is not { } client)
            return false;
        while (true)
        {
            var share = _shares.GetOrAdd(client, static (address, shares) => new Share(shares, address), this);
            if (share.TryCount(call, target, out var holds))
                return holds;
        }
    }

    /// <summary>A request of any kind. True if an earlier one of its client for the same grain waits: then it waits behind it.</summary>
    internal bool Follows(Call call, GrainId target) =>
        ClientOf(call) is { } client && _shares.TryGetValue(client, out var share) && share.TryFollow(call, target);

    private void PostAtTick(Share share)
    {
        lock (_paceGate)
        {
            if (IsTimeToCollect())
                GC.Collect(0, GCCollectionMode.Forced, blocking: true);
            _paced.Add(share);
            if (_paced.Count > 1)
                return;
            _timer ??= _time.CreateTimer(
                static shares => ((StartShares)shares!).Tick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            _timer.Change(Pace, Timeout.InfiniteTimeSpan);
        }
    }

    private bool IsTimeToCollect()
    {
        Invariant.Held(_paceGate);
        var collection = GC.CollectionCount(0);
        _quanta = collection == _collection ? _quanta + 1 : 1;
        _collection = collection;
        if (_quanta < CollectAfter)
            return false;
        Paced.Collections++;
        return true;
    }

    private void Tick()
    {
        List<Share> paced;
        lock (_paceGate)
        {
            Paced.Ticks++;
            (paced, _paced) = (_paced, []);
        }

        foreach (var share in paced)
            _work.PostBehind(share);
    }

    private static SiloAddress? ClientOf(Call call) => call.Remote is SiloAddress { IsClient: true } client ? client : null;

    private sealed class Share(StartShares shares, SiloAddress client) : IStageItem
    {
        private readonly Lock _gate = new();
        private readonly Queue<(Call Call, GrainId Target)> _requests = [];
        private readonly Dictionary<GrainId, int> _targets = new(GrainsByRandomHash.Instance);
        private int _started;
        private bool _isPaused;
        private bool _isOver;

        /// <summary>False if the entry is over, and another one is needed.</summary>
        internal bool TryCount(Call call, GrainId target, out bool holds)
        {
            bool isFirst, hasRoom;
            lock (_gate)
            {
                holds = false;
                if (_isOver)
                    return false;
                holds = _started >= Quantum || _targets.Count > 0;
                hasRoom = !holds || TryKeep(call, target);
                isFirst = !holds && _started++ == 0;
                Invariant.Holds(_started <= Quantum);
            }

            if (!hasRoom)
                Refuse(call);
            else if (isFirst)
                shares._work.PostBehind(this);
            return true;
        }

        internal bool TryFollow(Call call, GrainId target)
        {
            lock (_gate)
            {
                if (!_targets.ContainsKey(target))
                    return false;
                if (TryKeep(call, target))
                    return true;
            }

            Refuse(call);
            return true;
        }

        /// <summary>Those that were started before have had their turn.</summary>
        public void Execute()
        {
            var count = 0;
            for (; count < Quantum && TryTake(out var next); count++)
            {
                Begin(next.Call, next.Target);
                Forget(next.Target);
            }

            lock (_gate)
            {
                Invariant.Holds(!_isOver);
                _started = count;
                _isOver = count == 0 && _requests.Count == 0;
                Invariant.Holds(!_isOver || !_isPaused);
                if (_isOver)
                    shares._shares.TryRemove(KeyValuePair.Create(client, this));
            }

            if (count < Quantum)
                Interlocked.Increment(ref shares.Paced.Partial);
            if (_isOver)
                return;
            if (count == Quantum)
                shares.PostAtTick(this);
            else
                shares._work.PostBehind(this);
        }

        private void Begin(Call call, GrainId target)
        {
            if (shares._abandoned.Drops(call))
                return;
            try
            {
                shares._begin(call, target);
            }
            catch (Exception exception)
            {
                Activation.Fail(call, exception);
            }
        }

        private bool TryTake(out (Call Call, GrainId Target) next)
        {
            lock (_gate)
            {
                if (!_requests.TryDequeue(out next))
                    return false;
                if (_isPaused && _requests.Count <= ResumeAt)
                    Pause(false);
                return true;
            }
        }

        private void Pause(bool isPaused)
        {
            Invariant.Held(_gate);
            _isPaused = isPaused;
            shares._pause(client, isPaused);
        }

        private bool TryKeep(Call call, GrainId target)
        {
            Invariant.Held(_gate);
            if (_requests.Count >= shares._limit)
                return false;
            _requests.Enqueue((call, target));
            CollectionsMarshal.GetValueRefOrAddDefault(_targets, target, out _)++;
            Interlocked.Increment(ref shares._waiting);
            // Repeated at each request: the client may have other links since.
            if (_requests.Count >= PauseAt)
                Pause(true);
            // One request may have left the queue and not begun.
            Invariant.Holds(_targets.Count <= _requests.Count + 1);
            return true;
        }

        /// <summary>The request is in the mailbox of its grain, so those that come now go there, too.</summary>
        private void Forget(GrainId target)
        {
            lock (_gate)
            {
                if (--CollectionsMarshal.GetValueRefOrNullRef(_targets, target) == 0)
                    _targets.Remove(target);
            }

            Interlocked.Decrement(ref shares._waiting);
            Invariant.Holds(shares._waiting >= 0);
        }

        private void Refuse(Call call) => Activation.Fail(call, new LimitExceededException(
            "The client " + client + " waits for the start of " + shares._limit + " grains (StageOptions.MailboxLimit). The call "
            + call.Method.ActivityName + " was refused."));
    }
}
