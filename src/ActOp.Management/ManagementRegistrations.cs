using ActOp.Foundation;
using ActOp.Management.Operations;
using ActOp.Management.Rebalancing;
using ActOp.Management.Snapshots;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Timers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Core.Internal;
using Orleans.GrainDirectory;
using Orleans.GrainReferences;
using Orleans.Metadata;
using Orleans.Placement.Rebalancing;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;
using Orleans.Runtime.Placement;
using Orleans.Runtime.Placement.Filtering;
using Orleans.Statistics;
using Orleans.Timers.Internal;
using Orleans.Versions;

namespace ActOp.Management;

/// <summary>What applications ask of the cluster and its members, as services.</summary>
internal static class ManagementRegistrations
{
    internal static void AddSilo(IServiceCollection services)
    {
        AddCommon(services);
        services.AddSingleton(static provider => NodeOf(provider) is var node
            ? new ManagementNeeds(node.Local, node.ClusterView, node.Factory, node.Directory, node.Manifests)
            : null!);
        services.AddSingleton(new NodeTarget(ManagementTarget.Name, static node =>
            new ManagementTarget(node.Local, node.Activations, node.Manifests, node.Peers, node.Router, node.Stages.Groups)));
        services.AddSingleton(new NodeTarget(SnapshotTarget.Name, static node => new SnapshotTarget(new SnapshotNeeds(node.Local,
            node.Activations, node.Edges, node.Metrics, node.SizedStages, node.Peers, node.Router, node.Locality))));
        services.AddSingleton(new NodeTarget(OperatorTarget.Name, static node => new OperatorTarget(
            new ManagementNeeds(node.Local, node.ClusterView, node.Factory, node.Directory, node.Manifests),
            new SnapshotReader(node.Local, node.ClusterView, node.Factory), node.Local.Log.Logger)));
        services.AddSingleton(static provider => NodeOf(provider) is var node
            ? new SnapshotReader(node.Local, node.ClusterView, node.Factory)
            : null!);
        services.TryAddSingleton<IVersionStore>(static provider =>
            new VersionStore(provider, provider.GetRequiredService<IGrainFactory>(), NodeOf(provider).Manifests.Versions));
        services.AddSingleton<ILocalActivationStatusChecker>(static provider => new LocalActivations(NodeOf(provider).Activations));
        services.AddTransient<IGrainManagementExtension>(static provider =>
            new GrainManagementExtension(provider.GetRequiredService<IGrainContextAccessor>().GrainContext));
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider =>
            new LateVersions(provider.GetRequiredService<ManagementNeeds>, GuardedLoggers.GuardedOf(provider)));
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider => new LateGroups(
            provider.GetRequiredService<ManagementNeeds>, () => NodeOf(provider).Stages.Groups, GuardedLoggers.GuardedOf(provider)));
        services.AddSingleton(static provider => new GrainClassMap(NodeOf(provider).Classes));
        services.AddSingleton(static provider => NodeOf(provider).Classes);
        services.AddSingleton<IGrainLocator>(static provider => NodeOf(provider) is var node
            ? new GrainLocator(node.Local, node.Activations, node.Locations, node.Directory, node.Factory)
            : null!);
        services.AddSingleton<GrainTypeSharedContextResolver>();
        services.AddSingleton<PlacementStrategyResolver>();
        services.AddSingleton<PlacementFilterDirectorResolver>();
        services.AddSingleton<IConfigurationValidator, ActivationRule>();
        services.AddSingleton(static provider => NodeOf(provider).Activations);
        services.TryAddSingleton<IOverloadDetector>(static provider => new OverloadReading(() => NodeOf(provider).Router.Overload));
        AddMoments<ISiloLifecycle>(services);
        services.AddSingleton<ISiloStatusOracle>(static provider => provider.GetRequiredService<MembershipApi>());
    }

    internal static void AddCommon(IServiceCollection services)
    {
        services.AddSingleton(static provider => NodeOf(provider) is var node
            ? new MembershipApi(node.Local, node.ClusterView, () => node.Cluster,
                node.IsSilo ? provider.GetRequiredService<IOptions<SiloOptions>>().Value.SiloName : "")
            : null!);
        services.AddSingleton<IClusterMembershipService>(static provider => provider.GetRequiredService<MembershipApi>());
        services.AddSingleton<IClusterManifestProvider>(static provider => NodeOf(provider) is var node
            ? new ManifestApi(node.Local, node.ClusterView, node.Manifests, node.Classes)
            : null!);
        services.AddSingleton(static provider => NodeOf(provider) is var node
            ? new OperatorClient(node.ClusterView, node.Peers, node.Factory)
            : null!);
        services.AddSingleton<ITimerManager>(static provider => new NodeDelays(() => NodeOf(provider).Local.TaskTime));
        services.TryAddSingleton<IEnvironmentStatisticsProvider>(static provider =>
            new ProcessStatistics(provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<OlderStatistics>();
        services.TryAddSingleton<IAppEnvironmentStatistics>(static provider => provider.GetRequiredService<OlderStatistics>());
        services.TryAddSingleton<IHostEnvironmentStatistics>(static provider => provider.GetRequiredService<OlderStatistics>());
        services.AddSingleton<GrainPropertiesResolver>();
        services.AddSingleton<GrainBindingsResolver>();
        services.AddSingleton<GrainTypeResolver>();
        services.AddSingleton<GrainInterfaceTypeResolver>();
        services.AddSingleton(static provider => new GrainInterfaceTypeToGrainTypeResolver(
            provider.GetRequiredService<IClusterManifestProvider>(), (name, prefix) => Resolve(NodeOf(provider).Classes, name, prefix)));
        services.AddSingleton<GrainReferenceActivator>();
    }

    internal static void AddMoments<TLifecycle>(IServiceCollection services)
        where TLifecycle : ILifecycleObservable
    {
        services.AddSingleton(static provider => new ServiceMoments<TLifecycle>(
            new Lazy<BackgroundPart>(() => NodeOf(provider).Local.Background.Part("lifecycle callbacks")),
            GuardedLoggers.GuardedOf(provider).CreateLogger("ActOp.Runtime")));
        services.AddSingleton<IServiceLifecycle>(static provider => provider.GetRequiredService<ServiceMoments<TLifecycle>>());
        services.AddSingleton<ILifecycleParticipant<TLifecycle>>(
            static provider => provider.GetRequiredService<ServiceMoments<TLifecycle>>());
    }

    /// <summary>Adds the rebalancer, once.</summary>
    internal static void AddRebalancer(IServiceCollection services)
    {
        if (services.Any(static service => service.ServiceType == typeof(Rebalancer)))
            return;
        services.AddSingleton<IConfigurationValidator, RebalancerRule>();
        services.AddSingleton(static provider =>
        {
            var node = NodeOf(provider);
            var rebalancer = new Rebalancer(
                node.Local, node.ClusterView, node.Activations, node.Manifests, node.Locality, node.Factory,
                provider.GetRequiredService<IOptions<ActivationRebalancerOptions>>().Value,
                provider.GetRequiredService<IFailedSessionBackoffProvider>());
            node.Activations.AddSystemTarget(Rebalancer.Name, rebalancer, node.Stages.Work);
            return rebalancer;
        });
        services.AddSingleton<IActivationRebalancer>(static provider => provider.GetRequiredService<Rebalancer>());
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider => provider.GetRequiredService<Rebalancer>());
    }

    private static GrainType? Resolve(GrainClasses classes, GrainInterfaceType name, string? prefix) =>
        ActOp.Serialization.TypeManifest.TryGetInterface(name.ToString()!, out var found) && !found.Type.IsGenericTypeDefinition
            ? classes.Resolve(found.Type, prefix) : null;

    private static Node NodeOf(IServiceProvider provider) => provider.GetRequiredService<Node>();

    /// <summary>A silo makes its activations itself.</summary>
    private sealed class ActivationRule(IServiceProvider services) : IConfigurationValidator
    {
        public void ValidateConfiguration()
        {
            if (services.GetService<IGrainContextActivatorProvider>() is { } provider)
            {
                throw new OrleansConfigurationException("The service " + provider.GetType() + " cannot make activations: a silo makes them "
                    + "itself. Make the objects of grains with an IGrainActivator, or configure activations with an "
                    + "IConfigureGrainContextProvider.");
            }
        }
    }

    private sealed class LocalActivations(ActivationTable activations) : ILocalActivationStatusChecker
    {
        public bool IsLocallyActivated(GrainId grainId) => activations.TryGet(grainId, out _) || activations.HasWorkers(grainId);
    }
}
