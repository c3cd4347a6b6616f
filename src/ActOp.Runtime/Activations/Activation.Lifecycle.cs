using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Locality;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>Begin and end of an activation. All of it runs on the activation's turns.</summary>
internal sealed partial class Activation
{
    private readonly CancellationTokenSource _ending = new();
    private GrainLifecycle? _lifecycle;
    private IServiceScope? _scope;
    private List<IDisposable>? _timers;
    private DeactivationReason? _deactivation;
    private SiloAddress? _migrationTarget;
    private long _keepAliveUntil;

    /// <summary>The activation moves: where to, once it has left.</summary>
    internal Location MovedTo { get; private set; }

    /// <summary>Cancelled when the activation ends; timers' callbacks see it.</summary>
    internal CancellationToken Ending => _ending.Token;

    internal GrainLifecycle Lifecycle => _lifecycle ??= new GrainLifecycle();

    /// <summary>True when the collector may end the activation at coarse time <paramref name="now"/>.</summary>
    internal bool MayCollect(long now, long ageMs) =>
        State == ActivationState.Active && IsIdle && now - Volatile.Read(ref LastUsed) >= ageMs && now >= Volatile.Read(ref _keepAliveUntil);

    internal void KeepAliveFor(TimeSpan time) =>
        Volatile.Write(ref _keepAliveUntil, time > TimeSpan.Zero ? Node.Clock.Now + (long)Math.Min(time.TotalMilliseconds, int.MaxValue) : 0);

    /// <summary>The grain, or a part of it, carries its state along when it moves. Any thread; a moment's truth.</summary>
    internal bool TakesPartInMigration => Volatile.Read(ref _lifecycle) is { HasMigrationParticipants: true };

    /// <summary>A timer was begun after the activation: <c>OnActivateAsync</c> does not bring it back on another silo. Any thread; a moment's truth.</summary>
    internal volatile bool HasLateTimer;

    internal void AddTimer(IDisposable timer)
    {
        HasLateTimer |= State == ActivationState.Active;
        (_timers ??= []).Add(timer);
    }

    internal void RemoveTimer(IDisposable timer) => _timers?.Remove(timer);

    public void Activate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default) => Begin(null);

    /// <summary>Starts the life of a new activation; <paramref name="state"/> is what it carried from another silo, or null.</summary>
    internal void Begin(MigrationState? state) => Enqueue(new ActionWork(s => _ = BeginAsync((MigrationState?)s), state));

    public void Rehydrate(IRehydrationContext context) =>
        throw new InvalidOperationException("State is handed over when the activation begins; see MigrateOnIdle.");

    public void Deactivate(DeactivationReason deactivationReason, CancellationToken cancellationToken = default) =>
        Enqueue(new ActionWork(reason => RequestDeactivation((DeactivationReason)reason!, null), deactivationReason));

    public void Migrate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default)
    {
        var hint = requestContext is not null && requestContext.TryGetValue(Orleans.Runtime.Placement.IPlacementDirector.PlacementHintKey, out var value) ? value as SiloAddress : null;
        Enqueue(new ActionWork(target => _ = RequestMigrationAsync((SiloAddress?)target), hint));
    }

    /// <summary>
    /// Moves the activation as soon as no request runs: at once, or at the end of a request. It holds no request back until then.
    /// </summary>
    /// <param name="request">Told the outcome.</param>
    internal void TryMigrate(MigrationRequest request) => Enqueue(new ActionWork(state =>
    {
        var migration = (MigrationRequest)state!;
        if (State != ActivationState.Active || _deactivation is not null || _migration is not null || !Node.Locality.MayMove(this))
        {
            migration.Report(MigrationOutcome.Busy);
            return;
        }

        _migration = migration;
        if (_runningCount == 0)
            AtRest();
    }, request));

    /// <summary>Takes the wish to move back if the activation has not come to rest yet.</summary>
    internal void GiveUpMigration(MigrationRequest request) => Enqueue(new ActionWork(state =>
    {
        var migration = (MigrationRequest)state!;
        if (!ReferenceEquals(_migration, migration) || State != ActivationState.Active)
            return;
        _migration = null;
        migration.Report(MigrationOutcome.Busy);
    }, request));

    private MigrationRequest? _migration;

    /// <summary>No request runs: what waited for that begins. Until this moment it has held no request back.</summary>
    private void AtRest()
    {
        if (_deactivation is null && _migration is { } migration)
        {
            _deactivation = new DeactivationReason(DeactivationReasonCode.Migrating, "Moves to " + migration.Target + ".");
            _migrationTarget = migration.Target;
        }

        if (_deactivation is not null)
            BeginDeactivation();
    }

    private async Task BeginAsync(MigrationState? state)
    {
        var registered = false;
        try
        {
            using var timeout = new CancellationTokenSource(Node.CollectionOptions.ActivationTimeout, Node.Time);
            if (Class.UsesDirectory)
            {
                var winner = await Node.Directory.RegisterAsync(this, state?.Previous.Location.Activation ?? default);
                if (!winner.Activation.Equals(ActivationId))
                {
                    EndDuplicate(winner);
                    state?.Refused(winner);
                    _deactivated.TrySetResult();
                    return;
                }

                registered = true;
            }

            Construct();
            if (state is not null)
                Restore(state);
            await Lifecycle.OnStart(timeout.Token);
            if (Instance is IGrainBase grain)
                await grain.OnActivateAsync(timeout.Token);
            State = ActivationState.Active;
            Accepts = true;
            Node.Metrics.Activated(state is not null);
            if (state is null)
                Node.Locality.Began(GrainId);
            else
                state.Arrived(new Location(Node.Address, ActivationId, Epoch));
            BeginRequestedDeactivation();
        }
        catch (Exception exception)
        {
            Node.Log.ActivationFailed(GrainId, exception);
            state?.Refused(default);
            await FailToBegin(exception, registered);
        }
    }

    /// <summary>Constructs the instance in its own service scope, with this activation as the ambient context.</summary>
    private void Construct()
    {
        _scope = Node.Services.CreateScope();
        Services = _scope.ServiceProvider;
        using (GrainContextScope.Enter(this))
            Instance = Node.Classes.Create(Class, Services, this);
        if (Instance is ILifecycleParticipant<IGrainLifecycle> participant)
            participant.Participate(Lifecycle);
        if (Instance is IGrainMigrationParticipant migrant)
            Lifecycle.AddMigrationParticipant(migrant);
    }

    private void Restore(MigrationState state)
    {
        foreach (var participant in Lifecycle.MigrationParticipants)
        {
            try
            {
                participant.OnRehydrate(state);
            }
            catch (Exception exception)
            {
                Node.Log.RehydrationFailed(GrainId, exception);
            }
        }
    }

    private void EndDuplicate(Location winner)
    {
        Node.Locations.Put(GrainId, winner);
        Leave();
        while (TakeWaiting() is { } call)
            Node.Router.Reroute(call, this);
        _deactivated.TrySetResult();
    }

    private async Task FailToBegin(Exception exception, bool registered)
    {
        if (registered)
            await Unregister();
        Leave();
        while (TakeWaiting() is { } call)
            Fail(call, exception);
        await DisposeInstance();
    }

    private void RequestDeactivation(DeactivationReason reason, SiloAddress? migrationTarget)
    {
        if (_deactivation is not null || State is ActivationState.Deactivating or ActivationState.Gone)
            return;
        _deactivation = reason;
        _migrationTarget = migrationTarget;
        if (State == ActivationState.Active && _runningCount == 0)
            BeginDeactivation();
    }

    /// <summary>A wish to end that came while the activation began is granted now; its waiting requests go to the next one.</summary>
    private void BeginRequestedDeactivation()
    {
        if (_deactivation is null)
            return;
        Accepts = false;
        BeginDeactivation();
    }

    private async Task RequestMigrationAsync(SiloAddress? hint)
    {
        var target = hint is not null && Node.Silos.IsActive(hint) ? hint : await Node.Placement.PlaceAsync(Class, GrainId, Node.Address, null);
        if (!target.Equals(Node.Address))
            RequestDeactivation(new DeactivationReason(DeactivationReasonCode.Migrating, "Moves to " + target + "."), target);
    }

    /// <summary>The silo is dead for the others: no turn of the activation runs any more.</summary>
    internal void Stop()
    {
        Accepts = false;
        _stopped = true;
    }

    private volatile bool _stopped;

    private void BeginDeactivation()
    {
        State = ActivationState.Deactivating;
        Accepts = false;
        _ = EndAsync(_deactivation!.Value);
    }

    private async Task EndAsync(DeactivationReason reason)
    {
        StopTimers();
        using var timeout = new CancellationTokenSource(Node.CollectionOptions.DeactivationTimeout, Node.Time);
        await RunEndHooks(reason, timeout.Token);
        var moved = _migrationTarget is { } target && await MoveTo(target);
        if (!moved && Class.UsesDirectory)
            await Unregister();
        if (!MovedTo.IsNone)
            Node.Locations.Put(GrainId, MovedTo);
        else if (!moved)
            Node.Locality.Forget(GrainId);
        Leave();
        Node.Metrics.Deactivated(moved);
        while (TakeWaiting() is { } call)
            Node.Router.Reroute(call, this);
        _migration?.Report(moved ? MigrationOutcome.Moved : MigrationOutcome.Failed);
        await DisposeInstance();
        _deactivated.TrySetResult();
    }

    private void StopTimers()
    {
        _ending.Cancel();
        foreach (var timer in _timers?.ToArray() ?? [])
            timer.Dispose();
    }

    private async Task RunEndHooks(DeactivationReason reason, CancellationToken cancellation)
    {
        try
        {
            if (Instance is IGrainBase grain)
                await grain.OnDeactivateAsync(reason, cancellation);
        }
        catch (Exception exception)
        {
            Node.Log.DeactivationFailed(GrainId, exception);
        }

        try
        {
            await Lifecycle.OnStop(cancellation);
        }
        catch (Exception exception)
        {
            Node.Log.DeactivationFailed(GrainId, exception);
        }
    }

    private async Task<bool> MoveTo(SiloAddress target)
    {
        if (_migration is { Live: false })
        {
            Node.Hints.Put(GrainId, target);
            await Unregister();
            return true;
        }

        try
        {
            var state = Dehydrate(new Registration(GrainId, new Location(Node.Address, ActivationId, Epoch)));
            MovedTo = await Node.Migrations.SendAsync(target, state);
            return !MovedTo.IsNone;
        }
        catch (Exception exception)
        {
            Node.Log.MigrationFailed(GrainId, target, exception);
            return false;
        }
    }

    private MigrationState Dehydrate(Registration previous)
    {
        var state = new MigrationState(Node.Calls, previous);
        foreach (var participant in Lifecycle.MigrationParticipants)
        {
            try
            {
                participant.OnDehydrate(state);
            }
            catch (Exception exception)
            {
                Node.Log.DehydrationFailed(GrainId, exception);
            }
        }

        return state;
    }

    private async Task Unregister()
    {
        try
        {
            await Node.Directory.UnregisterAsync(this);
        }
        catch (Exception exception)
        {
            if (!Node.IsStopping)
                Node.Log.UnregistrationFailed(GrainId, exception);
        }
    }

    private void Leave()
    {
        State = ActivationState.Gone;
        Accepts = false;
        Node.Activations.Remove(this);
    }

    private async Task DisposeInstance()
    {
        try
        {
            if (Instance is IAsyncDisposable asyncDisposable)
                await asyncDisposable.DisposeAsync();
            else
                (Instance as IDisposable)?.Dispose();
            if (_scope is IAsyncDisposable asyncScope)
                await asyncScope.DisposeAsync();
            else
                _scope?.Dispose();
        }
        catch (Exception exception)
        {
            Node.Log.DeactivationFailed(GrainId, exception);
        }

        _deactivated.TrySetResult();
    }
}
