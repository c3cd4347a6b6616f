using ActOp.Calls;
using ActOp.Runtime.Timers;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The mailbox and the turn loop.</summary>
/// <remarks>
/// The inbox is a stack that any thread pushes to with one compare-and-swap; <see cref="Idle"/> in it means that the
/// activation waits for nothing and is not with the stage, so whoever replaces it posts the activation. The turn takes
/// the whole stack at once and turns it around into <see cref="_ready"/>, which keeps the order of arrival.
/// </remarks>
internal sealed partial class Activation
{
    /// <summary>
    /// Items run before the activation goes to the back of the stage's queue: the quantum that keeps a busy grain from holding a thread.
    /// </summary>
    private const int Quantum = 64;

    private const long DropPeriodMs = 1_000;

    private static readonly MailboxItem Idle = new ActionItem(static _ => { }, null);

    private MailboxItem? _inbox;
    private MailboxItem? _ready;

    /// <summary>Requests that arrived but may not run yet, in order; linked by <see cref="MailboxItem.Next"/>.</summary>
    private MailboxItem? _waiting;
    private int _waitingCount;

    /// <summary>True when nothing is queued and no turn runs; a moment's truth.</summary>
    internal bool IsIdle => ReferenceEquals(Volatile.Read(ref _inbox), Idle) && _runningCount == 0 && _waitingCount == 0;

    /// <summary>Queued requests; approximate from other threads.</summary>
    internal int QueueLength => (Volatile.Read(ref _inbox)?.Depth ?? 0) + _waitingCount + _runningCount;

    internal override void Enqueue(MailboxItem work)
    {
        MailboxItem? head;
        do
        {
            head = Volatile.Read(ref _inbox);
            if (head is null || ReferenceEquals(head, Idle))
            {
                work.Next = null;
                work.Depth = 1;
            }
            else
            {
                work.Next = head;
                work.Depth = head.Depth + 1;
            }
        }
        while (!ReferenceEquals(Interlocked.CompareExchange(ref _inbox, work, head), head));

        if (ReferenceEquals(head, Idle))
            _home.Stage.Post(this);
    }

    /// <summary>
    /// Puts a request into the mailbox, or refuses it when as many as may wait have not even been looked at. Those that wait for others to
    /// end are counted by the turn, which knows them: see <see cref="Wait"/>.
    /// </summary>
    internal void EnqueueRequest(Call call)
    {
        if (_home.HasLimit && (Volatile.Read(ref _inbox)?.Depth ?? 0) >= Parts.MailboxLimit)
            Refuse(call);
        else
            Enqueue(call);
    }

    private void Refuse(Call call) => Fail(call, new LimitExceededException(
        "The mailbox of " + GrainId + " is full: " + Parts.MailboxLimit + " requests wait. The call " + call.Method.ActivityName + " was refused."));

    /// <summary>Has the waiting requests dropped that nobody waits for any more. Any thread.</summary>
    internal void DropAbandoned()
    {
        if (Volatile.Read(ref _waitingCount) > 0)
            Enqueue(new ActionItem(static state => ((Activation)state!).DropWaiting(), this));
    }

    /// <summary>Looks for the dead behind a living one; at most once a second, because it walks over all that wait.</summary>
    private bool MakeRoom()
    {
        var now = Parts.Local.Clock.Now;
        if (now - Extras.LastDrop < DropPeriodMs)
            return false;
        Extras.LastDrop = now;
        DropWaiting();
        return _waitingCount < Parts.MailboxLimit;
    }

    private void DropWaiting()
    {
        MailboxItem? before = null;
        for (var item = _waiting; item is Call call;)
        {
            var next = call.Next;
            if (Parts.Abandoned.IsAbandoned(call))
            {
                Unlink(call, before);
                Parts.Abandoned.Drops(call);
            }
            else
            {
                before = call;
            }

            item = next;
        }
    }

    /// <summary>One visit of the stage: up to <see cref="Quantum"/> items.</summary>
    public void Execute()
    {
        if (_stopped || (Parts.Lease.IsClosed && Class.IsOrdinary && Parts.Lease.TryPark(this)))
            return;
        var outer = Current;
        ref var currentTask = ref Turn.CurrentTask();
        var outerTask = currentTask;
        var task = Turn.TaskOfThread;
        ref var scheduler = ref Turn.SchedulerOf(task);
        var outerScheduler = scheduler;
        Current = this;
        currentTask = task;
        scheduler = this;
        var began = Parts.Local.Clock.Now;
        var more = RunItems();
        scheduler = outerScheduler;
        currentTask = outerTask;
        Current = outer;
        var took = Parts.Local.Clock.Now - began;
        if (took > Parts.LongTurnMs)
            Parts.Local.Log.LongTurn(GrainId, took);
        if (more)
            _home.Stage.Post(this);
    }

    /// <summary>Gives the activation back to its stage after <see cref="Cluster.LeaseGate"/> has held its turn.</summary>
    internal void PostTurn() => _home.Stage.Post(this);

    /// <summary>True when the quantum ended before the mailbox was empty.</summary>
    private bool RunItems()
    {
        for (var left = Quantum; left > 0; left--)
        {
            var work = _ready;
            if (work is null)
            {
                work = TakeInbox();
                if (work is null)
                    return false;
            }

            _ready = work.Next;
            work.Next = null;
            RunItem(work);
            if (_waiting is not null)
                RunWaiting();
        }

        return true;
    }

    private void RunItem(MailboxItem work)
    {
        try
        {
            if (work is Call call)
                RunCall(call);
            else
                work.Run(this);
        }
        catch (Exception exception)
        {
            Parts.Local.Log.TurnFailed(GrainId, exception);
        }

        Turn.CleanContext();
    }

    /// <summary>Takes what arrived, oldest first, or goes idle and returns null.</summary>
    private MailboxItem? TakeInbox()
    {
        while (true)
        {
            // Mostly nothing has come during the turn.
            if (Volatile.Read(ref _inbox) is null)
            {
                if (Interlocked.CompareExchange(ref _inbox, Idle, null) is null)
                    return null;
            }

            // Not null: only the turn takes what is there.
            var stack = Interlocked.Exchange(ref _inbox, null);
            MailboxItem? oldest = null;
            while (stack is not null)
            {
                var next = stack.Next;
                stack.Next = oldest;
                oldest = stack;
                stack = next;
            }

            _ready = oldest;
            return oldest;
        }
    }

    /// <summary>
    /// Keeps a request until others have ended, or refuses it when too many wait already. Requests that nobody waits for any more take no
    /// room.
    /// </summary>
    private void Wait(Call call)
    {
        // Deadlines come about in the order of arrival, so the dead are in front.
        while (_waiting is Call first && Parts.Abandoned.IsAbandoned(first))
        {
            Unlink(first, null);
            Parts.Abandoned.Drops(first);
        }

        if (_waitingCount >= Parts.MailboxLimit && _home.HasLimit && call is not TimerCall && !MakeRoom())
        {
            Refuse(call);
            return;
        }

        call.Next = null;
        if (_waiting is null)
        {
            _waiting = call;
        }
        else
        {
            // Most activations never have two waiting: the call that begins one waits alone.
            (_waitingCount == 1 ? _waiting : Extras.LastWaiting!).Next = call;
            Extras.LastWaiting = call;
        }

        _waitingCount++;
    }

    /// <summary>
    /// Runs, in order of arrival, the waiting requests that may run now; one that may not does not hold back those behind it.
    /// </summary>
    private void RunWaiting()
    {
        if (State != ActivationState.Active || IsLeaving)
            return;
        MailboxItem? before = null;
        var item = _waiting;
        while (item is Call call)
        {
            var next = call.Next;
            if (!MayRun(call))
            {
                if (!Class.HasPredicate && !MayOthersRun)
                    return;
                before = call;
                item = next;
                continue;
            }

            Unlink(call, before);
            if (Parts.Abandoned.Drops(call))
            {
                item = next;
                continue;
            }

            StartRequest(call);
            Turn.CleanContext();
            if (State != ActivationState.Active || IsLeaving)
                return;
            item = before is null ? _waiting : before.Next;
        }
    }

    private void Unlink(Call call, MailboxItem? before)
    {
        if (before is null)
            _waiting = call.Next;
        else
            before.Next = call.Next;
        if (call.Next is null && _extras is { } extras)
            extras.LastWaiting = before;
        call.Next = null;
        _waitingCount--;
    }

    private Call? TakeWaiting()
    {
        if (_waiting is not Call call)
            return null;
        Unlink(call, null);
        return call;
    }
}
