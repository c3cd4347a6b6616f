using ActOp.Diagnostics;
using ActOp.Runtime.Placement;

namespace Orleans.Runtime.Diagnostics;

/// <summary>What silos tell each other of their loads, for tests and tools. Placement by load uses what is known at that time.</summary>
public static class DeploymentLoadPublisherEvents
{
    /// <summary>The name of the <see cref="System.Diagnostics.DiagnosticListener"/>. An event has the name of its class.</summary>
    public const string ListenerName = "Orleans.DeploymentLoadPublisher";

    /// <summary>All events. They come on the thread where they happen: an observer must be quick.</summary>
    public static IObservable<DeploymentLoadPublisherEvent> AllEvents => Feed;

    internal static EventFeed<DeploymentLoadPublisherEvent> Feed { get; } = new(ListenerName);

    /// <summary>The load of a silo as the others know it: activations, processor and memory. The rest is 0.</summary>
    internal static SiloRuntimeStatistics StatisticsOf(SiloUse use, DateTime now) => new(now)
    {
        ActivationCount = use.Activations,
        EnvironmentStatistics = new(
            use.CpuPercent, use.CpuPercent, use.UsedMemory, use.UsedMemory, use.AvailableMemory, use.AvailableMemory, use.MaxMemory),
    };

    /// <summary>An event of loads.</summary>
    public abstract class DeploymentLoadPublisherEvent;

    /// <summary>A silo sends its load to others.</summary>
    public sealed class Published(SiloAddress siloAddress, SiloRuntimeStatistics statistics) : DeploymentLoadPublisherEvent
    {
        /// <summary>The silo.</summary>
        public SiloAddress SiloAddress { get; } = siloAddress;

        /// <summary>Its load.</summary>
        public SiloRuntimeStatistics Statistics { get; } = statistics;
    }

    /// <summary>A silo has learned the load of another one.</summary>
    public sealed class Received(SiloAddress fromSilo, SiloAddress receiverSilo, SiloRuntimeStatistics statistics)
        : DeploymentLoadPublisherEvent
    {
        /// <summary>The silo that has the load.</summary>
        public SiloAddress FromSilo { get; } = fromSilo;

        /// <summary>The silo that has learned it.</summary>
        public SiloAddress ReceiverSilo { get; } = receiverSilo;

        /// <summary>The load.</summary>
        public SiloRuntimeStatistics Statistics { get; } = statistics;
    }

    /// <summary>From now on a silo places by these loads.</summary>
    public sealed class ClusterRefreshed(SiloAddress siloAddress, IReadOnlyDictionary<SiloAddress, SiloRuntimeStatistics> statistics)
        : DeploymentLoadPublisherEvent
    {
        /// <summary>The silo that places.</summary>
        public SiloAddress SiloAddress { get; } = siloAddress;

        /// <summary>The loads that it knows, its own too.</summary>
        public IReadOnlyDictionary<SiloAddress, SiloRuntimeStatistics> Statistics { get; } = statistics;
    }

    /// <summary>A silo forgets the load of one that is gone.</summary>
    public sealed class Removed(SiloAddress removedSilo, SiloAddress observerSilo) : DeploymentLoadPublisherEvent
    {
        /// <summary>The silo that is gone.</summary>
        public SiloAddress RemovedSilo { get; } = removedSilo;

        /// <summary>The silo that forgets it.</summary>
        public SiloAddress ObserverSilo { get; } = observerSilo;
    }
}
