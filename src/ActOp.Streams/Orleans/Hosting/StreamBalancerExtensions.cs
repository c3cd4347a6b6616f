using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Providers.Streams.Generator;
using Orleans.Streams;

namespace Orleans.Hosting;

/// <summary>Ways to distribute the queues of a provider over the silos, and to keep how far they were read.</summary>
public static class SiloPersistentStreamConfiguratorExtension
{
    /// <summary>Shares the queues evenly among the active silos, each to the silo that it prefers by hash. This is the default.</summary>
    public static void UseConsistentRingQueueBalancer(this ISiloPersistentStreamConfigurator configurator) =>
        configurator.ConfigurePartitionBalancing(static (services, _) => new EvenQueueBalancer(services));

    /// <summary>Shares the queues among the silos that have joined, by their names.</summary>
    /// <param name="configurator">The provider.</param>
    /// <param name="siloMaturityPeriod">See <see cref="DeploymentBasedQueueBalancerOptions.SiloMaturityPeriod"/>.</param>
    public static void UseDynamicClusterConfigDeploymentBalancer(
        this ISiloPersistentStreamConfigurator configurator, TimeSpan? siloMaturityPeriod = null) =>
        UseDeployment(configurator, siloMaturityPeriod,
            static services => new DynamicDeployment(services.GetRequiredService<StreamNode>().ClusterView));

    /// <summary>Shares the queues among the silos of <see cref="StaticClusterDeploymentOptions"/>.</summary>
    /// <param name="configurator">The provider.</param>
    /// <param name="siloMaturityPeriod">See <see cref="DeploymentBasedQueueBalancerOptions.SiloMaturityPeriod"/>.</param>
    public static void UseStaticClusterConfigDeploymentBalancer(
        this ISiloPersistentStreamConfigurator configurator, TimeSpan? siloMaturityPeriod = null) =>
        UseDeployment(configurator, siloMaturityPeriod,
            static services => services.GetRequiredService<IOptions<StaticClusterDeploymentOptions>>().Value);

    /// <summary>Distributes the queues by leases of the <see cref="Orleans.LeaseProviders.ILeaseProvider"/> of the silo.</summary>
    public static void UseLeaseBasedQueueBalancer(
        this ISiloPersistentStreamConfigurator configurator,
        Action<OptionsBuilder<LeaseBasedQueueBalancerOptions>>? configureOptions = null) =>
        configurator.ConfigureComponent<LeaseBasedQueueBalancerOptions, IStreamQueueBalancer>(
            LeaseBasedQueueBalancer.Create, configureOptions);

    /// <summary>Keeps the positions of partitions in grains.</summary>
    public static void UseGrainCheckpointer(this ISiloPersistentStreamConfigurator configurator) => configurator.UseGrainCheckpointer(null);

    /// <summary>Keeps the positions of partitions in grains.</summary>
    public static void UseGrainCheckpointer(
        this ISiloPersistentStreamConfigurator configurator,
        Action<OptionsBuilder<GrainStreamQueueCheckpointerOptions>>? configureOptions) =>
        configurator.ConfigureComponent<GrainStreamQueueCheckpointerOptions, IStreamQueueCheckpointerFactory>(
            GrainStreamQueueCheckpointerFactory.CreateFactory, configureOptions);

    private static void UseDeployment(
        ISiloPersistentStreamConfigurator configurator, TimeSpan? siloMaturityPeriod,
        Func<IServiceProvider, IDeploymentConfiguration> deployment) =>
        configurator.ConfigurePartitionBalancing<DeploymentBasedQueueBalancerOptions>(
            (services, name) => DeploymentBasedQueueBalancer.Create(services, name, deployment(services)),
            builder => builder.Configure(options => options.SiloMaturityPeriod = siloMaturityPeriod ?? options.SiloMaturityPeriod));
}

/// <summary>The silos of a deployment, for <c>UseStaticClusterConfigDeploymentBalancer</c>.</summary>
public class StaticClusterDeploymentOptions : IDeploymentConfiguration
{
    /// <summary>The names of all silos, whether they run or not. Default: none, and the active silos share the queues.</summary>
    public IList<string> SiloNames { get; set; } = [];

    /// <inheritdoc/>
    public IList<string> GetAllSiloNames() => SiloNames;
}

/// <summary>The settings of a generator that makes one stream up per queue.</summary>
[GenerateSerializer]
public sealed class SimpleGeneratorOptions : IStreamGeneratorConfig
{
    /// <summary>The default of <see cref="EventsInStream"/>.</summary>
    public const int DEFAULT_EVENTS_IN_STREAM = 100;

    /// <summary>The number of items of a stream. Default: 100.</summary>
    [Id(0)]
    public int EventsInStream { get; set; } = DEFAULT_EVENTS_IN_STREAM;

    /// <summary>The namespace of the streams.</summary>
    [Id(1)]
    public string? StreamNamespace { get; set; }

    /// <summary>The class that makes the items up.</summary>
    public Type StreamGeneratorType => typeof(SimpleGenerator);
}
