using Orleans.Core;
using Orleans.Metadata;
using Orleans.Serialization.Invocation;
using Orleans.Timers;

namespace Orleans.Runtime;

/// <summary>Anything that calls can be addressed to.</summary>
public interface IAddressable
{
}

/// <summary>One activation of a grain.</summary>
public interface IGrainContext : ITargetHolder
{
    /// <summary>The activation's id.</summary>
    ActivationId ActivationId { get; }

    /// <summary>The services of this activation.</summary>
    IServiceProvider ActivationServices { get; }

    /// <summary>Where the activation is.</summary>
    GrainAddress Address { get; }

    /// <summary>Completes when the activation has ended.</summary>
    Task Deactivated { get; }

    /// <summary>The grain's id.</summary>
    GrainId GrainId { get; }

    /// <summary>The grain's object; null before it is made and after it is gone.</summary>
    object? GrainInstance { get; }

    /// <summary>A reference to the grain.</summary>
    GrainReference GrainReference { get; }

    /// <summary>Where code can join the start and the end of the activation.</summary>
    IGrainLifecycle ObservableLifecycle { get; }

    /// <summary>Runs work on turns of the activation.</summary>
    IWorkItemScheduler Scheduler { get; }

    /// <summary>Starts to get the activation ready; does not wait for it.</summary>
    /// <param name="requestContext">The context of the call that made it, or null.</param>
    /// <param name="cancellationToken">Gives activation up.</param>
    void Activate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default);

    /// <summary>Starts to end the activation; does not wait for it.</summary>
    /// <param name="deactivationReason">Why.</param>
    /// <param name="cancellationToken">Hurries what the grain does at its end.</param>
    void Deactivate(DeactivationReason deactivationReason, CancellationToken cancellationToken = default);

    /// <summary>Starts to move the activation to the silo that placement chooses; does not wait for it.</summary>
    /// <param name="requestContext">May name the silo under <c>IPlacementDirector.PlacementHintKey</c>.</param>
    /// <param name="cancellationToken">Hurries what the grain does at its end here.</param>
    void Migrate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken = default);

    /// <summary>Puts a message of the runtime into the mailbox.</summary>
    void ReceiveMessage(object message);

    /// <summary>Takes over what the activation left behind on another silo.</summary>
    void Rehydrate(IRehydrationContext context);

    /// <summary>Sets or, with null, removes a component.</summary>
    void SetComponent<TComponent>(TComponent? value)
        where TComponent : class;
}

/// <summary>Finds the activation whose turn runs.</summary>
public interface IGrainContextAccessor
{
    /// <summary>The activation whose turn runs on this thread.</summary>
    IGrainContext GrainContext { get; }
}

/// <summary>Shorter ways to use activations.</summary>
public static class GrainContextExtensions
{
    /// <summary>The activation, which there must be.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    internal static IGrainContext OrNoGrain(this IGrainContext? context) =>
        context ?? throw new InvalidOperationException("No grain runs on this thread.");
}

/// <summary>What grains use of the silo they are on.</summary>
public interface IGrainRuntime
{
    /// <summary>Makes references to grains.</summary>
    IGrainFactory GrainFactory { get; }

    /// <summary>The silo's services.</summary>
    IServiceProvider ServiceProvider { get; }

    /// <summary>The silo's address.</summary>
    SiloAddress SiloAddress { get; }

    /// <summary>The silo's address as text.</summary>
    string SiloIdentity { get; }

    /// <summary>The silo's clock.</summary>
    TimeProvider TimeProvider { get; }

    /// <summary>Makes timers.</summary>
    ITimerRegistry TimerRegistry { get; }

    /// <summary>Ends an activation once the calls that run have ended.</summary>
    void DeactivateOnIdle(IGrainContext grainContext);

    /// <summary>Keeps an activation for a time even when it is idle; zero or less takes an earlier request back.</summary>
    void DelayDeactivation(IGrainContext grainContext, TimeSpan timeSpan);

    /// <summary>The state of a <see cref="Grain{TGrainState}"/>, not read yet.</summary>
    /// <exception cref="Orleans.Storage.BadProviderConfigException">The provider of the grain does not exist.</exception>
    IStorage<TGrainState> GetStorage<TGrainState>(IGrainContext grainContext);
}

/// <summary>
/// Makes the objects of grains and takes them back. Set as a component of a grain class by an <c>IConfigureGrainTypeComponents</c>.
/// Both methods run on turns of the activation.
/// </summary>
public interface IGrainActivator
{
    /// <summary>Makes the object of an activation.</summary>
    object CreateInstance(IGrainContext context);

    /// <summary>Disposes of the object of an activation that has ended.</summary>
    ValueTask DisposeInstance(IGrainContext context, object instance);
}

/// <summary>A service that configures the activations of some grain classes. Asked once per class and silo.</summary>
public interface IConfigureGrainContextProvider
{
    /// <summary>What configures each activation of the grain type; false for nothing.</summary>
    bool TryGetConfigurator(GrainType grainType, GrainProperties properties, out IConfigureGrainContext? configurator);
}

/// <summary>Configures activations, such as with components.</summary>
public interface IConfigureGrainContext
{
    /// <summary>Called for each activation, on its turn, before its object is made. An exception fails the start.</summary>
    void Configure(IGrainContext context);
}

/// <summary>Marks an interface that can be added to activations beside the grain's own.</summary>
public interface IGrainExtension : IAddressable
{
}

/// <summary>Runs work on turns of an activation.</summary>
public interface IWorkItemScheduler
{
    /// <summary>Runs <paramref name="action"/> on a turn.</summary>
    void QueueAction(Action action);

    /// <summary>Runs <paramref name="action"/> with <paramref name="state"/> on a turn.</summary>
    void QueueAction(Action<object> action, object state);

    /// <summary>Runs a task that has not been started on a turn.</summary>
    void QueueTask(Task task);
}

/// <summary>
/// The activation whose grain object is being made on this thread: how <see cref="Orleans.Grain"/> finds it without a
/// constructor argument. Lasts from <see cref="Enter"/> until disposed; scopes may be nested.
/// </summary>
internal readonly struct GrainContextScope : IDisposable
{
    [ThreadStatic]
    private static IGrainContext? t_context;

    private readonly IGrainContext? _outer;

    private GrainContextScope(IGrainContext? outer) => _outer = outer;

    /// <summary>The activation, or null outside of scopes.</summary>
    internal static IGrainContext? Current => t_context;

    /// <summary>Begins a scope around the constructor of a grain; it must end on the same thread.</summary>
    internal static GrainContextScope Enter(IGrainContext context)
    {
        var scope = new GrainContextScope(t_context);
        t_context = context;
        return scope;
    }

    /// <summary>Ends the scope.</summary>
    public void Dispose() => t_context = _outer;
}
