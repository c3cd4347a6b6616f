using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using Microsoft.Extensions.DependencyInjection;
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
/// <para>Owns the state, the object of the start or the end that runs, and whether there is a scope of services. Everything runs on the
/// turns of the activation unless a member says otherwise. Other threads may read the properties marked "any thread", as racy
/// snapshots.</para>
/// <para>A field of <see cref="Activation"/>, never copied: a silo has a million of them. It has no reference to the activation, so its
/// methods get it as an argument.</para>
/// </remarks>
internal struct ActivationLife
{
    private static readonly TaskCompletionSource HasLeft = Completed();

    /// <summary>
    /// During the start the <see cref="Beginning"/>, which also keeps the requested end, or <see cref="Beginning.WithFirstRequest"/>. Then
    /// null, or the <see cref="Departure"/> from the first request for an end or a migration on.
    /// </summary>
    private object? _process;
    private volatile ActivationState _state;
    private volatile bool _usesServices;
    private volatile bool _isStopped;
    private volatile bool _hasLateTimer;
    private volatile RegistrationState _registration;
    private bool _isWatched;

    /// <summary>Any thread; written on the turns.</summary>
    internal ActivationState State
    {
        get => _state;
        set => _state = value;
    }

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
    internal readonly bool StartsWaiting => _state == ActivationState.Active && !IsLeaving;

    /// <summary>The exception with which requests are refused after a start that has failed.</summary>
    internal readonly Exception? RefusesWith => _state == ActivationState.Deactivating ? Departing?.RefusesWith : null;

    /// <summary>Whether calls are refused for a while because the start has failed. For tests.</summary>
    internal readonly bool IsRefusing => Departing is { IsRefusing: true };

    /// <summary>The end is decided: no request starts any more, except beside a running one.</summary>
    private readonly bool IsLeaving => Departing is { IsDecided: true };

    private readonly Departure? Departing => _process is null ? null : _process as Departure ?? (_process as Beginning)?.Departure;

    /// <summary>Whether the state allows a new request to start.</summary>
    internal readonly bool MayStart(bool othersRun) =>
        _state == ActivationState.Active && (_process is null || !IsLeaving || (othersRun && Departing!.MayJoin));

    /// <summary>
    /// The location that this silo reports when the slot of the grain is rebuilt; none if there is nothing to report. Any thread; exact for
    /// a collector that has raised the fence before, see <see cref="RegistrationFence"/>.
    /// </summary>
    internal Location RegisteredAs(Activation activation) =>
        activation.Parts.Directory.IsCustom(activation.Class.GrainType) ? default
            : _registration == RegistrationState.Registered ? activation.Location
            : (Volatile.Read(ref _process) as Beginning)?.Kept ?? default;

    /// <summary>True for the one that makes the entry. Any thread.</summary>
    internal bool TryWatch() => !Interlocked.Exchange(ref _isWatched, true);

    /// <summary>No turn runs from now on. Any thread.</summary>
    internal void Stop() => _isStopped = true;

    internal void OnTimerAdded() => _hasLateTimer |= _state == ActivationState.Active;

    /// <summary>
    /// From now on the activation is responsible for the registration that it takes over. Must be called before other threads can find it.
    /// </summary>
    internal void PrepareBegin(Activation activation, MigrationState? state, RequestContextData? context, object? trace) =>
        _process = new Beginning(activation, state, context, trace);

    internal readonly void BeginPrepared(Activation activation) => activation.Enqueue((Beginning)_process!);

    /// <summary>The first request will start the activation. Must be called before other threads can find it.</summary>
    internal void BeginWithFirstRequest() => _process = Beginning.WithFirstRequest;

    /// <summary>Starts an activation that was left to its first request; otherwise does nothing.</summary>
    internal void BeginNow(Activation activation, RequestContextData? context, object? trace)
    {
        if (!ReferenceEquals(_process, Beginning.WithFirstRequest))
            return;
        var beginning = Beginning.For(activation, context, trace);
        _process = beginning;
        beginning.RunFirst();
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
        if (!activation.Class.IsOrdinary || _state >= ActivationState.Deactivating)
            return;
        DepartureOf(activation).Doubt(state);
        // On a later turn: the grain may handle the failure first.
        if (!activation.Admission.HasRunning)
            activation.Enqueue(new ActionItem(static state => ((Activation)state!).Life.OnAtRest((Activation)state), activation));
    }

    /// <summary>An operation of the state has succeeded after a <see cref="Doubt"/>.</summary>
    internal void Trust(IStateSource state)
    {
        Departing?.Trust(state);
        ForgetDeparture();
    }

    /// <summary>
    /// Requests the end. An active activation ends as soon as no request runs, a starting one as soon as its start has ended.
    /// </summary>
    internal void RequestEnd(Activation activation, DeactivationReason reason)
    {
        // On a later turn: the caller may be code of the grain.
        if (TryDecideToEnd(activation, reason) && _state == ActivationState.Active && !activation.Admission.HasRunning)
            activation.Enqueue(new ActionItem(static state => ((Activation)state!).Life.OnAtRest((Activation)state), activation));
    }

    /// <summary>As <see cref="RequestEnd"/>, from outside of the grain: also cancels a start that runs.</summary>
    internal void RequestEndNow(Activation activation, DeactivationReason reason)
    {
        TryDecideToEnd(activation, reason);
        (_process as Beginning)?.Cancel();
        Departing?.Hurry();
        OnAtRest(activation);
    }

    /// <summary>
    /// A request never ends: the activation ends beside it, and the requests that wait go to the next activation. A start and an end have
    /// time limits of their own.
    /// </summary>
    internal void GiveUp(Activation activation, DeactivationReason reason)
    {
        if (_state != ActivationState.Active)
            return;
        var departure = DepartureOf(activation);
        if (!departure.IsDecided)
            departure.Decide(reason);
        Leave(activation, departure);
    }

    /// <summary>Requests a migration to a silo that the placement of the grain chooses.</summary>
    internal void RequestMigration(Activation activation, Dictionary<string, object>? requestContext)
    {
        BeginNow(activation, null, null);
        if (_state != ActivationState.Gone && activation.Class.UsesDirectory)
            DepartureOf(activation).Move(ContextOf(requestContext));
    }

    /// <summary>Accepts the migration request of the runtime, or reports that the activation is busy.</summary>
    internal void TryMigrate(Activation activation, MigrationRequest request)
    {
        if (_state != ActivationState.Active || _process is not null || activation.ExistingExtras?.Enumerations is { Count: > 0 }
            || !activation.Parts.Locality.MayMove(activation))
        {
            request.Report(MigrationOutcome.Busy);
            return;
        }

        SetDeparture(new Departure(activation, request));
        OnAtRest(activation);
    }

    /// <summary>Withdraws the migration request of the runtime, unless the end is decided.</summary>
    internal void WithdrawMigration(MigrationRequest request)
    {
        if (Departing is { IsDecided: false } departure && departure.Withdraw(request))
            SetDeparture(null);
    }

    /// <summary>No silo was found to migrate to. Drops the departure if nothing else needs it.</summary>
    internal void ForgetDeparture()
    {
        if (Departing is { IsDecided: false, IsNeeded: false })
            SetDeparture(null);
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
        _process = Departing;
        _state = ActivationState.Active;
        state?.Arrived(activation.Location);
        if (IsLeaving)
            Leave(activation, Departing!);
        else
            activation.Accepts = true;
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
        var departure = Departing ?? new Departure(activation);
        _process = departure;
        departure.GivesBackTo = previous;
        if (refusal is not null)
            departure.Refuse(refusal);
        if (!departure.IsDecided)
            departure.Decide(reason);
        Leave(activation, departure);
    }

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

    /// <summary>False if the end was decided before.</summary>
    private bool TryDecideToEnd(Activation activation, DeactivationReason reason)
    {
        BeginNow(activation, null, null);
        if (_state >= ActivationState.Deactivating || IsLeaving)
            return false;
        DepartureOf(activation).Decide(reason);
        activation.OnEnding();
        return true;
    }

    /// <summary>
    /// Starts an end or a migration that was requested, if no request runs. A migration request of the runtime holds back no request until
    /// then.
    /// </summary>
    private void OnAtRest(Activation activation)
    {
        if (Departing is not { } departure || _state != ActivationState.Active)
            return;
        if (!departure.IsDecided && departure.IsOutdated)
            TryDecideToEnd(activation, new DeactivationReason(DeactivationReasonCode.ApplicationError, "Its state is outdated."));
        if (!activation.Admission.HasRunning && departure.DecideAtRest())
            Leave(activation, departure);
    }

    private void Leave(Activation activation, Departure departure)
    {
        var hasBegun = _state == ActivationState.Active;
        _state = ActivationState.Deactivating;
        activation.Accepts = false;
        departure.Start(hasBegun);
    }

    private static async Task SuperviseAsync(Activation activation, Task process)
    {
        try
        {
            await process;
        }
        catch (Exception exception)
        {
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
