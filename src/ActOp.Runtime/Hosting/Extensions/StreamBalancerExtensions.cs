using ActOp.Runtime.Hosting;
using ActOp.Runtime.Streams;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Providers.Streams.Generator;
using Orleans.Streams;

namespace Orleans.Hosting;

/// <summary>
/// Ways to distribute the queues of a provider over the silos. All of these share them evenly among the active silos of the view, each
/// queue to the silo that it prefers by hash: that is the default, too.
/// </summary>
public static class SiloPersistentStreamConfiguratorExtension
{
    /// <summary>Shares the queues among the active silos.</summary>
    public static void UseConsistentRingQueueBalancer(this ISiloPersistentStreamConfigurator configurator) =>
        configurator.ConfigurePartitionBalancing(static (services, _) => new EvenQueueBalancer(services));

    /// <summary>Shares the queues among the active silos.</summary>
    /// <param name="configurator">The provider.</param>
    /// <param name="siloMaturityPeriod">Has no effect, and is reported at start: a silo gets its share when it becomes active.</param>
    public static void UseDynamicClusterConfigDeploymentBalancer(
        this ISiloPersistentStreamConfigurator configurator, TimeSpan? siloMaturityPeriod = null)
    {
        configurator.UseConsistentRingQueueBalancer();
        Report(configurator, siloMaturityPeriod);
    }

    /// <summary>Shares the queues among the active silos.</summary>
    /// <param name="configurator">The provider.</param>
    /// <param name="siloMaturityPeriod">Has no effect, and is reported at start: a silo gets its share when it becomes active.</param>
    public static void UseStaticClusterConfigDeploymentBalancer(
        this ISiloPersistentStreamConfigurator configurator, TimeSpan? siloMaturityPeriod = null)
    {
        configurator.UseConsistentRingQueueBalancer();
        Report(configurator, siloMaturityPeriod);
    }

    private static void Report(ISiloPersistentStreamConfigurator configurator, TimeSpan? siloMaturityPeriod)
    {
        if (siloMaturityPeriod is not null)
        {
            configurator.ConfigureDelegate(services => services.AddSingleton(new OptionWithoutEffect(
                "siloMaturityPeriod of the stream provider " + configurator.Name,
                    "a silo gets its share of the queues when it becomes active")));
        }
    }
}

/// <summary>The settings of a generator that makes one stream up per queue.</summary>
public sealed class SimpleGeneratorOptions : IStreamGeneratorConfig
{
    /// <summary>The default of <see cref="EventsInStream"/>.</summary>
    public const int DEFAULT_EVENTS_IN_STREAM = 100;

    /// <summary>The number of items of a stream. Default: 100.</summary>
    public int EventsInStream { get; set; } = DEFAULT_EVENTS_IN_STREAM;

    /// <summary>The namespace of the streams.</summary>
    public string? StreamNamespace { get; set; }

    /// <summary>The class that makes the items up.</summary>
    public Type StreamGeneratorType => typeof(SimpleGenerator);
}
