namespace ActOp.Runtime.Activations;

/// <summary>Where an activation is in its life. The names of its steps, in order.</summary>
internal enum LifePhase : byte
{
    /// <summary>It starts, or its creator will start it: requests wait.</summary>
    Starting,

    /// <summary>Its first request will start it.</summary>
    FirstRequest,

    /// <summary>It takes requests.</summary>
    Active,

    /// <summary>It ends: timers stop, OnDeactivateAsync and the stages of the lifecycle run.</summary>
    Hooks,

    /// <summary>Its start has failed: it is disposed, then it refuses calls for a while.</summary>
    Refusing,

    /// <summary>Its state goes to another silo, or back to this one.</summary>
    Moving,

    /// <summary>It leaves the directory.</summary>
    Unlisting,

    /// <summary>Nobody finds it any more: requests are forwarded; it is disposed.</summary>
    Releasing,

    /// <summary>Nothing of it is left but references.</summary>
    Over,
}

/// <summary>What happens to an activation.</summary>
internal enum LifeEvent : byte
{
    /// <summary>Something needs it: the first request, or a request for its end.</summary>
    Begin,

    /// <summary>It needs no start: an observer or a system target.</summary>
    Given,

    /// <summary>The end is requested.</summary>
    EndAsked,

    /// <summary>As <see cref="EndAsked"/>, from outside of the grain.</summary>
    EndAskedFromOutside,

    /// <summary>A request never ends; the activation ends beside it.</summary>
    EndForced,

    /// <summary>The grain requests a migration.</summary>
    MoveAsked,

    /// <summary>The runtime requests a migration.</summary>
    MoveOffered,

    /// <summary>The runtime withdraws its request.</summary>
    OfferWithdrawn,

    /// <summary>The grain has another silo to go to.</summary>
    TargetFound,

    /// <summary>It has none.</summary>
    TargetMissing,

    /// <summary>No request runs.</summary>
    AtRest,

    /// <summary>The start has succeeded.</summary>
    Started,

    /// <summary>The start has ended otherwise; the requests go to the next activation.</summary>
    StartUndone,

    /// <summary>The start has failed; the calls of the next seconds get the exception.</summary>
    StartRefused,

    /// <summary>The step of the end that ran has ended: by itself, with an exception, or by its time limit.</summary>
    StepEnded,

    /// <summary>The step <see cref="LifePhase.Moving"/> has ended: another activation has the state.</summary>
    Moved,

    /// <summary>A failure that no step has caught.</summary>
    Failed,

    /// <summary>An observer was deleted.</summary>
    Deleted,
}

/// <summary>Sees every event in the lives of activations: for a simulation that checks them.</summary>
/// <param name="activation">The activation.</param>
/// <param name="before">Its machine before the event.</param>
/// <param name="happened">The event.</param>
internal delegate void LifeWatch(Activation activation, LifeMachine before, LifeEvent happened);

/// <summary>What must be done, in the order of the values.</summary>
[Flags]
internal enum LifeActions : ushort
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>
    /// Run the start. If it was the answer to another event than <see cref="LifeEvent.Begin"/>, that event is given again afterwards: the
    /// start may have ended already.
    /// </summary>
    Begin = 1,

    /// <summary>Note the reason of the end.</summary>
    Decide = 2,

    /// <summary>Tell what would hold up the end.</summary>
    TellEnding = 4,

    /// <summary>Cancel the start that runs.</summary>
    CancelStart = 8,

    /// <summary>End the refusal of calls.</summary>
    Hurry = 16,

    /// <summary>Choose a target.</summary>
    Choose = 32,

    /// <summary>The target is that of the runtime's request.</summary>
    TakeOffer = 64,

    /// <summary>Tell the runtime that the activation is busy.</summary>
    AnswerBusy = 128,

    /// <summary>Nothing is requested any more: forget it.</summary>
    DropRequests = 256,

    /// <summary>Take calls.</summary>
    Open = 512,

    /// <summary>Take no calls any more and run the steps of the end, beginning with <see cref="LifePhase.Hooks"/>.</summary>
    Close = 1024,

    /// <summary>Give <see cref="LifeEvent.AtRest"/> on a later turn, unless a request runs.</summary>
    RestLater = 2048,

    /// <summary>Give <see cref="LifeEvent.AtRest"/> now, unless a request runs.</summary>
    RestNow = 4096,

    /// <summary>Remove what is left at once: nothing else will.</summary>
    Abandon = 8192,
}

/// <summary>The life of an activation as a machine: an event leads from one state to the next and says what must be done.</summary>
/// <remarks>
/// <para>Two bytes. No clock, no thread, no other object: <see cref="ActivationLife"/> gives it the events, on the turns of the activation,
/// and does what it answers. So all states can be explored by a test. What an event does:</para>
/// <list type="table">
/// <item><term>FirstRequest</term><description> Begin: to Starting. A request for the end or a move: Begin first, then the event again.
/// </description></item>
/// <item><term>Starting</term><description> EndAsked: decided, takes effect when the start has ended. From outside: the start is cancelled
/// as well. MoveAsked: a target is chosen. MoveOffered: busy. Started: to Active, or to Hooks if the end is decided. StartUndone,
/// StartRefused: to Hooks. </description></item>
/// <item><term>Active</term><description> EndAsked: decided, to Hooks when no request runs. EndForced: to Hooks. MoveAsked: a target is
/// chosen; TargetFound decides the end, TargetMissing forgets the request. MoveOffered: to Hooks when no request runs, if nothing else was
/// requested; withdrawn until then. Deleted: to Over. </description></item>
/// <item><term>Hooks</term><description> MoveAsked: a target is chosen, and Moving waits for it. StepEnded: to Refusing after a start that
/// has failed, to Moving after a start that has succeeded, else to Unlisting. </description></item>
/// <item><term>Refusing</term><description>From outside: the refusal ends. StepEnded: to Unlisting.</description></item>
/// <item><term>Moving</term><description>Moved: to Releasing. StepEnded: to Unlisting.</description></item>
/// <item><term>Unlisting, Releasing</term><description>StepEnded: to the next.</description></item>
/// <item><term>Over</term><description>Nothing.</description></item>
/// </list>
/// <para>A step that throws or hangs is limited by whoever runs it and ends as any other. A failure that nobody has caught leads to Over
/// from everywhere. An event that comes twice, late, or in a state that is not named, changes nothing, except that an offer is
/// answered.</para>
/// </remarks>
internal struct LifeMachine
{
    private const byte EndDecided = 1;
    private const byte Choosing = 2;
    private const byte Offered = 4;
    private const byte HasBegunFlag = 8;
    private const byte Refuses = 16;

    private volatile LifePhase _phase;
    private byte _flags;

    /// <summary>Any thread; written on the turns.</summary>
    internal readonly LifePhase Phase => _phase;

    /// <summary>The end is decided: no request starts any more, except beside a running one.</summary>
    internal readonly bool IsEndDecided => (_flags & EndDecided) != 0;

    /// <summary>An end or a move was requested.</summary>
    internal readonly bool IsAsked => (_flags & (EndDecided | Choosing | Offered)) != 0;

    /// <summary>The runtime has requested a move, which may still be withdrawn.</summary>
    internal readonly bool IsOffered => Has(Offered) && !IsEndDecided;

    /// <summary>It was active.</summary>
    internal readonly bool HasBegun => (_flags & HasBegunFlag) != 0;

    /// <summary>All of the state, for tests.</summary>
    internal readonly int Code => ((int)_phase << 8) | _flags;

    /// <summary>The state for others: see <see cref="ActivationState"/>.</summary>
    internal readonly ActivationState State => _phase switch
    {
        LifePhase.Active => ActivationState.Active,
        <= LifePhase.FirstRequest => ActivationState.Activating,
        < LifePhase.Releasing => ActivationState.Deactivating,
        _ => ActivationState.Gone,
    };

    /// <summary>For an activation that its first request starts. Before other threads can find it.</summary>
    internal void WaitForFirstRequest()
    {
        Invariant.Holds(Code == 0);
        _phase = LifePhase.FirstRequest;
    }

    /// <summary>The event has happened. On the turns, or before other threads can find the activation.</summary>
    internal LifeActions On(LifeEvent happened)
    {
        if (happened == LifeEvent.Failed)
            return Fail();
        return _phase switch
        {
            LifePhase.FirstRequest => OnFirstRequest(happened),
            LifePhase.Starting => OnStarting(happened),
            LifePhase.Active => OnActive(happened),
            LifePhase.Over => Late(happened),
            _ => OnEnding(happened),
        };
    }

    private LifeActions OnFirstRequest(LifeEvent happened)
    {
        if (happened is not (LifeEvent.Begin or LifeEvent.EndAsked or LifeEvent.EndAskedFromOutside or LifeEvent.MoveAsked))
            return Late(happened);
        _phase = LifePhase.Starting;
        return LifeActions.Begin;
    }

    private LifeActions OnStarting(LifeEvent happened)
    {
        switch (happened)
        {
            case LifeEvent.Given:
                _phase = LifePhase.Active;
                return LifeActions.None;
            case LifeEvent.EndAsked:
                return Decide(LifeActions.TellEnding);
            case LifeEvent.EndAskedFromOutside:
                return Decide(LifeActions.TellEnding) | LifeActions.CancelStart;
            case LifeEvent.MoveAsked:
                return Choose();
            case LifeEvent.TargetFound:
                return Decide(LifeActions.TellEnding);
            case LifeEvent.TargetMissing:
                return ForgetMove();
            case LifeEvent.Started:
                Set(HasBegunFlag);
                _phase = LifePhase.Active;
                return IsEndDecided ? Close() : LifeActions.Open;
            case LifeEvent.StartUndone:
                return Decide() | Close();
            case LifeEvent.StartRefused:
                Set(Refuses);
                return Decide() | Close();
            default:
                return Late(happened);
        }
    }

    private LifeActions OnActive(LifeEvent happened)
    {
        switch (happened)
        {
            case LifeEvent.EndAsked or LifeEvent.TargetFound:
                return IsEndDecided ? LifeActions.None : Decide(LifeActions.TellEnding) | LifeActions.RestLater;
            case LifeEvent.EndAskedFromOutside:
                return Decide(LifeActions.TellEnding) | LifeActions.RestNow;
            case LifeEvent.EndForced:
                return Decide() | Close();
            case LifeEvent.MoveAsked:
                return Choose();
            case LifeEvent.TargetMissing:
                return ForgetMove();
            case LifeEvent.MoveOffered when !IsAsked:
                Set(Offered);
                return LifeActions.RestNow;
            case LifeEvent.OfferWithdrawn when IsOffered:
                Clear(Offered);
                return LifeActions.AnswerBusy | (Has(Choosing) ? LifeActions.None : LifeActions.DropRequests);
            case LifeEvent.AtRest when IsEndDecided:
                return Close();
            case LifeEvent.AtRest when Has(Offered):
                Set(Choosing);
                return Decide(LifeActions.TakeOffer) | Close();
            case LifeEvent.Deleted:
                _phase = LifePhase.Over;
                return LifeActions.None;
            default:
                return Late(happened);
        }
    }

    private LifeActions OnEnding(LifeEvent happened)
    {
        Invariant.Holds(IsEndDecided && _phase is >= LifePhase.Hooks and < LifePhase.Over);
        switch (happened)
        {
            case LifeEvent.MoveAsked when _phase == LifePhase.Hooks:
                return Choose();
            case LifeEvent.TargetMissing when _phase == LifePhase.Hooks:
                Clear(Choosing);
                return LifeActions.None;
            case LifeEvent.EndAskedFromOutside when _phase <= LifePhase.Refusing:
                return LifeActions.Hurry;
            case LifeEvent.Moved when _phase == LifePhase.Moving:
                _phase = LifePhase.Releasing;
                return LifeActions.None;
            case LifeEvent.StepEnded:
                _phase = _phase switch
                {
                    LifePhase.Hooks => Has(Refuses) ? LifePhase.Refusing : HasBegun ? LifePhase.Moving : LifePhase.Unlisting,
                    LifePhase.Refusing or LifePhase.Moving => LifePhase.Unlisting,
                    LifePhase.Unlisting => LifePhase.Releasing,
                    _ => LifePhase.Over,
                };
                return LifeActions.None;
            default:
                return Late(happened);
        }
    }

    private LifeActions Fail()
    {
        if (_phase == LifePhase.Over)
            return LifeActions.None;
        _phase = LifePhase.Over;
        return LifeActions.Abandon;
    }

    /// <summary>The runtime waits for an answer to its request in every state.</summary>
    private static LifeActions Late(LifeEvent happened) =>
        happened == LifeEvent.MoveOffered ? LifeActions.AnswerBusy : LifeActions.None;

    private LifeActions Decide(LifeActions also = LifeActions.None)
    {
        if (IsEndDecided)
            return LifeActions.None;
        Set(EndDecided);
        return LifeActions.Decide | also;
    }

    private LifeActions Choose()
    {
        if (Has(Choosing))
            return LifeActions.None;
        Set(Choosing);
        return LifeActions.Choose;
    }

    private LifeActions ForgetMove()
    {
        Clear(Choosing);
        return IsEndDecided || Has(Offered) ? LifeActions.None : LifeActions.DropRequests;
    }

    private LifeActions Close()
    {
        Invariant.Holds(IsEndDecided && _phase is LifePhase.Starting or LifePhase.Active);
        _phase = LifePhase.Hooks;
        return LifeActions.Close;
    }

    private readonly bool Has(byte flag) => (_flags & flag) != 0;

    private void Set(byte flag) => _flags |= flag;

    private void Clear(byte flag) => _flags &= (byte)~flag;
}
