using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Serialization;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;
using Orleans.Services;

namespace ActOp.Runtime.GrainServices;

/// <summary>A class of services that the application has added.</summary>
internal sealed record GrainServiceClass(Type Type);

/// <summary>A service of the runtime that clients of grain services find: a system target of each silo.</summary>
/// <param name="Service">The interface that is asked for.</param>
/// <param name="Name">The name of the system target.</param>
/// <param name="Target">The interface of the system target; it derives from <paramref name="Service"/>.</param>
internal sealed record RuntimeService(Type Service, string Name, Type Target);

/// <summary>Runs the grain services of a silo, and finds those of others.</summary>
/// <remarks>
/// Made when the silo starts. Owns one activation per service, whose turns run on the work stage and interleave; a view that changes the
/// range posts to them. If the constructor, Init or Start of a service throws, the silo does not start; if Stop or OnRangeChange does, it
/// is logged. The activations end with the node.
/// </remarks>
internal sealed class GrainServiceHost(
    LocalNode local, ActivationTable activations, GrainFactory factory, ClusterView cluster, Stage stage, Func<ClusterService?> membership)
    : ILifecycleParticipant<ISiloLifecycle>, IGrainServiceLocator
{
    /// <summary>Of the ids of services, behind the prefix of all system targets.</summary>
    private const string Prefix = "svc.user.";

    private readonly List<(GrainService Service, Activation Activation)> _services = [];
    private volatile RingOf _ring = new(null, new HashRing([]));

    public GrainReference Current => (CallHost.Current as IGrainContext).OrNoGrain().GrainReference;

    public object FindService(Type serviceInterface, uint key) => FindService(serviceInterface, Ring().OwnerOf(key)
        ?? throw new SiloUnavailableException("No silo of the cluster is active."));

    public object FindService(Type serviceInterface, SiloAddress silo) => RuntimeServiceOf(serviceInterface) is { } own
        ? factory.Create(SystemGrainIds.SystemTarget(own.Name, silo), own.Target)
        : factory.Create(SystemGrainIds.SystemTarget(NameOf(serviceInterface), silo), serviceInterface);

    public void Participate(ISiloLifecycle observer)
    {
        observer.Subscribe(nameof(GrainServiceHost), ServiceLifecycleStage.RuntimeGrainServices, InitAsync, StopAsync);
        observer.Subscribe(nameof(GrainServiceHost), ServiceLifecycleStage.Active, StartAsync, static _ => Task.CompletedTask);
    }

    private async Task InitAsync(CancellationToken cancellationToken)
    {
        foreach (var added in local.Services.GetServices<GrainServiceClass>())
            Add(added.Type);
        if (_services.Count == 0)
            return;
        if (membership() is { } changes)
            changes.ViewChanged += (_, _, _) => OnView();
        foreach (var (service, activation) in _services)
        {
            await OnTurn(activation, () =>
            {
                service.SetRange(RangeHere());
                return Given.Task(service.Init(local.Services), "Init of " + service.GetType());
            }).ConfigureAwait(false);
        }
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        OnView();
        foreach (var (service, activation) in _services)
            await OnTurn(activation, () => Given.Task(service.Start(), "Start of " + service.GetType())).ConfigureAwait(false);
    }

    private async Task StopAsync(CancellationToken cancellationToken)
    {
        foreach (var (service, activation) in _services)
        {
            try
            {
                await OnTurn(activation, () => Given.Task(service.Stop(), "Stop"))
                    .WaitAsync(local.ResponseTimeout, local.TaskTime, cancellationToken).ConfigureAwait(false);
            }
            catch (Exception exception)
            {
                GrainServiceLog.Failed(local.Log.Logger, "Stop", service.GrainId, exception);
            }
        }
    }

    private void Add(Type type)
    {
        var interfaces = type.GetInterfaces().Where(
            static one => typeof(IGrainService).IsAssignableFrom(one) && one != typeof(IGrainService)).ToArray();
        if (interfaces.Length == 0)
            throw new OrleansConfigurationException("The grain service " + type + " has no interface that derives from IGrainService.");
        var id = SystemGrainIds.SystemTarget(NameOf(interfaces[0]), local.Address);
        var service = (GrainService)ActivatorUtilities.CreateInstance(local.Services, type, id, new Silo(local.Address, local.Services));
        foreach (var one in interfaces)
        {
            var activation = activations.AddSystemTarget(NameOf(one), service, stage);
            if (one != interfaces[0])
                continue;
            service.Attach(activation);
            _services.Add((service, activation));
        }
    }

    private RuntimeService? RuntimeServiceOf(Type serviceInterface) =>
        local.Services.GetServices<RuntimeService>().FirstOrDefault(one => one.Service == serviceInterface);

    private static string NameOf(Type serviceInterface) => Prefix + TypeManifest.NameOf(serviceInterface);

    private static Task OnTurn(Activation activation, Func<Task> step) =>
        Task.Factory.StartNew(step, CancellationToken.None, TaskCreationOptions.DenyChildAttach, activation).Unwrap();

    private void OnView()
    {
        foreach (var (service, activation) in _services)
            activation.Enqueue(new ActionItem(state => _ = ChangeRangeAsync((GrainService)state!), service));
    }

    /// <summary>The task does not fail, so nobody needs it.</summary>
    private async Task ChangeRangeAsync(GrainService service)
    {
        try
        {
            await service.ChangeAsync(RangeHere());
        }
        catch (Exception exception)
        {
            GrainServiceLog.Failed(local.Log.Logger, "OnRangeChange", service.GrainId, exception);
        }
    }

    private HashRing.Range RangeHere() =>
        Ring().RangeOf(local.Address) ?? new HashRing([local.Address]).RangeOf(local.Address)!;

    private HashRing Ring()
    {
        var known = _ring;
        var view = cluster.View;
        if (ReferenceEquals(known.View, view))
            return known.Ring;
        known = new RingOf(view, new HashRing(view.ActiveSilos.ToArray()));
        _ring = known;
        return known.Ring;
    }

    private sealed record RingOf(View? View, HashRing Ring);
}

/// <summary>What the log says about grain services.</summary>
internal static partial class GrainServiceLog
{
    [LoggerMessage(1183, LogLevel.Error, "{Step} of the service {Service} failed.")]
    internal static partial void Failed(ILogger logger, string step, GrainId service, Exception exception);
}

/// <summary>Makes references to grain services. Has no state.</summary>
internal sealed class GrainServiceReferences : IGrainServiceFactory
{
    public T CastToGrainServiceReference<T>(GrainReference grainReference)
        where T : Orleans.Services.IGrainService
    {
        ArgumentNullException.ThrowIfNull(grainReference);
        return grainReference.Cast<T>();
    }
}
