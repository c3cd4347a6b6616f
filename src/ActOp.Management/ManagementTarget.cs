using ActOp.Foundation;
using ActOp.Groups;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Placement;
using ActOp.Runtime.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans;
using Orleans.BroadcastChannel;
using Orleans.Providers;
using Orleans.Runtime;
using Orleans.Serialization.TypeSystem;
using Orleans.Storage;
using Orleans.Streams;

namespace ActOp.Management;

/// <summary>What the management grain asks of each silo. For members of the view only.</summary>
internal interface IManagementTarget : ISystemTarget
{
    Task<SiloRuntimeStatistics> GetStatistics();

    /// <summary>Every activation, of some classes if names are given.</summary>
    Task<DetailedGrainStatistic[]> GetActivations(string[]? classes);

    /// <summary>The number of activations by the name of the class, with its assembly.</summary>
    Task<Dictionary<string, int>> CountActivations();

    Task<int> CountActivationsOf(GrainId grain);

    Task<GrainId[]> GetActiveGrains(GrainType type);

    /// <summary>Ends the activations that were idle for so long, and waits for their ends.</summary>
    Task CollectActivations(TimeSpan age);

    Task CollectGarbage();

    Task<object?> RunCommand(Type service, string provider, int command, object? argument);

    Task SetVersions(VersionSetting setting);

    /// <summary>What was set on this silo, see <see cref="LateVersions"/>.</summary>
    Task<VersionSetting[]> GetVersions();

    /// <summary>The groups of this silo; none without groups.</summary>
    Task<GroupReport[]> GetGroups();

    /// <summary>Changes a group of this silo, or only says whether it could.</summary>
    Task SetGroup(GroupSetting setting, bool onlyCheck);

    /// <summary>What was changed on this silo, see <see cref="LateGroups"/>.</summary>
    Task<GroupSetting[]> GetGroupChanges();

    /// <summary>Asks the host of this silo to stop, as it does after SIGTERM, and does not wait for it.</summary>
    Task BeginStop();
}

/// <summary>One silo's answers to the management grain.</summary>
/// <remarks>
/// On the control stage; holds nothing. Each answer is computed at once, from racy snapshots, except that of a collection, which waits for
/// the ends that it has asked for. A command of a provider runs on the thread pool; if it throws, or does not end within the response
/// timeout, the caller gets an exception; the same with the stop of the host. What comes twice is done twice.
/// </remarks>
internal sealed class ManagementTarget(
    LocalNode local, ActivationTable activations, ClusterManifests manifests, PeerTable peers, Router router, NodeGroups? groups)
    : IManagementTarget
{
    internal const string Name = "management";

    /// <summary>
    /// As what providers are registered under their names. What takes commands comes first: applications of Orleans register it so.
    /// </summary>
    private static readonly Type[] Keys =
    [
        typeof(IControllable), typeof(IGrainStorage), typeof(IStreamProvider), typeof(IQueueAdapterFactory), typeof(IQueueAdapter),
        typeof(IQueueAdapterCache), typeof(IBroadcastChannelProvider),
    ];

    /// <summary>What counts as recently used.</summary>
    private const long Recently = 600_000;

    public Task<SiloRuntimeStatistics> GetStatistics()
    {
        var now = local.Clock.Update();
        return Task.FromResult(new SiloRuntimeStatistics(
            (local.Services.GetService<TimeProvider>() ?? TimeProvider.System).GetUtcNow().UtcDateTime)
        {
            ActivationCount = activations.Count,
            RecentlyUsedActivationCount = activations.Count(activation =>
                activation.Class.IsOrdinary && now - Volatile.Read(ref activation.LastUsed) < Recently),
            ClientCount = peers.Count(clients: true),
            SentMessages = peers.Mesh.FramesSent,
            ReceivedMessages = peers.Mesh.FramesReceived,
            IsOverloaded = router.Overload is { IsOverloaded: true },
            EnvironmentStatistics = CheckedStatistics.FromServices(local.Services)?.GetEnvironmentStatistics() ?? default,
        });
    }

    public Task<DetailedGrainStatistic[]> GetActivations(string[]? classes) => Task.FromResult(Grains()
        .Where(activation => classes is not { Length: > 0 } || classes.Contains(NameOf(activation))
            || classes.Contains(activation.Class.Type.FullName))
        .Select(activation => new DetailedGrainStatistic
        {
            GrainType = NameOf(activation),
            SiloAddress = local.Address,
            GrainId = activation.GrainId,
        }).ToArray());

    public Task<Dictionary<string, int>> CountActivations() =>
        Task.FromResult(Grains().CountBy(NameOf).ToDictionary(static pair => pair.Key, static pair => pair.Value, StringComparer.Ordinal));

    public Task<int> CountActivationsOf(GrainId grain) => Task.FromResult(activations.TryGet(grain, out var one)
        ? one.State < ActivationState.Gone ? 1 : 0
        : Grains().Count(activation => activation.GrainId == grain));

    public Task<GrainId[]> GetActiveGrains(GrainType type) =>
        Task.FromResult(Grains().Select(static activation => activation.GrainId).Where(id => id.Type == type).Distinct().ToArray());

    public Task CollectActivations(TimeSpan age)
    {
        var now = local.Clock.Update();
        var ends = new List<Task>();
        foreach (var activation in Grains())
        {
            if (!activation.MayCollect(now, (long)age.TotalMilliseconds) || activation.Class.KeepAlive)
                continue;
            activation.Deactivate(new DeactivationReason(
                DeactivationReasonCode.ActivationIdle, "Idle for " + age + ", which the management grain has asked for."));
            ends.Add(activation.Deactivated);
        }

        return Task.WhenAll(ends);
    }

    public Task CollectGarbage()
    {
        GC.Collect();
        return Task.CompletedTask;
    }

    public Task<object?> RunCommand(Type service, string provider, int command, object? argument)
    {
        var found = Named(provider).FirstOrDefault(one => one.GetType() == service)
            ?? Named(provider).FirstOrDefault(service.IsInstanceOfType)
            ?? throw new ArgumentException("The silo " + local.Address + " has no provider " + service + " with the name " + provider
                + " that takes commands.");
        // Not on this stage, on which the silo shows that it lives.
        return PoolStep.RunAsync(
            "ExecuteCommand of " + found.GetType(), local.ResponseTimeout, local.TaskTime, () => found.ExecuteCommand(command, argument));

        IEnumerable<IControllable> Named(string name) => Keys.Prepend(service)
            .SelectMany(key => local.Services.GetKeyedServices(key, name)).OfType<IControllable>();
    }

    public Task SetVersions(VersionSetting setting)
    {
        manifests.Versions.Set(setting);
        manifests.OnVersionsChanged();
        return Task.CompletedTask;
    }

    public Task<VersionSetting[]> GetVersions() => Task.FromResult(manifests.Versions.Settings);

    public Task<GroupReport[]> GetGroups() => Task.FromResult(groups is null ? [] : groups.All.Select(group => new GroupReport
    {
        Silo = local.Address,
        Name = group.Name,
        Parent = group.Options.Parent,
        Budget = new GroupChange
        {
            Weight = group.Options.Weight,
            Min = group.Options.Min,
            Max = group.Options.Max,
            Ticks = group.Options.Ticks,
            MaxActivations = group.Options.MaxActivations,
            MaxQueued = group.Options.MaxQueued,
            MaxCallsPerSecond = group.Options.MaxCallsPerSecond,
        },
        Used = TimeSpan.FromMicroseconds(group.Used),
        WaitP99 = TimeSpan.FromMicroseconds(group.WaitP99),
        Debt = TimeSpan.FromMicroseconds(group.Debt),
        Activations = group.Activations,
        Ready = group.Ready,
        Held = group.Held,
        Queued = group.Queued,
        Refused = Enum.GetValues<GroupLimit>().Sum(group.Refused),
    }).ToArray());

    public Task SetGroup(GroupSetting setting, bool onlyCheck)
    {
        if (groups is null)
            throw new ArgumentException("The silo " + local.Address + " has no groups. They are added by AddGroups, on all silos.");
        groups.Change(setting, onlyCheck);
        return Task.CompletedTask;
    }

    public Task<GroupSetting[]> GetGroupChanges() => Task.FromResult(groups?.Changes ?? []);

    public Task BeginStop()
    {
        var lifetime = local.Services.GetService<IHostApplicationLifetime>()
            ?? throw new NotSupportedException("The silo " + local.Address + " has no host that can be asked to stop.");
        // It calls what the application has registered for its end.
        return PoolStep.RunAsync(nameof(lifetime.StopApplication), local.ResponseTimeout, local.TaskTime, () =>
        {
            lifetime.StopApplication();
            return Task.CompletedTask;
        });
    }

    /// <summary>As Orleans writes it: applications compare it with what the same formatter says.</summary>
    private static string NameOf(Activation activation) => RuntimeTypeNameFormatter.Format(activation.Class.Type);

    private IEnumerable<Activation> Grains() => activations.Where(static activation =>
        activation.Class.IsOrdinary && activation.State < ActivationState.Gone);
}

/// <summary>Ends or moves the activation that it is an extension of. On its turns.</summary>
internal sealed class GrainManagementExtension(IGrainContext context) : Orleans.Core.Internal.IGrainManagementExtension
{
    public ValueTask DeactivateOnIdle()
    {
        context.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The management extension was called."));
        return default;
    }

    public ValueTask MigrateOnIdle()
    {
        context.Migrate(RequestContext.Entries.ToDictionary(static entry => entry.Key, static entry => entry.Value));
        return default;
    }
}
