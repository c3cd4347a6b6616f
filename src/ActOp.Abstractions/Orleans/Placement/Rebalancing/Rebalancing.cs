using System.Collections.Immutable;
using Orleans.Internal;
using Orleans.Runtime;

namespace Orleans.Placement.Rebalancing;

/// <summary>
/// Moves activations from silos that have many to silos that have few, as a service of each silo. One silo of the cluster, the oldest one,
/// decides; the others pass requests on to it. Any thread.
/// </summary>
public interface IActivationRebalancer
{
    /// <summary>What was done so far.</summary>
    /// <param name="force">Whether the silo that decides is asked; otherwise its last report is returned, if there is one here.</param>
    ValueTask<RebalancingReport> GetRebalancingReport(bool force = false);

    /// <summary>Goes on after <see cref="SuspendRebalancing"/>.</summary>
    Task ResumeRebalancing();

    /// <summary>Tells the listener of the reports that arrive at this silo: after each cycle and each change of the status.</summary>
    void SubscribeToReports(IActivationRebalancerReportListener listener);

    /// <summary>Moves nothing for that time.</summary>
    /// <param name="duration">The time; null until <see cref="ResumeRebalancing"/>.</param>
    Task SuspendRebalancing(TimeSpan? duration = null);

    /// <summary>Tells the listener no more.</summary>
    void UnsubscribeFromReports(IActivationRebalancerReportListener listener);
}

/// <summary>Is told of reports. If it throws, that is logged, and the others are told.</summary>
public interface IActivationRebalancerReportListener
{
    /// <summary>Called on any thread; must not block.</summary>
    void OnReport(RebalancingReport report);
}

/// <summary>How long to wait after a session that has not balanced the cluster; gets the number of such sessions in a row.</summary>
public interface IFailedSessionBackoffProvider : IBackoffProvider
{
}

/// <summary>Whether activations are moved.</summary>
public enum RebalancerStatus : byte
{
    /// <summary>As needed.</summary>
    Executing = 0,

    /// <summary>Not now.</summary>
    Suspended = 1,
}

/// <summary>What the rebalancer has done.</summary>
public readonly struct RebalancingReport
{
    /// <summary>How uneven the numbers of activations are: 0 when they are equal, 1 when one silo has all.</summary>
    public required double ClusterImbalance { get; init; }

    /// <summary>The silo that decides.</summary>
    public required SiloAddress Host { get; init; }

    /// <summary>By silo.</summary>
    public required ImmutableArray<RebalancingStatistics> Statistics { get; init; }

    /// <summary>Whether activations are moved.</summary>
    public required RebalancerStatus Status { get; init; }

    /// <summary>How long they are not moved from now on, infinite without an end; null if they are moved.</summary>
    public TimeSpan? SuspensionDuration { get; init; }
}

/// <summary>What the rebalancer has done to one silo.</summary>
public readonly struct RebalancingStatistics
{
    /// <summary>Activations that have come to the silo.</summary>
    public required ulong AcquiredActivations { get; init; }

    /// <summary>Activations that have left the silo.</summary>
    public required ulong DispersedActivations { get; init; }

    /// <summary>The silo.</summary>
    public required SiloAddress SiloAddress { get; init; }

    /// <summary>When these numbers were last changed.</summary>
    public required DateTime TimeStamp { get; init; }
}
