using ActOp.Runtime.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Core.Internal;
using Orleans.Metadata;
using Orleans.Runtime;

namespace ActOp.Runtime.Management;

/// <summary>What applications ask of the cluster and its members, as services.</summary>
internal static class ManagementRegistrations
{
    internal static void AddSilo(IServiceCollection services)
    {
        AddCommon(services);
        services.AddSingleton(static provider => Of(provider) is var node
            ? new ManagementParts(node.Local, node.ClusterView, node.Factory, node.Directory, node.Manifests)
            : null!);
        services.AddSingleton<ILocalActivationStatusChecker>(static provider => new LocalActivations(Of(provider).Activations));
        services.AddTransient<IGrainManagementExtension>(static provider =>
            new GrainManagementExtension(provider.GetRequiredService<IGrainContextAccessor>().GrainContext));
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider =>
            new LateVersions(provider.GetRequiredService<ManagementParts>, provider.GetRequiredService<ILoggerFactory>()));
        services.AddSingleton(static provider => new GrainClassMap(Of(provider).Classes));
        services.AddSingleton<ISiloStatusOracle>(static provider => provider.GetRequiredService<MembershipApi>());
    }

    internal static void AddCommon(IServiceCollection services)
    {
        services.AddSingleton(static provider => Of(provider) is var node
            ? new MembershipApi(node.Local, node.ClusterView, () => node.Cluster,
                node.IsSilo ? provider.GetRequiredService<IOptions<SiloOptions>>().Value.SiloName : "")
            : null!);
        services.AddSingleton<IClusterMembershipService>(static provider => provider.GetRequiredService<MembershipApi>());
        services.AddSingleton<IClusterManifestProvider>(static provider => Of(provider) is var node
            ? new ManifestApi(node.Local, node.ClusterView, node.Manifests, node.Classes)
            : null!);
        services.AddSingleton<GrainPropertiesResolver>();
        services.AddSingleton<GrainBindingsResolver>();
    }

    private static Node Of(IServiceProvider provider) => provider.GetRequiredService<Node>();

    private sealed class LocalActivations(Activations.ActivationTable activations) : ILocalActivationStatusChecker
    {
        public bool IsLocallyActivated(GrainId grainId) => activations.TryGet(grainId, out _) || activations.HasWorkers(grainId);
    }
}
