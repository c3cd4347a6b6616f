using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Timers;
using ActOp.Staging;
using ActOp.Staging.Groups;
using Orleans;
using Orleans.Core.Internal;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>One grain in memory: connects its parts, runs its turns, and is what the rest of the runtime sees of it.</summary>
/// <remarks>
/// <para>The parts have state of their own: <see cref="Mailbox"/> (items that have arrived), <see cref="Activations.Admission"/> (requests
/// that run, and those that wait until they may), <see cref="ActivationLife"/> (start, end, migration) and <see cref="EdgeCount"/>
/// (messages exchanged with other grains). <see cref="RequestRun"/> runs one request.</para>
/// <para>The stage runs at most one turn of an activation at a time, and everything here belongs to it, except: any thread may <see
/// cref="Enqueue"/>, request an end or a migration, and read <see cref="CallHost.Accepts"/>, <see cref="State"/>, <see cref="LastUsed"/>,
/// <see cref="Registered"/>, <see cref="IsIdle"/> and <see cref="QueueLength"/>.</para>
/// <para>A silo has a million of these, nearly all idle. So the parts are structs in its fields. What all activations of a class share is
/// in <see cref="ActivationHome"/>, what few need is in <see cref="ActivationExtras"/>, and a start or an end that runs has an object of
/// its own. The activation is the task scheduler of its own turns.</para>
/// </remarks>
internal sealed class Activation : CallHost, IStageItem, IGrainContext, ICallChainReentrantGrainContext, IWorkItemScheduler,
    IGrainExtensionBinder
{
    /// <summary>
    /// Items that one visit of the stage runs, unless SchedulingOptions.ActivationSchedulingQuantum ends it before. Then the activation
    /// goes to the back of the queue, so that a busy grain does not hold a thread.
    /// </summary>
    private const int Quantum = 64;

    /// <summary>For the parts of the activation and for the objects of its start and its end.</summary>
    internal ActivationLife Life;

    /// <inheritdoc cref="Life"/>
    internal Admission Admission;

    /// <summary>Coarse time in ms when the start or a request last ended, or a request started; read by the collector.</summary>
    internal long LastUsed;

    private ActivationHome _home;
    private readonly byte[]? _key;
    private readonly int _keyHash;
    private ActivationExtras? _extras;
    private Mailbox _mailbox = new();
    private EdgeCount _edges;

    internal Activation(ActivationParts parts, GrainId id, GrainClass grainClass, Stage stage, ActivationId activationId = default)
    {
        // The type of the id is that of the class, whose bytes are shared.
        _home = grainClass.HomeOn(parts, stage);
        _key = IdSpan.UnsafeGetArray(id.Key);
        _keyHash = id.Key.GetHashCode();
        ActivationId = activationId.IsDefault ? new ActivationId(parts.Local.NewId()) : activationId;
        LastUsed = parts.Local.Clock.Now;
    }

    /// <summary>Any thread; another one from the first turn on if there are groups.</summary>
    internal ActivationHome Home => _home;

    StageGroup? IStageItem.Group => _home.TimeOf;

    internal ActivationParts Parts => _home.Parts;

    internal GrainClass Class => _home.Class;

    /// <inheritdoc cref="ActivationHome.Limit"/>
    internal int Limit => _home.Limit;

    internal object? Instance { get; private set; }

    /// <summary>Where the activation is in its life. Any thread; written on its turns.</summary>
    internal ActivationState State => Life.State;

    /// <summary>The directory lists the activation, as far as is known. Any thread; read when a slot is rebuilt.</summary>
    internal bool Registered
    {
        get => Life.Registration == RegistrationState.Registered;
        set => Life.Registration = value ? RegistrationState.Registered : RegistrationState.None;
    }

    /// <summary>The epoch of the registration in the directory; it tells which of two addresses is newer.</summary>
    internal long Epoch { get; set; }

    public GrainAddress Address => Extras.Address ??= new GrainAddress
    {
        GrainId = GrainId,
        ActivationId = ActivationId,
        SiloAddress = Parts.Local.Address,
        MembershipVersion = Epoch > 0 ? new MembershipVersion(Slot.ViewOf(Epoch)) : Parts.ClusterView.Version,
    };

    public ActivationId ActivationId { get; }

    public GrainId GrainId => new(_home.Class.GrainType, IdSpan.UnsafeCreate(_key, _keyHash));

    /// <summary>The location of this activation, as far as it is registered.</summary>
    internal Location Location => new(Parts.Local.Address, ActivationId, Epoch);

    public object? GrainInstance => Instance;

    public IServiceProvider ActivationServices => Life.ServicesOf(this);

    public GrainReference GrainReference => Extras.Reference ??= Parts.Factory.CreateUntyped(GrainId);

    public IGrainLifecycle ObservableLifecycle => Lifecycle;

    public IWorkItemScheduler Scheduler => this;

    /// <summary>Completes when the activation has ended and has released everything. Any thread.</summary>
    public Task Deactivated => Extras.EndOfActivation();

    internal override GrainId HostId => GrainId;

    public override int MaximumConcurrencyLevel => 1;

    /// <summary>Created on first use. Any thread.</summary>
    internal ActivationExtras Extras => Volatile.Read(ref _extras) ?? ActivationExtras.Publish(ref _extras);

    /// <summary>Null if no member of it was ever needed. On the turns.</summary>
    internal ActivationExtras? ExistingExtras => _extras;

    /// <summary>As <see cref="ExistingExtras"/>, for any thread.</summary>
    internal ActivationExtras? PublishedExtras => Volatile.Read(ref _extras);

    /// <summary>Nothing is queued and no turn runs. Any thread; a racy snapshot.</summary>
    internal bool IsIdle => _mailbox.IsIdle && Admission.IsEmpty;

    /// <summary>Queued and running requests. Any thread; a racy snapshot.</summary>
    internal int QueueLength => _mailbox.ArrivedCount + Admission.Count;

    /// <summary>Where the activation has migrated to; default if it has not.</summary>
    internal Location MovedTo => Life.MovedTo;

    /// <inheritdoc cref="ActivationLife.RegisteredAs"/>
    internal Location RegisteredAs => Life.RegisteredAs(this);

    /// <inheritdoc cref="ActivationLife.HasLateTimer"/>
    internal bool HasLateTimer => Life.HasLateTimer;

    /// <summary>What the grain and its parts do with their state when it migrates. Any thread; a racy snapshot.</summary>
    internal CarriedState CarriedState => PublishedExtras?.Lifecycle?.CarriedState ?? CarriedState.None;

    internal IReadOnlyList<IGrainMigrationParticipant> MigrationParticipants => _extras?.Lifecycle?.MigrationParticipants ?? [];

    /// <summary>An observer whose object was collected.</summary>
    internal bool IsLostObserver => _extras?.WeakInstance is { } weak && !weak.TryGetTarget(out _);

    /// <inheritdoc cref="EdgeCount.IsOverdue"/>
    internal bool EdgesAreOverdue => _edges.IsOverdue(Parts.Edges.Step);

    /// <summary>A stage of the lifecycle or a hook of the class must run before the activation accepts requests.</summary>
    internal bool HasHooks => _extras?.Lifecycle is not null || Class.HasActivationHook;

    /// <summary>As <see cref="HasHooks"/>, for the end.</summary>
    internal bool HasEndHooks => _extras?.Lifecycle is not null || Class.HasDeactivationHook;

    /// <summary>The instance or the scope of its services must be disposed.</summary>
    internal bool HasToDispose => PublishedExtras?.Scope is not null || Instance is IAsyncDisposable or IDisposable
        || (Instance is not null && Class.Construction is { IsCustom: true });

    private GrainLifecycle Lifecycle => Extras.Lifecycle ??= new GrainLifecycle();

    /// <summary>For observers and system targets: the object exists already and nothing is registered.</summary>
    internal static Activation ForInstance(ActivationParts parts, GrainId id, GrainClass grainClass, object? instance, Stage stage)
    {
        var activation = new Activation(parts, id, grainClass, stage) { Instance = instance, Accepts = true };
        activation.Life.BeGiven(activation);
        return activation;
    }

    /// <summary>For observers: the reference to the object is weak. Calls to an object that was collected are dropped.</summary>
    internal static Activation ForObserver(ActivationParts parts, GrainId id, GrainClass grainClass, object observer)
    {
        var activation = ForInstance(parts, id, grainClass, null, parts.Stages.Work);
        activation.Extras.WeakInstance = new WeakReference<object>(observer);
        return activation;
    }

    /// <inheritdoc cref="RequestRun.Fail"/>
    internal static void Fail(Call call, Exception exception) => RequestRun.Fail(call, exception);

    public object? GetComponent(Type componentType)
    {
        if (componentType.IsInstanceOfType(this))
            return this;
        if (_extras?.Components is { } components && components.TryGetValue(componentType, out var component))
            return component;
        if (Class.Construction?.Components.GetComponent(componentType) is { } shared)
            return shared;
        if (componentType.IsInstanceOfType(Instance))
            return Instance;
        return componentType.IsInterface && typeof(IGrainExtension).IsAssignableFrom(componentType)
            ? Extensions.Make(this, componentType)
            : ActivationServices.GetService(componentType);
    }

    public TExtensionInterface GetExtension<TExtensionInterface>()
        where TExtensionInterface : class, IGrainExtension => (TExtensionInterface)GetComponent(typeof(TExtensionInterface))!;

    public (TExtension, TExtensionInterface) GetOrSetExtension<TExtension, TExtensionInterface>(Func<TExtension> newExtensionFunc)
        where TExtension : class, TExtensionInterface
        where TExtensionInterface : class, IGrainExtension => Extensions.GetOrSet<TExtension, TExtensionInterface>(this, newExtensionFunc);

    /// <summary>What requests run on: the instance of the grain, or the observer. On the turns, of an activation that has begun.</summary>
    /// <exception cref="OrleansMessageRejectionException">The observer was collected.</exception>
    public object? GetTarget() => Instance ?? _extras?.TargetOfObserver(this);

    public void SetComponent<TComponent>(TComponent? value)
        where TComponent : class
    {
        if (value is null)
            _extras?.Components?.Remove(typeof(TComponent));
        else
            SetComponent(typeof(TComponent), value);
    }

    internal void SetComponent(Type type, object value) => (Extras.Components ??= [])[type] = value;

    /// <summary>The end is decided: what would hold it up ends.</summary>
    internal void OnEnding() => _extras?.Ending?.Invoke();

    public void OnEnterReentrantSection(Guid reentrancyId) => Extras.EnterSection(reentrancyId);

    public void OnExitReentrantSection(Guid reentrancyId) => _extras?.ExitSection(reentrancyId);

    public void ReceiveMessage(object message) => Enqueue((MailboxItem)message);

    void IWorkItemScheduler.QueueAction(Action action) => Enqueue(new ActionItem(static state => ((Action)state!)(), action));

    void IWorkItemScheduler.QueueAction(Action<object> action, object state) => Enqueue(new ActionItem(action!, state));

    void IWorkItemScheduler.QueueTask(Task task) => task.Start(this);

    internal void RunTask(Task task)
    {
        // Its own end may take several turns after it is gone: the instance is disposed then.
        if (State == ActivationState.Gone && Instance is null)
            Parts.LateWork.Ran(GrainId);
        TryExecuteTask(task);
    }

    /// <summary>Tasks and continuations of grain code run one at a time, on turns.</summary>
    protected override void QueueTask(Task task) => Enqueue(new TaskItem(task));

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) =>
        !taskWasPreviouslyQueued && ReferenceEquals(Current, this) && TryExecuteTask(task);

    protected override IEnumerable<Task> GetScheduledTasks() => [];

    public override string ToString() => "[" + GrainId + " @" + Parts.Local.Address + " " + State + "]";

    internal override void Enqueue(MailboxItem item)
    {
        if (_mailbox.Push(item))
            _home.Stage.Post(this);
    }

    /// <summary>
    /// Puts a request into the mailbox, or refuses it if the mailbox is full. The requests that wait for others to end are not counted
    /// here: see <see cref="Activations.Admission.Wait"/>.
    /// </summary>
    internal void EnqueueRequest(Call call)
    {
        if (_home.Group is { IsLimited: true } group && group.TryAdmit(call) is { } refusal)
        {
            Fail(call, refusal);
            return;
        }

        var pushed = _mailbox.TryPush(call, _home.Limit);
        if (pushed == PushResult.WasIdle)
            _home.Stage.Post(this);
        else if (pushed == PushResult.Refused)
            Refuse(call);
    }

    internal void Refuse(Call call) => Fail(call, Parts.Limits.RefusalOf(this, call));

    /// <summary>On a turn, drops the waiting requests that were abandoned. Any thread.</summary>
    internal void DropAbandoned()
    {
        if (Admission.HasWaiting)
            Enqueue(new ActionItem(static state => ((Activation)state!).Admission.DropAbandoned((Activation)state), this));
    }

    /// <summary>One visit of the stage: up to <see cref="Quantum"/> items.</summary>
    public void Execute()
    {
        if (Life.IsStopped || (Parts.Lease.Holds && Class.IsOrdinary && Parts.Lease.TryPark(this)))
            return;
        var began = Parts.Local.Clock.Now;
        var end = began + Parts.QuantumMs;
        bool more;
        using (new TurnScope(this))
            more = RunItems(end);
        var took = Parts.Local.Clock.Now - began;
        if (took > Parts.LongTurnMs)
            Parts.ReportLongTurn(this, took);
        if (!more)
            return;
        // A thread of the stage would run what it posts next, and so for several quanta more while others wait.
        if (began + took >= end)
            _home.Stage.PostBehind(this);
        else
            _home.Stage.Post(this);
    }

    /// <summary>Posts the activation to its stage after <see cref="Cluster.LeaseGate"/> has held its turn.</summary>
    internal void PostTurn() => _home.Stage.Post(this);

    internal override void FinishInTurn(Call call)
    {
        call.TakeResult();
        RequestRun.Finish(this, call);
    }

    internal override void CancelInTurn(CallCancellation cancellation)
    {
        if (!cancellation.HasStarted)
            Admission.CancelWaiting(this, cancellation.Call);
        else if (cancellation.Source is { } source)
            Turn.Cancel(source, this);
    }

    /// <summary>Counts messages exchanged with another grain. On the turns.</summary>
    internal void CountEdge(GrainId other, int messages) => _edges.Add(this, other, messages);

    /// <summary>Hands the edges counted so far over to the fold, on the next turn. Any thread.</summary>
    internal void TakeEdges() => Enqueue(new ActionItem(static state => ((Activation)state!)._edges.HandOver((Activation)state), this));

    public void Activate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default) =>
        Begin(null, ActivationLife.ContextOf(requestContext));

    /// <summary>
    /// Starts the life of a new activation. <paramref name="state"/> is what it has taken along from another silo, or null. <paramref
    /// name="context"/> and <paramref name="trace"/> are those of the request that causes the start.
    /// </summary>
    internal void Begin(MigrationState? state, RequestContextData? context = null, object? trace = null)
    {
        Life.PrepareBegin(this, state, context, trace);
        Life.BeginPrepared(this);
    }

    /// <summary>
    /// For the creator of an activation that could not give it its first request: requests of others may wait in it and need the start.
    /// </summary>
    internal void BeginWithoutRequest() =>
        Enqueue(new ActionItem(static state => ((Activation)state!).Life.BeginNow((Activation)state, null, null), this));

    public void Rehydrate(IRehydrationContext context) =>
        throw new InvalidOperationException("The state is handed over when the activation starts; see MigrateOnIdle.");

    public void Deactivate(DeactivationReason deactivationReason, CancellationToken cancellationToken = default)
    {
        if (ReferenceEquals(Current, this))
            Life.RequestEnd(this, deactivationReason);
        else
            Enqueue(new ActionItem(reason => Life.RequestEndNow(this, (DeactivationReason)reason!), deactivationReason));
    }

    public void Migrate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default)
    {
        if (ReferenceEquals(Current, this))
            Life.RequestMigration(this, requestContext);
        else
            Enqueue(new ActionItem(context => Life.RequestMigration(this, (Dictionary<string, object>?)context), requestContext));
    }

    /// <summary>
    /// Migrates the activation as soon as no request runs: at once, or at the end of a request. No request is held back until then.
    /// </summary>
    /// <param name="request">Gets the outcome.</param>
    internal void TryMigrate(MigrationRequest request) =>
        Enqueue(new ActionItem(state => Life.TryMigrate(this, (MigrationRequest)state!), request));

    /// <summary>Withdraws the migration request, unless the migration has started.</summary>
    internal void GiveUpMigration(MigrationRequest request) =>
        Enqueue(new ActionItem(state => Life.WithdrawMigration(this, (MigrationRequest)state!), request));

    /// <summary>An observer that was deleted or collected: calls to it are refused from now on. Any thread.</summary>
    internal void EndObserver()
    {
        Accepts = false;
        Parts.Activations.Remove(this);
        Enqueue(new ActionItem(static state => ((Activation)state!).Life.BeDeleted((Activation)state), this));
    }

    /// <summary>A request of the activation goes on after its first turn. On the turns.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Watch()
    {
        if (!Life.IsWatched)
            WatchNow();
    }

    /// <summary>Ends the activation although a request runs. Any thread.</summary>
    internal void GiveUp(DeactivationReason reason) =>
        Enqueue(new ActionItem(state => Life.GiveUp(this, (DeactivationReason)state!), reason));

    /// <summary>The other silos regard this one as dead: no turn of the activation runs any more. Any thread.</summary>
    internal void Stop()
    {
        Accepts = false;
        Life.Stop();
    }

    /// <summary>
    /// True if the collector may end the activation at coarse time <paramref name="now"/>. Between two batches of an enumeration it is in
    /// use: its consumer asks again, or the enumeration ends by itself. Any thread.
    /// </summary>
    internal bool MayCollect(long now, long ageMs) =>
        State == ActivationState.Active && IsIdle && now - Volatile.Read(ref LastUsed) >= ageMs
        && (_extras is not { } extras || (now >= Volatile.Read(ref extras.KeepAliveUntil) && extras.Enumerations is not { Count: > 0 }));

    internal void KeepAliveFor(TimeSpan time) =>
        Volatile.Write(
            ref Extras.KeepAliveUntil,
            time > TimeSpan.Zero ? Parts.Local.Clock.Now + (long)Math.Min(time.TotalMilliseconds, int.MaxValue) : 0);

    /// <summary>Keeps a timer until it is disposed. False if the activation ends already: then the timer must not start.</summary>
    internal bool TryAddTimer(IDisposable timer)
    {
        if (State >= ActivationState.Deactivating)
            return false;
        Life.OnTimerAdded();
        Extras.AddTimer(timer);
        return true;
    }

    internal void RemoveTimer(IDisposable timer) => _extras?.RemoveTimer(timer);

    internal void StopTimers() => _extras?.StopTimers(exception => Parts.Local.Log.CancellationFailed(GrainId, exception));

    internal void Construct()
    {
        Instance = Life.Construct(this);
        if (Instance is ILifecycleParticipant<IGrainLifecycle> participant)
            participant.Participate(Lifecycle);
        if (Instance is IGrainMigrationParticipant migrant)
            Lifecycle.AddMigrationParticipant(migrant);
    }

    internal Task StartLifecycleAsync(CancellationToken cancellation) => _extras?.Lifecycle?.OnStart(cancellation) ?? Task.CompletedTask;

    internal Task StopLifecycleAsync(CancellationToken cancellation) => _extras?.Lifecycle?.OnStop(cancellation) ?? Task.CompletedTask;

    /// <summary>From now on nobody finds the activation. Requests that still arrive are forwarded.</summary>
    internal void Remove()
    {
        Accepts = false;
        Parts.Activations.Remove(this);
    }

    /// <summary>Fails the requests that wait. Ticks of timers fail without a log line.</summary>
    internal void FailWaiting(Exception exception)
    {
        while (Admission.TakeWaiting(this) is { } call)
            Fail(call, exception);
    }

    /// <summary>Forwards the requests that wait to where the grain is now, or will be.</summary>
    internal void ForwardWaiting()
    {
        while (Admission.TakeWaiting(this) is { } call)
            Forward(call);
    }

    internal async Task DisposeInstanceAsync()
    {
        if (Instance is { } instance && Class.Construction is { } construction)
            await construction.DisposeAsync(this, instance);
    }

    /// <summary>
    /// The last step. References keep the activation that they called last in memory, so it releases everything that belongs to the grain.
    /// </summary>
    internal void HasEnded()
    {
        Instance = null;
        _edges.Clear();
        Life.HasEnded(Extras);
        Life.LeaveGroup(_home.Group);
    }

    /// <summary>True if the quantum ended before the mailbox was empty.</summary>
    /// <param name="end">Coarse time, in ms, at which the quantum ends in any case.</param>
    private bool RunItems(long end)
    {
        if (_home.IsFirst)
            JoinGroup();
        var isGrouped = _home.Group is not null;
        for (var left = Quantum; left > 0; left--)
        {
            if (_mailbox.TakeItem() is not { } item)
                return false;
            RunItem(item);
            if (Admission.MustVisitWaiting)
                Admission.RunWaiting(this);
            if (Parts.Local.Clock.Now >= end || (isGrouped && _mailbox.HasMore && Worker.IsSliceOver))
                return true;
        }

        return true;
    }

    private void RunItem(MailboxItem item)
    {
        try
        {
            if (item is Call call)
                RunCall(call);
            else
                item.Run(this);
        }
        catch (Exception exception)
        {
            Parts.Local.Log.TurnFailed(GrainId, exception);
        }

        Turn.CleanContext();
    }

    private void RunCall(Call call)
    {
        switch (call.Step)
        {
            case CallStep.Resume:
                call.ResumeCaller();
                break;
            case CallStep.Finish:
                FinishInTurn(call);
                break;
            default:
                Admit(call);
                break;
        }
    }

    private void Admit(Call call)
    {
        if (Parts.Abandoned.Drops(call))
            Life.BeginNow(this, null, null);
        else if (State == ActivationState.Gone)
            Forward(call);
        else if (Life.MayStart(Admission.HasRunning) && Admission.MayStart(this, call))
            RequestRun.Start(this, call);
        else if (Life.RefusesWith is { } failure)
            Fail(call, failure);
        else
            WaitForBegin(call);
    }

    /// <summary>The request waits before the start, so that a start that fails at once finds it.</summary>
    private void WaitForBegin(Call call)
    {
        var (context, trace) = (call.Context, call.Trace);
        Admission.Wait(this, call);
        Life.BeginNow(this, context, trace);
    }

    /// <summary>Forwards a request of others. The tick of a timer of the activation itself is dropped.</summary>
    private void Forward(Call call)
    {
        if (call is TimerCall)
            return;
        GrainGroup.Release(call);
        Parts.Local.Counts.Add(NodeEvent.Rerouted);
        try
        {
            Parts.Router.Reroute(call, this);
        }
        catch (Exception exception)
        {
            Fail(call, exception);
        }
    }

    /// <summary>The first turn: from now on, its turns use the time of the group that the application chooses.</summary>
    private void JoinGroup()
    {
        _home = Class.HomeIn(Parts.Groups!.Chosen(GrainId, Class.Type, Class.Group, _mailbox.First() as Call), _home);
        Turn.CleanContext();
    }

    private void WatchNow()
    {
        if (Class.IsOrdinary && Life.TryWatch())
            Parts.Workload?.Watch(this);
    }
}
