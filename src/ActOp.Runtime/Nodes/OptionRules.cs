using System.Net.Sockets;
using System.Runtime.CompilerServices;
using ActOp.Configuration;
using ActOp.Runtime.Routing;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Runtime.Nodes;

/// <summary>The values that the options may have. A start with another value fails with the name of the option. Holds nothing.</summary>
internal static class OptionRules
{
    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(int.MaxValue);

    internal static void Check(MessagingOptions options)
    {
        var rule = new Rule(nameof(MessagingOptions));
        rule.Time(options.ResponseTimeout, mayBeInfinite: true);
        rule.Time(options.ResponseTimeoutWithDebugger, mayBeInfinite: true);
        rule.AtLeast(1024, options.MaxMessageBodySize);
        rule.AtLeast(256, options.MaxMessageHeaderSize);
        if (options is SiloMessagingOptions silo)
            CheckSilo(silo);
        if (options is ClientMessagingOptions client)
            CheckClient(client);
    }

    internal static void Check(GrainCollectionOptions options)
    {
        var rule = new Rule(nameof(GrainCollectionOptions));
        rule.Time(options.CollectionAge, mayBeInfinite: true);
        rule.Time(options.CollectionQuantum);
        var longerThanQuantum = "longer than CollectionQuantum (" + options.CollectionQuantum + ")";
        rule.Is(IsLonger(options.CollectionAge), longerThanQuantum, options.CollectionAge);
        rule.Time(options.ActivationTimeout, mayBeInfinite: true);
        rule.Time(options.DeactivationTimeout, mayBeInfinite: true);
        rule.Time(options.MemoryUsagePollingPeriod);
        rule.Is(options.MemoryUsageLimitPercentage is > 0 and <= 100, "above 0 to 100", options.MemoryUsageLimitPercentage);
        rule.Is(options.MemoryUsageTargetPercentage > 0 && options.MemoryUsageTargetPercentage <= options.MemoryUsageLimitPercentage,
            "above 0 to MemoryUsageLimitPercentage", options.MemoryUsageTargetPercentage);
        foreach (var (grainClass, age) in options.ClassSpecificCollectionAge)
        {
            var name = "options." + nameof(options.ClassSpecificCollectionAge) + "[" + grainClass + "]";
            rule.Time(age, mayBeInfinite: true, name: name);
            rule.Is(IsLonger(age), longerThanQuantum, age, name);
        }

        // Idle activations are looked for once a quantum, so a shorter age would not be kept.
        bool IsLonger(TimeSpan age) => age > options.CollectionQuantum || age == Timeout.InfiniteTimeSpan;
    }

    internal static void Check(StatelessWorkerOptions options)
    {
        var rule = new Rule(nameof(StatelessWorkerOptions));
        rule.Time(options.IdleWorkersInspectionPeriod);
        rule.AtLeast(1, options.MinIdleCyclesBeforeRemoval);
    }

    internal static void Check(Orleans.Networking.Shared.SocketConnectionOptions options)
    {
        var rule = new Rule(nameof(Orleans.Networking.Shared.SocketConnectionOptions));
        rule.AtLeast(1, options.KeepAliveTimeSeconds);
        rule.AtLeast(1, options.KeepAliveIntervalSeconds);
        rule.AtLeast(1, options.KeepAliveRetryCount);
    }

    internal static void Check(LoadSheddingOptions options)
    {
        var rule = new Rule(nameof(LoadSheddingOptions));
        rule.Between(1, 100, options.CpuThreshold);
        rule.Between(1, 100, options.MemoryThreshold);
    }

    internal static void Check(ClusterMembershipOptions options)
    {
        var rule = new Rule(nameof(ClusterMembershipOptions));
        rule.Time(options.ProbeTimeout);
        rule.Is(options.ProbeTimeout >= TimeSpan.FromMilliseconds(20), "at least 20 ms", options.ProbeTimeout);
        rule.Time(options.MinProbeTimeout, mayBeZero: true);
        rule.Is(options.MaxProbeTimeout >= options.MinProbeTimeout, "MinProbeTimeout or more", options.MaxProbeTimeout);
        rule.Time(options.LocalHealthDegradationMonitoringPeriod);
        rule.Time(options.TableRefreshTimeout);
        rule.Time(options.IAmAliveTablePublishTimeout);
        rule.Time(options.MaxJoinAttemptTime);
        rule.AtLeast(1, options.NumMissedProbesLimit);
        rule.AtLeast(1, options.NumMissedTableIAmAliveLimit);
        rule.AtLeast(1, options.NumProbedSilos);
        rule.Between(1, options.NumProbedSilos, options.NumVotesForDeathDeclaration);
        rule.AtLeast(0, options.MaxDefunctSiloEntries ?? 0, nameof(options.MaxDefunctSiloEntries));
        rule.Is(options.DefunctSiloExpiration > TimeSpan.Zero, "positive", options.DefunctSiloExpiration);
        rule.Is(options.DefunctSiloCleanupPeriod is null || options.DefunctSiloCleanupPeriod > TimeSpan.Zero, "positive or null",
            options.DefunctSiloCleanupPeriod);
    }

    /// <param name="options">The options.</param>
    /// <param name="gateways">How many gateways are configured.</param>
    internal static void Check(GatewayOptions options, int gateways)
    {
        var rule = new Rule(nameof(GatewayOptions));
        rule.Time(options.GatewayListRefreshPeriod);
        rule.Between(-1, gateways - 1, options.PreferredGatewayIndex);
    }

    internal static void Check(SchedulingOptions options)
    {
        var rule = new Rule(nameof(SchedulingOptions));
        rule.Time(options.TurnWarningLengthThreshold);
        rule.Time(options.ActivationSchedulingQuantum);
        rule.Time(options.DelayWarningThreshold);
        rule.Time(options.StoppedActivationWarningInterval);
        rule.AtLeast(0, options.MaxPendingWorkItemsSoftLimit);
    }

    internal static void Check(ConnectionOptions options)
    {
        var rule = new Rule(nameof(ConnectionOptions));
        rule.Between(1, 64, options.ConnectionsPerEndpoint);
        rule.Time(options.OpenConnectionTimeout);
        rule.Time(options.ConnectionRetryDelay);
        rule.Is(options.ProtocolVersion == NetworkProtocolVersion.Version1, "Version1", options.ProtocolVersion);
    }

    internal static void Check(GrainDirectoryOptions options)
    {
        var rule = new Rule(nameof(GrainDirectoryOptions));
        rule.AtLeast(1, options.CacheSize);
        rule.Time(options.MaximumCacheTTL, mayBeInfinite: true);
        rule.Is(options.CachingStrategy is >= GrainDirectoryOptions.CachingStrategyType.None
            and <= GrainDirectoryOptions.CachingStrategyType.Custom, "None, LRU, Adaptive or Custom", options.CachingStrategy);
    }

    internal static void Check(ActivationRebalancerOptions options)
    {
        var rule = new Rule(nameof(ActivationRebalancerOptions));
        rule.Time(options.RebalancerDueTime);
        rule.Time(options.SessionCyclePeriod);
        rule.AtLeast(1, options.MaxStagnantCycles);
        rule.AtLeast(1, options.ActivationMigrationCountLimit);
        rule.AtLeast(1000, options.ScaledEntropyDeviationActivationThreshold);
        rule.Is(options.EntropyQuantum is > 0 and <= 0.1, "more than 0, at most 0.1", options.EntropyQuantum);
        rule.Is(options.AllowedEntropyDeviation is >= 0 and <= 0.1, "0 to 0.1", options.AllowedEntropyDeviation);
        rule.Is(options.CycleNumberWeight is > 0 and <= 1, "more than 0, at most 1", options.CycleNumberWeight);
        rule.Is(options.SiloNumberWeight is >= 0 and <= 1, "0 to 1", options.SiloNumberWeight);
    }

    internal static void Check(SerializationLimitOptions options)
    {
        var rule = new Rule(nameof(SerializationLimitOptions));
        rule.Between(1, 1_000_000, options.MaxDecodedBytesPerByte);
        rule.AtLeast(0, options.DecodedBytesPerMessage);
    }

    internal static void Check(ResourceOptimizedPlacementOptions options)
    {
        var rule = new Rule(nameof(ResourceOptimizedPlacementOptions));
        rule.Between(0, 100, options.CpuUsageWeight);
        rule.Between(0, 100, options.MemoryUsageWeight);
        rule.Between(0, 100, options.AvailableMemoryWeight);
        rule.Between(0, 100, options.MaxAvailableMemoryWeight);
        rule.Between(0, 100, options.ActivationCountWeight);
        rule.Between(0, 100, options.LocalSiloPreferenceMargin);
        if (options.CpuUsageWeight + options.MemoryUsageWeight + options.AvailableMemoryWeight + options.MaxAvailableMemoryWeight
            + options.ActivationCountWeight == 0)
        {
            throw new OrleansConfigurationException("All weights of ResourceOptimizedPlacementOptions are 0: one must be above.");
        }
    }

    private static void CheckSilo(SiloMessagingOptions options)
    {
        var rule = new Rule(nameof(SiloMessagingOptions));
        rule.Time(options.SystemResponseTimeout, mayBeInfinite: true);
        rule.Between(0, Forwards.MaxConfigured, options.MaxForwardCount);
        rule.Time(options.GrainWorkloadAnalysisPeriod);
        rule.Time(options.ClientGatewayShutdownNotificationTimeout, mayBeZero: true);
        rule.Time(options.WaitForMessageToBeQueuedForOutboundTime, mayBeZero: true);
        rule.Between(0, 1024, options.GatewaySenderQueues);
        rule.Between(0, 1024, options.SiloSenderQueues);
        rule.Time(options.MaxRequestProcessingTime);
        rule.Time(options.RequestProcessingWarningTime);
        rule.Time(options.RequestQueueDelayWarningTime);
        rule.AtLeast(0, options.MaxEnqueuedRequestsSoftLimit);
        rule.AtLeast(0, options.MaxEnqueuedRequestsSoftLimit_StatelessWorker);
        rule.AtLeast(0, options.MaxEnqueuedRequestsHardLimit);
        rule.AtLeast(0, options.MaxEnqueuedRequestsHardLimit_StatelessWorker);
    }

    private static void CheckClient(ClientMessagingOptions options) =>
        new Rule(nameof(ClientMessagingOptions)).Is(
            options.PreferredFamily is AddressFamily.InterNetwork or AddressFamily.InterNetworkV6, "InterNetwork or InterNetworkV6",
            options.PreferredFamily);

    /// <summary>Checks the options of one class. The name of an option is the text of the argument behind the dot.</summary>
    private readonly struct Rule(string options)
    {
        internal void Time(
            TimeSpan value, bool mayBeInfinite = false, bool mayBeZero = false, [CallerArgumentExpression(nameof(value))] string name = "")
        {
            var isRight = (value > TimeSpan.Zero && value <= Longest) || (mayBeZero && value == TimeSpan.Zero)
                || (mayBeInfinite && (value == Timeout.InfiniteTimeSpan || value == TimeSpan.MaxValue));
            Check(isRight, name, (mayBeZero ? "zero or positive" : "positive") + ", up to 24 days" + (mayBeInfinite ? ", or infinite" : ""),
                value);
        }

        internal void AtLeast(int least, int value, [CallerArgumentExpression(nameof(value))] string name = "") =>
            Check(value >= least, name, "at least " + least, value);

        internal void Between(int least, int most, int value, [CallerArgumentExpression(nameof(value))] string name = "") =>
            Check(value >= least && value <= most, name, least + " to " + most, value);

        internal void Is(bool isRight, string rule, object? value, [CallerArgumentExpression(nameof(value))] string name = "") =>
            Check(isRight, name, rule, value);

        private void Check(bool isRight, string name, string rule, object? value)
        {
            if (!isRight)
            {
                throw new OrleansConfigurationException(options + "." + name[(name.IndexOf('.', StringComparison.Ordinal) + 1)..]
                    + " must be " + rule + ", but is " + value + ".");
            }
        }
    }
}

/// <summary>A node without grain interfaces can call nothing: its application has no generated code, or the options were cleared.</summary>
internal sealed class GrainTypeRule(IOptions<GrainTypeOptions> options) : IConfigurationValidator
{
    public void ValidateConfiguration()
    {
        if (options.Value.Interfaces.Count == 0)
        {
            throw new OrleansConfigurationException(
                "GrainTypeOptions.Interfaces is empty: no grain interfaces were found. Reference ActOp.Server or ActOp.Client in their "
                    + "project.");
        }
    }
}

/// <summary>The ids say which nodes belong together, so they cannot be missing.</summary>
internal sealed class ClusterRule(IOptions<ClusterOptions> options) : IConfigurationValidator
{
    public void ValidateConfiguration()
    {
        Check(nameof(ClusterOptions.ClusterId), options.Value.ClusterId);
        Check(nameof(ClusterOptions.ServiceId), options.Value.ServiceId);
    }

    private static void Check(string name, string value)
    {
        if (string.IsNullOrWhiteSpace(value))
            throw new OrleansConfigurationException("ClusterOptions." + name + " must not be empty.");
    }
}
