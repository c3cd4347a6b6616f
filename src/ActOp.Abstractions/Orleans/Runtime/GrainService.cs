using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Serialization.Invocation;
using Orleans.Services;
using Orleans.Timers;

namespace Orleans.Runtime;

/// <summary>The silo that a service runs on.</summary>
public sealed class Silo
{
    /// <summary>The name of the first silo of a test cluster in Orleans. No silo has a special part here.</summary>
    public const string PrimarySiloName = "Primary";

    internal Silo(SiloAddress address, IServiceProvider services)
    {
        SiloAddress = address;
        Services = services;
    }

    /// <summary>Its address.</summary>
    public SiloAddress SiloAddress { get; }

    /// <summary>Its services.</summary>
    public IServiceProvider Services { get; }
}

/// <summary>An object of a silo that the others call by the address of the silo. Its turns run one at a time, and interleave.</summary>
public abstract class SystemTarget : ISystemTarget, IGrainContext, IGrainExtensionBinder, IDisposable, IGrainExtension
{
    private readonly Silo _silo;
    private IGrainContext? _context;

    private protected SystemTarget(GrainId grainId, Silo silo)
    {
        ArgumentNullException.ThrowIfNull(silo);
        GrainId = grainId;
        _silo = silo;
    }

    /// <inheritdoc/>
    public IServiceProvider ActivationServices => _silo.Services;

    /// <inheritdoc/>
    public Task Deactivated => Context.Deactivated;

    /// <inheritdoc/>
    public GrainId GrainId { get; }

    /// <inheritdoc/>
    public GrainReference GrainReference => Context.GrainReference;

    /// <inheritdoc/>
    public IWorkItemScheduler Scheduler => Context.Scheduler;

    /// <summary>The silo that it runs on.</summary>
    public SiloAddress Silo => _silo.SiloAddress;

    ActivationId IGrainContext.ActivationId => Context.ActivationId;

    GrainAddress IGrainContext.Address => Context.Address;

    object? IGrainContext.GrainInstance => this;

    IGrainLifecycle IGrainContext.ObservableLifecycle => Context.ObservableLifecycle;

    private IGrainContext Context => _context
        ?? throw new InvalidOperationException("The system target " + GrainId + " was not started by a silo.");

    /// <summary>Does nothing: the silo starts its system targets.</summary>
    public void Activate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken)
    {
    }

    /// <summary>Does nothing: the silo ends its system targets.</summary>
    public void Deactivate(DeactivationReason deactivationReason, CancellationToken cancellationToken)
    {
    }

    /// <summary>Does nothing: the silo ends its system targets.</summary>
    public virtual void Dispose() => GC.SuppressFinalize(this);

    /// <summary>The component of that type, or null.</summary>
    public TComponent? GetComponent<TComponent>()
        where TComponent : class => this as TComponent ?? Context.GetComponent(typeof(TComponent)) as TComponent;

    object? ITargetHolder.GetComponent(Type componentType) => Context.GetComponent(componentType);

    /// <inheritdoc/>
    public TExtensionInterface GetExtension<TExtensionInterface>()
        where TExtensionInterface : class, IGrainExtension => ((IGrainExtensionBinder)Context).GetExtension<TExtensionInterface>();

    /// <inheritdoc/>
    public (TExtension, TExtensionInterface) GetOrSetExtension<TExtension, TExtensionInterface>(Func<TExtension> newExtensionFunc)
        where TExtension : class, TExtensionInterface
        where TExtensionInterface : class, IGrainExtension =>
            ((IGrainExtensionBinder)Context).GetOrSetExtension<TExtension, TExtensionInterface>(newExtensionFunc);

    /// <inheritdoc/>
    public object? GetTarget() => this;

    /// <summary>Does nothing: a system target stays on its silo.</summary>
    public void Migrate(Dictionary<string, object>? requestContext, CancellationToken cancellationToken)
    {
    }

    /// <inheritdoc/>
    public void ReceiveMessage(object message) => Context.ReceiveMessage(message);

    /// <summary>Calls <paramref name="callback"/> from time to time, on turns of this object.</summary>
    public IGrainTimer RegisterGrainTimer(Func<CancellationToken, Task> callback, TimeSpan dueTime, TimeSpan period) =>
        RegisterGrainTimer(static (run, token) => run(token), callback, dueTime, period);

    /// <summary>Calls <paramref name="callback"/> from time to time, on turns of this object.</summary>
    public IGrainTimer RegisterGrainTimer<TState>(
        Func<TState, CancellationToken, Task> callback, TState state, TimeSpan dueTime, TimeSpan period) =>
            ActivationServices.GetRequiredService<ITimerRegistry>().RegisterGrainTimer(
                Context, callback, state, new GrainTimerCreationOptions(dueTime, period) { Interleave = true });

    /// <summary>Calls <paramref name="callback"/> from time to time, on turns of this object.</summary>
    public IGrainTimer RegisterTimer(Func<object?, Task> callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        RegisterGrainTimer((argument, _) => callback(argument), state, dueTime, period);

    /// <summary>Does nothing: a system target stays on its silo.</summary>
    public void Rehydrate(IRehydrationContext context)
    {
    }

    /// <inheritdoc/>
    public void SetComponent<TComponent>(TComponent? instance)
        where TComponent : class => Context.SetComponent(instance);

    /// <summary>The silo has put it into its table.</summary>
    internal void Attach(IGrainContext context) => _context = context;
}

/// <summary>A service that every silo runs, each for a part of the grains: the hashes of its <see cref="RingRange"/>.</summary>
public abstract class GrainService : SystemTarget, IGrainService
{
    private readonly ILogger _logger;

    /// <summary>Called with the arguments that the silo gives.</summary>
    protected GrainService(GrainId grainId, Silo silo, ILoggerFactory loggerFactory)
        : base(grainId, silo)
    {
        ArgumentNullException.ThrowIfNull(loggerFactory);
        _logger = loggerFactory.CreateLogger(GetType());
    }

    /// <summary>How often the range has changed.</summary>
    protected int RangeSerialNumber { get; private set; }

    /// <summary>The hashes that the service of this silo is responsible for.</summary>
    protected IRingRange RingRange { get; private set; } = new NoRange();

    /// <summary>Where the service is in its life.</summary>
    protected GrainServiceStatus Status { get; set; }

    /// <summary>Cancelled when the service stops.</summary>
    protected CancellationTokenSource StoppedCancellationTokenSource { get; } = new();

    /// <summary>Where a service is in its life.</summary>
    protected enum GrainServiceStatus
    {
        /// <summary>It has not started.</summary>
        Booting = 0,

        /// <summary>It runs.</summary>
        Started = 1,

        /// <summary>It has stopped.</summary>
        Stopped = 2,
    }

    /// <summary>Called at the stage RuntimeGrainServices of the silo's start.</summary>
    public virtual Task Init(IServiceProvider serviceProvider) => Task.CompletedTask;

    /// <summary>The range has changed.</summary>
    public virtual Task OnRangeChange(IRingRange oldRange, IRingRange newRange, bool increased) => Task.CompletedTask;

    /// <summary>Called at the stage Active of the silo's start.</summary>
    public virtual Task Start()
    {
        _ = ObserveStartAsync();
        return Task.CompletedTask;
    }

    /// <summary>Called when the silo stops.</summary>
    public virtual Task Stop()
    {
        Status = GrainServiceStatus.Stopped;
        StoppedCancellationTokenSource.Cancel();
        return Task.CompletedTask;
    }

    /// <summary>The part of the start that the silo does not wait for.</summary>
    protected virtual Task StartInBackground()
    {
        Status = GrainServiceStatus.Started;
        return Task.CompletedTask;
    }

    /// <summary>Sets the first range. On a turn.</summary>
    internal void SetRange(IRingRange range) => RingRange = range;

    /// <summary>Sets another range. On a turn.</summary>
    internal Task ChangeAsync(ISingleRange range)
    {
        var old = RingRange;
        if (range.Equals(old))
            return Task.CompletedTask;
        RingRange = range;
        RangeSerialNumber++;
        return OnRangeChange(old, range, old is not ISingleRange before || SizeOf(range) > SizeOf(before));
    }

    private static ulong SizeOf(ISingleRange range) => range.Begin == range.End ? 1UL << 32 : unchecked(range.End - range.Begin);

    /// <summary>The task does not fail, so nobody needs it.</summary>
    private async Task ObserveStartAsync()
    {
        try
        {
            await StartInBackground();
        }
        catch (Exception exception)
        {
            GrainServiceStartLog.Failed(_logger, GrainId, exception);
        }
    }

    private sealed class NoRange : IRingRange
    {
        public bool InRange(uint value) => false;
    }
}

/// <summary>What the log says about the start of a service.</summary>
internal static partial class GrainServiceStartLog
{
    [LoggerMessage(1182, LogLevel.Error, "The start of the service {Service} failed.")]
    internal static partial void Failed(ILogger logger, GrainId service, Exception exception);
}

/// <summary>Makes references to grain services. A service of silos.</summary>
public interface IGrainServiceFactory
{
    /// <summary>The service of a reference through one of its interfaces.</summary>
    T CastToGrainServiceReference<T>(GrainReference grainReference)
        where T : IGrainService;
}

/// <summary>Finds the services of other silos.</summary>
internal interface IGrainServiceLocator
{
    /// <summary>The grain that calls.</summary>
    GrainReference Current { get; }

    /// <summary>The service of the silo that is responsible for the hash.</summary>
    object FindService(Type serviceInterface, uint key);

    /// <summary>The service of a silo.</summary>
    object FindService(Type serviceInterface, SiloAddress silo);
}
