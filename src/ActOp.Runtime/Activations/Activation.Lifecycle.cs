using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Timers;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Who may ask for the begin, the end or a move of an activation, and what it holds meanwhile. The begin itself is <see
/// cref="Beginning"/>, the end
/// is <see cref="Departure"/>; all of it runs on the activation's turns.
/// </summary>
internal sealed partial class Activation
{
    private static readonly TaskCompletionSource HasLeft = Completed();

    /// <summary>
    /// A <see cref="Beginning"/> as long as the activation begins, which keeps what is wanted of its end meanwhile, or what stands for it;
    /// then null, or its <see cref="Departure"/> from the first wish for that on.
    /// </summary>
    private object? _life;
    private volatile bool _hasScope;
    private volatile bool _stopped;

    /// <summary>Completes when the activation has left and what it held is given back. Any thread.</summary>
    public Task Deactivated => (Volatile.Read(ref Extras.Deactivated) ?? MakeDeactivated()).Task;

    /// <summary>The activation has moved: where to.</summary>
    internal Location MovedTo => Departing?.MovedTo ?? default;

    internal GrainLifecycle Lifecycle => Extras.Lifecycle ??= new GrainLifecycle();

    private Departure? Departing
    {
        get => _life is null ? null : _life as Departure ?? (_life as Beginning)?.Departure;
        set
        {
            if (_life is Beginning beginning)
                beginning.Departure = value;
            else
                _life = value;
        }
    }

    /// <summary>The end is decided: no request begins any more, except beside one that runs.</summary>
    private bool IsLeaving => Departing is { IsDecided: true };

    /// <summary>True when the collector may end the activation at coarse time <paramref name="now"/>.</summary>
    internal bool MayCollect(long now, long ageMs) =>
        State == ActivationState.Active && IsIdle && now - Volatile.Read(ref LastUsed) >= ageMs
        && (_extras is not { } extras || now >= Volatile.Read(ref extras.KeepAliveUntil));

    internal void KeepAliveFor(TimeSpan time) =>
        Volatile.Write(
            ref Extras.KeepAliveUntil,
            time > TimeSpan.Zero ? Parts.Local.Clock.Now + (long)Math.Min(time.TotalMilliseconds, int.MaxValue) : 0);

    /// <summary>The grain, or a part of it, carries its state along when it moves. Any thread; a moment's truth.</summary>
    internal bool TakesPartInMigration => Volatile.Read(ref _extras)?.Lifecycle is { HasMigrationParticipants: true };

    /// <summary>
    /// A timer was begun after the activation: <c>OnActivateAsync</c> does not bring it back on another silo. Any thread; a moment's truth.
    /// </summary>
    internal volatile bool HasLateTimer;

    /// <summary>Keeps a timer until it is disposed; false when the activation ends already and the timer must not begin.</summary>
    internal bool TryAddTimer(IDisposable timer)
    {
        if (State >= ActivationState.Deactivating)
            return false;
        HasLateTimer |= State == ActivationState.Active;
        (Extras.Timers ??= []).Add(timer);
        return true;
    }

    internal void RemoveTimer(IDisposable timer) => _extras?.Timers?.Remove(timer);

    public void Activate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default) => Begin(null, ContextOf(requestContext));

    /// <summary>
    /// Starts the life of a new activation; <paramref name="state"/> is what it carried from another silo, or null, and
    /// <paramref name="context"/> and <paramref name="trace"/> are those of the request that it begins for.
    /// </summary>
    internal void Begin(MigrationState? state, RequestContextData? context = null, object? trace = null)
    {
        PrepareBegin(state, context, trace);
        BeginPrepared();
    }

    /// <summary>
    /// From here on the activation answers for the registration that it takes over; to be called before anybody can find it.
    /// </summary>
    internal void PrepareBegin(MigrationState? state, RequestContextData? context = null, object? trace = null) =>
        _life = new Beginning(this, state, context, trace);

    internal void BeginPrepared() => Enqueue((Beginning)_life!);

    /// <summary>Has the activation begin with the first request; to be called before anybody can find it.</summary>
    internal void BeginWithFirstRequest() => _life = Beginning.WithFirstRequest;

    /// <summary>
    /// For whoever has made an activation and could not give it its request, or took that away: those that others have sent need it.
    /// </summary>
    internal void BeginWithoutRequest() => Enqueue(new ActionItem(static state => ((Activation)state!).BeginNow(null, null), this));

    /// <summary>Begins what <see cref="BeginWithFirstRequest"/> has left to this turn.</summary>
    private void BeginNow(RequestContextData? context, object? trace)
    {
        if (!ReferenceEquals(_life, Beginning.WithFirstRequest))
            return;
        var beginning = Beginning.For(this, context, trace);
        _life = beginning;
        beginning.RunFirst();
    }

    /// <summary>
    /// What this silo reports of the grain when its slot is rebuilt, none for nothing. Any thread; exact for a collector that has raised
    /// the fence before, see <see cref="RegistrationFence"/>.
    /// </summary>
    internal Location RegisteredAs => Registered ? Location : (Volatile.Read(ref _life) as Beginning)?.Kept ?? default;

    public void Rehydrate(IRehydrationContext context) =>
        throw new InvalidOperationException("State is handed over when the activation begins; see MigrateOnIdle.");

    public void Deactivate(DeactivationReason deactivationReason, CancellationToken cancellationToken = default)
    {
        if (ReferenceEquals(Current, this))
        {
            WishToEnd(deactivationReason);
            return;
        }

        Enqueue(new ActionItem(
            reason =>
            {
                DecideToEnd((DeactivationReason)reason!);
                (_life as Beginning)?.Cancel();
                AtRest();
            },
            deactivationReason));
    }

    public void Migrate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default)
    {
        if (ReferenceEquals(Current, this))
            WishToMove(requestContext);
        else
            Enqueue(new ActionItem(context => WishToMove((Dictionary<string, object>?)context), requestContext));
    }

    /// <summary>
    /// Moves the activation as soon as no request runs: at once, or at the end of a request. It holds no request back until then.
    /// </summary>
    /// <param name="request">Told the outcome.</param>
    internal void TryMigrate(MigrationRequest request) => Enqueue(new ActionItem(state =>
    {
        var migration = (MigrationRequest)state!;
        if (State != ActivationState.Active || _life is not null || !Parts.Locality.MayMove(this))
        {
            migration.Report(MigrationOutcome.Busy);
            return;
        }

        Departing = new Departure(this, migration);
        if (_runningCount == 0)
            AtRest();
    }, request));

    /// <summary>Takes the wish to move back if the activation has not come to rest yet.</summary>
    internal void GiveUpMigration(MigrationRequest request) => Enqueue(new ActionItem(state =>
    {
        if (Departing is { IsDecided: false } departure && departure.GiveUp((MigrationRequest)state!))
            Departing = null;
    }, request));

    /// <summary>The end is wanted: it begins when no request runs, and for an activation that begins, when that is done.</summary>
    internal void WishToEnd(DeactivationReason reason)
    {
        // Not here: the caller may be code of the grain.
        if (DecideToEnd(reason) && State == ActivationState.Active && _runningCount == 0)
            Enqueue(new ActionItem(static state => ((Activation)state!).AtRest(), this));
    }

    /// <summary>False when the end was decided before.</summary>
    private bool DecideToEnd(DeactivationReason reason)
    {
        BeginNow(null, null);
        if (State >= ActivationState.Deactivating || IsLeaving)
            return false;
        (Departing ??= new Departure(this)).Decide(reason);
        return true;
    }

    private void WishToMove(Dictionary<string, object>? requestContext)
    {
        BeginNow(null, null);
        if (State != ActivationState.Gone && Class.UsesDirectory)
            (Departing ??= new Departure(this)).Move(ContextOf(requestContext));
    }

    /// <summary>No place was found to move to, and nothing else is wanted.</summary>
    internal void ForgetDeparture()
    {
        if (Departing is { IsDecided: false, IsWanted: false })
            Departing = null;
    }

    /// <summary>No request runs: what waited for that begins. Until this moment a wish of the runtime to move has held no request
    /// back.</summary>
    private void AtRest()
    {
        if (Departing is not { } departure || State != ActivationState.Active || _runningCount > 0 || !departure.DecideAtRest())
            return;
        Leave(departure);
    }

    /// <summary>The begin has succeeded.</summary>
    internal void Begun(MigrationState? state)
    {
        _life = Departing;
        State = ActivationState.Active;
        state?.Arrived(Location);
        if (IsLeaving)
            Leave(Departing!);
        else
            Accepts = true;
        if (state is null)
            Parts.Locality.Began(GrainId);
        Parts.Metrics.Activated(state is not null);
    }

    /// <summary>The begin has failed, or another activation of the grain is registered: what was begun is undone.</summary>
    internal void Unbegin(DeactivationReason reason)
    {
        var departure = Departing ?? new Departure(this);
        _life = departure;
        if (!departure.IsDecided)
            departure.Decide(reason);
        Leave(departure);
    }

    private void Leave(Departure departure)
    {
        var hasBegun = State == ActivationState.Active;
        State = ActivationState.Deactivating;
        Accepts = false;
        departure.Start(hasBegun);
    }

    /// <summary>
    /// The one place where a failure ends that no step of the life has caught itself. The activation cannot stay as it is, so it leaves.
    /// </summary>
    internal void Supervise(Task life)
    {
        if (!life.IsCompletedSuccessfully)
            Parts.Activations.Follow(SuperviseAsync(life));
    }

    private async Task SuperviseAsync(Task life)
    {
        try
        {
            await life;
        }
        catch (Exception exception)
        {
            try
            {
                Remove();
                SendWaitingOn();
                Departing?.Abandon();
                Parts.Local.Log.LifeFailed(GrainId, exception);
            }
            finally
            {
                HasEnded();
            }
        }
    }

    /// <summary>
    /// A step that was given up runs on: nobody waits for it, not even the end of the node. Its failure is logged; a cancellation is none.
    /// </summary>
    internal void LeaveBehind(Task step, string name) => step.ContinueWith(
        late => Parts.Local.Log.LateStepFailed(name, GrainId, late.Exception!),
        CancellationToken.None,
        TaskContinuationOptions.OnlyOnFaulted | TaskContinuationOptions.ExecuteSynchronously,
        TaskScheduler.Default);

    /// <summary>Cancels a token that code of the grain has seen. What it has registered there runs now, on this turn.</summary>
    internal void Cancel(CancellationTokenSource source)
    {
        try
        {
            source.Cancel();
        }
        catch (AggregateException exception)
        {
            Parts.Local.Log.CancellationFailed(GrainId, exception);
        }
    }

    /// <summary>
    /// The services of the activation's own scope, which begins when somebody wants something of it: most grains never do. Those of the
    /// silo before the construction and after the end. Any thread.
    /// </summary>
    internal IServiceProvider Services => _hasScope ? (Volatile.Read(ref Extras.Scope) ?? BeginScope()).ServiceProvider : Parts.Local.Services;

    /// <summary>Constructs the instance, with this activation as the ambient context.</summary>
    internal void Construct()
    {
        _hasScope = true;
        var construction = Class.ConstructionOn(Parts.Local.Services);
        using (GrainContextScope.Enter(this))
            Instance = construction.Make(construction.NeedsScope ? Services : Parts.Local.Services, this);
        if (Instance is ILifecycleParticipant<IGrainLifecycle> participant)
            participant.Participate(Lifecycle);
        if (Instance is IGrainMigrationParticipant migrant)
            Lifecycle.AddMigrationParticipant(migrant);
    }

    /// <summary>Ends the timers, each of which signals its token.</summary>
    internal void StopTimers()
    {
        foreach (var timer in _extras?.Timers?.ToArray() ?? [])
        {
            try
            {
                timer.Dispose();
            }
            catch (AggregateException exception)
            {
                Parts.Local.Log.CancellationFailed(GrainId, exception);
            }
        }

        if (_extras is { } extras)
            extras.Timers = null;
    }

    internal IReadOnlyList<IGrainMigrationParticipant> MigrationParticipants => _extras?.Lifecycle?.MigrationParticipants ?? [];

    /// <summary>Something is to be run before the activation serves: a stage of its lifecycle, or a hook of its class.</summary>
    internal bool HasHooks => _extras?.Lifecycle is not null || Class.HasActivationHook;

    /// <summary>As <see cref="HasHooks"/>, for the end.</summary>
    internal bool HasEndHooks => _extras?.Lifecycle is not null || Class.HasDeactivationHook;

    /// <summary>The instance or the scope of its services wants to know that it ends.</summary>
    internal bool HasToDispose => Volatile.Read(ref _extras)?.Scope is not null || Instance is IAsyncDisposable or IDisposable;

    internal Task StartLifecycleAsync(CancellationToken cancellation) => _extras?.Lifecycle?.OnStart(cancellation) ?? Task.CompletedTask;

    internal Task StopLifecycleAsync(CancellationToken cancellation) => _extras?.Lifecycle?.OnStop(cancellation) ?? Task.CompletedTask;

    internal async Task UnregisterAsync()
    {
        try
        {
            await Parts.Directory.UnregisterAsync(this);
        }
        catch (Exception exception)
        {
            if (!Parts.Local.IsStopping)
                Parts.Local.Log.UnregistrationFailed(GrainId, exception);
        }
    }

    /// <summary>From here on nobody finds the activation; what still arrives is sent on.</summary>
    internal void Remove()
    {
        State = ActivationState.Gone;
        Accepts = false;
        Parts.Activations.Remove(this);
    }

    /// <summary>Fails the requests that wait. Ticks fail in silence.</summary>
    internal void FailWaiting(Exception exception)
    {
        while (TakeWaiting() is { } call)
            Fail(call, exception);
    }

    /// <summary>Sends the requests that wait to where the grain is now, or will be.</summary>
    internal void SendWaitingOn()
    {
        while (TakeWaiting() is { } call)
            SendOn(call);
    }

    /// <summary>A request of others goes on; what belongs to the activation itself, as a timer's tick, dies with it.</summary>
    private void SendOn(Call call)
    {
        if (call is TimerCall)
            return;
        try
        {
            Parts.Router.Reroute(call, this);
        }
        catch (Exception exception)
        {
            Fail(call, exception);
        }
    }

    internal async Task DisposeInstanceAsync()
    {
        if (Instance is IAsyncDisposable asyncDisposable)
            await asyncDisposable.DisposeAsync();
        else
            (Instance as IDisposable)?.Dispose();
    }

    internal async Task DisposeScopeAsync()
    {
        _hasScope = false;
        var scope = Volatile.Read(ref _extras) is { } extras ? Interlocked.Exchange(ref extras.Scope, null) : null;
        if (scope is IAsyncDisposable asyncScope)
            await asyncScope.DisposeAsync();
        else
            scope?.Dispose();
    }

    /// <summary>
    /// The last step. References remember the activation that they called last, for as long as they live: it keeps nothing of the grain.
    /// </summary>
    internal void HasEnded()
    {
        Instance = null;
        _hasScope = false;
        _edges = null;
        var extras = Extras;
        extras.Scope = null;
        extras.Lifecycle = null;
        extras.Components = null;
        extras.Sections = null;
        Interlocked.CompareExchange(ref extras.Deactivated, HasLeft, null)?.TrySetResult();
    }

    /// <summary>An observer that was deleted or collected: calls to it are refused from here on. Any thread.</summary>
    internal void EndObserver()
    {
        Accepts = false;
        Parts.Activations.Remove(this);
        Enqueue(new ActionItem(static state => ((Activation)state!).State = ActivationState.Gone, this));
    }

    /// <summary>The silo is dead for the others: no turn of the activation runs any more.</summary>
    internal void Stop()
    {
        Accepts = false;
        _stopped = true;
    }

    private IServiceScope BeginScope()
    {
        var made = Parts.Local.Services.CreateScope();
        if (Interlocked.CompareExchange(ref Extras.Scope, made, null) is not { } other)
            return made;
        made.Dispose();
        return other;
    }

    private TaskCompletionSource MakeDeactivated()
    {
        var made = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        return Interlocked.CompareExchange(ref Extras.Deactivated, made, null) ?? made;
    }

    private static RequestContextData? ContextOf(Dictionary<string, object>? values) => values is null ? null : new RequestContextData { Values = values };

    private static TaskCompletionSource Completed()
    {
        var source = new TaskCompletionSource();
        source.SetResult();
        return source;
    }
}
