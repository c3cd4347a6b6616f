using ActOp.Runtime.Directory;
using ActOp.Runtime.Groups;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Diagnostics;
using Orleans.Storage;

namespace ActOp.Runtime.Activations;

/// <summary>The life of an activation, in order.</summary>
internal enum ActivationState : byte
{
    /// <summary>Being constructed, registered and activated: requests wait.</summary>
    Activating,

    /// <summary>Takes requests.</summary>
    Active,

    /// <summary>Ending: requests wait and are forwarded afterwards.</summary>
    Deactivating,

    /// <summary>Ended: requests that still arrive are forwarded.</summary>
    Gone,
}

/// <summary>What is known of the entry of an activation in the directory.</summary>
internal enum RegistrationState : byte
{
    /// <summary>There is none.</summary>
    None,

    /// <summary>It was asked for, and the answer has not come, or was lost. It must be removed at the end.</summary>
    Unknown,

    /// <summary>The directory lists the activation.</summary>
    Registered,
}

/// <summary>
/// Where one activation is in its life, and what was requested of it: its start (<see cref="Beginning"/>), its end or its migration
/// (<see cref="Departure"/>).
/// </summary>
/// <remarks>
/// <para>What happens next is decided by <see cref="LifeMachine"/>: this gives it the events and does what it answers. Owns the machine,
/// the object of the start or the end that runs, and whether there is a scope of services. Everything runs on the
/// turns of the activation unless a member says otherwise. Other threads may read the properties marked "any thread", as racy
/// snapshots.</para>
/// <para>A field of <see cref="Activation"/>, never copied: a silo has a million of them. It has no reference to the activation, so its
/// methods get it as an argument.</para>
/// </remarks>
internal struct ActivationLife
{
    private static readonly TaskCompletionSource HasLeft = Completed();

    /// <summary>
    /// During the start the <see cref="Beginning"/>, which also keeps the requested end. Then null, or the <see cref="Departure"/> from the
    /// first request for an end or a migration on.
    /// </summary>
    private object? _process;
    private LifeMachine _machine;
    private volatile bool _usesServices;
    private volatile bool _isStopped;
    private volatile bool _hasLateTimer;
    private volatile RegistrationState _registration;
    private bool _isWatched;
    private bool _isInGroup;

    /// <summary>Any thread; written on the turns.</summary>
    internal readonly ActivationState State => _machine.State;

    /// <inheritdoc cref="LifeMachine.Phase"/>
    internal readonly LifePhase Phase => _machine.Phase;

    /// <inheritdoc cref="LifeMachine.HasBegun"/>
    internal readonly bool HasBegun => _machine.HasBegun;

    /// <inheritdoc cref="LifeMachine.IsEndDecided"/>
    internal readonly bool IsEndDecided => _machine.IsEndDecided;

    /// <summary>What is known of the entry in the directory. Any thread; read when a slot is rebuilt.</summary>
    internal RegistrationState Registration
    {
        get => _registration;
        set => _registration = value;
    }

    /// <summary><see cref="Workload"/> has an entry of the activation. Any thread.</summary>
    internal bool IsWatched
    {
        readonly get => _isWatched;
        set => Volatile.Write(ref _isWatched, value);
    }

    /// <summary>
    /// A timer was created after the start: <c>OnActivateAsync</c> does not create it again on another silo. Any thread.
    /// </summary>
    internal readonly bool HasLateTimer => _hasLateTimer;

    /// <summary>The other silos regard this one as dead: no turn of the activation runs any more. Any thread.</summary>
    internal readonly bool IsStopped => _isStopped;

    /// <summary>Where the activation has migrated to; default if it has not.</summary>
    internal readonly Location MovedTo => Departing?.MovedTo ?? default;

    /// <summary>Requests that wait may start now.</summary>
    internal readonly bool StartsWaiting => _machine.Phase == LifePhase.Active && !_machine.IsEndDecided;

    /// <summary>The exception with which requests are refused after a start that has failed.</summary>
    internal readonly Exception? RefusesWith => State == ActivationState.Deactivating ? Departing?.RefusesWith : null;

    /// <summary>Whether calls are refused for a while because the start has failed. For tests.</summary>
    internal readonly bool IsRefusing => Departing is { IsRefusing: true };

    private readonly Departure? Departing => _process is null ? null : _process as Departure ?? (_process as Beginning)?.Departure;

    /// <summary>Whether the state allows a new request to start.</summary>
    internal readonly bool MayStart(bool othersRun) =>
        _machine.Phase == LifePhase.Active && (!_machine.IsEndDecided || (othersRun && Departing!.MayJoin));

    /// <summary>
    /// The location that this silo reports when the slot of the grain is rebuilt; none if there is nothing to report. Any thread; exact for
    /// a collector that has raised the fence before, see <see cref="RegistrationFence"/>.
    /// </summary>
    internal Location RegisteredAs(Activation activation) =>
        activation.Parts.Directory.IsCustom(activation.Class.GrainType) ? default
            : _registration == RegistrationState.Registered ? activation.Location
            : (Volatile.Read(ref _process) as Beginning)?.Kept ?? default;

    /// <summary>The activation counts in its group from the start until its end.</summary>
    /// <exception cref="ActOp.Groups.GroupOverloadedException">The group has as many as it may have.</exception>
    internal void EnterGroup(Activation activation, bool mayRefuse)
    {
        if (_isInGroup || activation.Home.Group is not { } group)
            return;
        group.Enter(activation.GrainId, mayRefuse);
        _isInGroup = true;
    }

    /// <summary>Undoes <see cref="EnterGroup"/>, if it has counted the activation.</summary>
    internal void LeaveGroup(GrainGroup? group)
    {
        if (_isInGroup)
            group!.Leave();
        _isInGroup = false;
    }

    /// <summary>True for the one that makes the entry. Any thread.</summary>
    internal bool TryWatch() => !Interlocked.Exchange(ref _isWatched, true);

    /// <summary>No turn runs from now on. Any thread.</summary>
    internal void Stop() => _isStopped = true;

    internal void OnTimerAdded() => _hasLateTimer |= _machine.Phase == LifePhase.Active;

    /// <summary>An observer or a system target: it needs no start. Before other threads can find it.</summary>
    internal void BeGiven(Activation activation) => On(activation, LifeEvent.Given);

    /// <summary>An observer was deleted.</summary>
    internal void BeDeleted(Activation activation) => On(activation, LifeEvent.Deleted);

    /// <summary>
    /// From now on the activation is responsible for the registration that it takes over. Must be called before other threads can find it.
    /// </summary>
    internal void PrepareBegin(Activation activation, MigrationState? state, RequestContextData? context, object? trace) =>
        _process = new Beginning(activation, state, context, trace);

    internal readonly void BeginPrepared(Activation activation) => activation.Enqueue((Beginning)_process!);

    /// <summary>The first request will start the activation. Must be called before other threads can find it.</summary>
    internal void BeginWithFirstRequest() => _machine.WaitForFirstRequest();

    /// <summary>Starts an activation that was left to its first request; otherwise does nothing.</summary>
    internal void BeginNow(Activation activation, RequestContextData? context, object? trace)
    {
        if (_machine.Phase == LifePhase.FirstRequest && On(activation, LifeEvent.Begin).HasFlag(LifeActions.Begin))
            RunFirst(activation, context, trace);
    }

    /// <summary>
    /// A conflict of its storage leaves the activation. Its memory is outdated, so it ends, if the conflict comes from itself.
    /// </summary>
    internal void EndInconsistent(Activation activation, InconsistentStateException conflict)
    {
        if (conflict.TryLeaveOrigin() && activation.Class.IsOrdinary)
            RequestEnd(activation, new DeactivationReason(DeactivationReasonCode.ApplicationError, conflict, "Its state is outdated."));
    }

    /// <summary>
    /// A change of a state has failed. In a conflict the state in memory is outdated: the activation ends with the request that runs,
    /// whatever entry it came by and whatever the grain does with the exception, unless the state is read or written before. After any
    /// other failure nobody knows what the storage has: until that is known, the runtime does not move the grain.
    /// </summary>
    internal void Doubt(Activation activation, IStateSource state)
    {
        if (!activation.Class.IsOrdinary || State >= ActivationState.Deactivating)
            return;
        DepartureOf(activation).Doubt(state);
        // On a later turn: the grain may handle the failure first.
        if (!activation.Admission.HasRunning)
            activation.Enqueue(new ActionItem(static state => ((Activation)state!).Life.OnAtRest((Activation)state), activation));
    }

    /// <summary>An operation of the state has succeeded after a <see cref="Doubt"/>.</summary>
    internal void Trust(IStateSource state)
    {
        if (Departing is not { } departure)
            return;
        departure.Trust(state);
        if (!departure.IsInDoubt && !_machine.IsAsked)
            SetDeparture(null);
    }

    /// <summary>
    /// Requests the end. An active activation ends as soon as no request runs, a starting one as soon as its start has ended.
    /// </summary>
    internal void RequestEnd(Activation activation, DeactivationReason reason) =>
        Do(activation, Ask(activation, LifeEvent.EndAsked), reason);

    /// <summary>As <see cref="RequestEnd"/>, from outside of the grain: also cancels a start that runs.</summary>
    internal void RequestEndNow(Activation activation, DeactivationReason reason) =>
        Do(activation, Ask(activation, LifeEvent.EndAskedFromOutside), reason);

    /// <summary>
    /// A request never ends: the activation ends beside it, and the requests that wait go to the next activation. A start and an end have
    /// time limits of their own.
    /// </summary>
    internal void GiveUp(Activation activation, DeactivationReason reason) =>
        Do(activation, On(activation, LifeEvent.EndForced), reason);

    /// <summary>Requests a migration to a silo that the placement of the grain chooses.</summary>
    internal void RequestMigration(Activation activation, Dictionary<string, object>? requestContext)
    {
        if (activation.Class.UsesDirectory && Ask(activation, LifeEvent.MoveAsked).HasFlag(LifeActions.Choose))
            DepartureOf(activation).Choose(ContextOf(requestContext));
    }

    /// <summary>A migration that the grain has requested has a target, or none.</summary>
    internal void OnTarget(Activation activation, bool isFound, DeactivationReason reason) =>
        Do(activation, On(activation, isFound ? LifeEvent.TargetFound : LifeEvent.TargetMissing), reason);

    /// <summary>Accepts the migration request of the runtime, or reports that the activation is busy.</summary>
    internal void TryMigrate(Activation activation, MigrationRequest request)
    {
        if (Departing is not null || IsEnumerated(activation) || !activation.Parts.Locality.MayMove(activation))
        {
            request.Report(MigrationOutcome.Busy);
            return;
        }

        var actions = On(activation, LifeEvent.MoveOffered);
        if (actions == LifeActions.AnswerBusy)
        {
            request.Report(MigrationOutcome.Busy);
            return;
        }

        SetDeparture(new Departure(activation, request));
        Do(activation, actions, default);
    }

    /// <summary>Withdraws the migration request of the runtime, unless the end is decided.</summary>
    internal void WithdrawMigration(Activation activation, MigrationRequest request)
    {
        if (Departing?.IsAsked(request) == true)
            Do(activation, On(activation, LifeEvent.OfferWithdrawn), default);
    }

    /// <summary>A request has ended. If it was the last running one, an end or a migration that was requested starts.</summary>
    internal void OnRequestEnded(Activation activation)
    {
        if (_process is not null)
            OnAtRest(activation);
    }

    /// <summary>The start has succeeded.</summary>
    internal void Begun(Activation activation, MigrationState? state)
    {
        Invariant.Holds(_process is Beginning);
        _process = Departing;
        // A start may take longer than the collection age: the grain that arrives after that is not idle for so long.
        activation.LastUsed = activation.Parts.Local.Clock.Now;
        var actions = On(activation, LifeEvent.Started);
        state?.Arrived(activation.Location);
        Do(activation, actions, default);
        OnAtRest(activation);
        if (state is null)
            activation.Parts.Locality.Began(activation.GrainId);
        activation.Parts.Metrics.Activated(state is not null);
        if (GrainLifecycleEvents.Feed.IsWatched)
            GrainLifecycleEvents.Feed.Write(new GrainLifecycleEvents.Activated(activation));
    }

    /// <summary>The start has failed, or another activation of the grain is registered: what was started is undone.</summary>
    /// <param name="activation">The activation.</param>
    /// <param name="reason">Why it ends.</param>
    /// <param name="refusal">With what the calls of the next seconds are refused; null if they go to the next activation.</param>
    /// <param name="previous">The activation that gets its registration back, if this one has run no turn.</param>
    internal void Unbegin(
        Activation activation, DeactivationReason reason, Exception? refusal = null, Registration? previous = null)
    {
        Invariant.Holds(_process is Beginning);
        var departure = Departing ?? new Departure(activation);
        _process = departure;
        departure.GivesBackTo = previous;
        if (refusal is not null)
            departure.Refuse(refusal);
        Do(activation, On(activation, refusal is null ? LifeEvent.StartUndone : LifeEvent.StartRefused), reason);
    }

    /// <summary>The step of the end that ran has ended.</summary>
    /// <param name="activation">The activation.</param>
    /// <param name="moved">Another activation has the state.</param>
    internal void OnStepEnded(Activation activation, bool moved) =>
        On(activation, moved ? LifeEvent.Moved : LifeEvent.StepEnded);

    /// <summary>
    /// Handles the failure of a start or an end that none of its steps has caught. The activation cannot stay as it is, so it is removed.
    /// </summary>
    internal static void Supervise(Activation activation, Task process)
    {
        if (!process.IsCompletedSuccessfully)
            activation.Parts.Activations.Follow(SuperviseAsync(activation, process));
    }

    /// <summary>
    /// The services of the scope of the activation, which is created on first use. Before the construction and after the end, those of the
    /// silo. Any thread.
    /// </summary>
    internal readonly IServiceProvider ServicesOf(Activation activation)
    {
        var services = activation.Parts.Local.Services;
        return _usesServices ? activation.Extras.ScopeOf(services).ServiceProvider : services;
    }

    /// <summary>Constructs the instance, with this activation as the ambient context.</summary>
    internal object Construct(Activation activation)
    {
        _usesServices = true;
        var services = activation.Parts.Local.Services;
        var construction = activation.Class.ConstructionOn(services);
        using (GrainContextScope.Enter(activation))
            return construction.Make(construction.NeedsScope ? ServicesOf(activation) : services, activation);
    }

    internal async static Task DisposeScopeAsync(Activation activation)
    {
        activation.Life._usesServices = false;
        var scope = activation.PublishedExtras is { } extras ? Interlocked.Exchange(ref extras.Scope, null) : null;
        if (scope is IAsyncDisposable asyncScope)
            await asyncScope.DisposeAsync();
        else
            scope?.Dispose();
    }

    /// <summary>The last step: completes the task of those that wait for the end.</summary>
    internal void HasEnded(ActivationExtras extras)
    {
        _usesServices = false;
        extras.Clear();
        Interlocked.CompareExchange(ref extras.Deactivated, HasLeft, null)?.TrySetResult();
    }

    internal static RequestContextData? ContextOf(Dictionary<string, object>? values) =>
        values is null ? null : new RequestContextData { Values = values };

    private Departure DepartureOf(Activation activation)
    {
        if (Departing is not { } departure)
            SetDeparture(departure = new Departure(activation));
        return departure;
    }

    private void SetDeparture(Departure? departure)
    {
        if (_process is Beginning beginning)
            beginning.Departure = departure;
        else
            _process = departure;
    }

    /// <summary>Tells the machine of an event. Returns what must be done.</summary>
    private LifeActions On(Activation activation, LifeEvent happened)
    {
        var before = _machine;
        var actions = _machine.On(happened);
        Invariant.Holds(_machine.Phase >= before.Phase || before.Phase == LifePhase.FirstRequest);
        Invariant.Holds((_machine.IsEndDecided || !before.IsEndDecided) && (_machine.HasBegun || !before.HasBegun));
        activation.Parts.LifeWatch?.Invoke(activation, before, happened);
        return actions;
    }

    /// <summary>As <see cref="On"/>, for a request that needs an activation which has begun.</summary>
    private LifeActions Ask(Activation activation, LifeEvent asked)
    {
        var actions = On(activation, asked);
        if (!actions.HasFlag(LifeActions.Begin))
            return actions;
        RunFirst(activation, null, null);
        return On(activation, asked);
    }

    private void RunFirst(Activation activation, RequestContextData? context, object? trace)
    {
        Invariant.Holds(_process is null && _machine.Phase == LifePhase.Starting);
        var beginning = Beginning.For(activation, context, trace);
        _process = beginning;
        beginning.RunFirst();
    }

    /// <summary>Does what the machine has answered. The reason is that of the event.</summary>
    private void Do(Activation activation, LifeActions actions, DeactivationReason reason)
    {
        if (actions == LifeActions.None)
            return;
        if (actions.HasFlag(LifeActions.Decide))
            DepartureOf(activation).Decide(actions.HasFlag(LifeActions.TakeOffer) ? Departing!.TakeOffer() : reason);
        if (actions.HasFlag(LifeActions.TellEnding))
            activation.OnEnding();
        if (actions.HasFlag(LifeActions.CancelStart))
            (_process as Beginning)?.Cancel();
        if (actions.HasFlag(LifeActions.Hurry))
            Departing?.Hurry();
        if (actions.HasFlag(LifeActions.AnswerBusy))
            Departing?.AnswerBusy();
        if (actions.HasFlag(LifeActions.DropRequests) && Departing is not { IsInDoubt: true })
            SetDeparture(null);
        if (actions.HasFlag(LifeActions.Open))
            activation.Accepts = true;
        if (actions.HasFlag(LifeActions.Close))
        {
            activation.Accepts = false;
            Departing!.Start();
        }

        // On a later turn: the caller may be code of the grain.
        if (actions.HasFlag(LifeActions.RestLater) && !activation.Admission.HasRunning)
            activation.Enqueue(new ActionItem(static state => ((Activation)state!).Life.OnAtRest((Activation)state), activation));
        if (actions.HasFlag(LifeActions.RestNow))
            OnAtRest(activation);
    }

    /// <summary>
    /// Starts an end or a migration that was requested, if no request runs. A migration request of the runtime holds back no request until
    /// then.
    /// </summary>
    private void OnAtRest(Activation activation)
    {
        if (Departing is { IsInDoubt: true } departure && StartsWaiting)
            DecideInDoubt(activation, departure);
        // An enumeration may have begun while the request of the runtime waited for the grain to come to rest.
        if (_machine.IsOffered && !activation.Admission.HasRunning && IsEnumerated(activation))
            Do(activation, On(activation, LifeEvent.OfferWithdrawn), default);
        if (!activation.Admission.HasRunning)
            Do(activation, On(activation, LifeEvent.AtRest), default);
    }

    /// <summary>An enumeration is open, which a move would abort.</summary>
    private static bool IsEnumerated(Activation activation) => activation.ExistingExtras?.Enumerations is { Count: > 0 };

    /// <summary>A grain whose state is in doubt is not moved by the runtime: what it has not written may be lost.</summary>
    private void DecideInDoubt(Activation activation, Departure departure)
    {
        if (departure.IsOutdated)
            RequestEnd(activation, new DeactivationReason(DeactivationReasonCode.ApplicationError, "Its state is outdated."));
        else if (_machine.IsOffered && !activation.Admission.HasRunning)
            Do(activation, On(activation, LifeEvent.OfferWithdrawn), default);
    }

    private static async Task SuperviseAsync(Activation activation, Task process)
    {
        try
        {
            await process;
        }
        catch (Exception exception)
        {
            if (activation.Life.On(activation, LifeEvent.Failed) == LifeActions.None)
            {
                activation.Parts.Local.Log.LifeFailed(activation.GrainId, exception);
                return;
            }

            try
            {
                activation.Remove();
                activation.ForwardWaiting();
                activation.Life.Departing?.Abandon();
                activation.Parts.Local.Log.LifeFailed(activation.GrainId, exception);
            }
            finally
            {
                activation.HasEnded();
            }
        }
    }

    private static TaskCompletionSource Completed()
    {
        var source = new TaskCompletionSource();
        source.SetResult();
        return source;
    }
}
