using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.GrainServices;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Hosting;
using Orleans.Reminders;
using Orleans.Runtime;
using Orleans.Timers;

namespace ActOp.Reminders;

/// <summary>
/// Composes the reminders of a silo and takes part in its life: the table is opened before the silo becomes active, and closed after its
/// activations have ended. A silo without a table has the registry only, which says so.
/// </summary>
/// <remarks>Owns the service, and the clock if the application has set one for reminders. If the table cannot be opened in time, the start
/// of the silo fails.</remarks>
internal sealed class ReminderSilo(IServiceProvider services) : ILifecycleParticipant<ISiloLifecycle>, IReminderServiceTarget, IDisposable
{
    /// <summary>The name of the service for grain service clients.</summary>
    internal const string TargetName = "svc.reminders";

    private readonly IReminderTable? _table = services.GetService<IReminderTable>();
    private readonly ReminderOptions _options = Check(services.GetRequiredService<IOptions<ReminderOptions>>().Value);
    private NodeTime? _ownTime;
    private Action? _unsubscribe;

    /// <summary>Set when the silo starts.</summary>
    internal ReminderService? Service { get; private set; }

    internal static void AddTo(IServiceCollection services)
    {
        if (services.Any(static service => service.ServiceType == typeof(ReminderSilo)))
            return;
        services.AddOptions<ReminderOptions>();
        services.AddSingleton<ReminderSilo>();
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider => provider.GetRequiredService<ReminderSilo>());
        services.AddSingleton(new RuntimeService(typeof(IReminderService), TargetName, typeof(IReminderServiceTarget)));
        services.AddSingleton<IReminderService>(static provider => provider.GetRequiredService<ReminderSilo>());
        services.AddSingleton(static provider => new ReminderRegistry(
            () =>
            {
                var node = provider.GetRequiredService<Node>();
                return new ReminderRegistryNeeds(node.Local, node.ClusterView, node.DirectoryService, node.Factory);
            },
            provider.GetRequiredService<IOptions<ReminderOptions>>().Value, provider.GetService<IReminderTable>()));
        services.TryAddSingleton<IReminderRegistry>(static provider => provider.GetRequiredService<ReminderRegistry>());
    }

    public void Participate(ISiloLifecycle observer)
    {
        if (_table is not null)
            observer.Subscribe("reminders", ServiceLifecycleStage.RuntimeGrainServices, new NodeStep(StartAsync, StopAsync));
    }

    public void Dispose()
    {
        _unsubscribe?.Invoke();
        _ownTime?.Dispose();
    }

    Task IReminderService.Start() => Task.CompletedTask;

    Task IReminderService.Stop()
    {
        Service?.Dispose();
        return Task.CompletedTask;
    }

    Task<IGrainReminder> IReminderService.RegisterOrUpdateReminder(
        GrainId grainId, string reminderName, TimeSpan dueTime, TimeSpan period) =>
        Registry.RegisterUncheckedAsync(grainId, reminderName, dueTime, period);

    Task IReminderService.UnregisterReminder(IGrainReminder reminder) => Registry.UnregisterReminder(
        reminder is ReminderHandle handle ? handle.GrainId : default, reminder);

    Task<IGrainReminder?> IReminderService.GetReminder(GrainId grainId, string reminderName) => Registry.GetReminder(grainId, reminderName);

    Task<List<IGrainReminder>> IReminderService.GetReminders(GrainId grainId) => Registry.GetReminders(grainId);

    /// <summary>Not that of the application, which may call this service.</summary>
    private ReminderRegistry Registry => services.GetRequiredService<ReminderRegistry>();

    private static ReminderOptions Check(ReminderOptions options)
    {
        var longest = TimeSpan.FromDays(24);
        foreach (var (name, value) in new[]
        {
            (nameof(options.RefreshReminderListPeriod), options.RefreshReminderListPeriod),
            (nameof(options.ReminderLoadingWindow), options.ReminderLoadingWindow),
            (nameof(options.InitializationTimeout), options.InitializationTimeout),
        })
        {
            if (value <= TimeSpan.Zero || value > longest)
            {
                throw new OrleansConfigurationException(
                    "ReminderOptions." + name + " is " + value + ", but must be positive and at most " + longest + ".");
            }
        }

        if (options.MinimumReminderPeriod < TimeSpan.Zero)
            throw new OrleansConfigurationException("ReminderOptions.MinimumReminderPeriod is negative.");
        return options.ReminderLoadingWindow > options.RefreshReminderListPeriod
            ? options
            : throw new OrleansConfigurationException(
                "ReminderOptions.ReminderLoadingWindow must be longer than RefreshReminderListPeriod.");
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        var node = services.GetRequiredService<Node>();
        if (_table is MemoryReminderTable memory)
            memory.Open(node.Local, node.ClusterView, node.Activations, node.Factory);
        try
        {
            await Given.Task(_table!.StartAsync(cancellationToken), "StartAsync of " + _table.GetType())
                .WaitAsync(_options.InitializationTimeout, node.Local.TaskTime, cancellationToken);
        }
        catch (TimeoutException exception)
        {
            throw new OrleansException(
                "The table of reminders did not open within ReminderOptions.InitializationTimeout (" + _options.InitializationTimeout
                    + ").", exception);
        }

        var log = new ReminderLog(GuardedLoggers.GuardedOf(services).CreateLogger("ActOp.Reminders"));
        var service = Service = new ReminderService(
            node.Local, node.Factory, _table, _options, log,
            new ReminderMetrics(node.Metrics.Meter, node.Metrics.OfOrleans.Meter), TimeOf(node.Local));
        service.Host = node.Activations.AddSystemTarget(ReminderService.Name, service);
        node.Activations.AddSystemTarget(TargetName, this, node.Stages.Work);
        Action<View, View, ViewChange> onView = (_, view, _) => service.OnView(view);
        node.Cluster!.ViewChanged += onView;
        _unsubscribe = () => node.Cluster.ViewChanged -= onView;
        service.Start(node.ClusterView.View);
    }

    private async Task StopAsync(CancellationToken cancellationToken)
    {
        Service?.Dispose();
        var time = services.GetRequiredService<Node>().Local.TaskTime;
        await Given.Task(_table!.StopAsync(cancellationToken), "StopAsync of " + _table.GetType())
            .WaitAsync(_options.InitializationTimeout, time);
    }

    /// <summary>The clock for timers and the one for tasks.</summary>
    private (NodeTime Timers, TaskTime Tasks) TimeOf(LocalNode local)
    {
        if (services.GetKeyedService<TimeProvider>(ReminderTimeProviderNames.Reminders) is not { } own)
            return (local.Time, local.TaskTime);
        _ownTime = new NodeTime(own, exception => local.Log.BackgroundFailed("reminders", exception));
        return (_ownTime, new TaskTime(_ownTime));
    }
}
