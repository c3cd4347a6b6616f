using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Core.Internal;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>One grain in memory: its instance, its mailbox and its place in the life cycle.</summary>
/// <remarks>
/// Any thread may <see cref="Enqueue"/> and read <see cref="CallHost.Accepts"/>, <see cref="State"/> and
/// <see cref="LastUsed"/>. Everything else belongs to the activation's turn: the stage runs at most one turn of an
/// activation at a time. The parts: <c>Activation.Mailbox.cs</c> (what waits and what runs next),
/// <c>Activation.Requests.cs</c> (who may run beside whom), <c>Activation.Lifecycle.cs</c> (who may ask for begin and end).
/// </remarks>
internal sealed partial class Activation : CallHost, IStageItem, IGrainContext, ICallChainReentrantGrainContext, IWorkItemScheduler
{
    private readonly Stage _stage;
    private readonly ActivationScheduler _scheduler;
    private Dictionary<Type, object>? _components;
    private readonly MembershipVersion _version;
    private GrainAddress? _address;
    private GrainReference? _reference;
    private WeakReference<object>? _weakInstance;

    internal Activation(Node node, GrainId id, GrainClass grainClass, Stage stage)
    {
        Node = node;
        GrainId = id;
        ActivationId = new ActivationId(node.NewId());
        _version = node.Silos.Version;
        Class = grainClass;
        _stage = stage;
        _scheduler = new ActivationScheduler(this);
        _inbox = Idle;
        LastUsed = node.Clock.Now;
    }

    internal Node Node { get; }

    internal GrainClass Class { get; }

    internal object? Instance { get; private set; }

    /// <summary>Where the activation is in its life; written on its turns.</summary>
    internal volatile ActivationState State;

    /// <summary>Coarse time in ms when a request last began or ended; read by the collector.</summary>
    internal long LastUsed;

    /// <summary>True while the directory lists the activation; read when a slot is rebuilt.</summary>
    internal volatile bool Registered;

    /// <summary>The directory's epoch of the registration; says which of two addresses is newer.</summary>
    internal long Epoch { get; set; }

    public GrainAddress Address => _address ??= new GrainAddress
    {
        GrainId = GrainId,
        ActivationId = ActivationId,
        SiloAddress = Node.Address,
        MembershipVersion = _version,
    };

    public ActivationId ActivationId { get; }

    public GrainId GrainId { get; }

    /// <summary>The place of this activation, as far as it is registered.</summary>
    internal Location Location => new(Node.Address, ActivationId, Epoch);

    public object? GrainInstance => Instance;

    public IServiceProvider ActivationServices => Services;

    public GrainReference GrainReference => _reference ??= Node.Factory.CreateUntyped(GrainId);

    public IGrainLifecycle ObservableLifecycle => Lifecycle;

    public IWorkItemScheduler Scheduler => this;

    internal override GrainId HostId => GrainId;

    /// <summary>For observers and system targets: the object exists already and nothing is registered.</summary>
    internal static Activation ForInstance(Node node, GrainId id, GrainClass grainClass, object? instance, Stage stage) =>
        new(node, id, grainClass, stage)
        {
            Instance = instance,
            State = ActivationState.Active,
            Accepts = true,
        };

    /// <summary>For observers: the object is held weakly, and calls to one that is gone are dropped.</summary>
    internal static Activation ForObserver(Node node, GrainId id, GrainClass grainClass, object observer)
    {
        var activation = ForInstance(node, id, grainClass, null, node.WorkStage);
        activation._weakInstance = new WeakReference<object>(observer);
        return activation;
    }

    /// <summary>An observer whose object the application has dropped.</summary>
    internal bool IsLostObserver => _weakInstance is { } weak && !weak.TryGetTarget(out _);

    public object? GetComponent(Type componentType)
    {
        if (componentType.IsInstanceOfType(this))
            return this;
        if (_components is { } components && components.TryGetValue(componentType, out var component))
            return component;
        return componentType.IsInstanceOfType(Instance) ? Instance : Services.GetService(componentType);
    }

    public object? GetTarget() => Instance ?? (_weakInstance is { } weak && weak.TryGetTarget(out var observer) ? observer : null);

    public void SetComponent<TComponent>(TComponent? value)
        where TComponent : class
    {
        if (value is null)
            _components?.Remove(typeof(TComponent));
        else
            (_components ??= [])[typeof(TComponent)] = value;
    }

    public void ReceiveMessage(object message) => Enqueue((Work)message);

    void IWorkItemScheduler.QueueAction(Action action) => Enqueue(new ActionWork(static state => ((Action)state!)(), action));

    void IWorkItemScheduler.QueueAction(Action<object> action, object state) => Enqueue(new ActionWork(action!, state));

    void IWorkItemScheduler.QueueTask(Task task) => task.Start(_scheduler);

    public override string ToString() => "[" + GrainId + " @" + Node.Address + " " + State + "]";
}
