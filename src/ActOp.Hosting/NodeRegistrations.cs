using ActOp.Configuration;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.GrainServices;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Placement;
using ActOp.Runtime.Timers;
using ActOp.Serialization;
using ActOp.Storage;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Runtime.MembershipService.SiloMetadata;
using Orleans.Runtime.Placement.Filtering;
using Orleans.Timers;

namespace ActOp.Hosting;

/// <summary>The services that silos and clients register in the application's container.</summary>
internal static class NodeRegistrations
{
    private const string SiloHostMark = "ActOp.Silo";
    private const string ClientHostMark = "ActOp.Client";

    internal static void AddSilo(IServiceCollection services, IConfiguration configuration)
    {
        Claim<SiloMark, ClientMark>(services);
        if (services.Any(service => service.ServiceType == typeof(SiloHost)))
            return;
        AddCommon(services, configuration);
        AddGrainServices(services);
        Streams.StreamRegistrations.AddSilo(services);
        services.TryAddSingleton<PlacementStrategy, ResourceOptimizedPlacement>();
        services.AddOptions<EndpointOptions>().PostConfigure(static options => options.AdvertisedIPAddress ??= HostAddress.Own());
        services.AddSingleton<SiloHost>();
        services.AddSingleton(static provider => provider.GetRequiredService<SiloHost>().Node);
        services.AddHostedService(static provider => provider.GetRequiredService<SiloHost>());
        StateRegistrations.Add(services);
        OrleansSection.Apply(new SiloBuilder(services, configuration));
        TlsSection.Apply(new SiloBuilder(services, configuration));
        Management.ManagementRegistrations.AddSilo(services);
        services.AddSingleton<ILocalSiloDetails>(static provider => provider.GetRequiredService<SiloHost>());
        services.AddSingleton<ISiloMetadataCache>(static provider => new SiloMetadataCache(
            () => provider.GetRequiredService<Node>().Manifests));
        services.AddPlacementFilter<RequiredMatchSiloMetadataPlacementFilterStrategy, RequiredMatchDirector>(ServiceLifetime.Transient);
        services.AddPlacementFilter<PreferredMatchSiloMetadataPlacementFilterStrategy, PreferredMatchDirector>(ServiceLifetime.Transient);
    }

    internal static void AddClient(IServiceCollection services, IConfiguration configuration)
    {
        Claim<ClientMark, SiloMark>(services);
        if (services.Any(service => service.ServiceType == typeof(ClientHost)))
            return;
        AddCommon(services, configuration);
        Streams.StreamRegistrations.AddClient(services);
        Management.ManagementRegistrations.AddCommon(services);
        Management.ManagementRegistrations.AddMoments<IClusterClientLifecycle>(services);
        services.AddSingleton<ClientHost>();
        services.AddSingleton(static provider => provider.GetRequiredService<ClientHost>().Node);
        services.AddHostedService(static provider => provider.GetRequiredService<ClientHost>());
        OrleansSection.Apply(new PlainClientBuilder(services, configuration));
        TlsSection.Apply(new PlainClientBuilder(services, configuration));
    }

    private static void AddGrainServices(IServiceCollection services)
    {
        services.AddSingleton(static provider =>
        {
            var node = provider.GetRequiredService<Node>();
            return new GrainServiceHost(
                node.Local, node.Activations, node.Factory, node.ClusterView, node.Stages.Work, () => node.Cluster);
        });
        services.AddSingleton<IGrainServiceFactory, GrainServiceReferences>();
        services.AddSingleton(static provider => new Silo(provider.GetRequiredService<Node>().Local.Address, provider));
        services.AddSingleton<IGrainServiceLocator>(static provider => provider.GetRequiredService<GrainServiceHost>());
        services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(static provider => provider.GetRequiredService<GrainServiceHost>());
    }

    private static void AddCommon(IServiceCollection services, IConfiguration configuration)
    {
        services.AddSingleton(new ServiceLifetimes(services));
        services.AddLogging();
        services.AddOptions();
        SerializationServices.Add(services);
        if (FieldCodecSource.IsUsed())
            FieldCodecSource.Load().AddServices(services);
        services.AddSingleton<ActOp.Calls.CallRuntime>(static provider => provider.GetRequiredService<Node>().Calls);
        services.TryAddSingleton(TimeProvider.System);
        services.AddOptions<ClusterOptions>().Bind(configuration.GetSection("Orleans"));
        services.AddOptions<GrainTypeOptions>().Configure(static options =>
        {
            TypeManifest.LoadApplication();
            options.Classes.UnionWith(TypeManifest.GrainClasses.Select(static entry => entry.Type));
            options.Interfaces.UnionWith(TypeManifest.Interfaces.Select(static entry => entry.Type));
        });
        services.AddSingleton<IConfigurationValidator, ClusterRule>();
        services.AddSingleton<IConfigurationValidator, GrainTypeRule>();
        services.AddOptions<ClusterSecurityOptions>().Bind(configuration.GetSection("ActOp:Security"));
        services.AddOptions<ConnectionLimitOptions>().Bind(configuration.GetSection("ActOp:Limits"));
        services.AddOptions<ClientRightsOptions>().Bind(configuration.GetSection("ActOp:ClientRights"));
        services.AddOptions<StageOptions>();
        services.AddOptions<LocalityOptions>();
        services.AddSingleton(new LocalityFactory(static needs => new Locality.LocalityService(needs)));
        services.AddOptions<CallTracingOptions>();
        services.AddOptions<SerializationLimitOptions>();
        services.AddSingleton<IGrainFactory>(static provider => provider.GetRequiredService<Node>().Factory);
        services.AddSingleton<IClusterClient>(static provider => new ClusterClient(provider.GetRequiredService<Node>().Factory, provider));
        services.AddSingleton<IGrainReferenceRuntime>(static provider => provider.GetRequiredService<Node>().Calls.References);
        services.AddSingleton<IGrainRuntime>(static provider => provider.GetRequiredService<Node>().GrainRuntime);
        services.AddSingleton<ITimerRegistry, TimerRegistry>();
        services.AddSingleton<IGrainContextAccessor, GrainContextAccessor>();
        services.AddTransient(static provider => provider.GetRequiredService<IGrainContextAccessor>().GrainContext);
        BuiltInExtensions.Add(services);
        OptionLog.Add(services);
    }

    /// <summary>After what the application has configured.</summary>
    internal static void Complete(IServiceCollection services)
    {
        if (SerializationServices.HasOptions(services))
            FieldCodecSource.Load().AddServices(services);
    }

    private static void Claim<TMine, TOther>(IServiceCollection services)
        where TMine : class, new()
        where TOther : class
    {
        if (services.Any(service => service.ServiceType == typeof(TOther)))
            throw SiloAndClient();
        services.TryAddSingleton<TMine>();
    }

    /// <summary>Such a host adds its services when it is built; the second call fails all the same at once, where the mistake is.</summary>
    internal static void Claim(IHostBuilder host, bool isSilo)
    {
        if (host.Properties.ContainsKey(isSilo ? ClientHostMark : SiloHostMark))
            throw SiloAndClient();
        host.Properties[isSilo ? SiloHostMark : ClientHostMark] = true;
    }

    private static OrleansConfigurationException SiloAndClient() =>
        new("UseOrleans and UseOrleansClient cannot be used on the same host: a silo already has a client (IClusterClient).");

    private sealed class SiloMark;

    private sealed class ClientMark;
}

/// <summary>The builder of a silo.</summary>
internal sealed class SiloBuilder(IServiceCollection services, IConfiguration configuration) : ISiloBuilder
{
    public IConfiguration Configuration => configuration;

    public IServiceCollection Services => services;
}

/// <summary>The builder of a client.</summary>
internal sealed class PlainClientBuilder(IServiceCollection services, IConfiguration configuration) : IClientBuilder
{
    public IConfiguration Configuration => configuration;

    public IServiceCollection Services => services;
}
