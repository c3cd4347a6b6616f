using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Staging;
using Orleans;
using Orleans.Core.Internal;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>One grain in memory: its instance, its mailbox and its place in the life cycle.</summary>
/// <remarks>
/// <para>Any thread may <see cref="Enqueue"/> and read <see cref="CallHost.Accepts"/>, <see cref="State"/> and
/// <see cref="LastUsed"/>. Everything else belongs to the activation's turn: the stage runs at most one turn of an
/// activation at a time. The parts: <c>Activation.Mailbox.cs</c> (what waits and what runs next),
/// <c>Activation.Requests.cs</c> (who may run beside whom), <c>Activation.Lifecycle.cs</c> (who may ask for begin and end).</para>
/// <para>A silo has a million of these, nearly all idle. So it has fields for what every activation needs; what its class shares is in
/// <see cref="ActivationHome"/>, what few need in <see cref="ActivationExtras"/>, and what belongs to begin and end in one reference to
/// either. It is the task scheduler of its own turns.</para>
/// </remarks>
internal sealed partial class Activation : CallHost, IStageItem, IGrainContext, ICallChainReentrantGrainContext, IWorkItemScheduler
{
    private readonly ActivationHome _home;
    private readonly byte[]? _key;
    private readonly int _keyHash;
    private ActivationExtras? _extras;

    internal Activation(ActivationParts parts, GrainId id, GrainClass grainClass, Stage stage)
    {
        // The type of the id is the class's, whose bytes are shared.
        _home = grainClass.HomeOn(parts, stage);
        _key = IdSpan.UnsafeGetArray(id.Key);
        _keyHash = id.Key.GetHashCode();
        ActivationId = new ActivationId(parts.Local.NewId());
        _inbox = Idle;
        LastUsed = parts.Local.Clock.Now;
    }

    internal ActivationParts Parts => _home.Parts;

    internal GrainClass Class => _home.Class;

    internal object? Instance { get; private set; }

    /// <summary>Where the activation is in its life; written on its turns.</summary>
    internal volatile ActivationState State;

    /// <summary>Coarse time in ms when a request last began or ended; read by the collector.</summary>
    internal long LastUsed;

    /// <summary>True while the directory lists the activation; read when a slot is rebuilt.</summary>
    internal volatile bool Registered;

    /// <summary>The directory's epoch of the registration; says which of two addresses is newer.</summary>
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

    /// <summary>The place of this activation, as far as it is registered.</summary>
    internal Location Location => new(Parts.Local.Address, ActivationId, Epoch);

    public object? GrainInstance => Instance;

    public IServiceProvider ActivationServices => Services;

    public GrainReference GrainReference => Extras.Reference ??= Parts.Factory.CreateUntyped(GrainId);

    public IGrainLifecycle ObservableLifecycle => Lifecycle;

    public IWorkItemScheduler Scheduler => this;

    internal override GrainId HostId => GrainId;

    /// <summary>Made when it is needed. Any thread.</summary>
    private ActivationExtras Extras => Volatile.Read(ref _extras) ?? MakeExtras();

    public override int MaximumConcurrencyLevel => 1;

    /// <summary>For observers and system targets: the object exists already and nothing is registered.</summary>
    internal static Activation ForInstance(ActivationParts parts, GrainId id, GrainClass grainClass, object? instance, Stage stage) =>
        new(parts, id, grainClass, stage)
        {
            Instance = instance,
            State = ActivationState.Active,
            Accepts = true,
        };

    /// <summary>For observers: the object is held weakly, and calls to one that is gone are dropped.</summary>
    internal static Activation ForObserver(ActivationParts parts, GrainId id, GrainClass grainClass, object observer)
    {
        var activation = ForInstance(parts, id, grainClass, null, parts.Stages.Work);
        activation.Extras.WeakInstance = new WeakReference<object>(observer);
        return activation;
    }

    /// <summary>An observer whose object the application has dropped.</summary>
    internal bool IsLostObserver => _extras?.WeakInstance is { } weak && !weak.TryGetTarget(out _);

    public object? GetComponent(Type componentType)
    {
        if (componentType.IsInstanceOfType(this))
            return this;
        if (_extras?.Components is { } components && components.TryGetValue(componentType, out var component))
            return component;
        return componentType.IsInstanceOfType(Instance) ? Instance : Services.GetService(componentType);
    }

    public object? GetTarget() => Instance ?? (_extras?.WeakInstance is { } weak && weak.TryGetTarget(out var observer) ? observer : null);

    public void SetComponent<TComponent>(TComponent? value)
        where TComponent : class
    {
        if (value is null)
            _extras?.Components?.Remove(typeof(TComponent));
        else
            (Extras.Components ??= [])[typeof(TComponent)] = value;
    }

    public void ReceiveMessage(object message) => Enqueue((MailboxItem)message);

    void IWorkItemScheduler.QueueAction(Action action) => Enqueue(new ActionItem(static state => ((Action)state!)(), action));

    void IWorkItemScheduler.QueueAction(Action<object> action, object state) => Enqueue(new ActionItem(action!, state));

    void IWorkItemScheduler.QueueTask(Task task) => task.Start(this);

    internal void RunTask(Task task) => TryExecuteTask(task);

    /// <summary>Tasks and continuations of grain code run one at a time, on turns.</summary>
    protected override void QueueTask(Task task) => Enqueue(new TaskItem(task));

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) =>
        !taskWasPreviouslyQueued && ReferenceEquals(Current, this) && TryExecuteTask(task);

    protected override IEnumerable<Task> GetScheduledTasks() => [];

    public override string ToString() => "[" + GrainId + " @" + Parts.Local.Address + " " + State + "]";

    private ActivationExtras MakeExtras()
    {
        var made = new ActivationExtras();
        return Interlocked.CompareExchange(ref _extras, made, null) ?? made;
    }
}

/// <summary>The life of an activation, in order.</summary>
internal enum ActivationState
{
    /// <summary>Being constructed, registered and activated: requests wait.</summary>
    Activating,

    /// <summary>Takes requests.</summary>
    Active,

    /// <summary>Ending: requests wait and go elsewhere afterwards.</summary>
    Deactivating,

    /// <summary>Ended: requests that still arrive are sent on.</summary>
    Gone,
}
