using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Timers;
using Orleans.CodeGeneration;

namespace ActOp.Runtime.Activations;

/// <summary>Which requests of one activation run, and which wait until they may.</summary>
/// <remarks>
/// <para>Owns the running requests (counted, and those that block others by reference) and the list of waiting ones. The lists that few
/// activations need are in <see cref="ActivationExtras"/>. Only the turn of the activation changes anything. Other threads may read <see
/// cref="IsEmpty"/>, <see cref="Count"/> and <see cref="HasWaiting"/>, as racy snapshots.</para>
/// <para>A field of <see cref="Activation"/>, never copied: a silo has a million of them. It has no reference to the activation, so its
/// methods get it as an argument.</para>
/// </remarks>
internal struct Admission
{
    /// <summary>Between two searches of the whole waiting list for abandoned requests, at least.</summary>
    private const long DropPeriodMs = 1_000;

    /// <summary>A running request that keeps others waiting; null if all that run always interleave.</summary>
    private Call? _blocking;

    /// <summary>The first of the requests that wait, in order of arrival; linked by <see cref="MailboxItem.Next"/>.</summary>
    private MailboxItem? _waiting;
    private int _runningCount;
    private int _waitingCount;

    internal readonly bool IsEmpty => _runningCount == 0 && _waitingCount == 0;

    /// <summary>Requests that run or wait.</summary>
    internal readonly int Count => _waitingCount + _runningCount;

    internal readonly bool HasRunning => _runningCount > 0;

    /// <summary>A running request that keeps others waiting. Any thread; the object may be in another use by now.</summary>
    internal Call? Blocking => Volatile.Read(ref _blocking);

    /// <summary>The request that waits for longest. Any thread, as <see cref="Blocking"/>.</summary>
    internal Call? FirstWaiting => Volatile.Read(ref _waiting) as Call;

    internal bool HasWaiting => Volatile.Read(ref _waitingCount) > 0;

    /// <summary>As <see cref="HasWaiting"/>, on the turn.</summary>
    internal readonly bool MustVisitWaiting => _waiting is not null;

    /// <summary>Whether a new request starts now, or waits with those that do.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal readonly bool MayStart(Activation activation, Call call) =>
        MayOvertake(activation, call) && MayRun(activation, call)
        && (activation.Home.Group is null || HeldActivation.HasTimeFor(activation, call));

    /// <summary>Whether a new request may start before the waiting ones. If none of them could start, neither can it.</summary>
    private readonly bool MayOvertake(Activation activation, Call call) =>
        _waiting is null || (MayOthersRun(activation) && !IsHeld(activation)) || IsAlwaysInterleaved(call);

    /// <summary>Whether a request may start beside the running ones. The rules of Orleans, in the same order.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal readonly bool MayRun(Activation activation, Call call) =>
        _runningCount == 0 || _blocking is null || IsAlwaysInterleaved(call) || MayRunBeside(_blocking, activation, call);

    /// <summary>The request runs, no other does, and none that does not interleave will before it ends.</summary>
    internal readonly bool RunsAlone(Call call) => _runningCount == 1 && ReferenceEquals(_blocking, call);

    /// <summary>Counts a request that starts.</summary>
    internal void Started(Activation activation, Call call)
    {
        if (Invariant.AreChecked)
        {
            Invariant.Holds(_runningCount >= 0 && !ReferenceEquals(_blocking, call));
            Invariant.Holds(ReferenceEquals(CallHost.Current, activation));
        }

        _runningCount++;
        if (IsAlwaysInterleaved(call))
            return;
        if (_blocking is null)
            _blocking = call;
        else
            (activation.Extras.AlsoBlocking ??= []).Add(call);
    }

    /// <summary>Undoes <see cref="Started"/> for a request that has ended.</summary>
    internal void Ended(Activation activation, Call call)
    {
        if (Invariant.AreChecked)
        {
            Invariant.Holds(_runningCount > 0);
            Invariant.Holds(ReferenceEquals(CallHost.Current, activation));
        }

        _runningCount--;
        if (!ReferenceEquals(_blocking, call))
        {
            activation.ExistingExtras?.AlsoBlocking?.Remove(call);
            return;
        }

        if (Invariant.AreChecked)
            Invariant.Holds(_runningCount >= (activation.ExistingExtras?.AlsoBlocking?.Count ?? 0));
        _blocking = null;
        if (activation.ExistingExtras?.AlsoBlocking is { Count: > 0 } others)
        {
            _blocking = others[^1];
            others.RemoveAt(others.Count - 1);
        }
    }

    /// <summary>
    /// Keeps a request until others have ended, or refuses it if too many wait already. Abandoned requests do not count.
    /// </summary>
    internal void Wait(Activation activation, Call call)
    {
        var parts = activation.Parts;
        // Deadlines pass roughly in the order of arrival, so most abandoned requests are at the front.
        while (_waiting is Call first && parts.Abandoned.IsAbandoned(first))
        {
            Unlink(activation, first, null);
            parts.Abandoned.Drops(first);
        }

        if (_waitingCount >= activation.Limit && call is not TimerCall && !MakeRoom(activation))
        {
            activation.Refuse(call);
            return;
        }

        if ((call.Flags & Call.Cancellable) != 0 && !call.Cancellation!.TryWait(activation))
        {
            Activation.Fail(call, Cancellations.NeverRan(call));
            return;
        }

        if (Invariant.AreChecked)
            Invariant.Holds((_waiting is null) == (_waitingCount == 0));
        call.Next = null;
        if (_waiting is null)
        {
            _waiting = call;
        }
        else
        {
            if (Invariant.AreChecked)
                Invariant.Holds((_waitingCount == 1 ? _waiting : activation.Extras.LastWaiting!).Next is null);
            // Most activations never have two waiting requests: the call that activates a grain waits alone.
            (_waitingCount == 1 ? _waiting : activation.Extras.LastWaiting!).Next = call;
            activation.Extras.LastWaiting = call;
        }

        _waitingCount++;
        activation.Home.Group?.Count(call);
    }

    /// <summary>
    /// Starts the waiting requests that may run now, in order of arrival. A request that may not run does not hold back those behind it.
    /// </summary>
    internal void RunWaiting(Activation activation)
    {
        if (!activation.Life.StartsWaiting || IsHeld(activation))
            return;
        try
        {
            StartWaiting(activation);
        }
        catch (Exception exception)
        {
            // Those that still wait are visited again after the next item.
            activation.Parts.Local.Log.TurnFailed(activation.GrainId, exception);
            Turn.CleanContext();
        }
    }

    private void StartWaiting(Activation activation)
    {
        MailboxItem? before = null;
        var item = _waiting;
        while (item is Call call)
        {
            var next = call.Next;
            if (!MayRun(activation, call))
            {
                if (!activation.Class.HasPredicate && !MayOthersRun(activation))
                    return;
                before = call;
                item = next;
                continue;
            }

            if (activation.Home.Group is not null && !HeldActivation.HasTimeFor(activation, call))
                return;
            Unlink(activation, call, before);
            if (activation.Parts.Abandoned.Drops(call))
            {
                item = next;
                continue;
            }

            RequestRun.Start(activation, call);
            Turn.CleanContext();
            if (!activation.Life.StartsWaiting)
                return;
            item = before is null ? _waiting : before.Next;
        }
    }

    /// <summary>Removes the first waiting request; null if none waits.</summary>
    internal Call? TakeWaiting(Activation activation)
    {
        if (_waiting is not Call call)
            return null;
        Unlink(activation, call, null);
        return call;
    }

    /// <summary>Removes the abandoned requests from the waiting list.</summary>
    internal void DropAbandoned(Activation activation)
    {
        var abandoned = activation.Parts.Abandoned;
        MailboxItem? before = null;
        for (var item = _waiting; item is Call call;)
        {
            var next = call.Next;
            if (abandoned.IsAbandoned(call))
            {
                Unlink(activation, call, before);
                abandoned.Drops(call);
            }
            else
            {
                before = call;
            }

            item = next;
        }
    }

    /// <summary>Answers a waiting request that was cancelled.</summary>
    internal void CancelWaiting(Activation activation, Call cancelled)
    {
        MailboxItem? before = null;
        for (var item = _waiting; item is Call call; item = call.Next)
        {
            if (ReferenceEquals(call, cancelled))
            {
                Unlink(activation, call, before);
                Activation.Fail(call, Cancellations.NeverRan(call));
                return;
            }

            before = call;
        }
    }

    private static bool IsAlwaysInterleaved(Call call) => (call.Flags & InvokeMethodOptions.AlwaysInterleave) != 0;

    /// <summary>The first of the waiting requests waits for the time of its group, and all behind it.</summary>
    private static bool IsHeld(Activation activation) => activation.ExistingExtras?.Held is { Waits: true };

    private static bool MayRunBeside(Call blocking, Activation activation, Call call)
    {
        if ((blocking.Flags & call.Flags & InvokeMethodOptions.ReadOnly) != 0)
            return true;
        if (activation.ExistingExtras?.Sections is { } sections && call.Context is { } context && context.ReentrancyId != Guid.Empty
            && sections.ContainsKey(context.ReentrancyId))
        {
            return true;
        }

        if (activation.Class.Reentrant)
            return true;
        return activation.Class.HasPredicate && MayInterleave(blocking, activation, call);
    }

    /// <summary>The answer of the [MayInterleave] predicate of the grain class.</summary>
    private static bool MayInterleave(Call blocking, Activation activation, Call call)
    {
        try
        {
            var (grainClass, instance) = (activation.Class, activation.Instance);
            return grainClass.MayInterleave(call, instance) || grainClass.MayInterleave(blocking, instance);
        }
        catch (Exception exception)
        {
            // Admitted, so that it leaves the list. It is answered with the error and does not run.
            call.Error = exception;
            return true;
        }
    }

    /// <summary>False if the running request excludes every ordinary request, so that a visit of the waiting ones is useless.</summary>
    private readonly bool MayOthersRun(Activation activation) =>
        _runningCount == 0 || _blocking is null || activation.Class.Reentrant || activation.ExistingExtras?.Sections is { Count: > 0 }
        || (_blocking.Flags & InvokeMethodOptions.ReadOnly) != 0;

    /// <summary>
    /// Removes abandoned requests anywhere in the list. At most once per <see cref="DropPeriodMs"/>, because it visits all that wait.
    /// </summary>
    private bool MakeRoom(Activation activation)
    {
        var now = activation.Parts.Local.Clock.Now;
        if (now - activation.Extras.LastDrop < DropPeriodMs)
            return false;
        activation.Extras.LastDrop = now;
        DropAbandoned(activation);
        return _waitingCount < activation.Limit;
    }

    private void Unlink(Activation activation, Call call, MailboxItem? before)
    {
        if (Invariant.AreChecked)
            Invariant.Holds(_waitingCount > 0 && ReferenceEquals(before is null ? _waiting : before.Next, call));
        if (before is null)
            _waiting = call.Next;
        else
            before.Next = call.Next;
        if (call.Next is null && activation.ExistingExtras is { } extras)
            extras.LastWaiting = before;
        call.Next = null;
        _waitingCount--;
        GrainGroup.Release(call);
        if (Invariant.AreChecked)
            Invariant.Holds((_waiting is null) == (_waitingCount == 0));
    }
}
