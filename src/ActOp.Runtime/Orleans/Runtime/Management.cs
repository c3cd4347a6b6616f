using System.Globalization;
using ActOp.Calls;
using Orleans.Providers;
using Orleans.Statistics;

namespace Orleans.Runtime;

/// <summary>
/// Tells of the whole cluster and acts on it: <c>GetGrain&lt;IManagementGrain&gt;(0)</c>. Where silos are named, null or none means all
/// active ones.
/// </summary>
/// <remarks>
/// Silos may call it, and clients if <see cref="ActOp.Configuration.ClientRightsOptions.Management"/> is set on the silos. Other clients
/// get an <see cref="UnauthorizedAccessException"/>.
/// </remarks>
[Callers(Callers.Administrators)]
public interface IManagementGrain : IGrainWithIntegerKey, IVersionManager
{
    /// <summary>The status of the silos.</summary>
    Task<Dictionary<SiloAddress, SiloStatus>> GetHosts(bool onlyActive = false);

    /// <summary>The silos as the membership table has them.</summary>
    Task<MembershipEntry[]> GetDetailedHosts(bool onlyActive = false);

    /// <summary>Collects the garbage of silos.</summary>
    Task ForceGarbageCollection(SiloAddress[] hostsIds);

    /// <summary>Ends the activations that were idle for this long.</summary>
    Task ForceActivationCollection(SiloAddress[] hostsIds, TimeSpan ageLimit);

    /// <summary>Ends the activations that were idle for this long, on all silos.</summary>
    Task ForceActivationCollection(TimeSpan ageLimit);

    /// <summary>Measures now what <see cref="GetRuntimeStatistics"/> returns.</summary>
    Task ForceRuntimeStatisticsCollection(SiloAddress[] siloAddresses);

    /// <summary>Load and use of silos, in the order of the argument.</summary>
    Task<SiloRuntimeStatistics[]> GetRuntimeStatistics(SiloAddress[] hostsIds);

    /// <summary>The number of activations by class and silo.</summary>
    Task<SimpleGrainStatistic[]> GetSimpleGrainStatistics(SiloAddress[] hostsIds);

    /// <summary>The number of activations by class and silo.</summary>
    Task<SimpleGrainStatistic[]> GetSimpleGrainStatistics();

    /// <summary>The activations, of some classes if their full names are given.</summary>
    Task<DetailedGrainStatistic[]> GetDetailedGrainStatistics(string[]? types = null, SiloAddress[]? hostsIds = null);

    /// <summary>The number of activations of one grain: more than one only for stateless workers.</summary>
    Task<int> GetGrainActivationCount(GrainReference grainReference);

    /// <summary>The number of activations of the cluster.</summary>
    Task<int> GetTotalActivationCount();

    /// <summary>Lets a provider of every silo run a command, and returns the results.</summary>
    /// <typeparam name="T">The service type of the provider.</typeparam>
    /// <param name="providerName">Its name, the key of the service.</param>
    /// <param name="command">The number of the command.</param>
    /// <param name="arg">The argument of the command.</param>
    Task<object?[]> SendControlCommandToProvider<T>(string providerName, int command, object? arg = null)
        where T : IControllable;

    /// <summary>The silo of the grain's activation; null if it has none. Does not activate it.</summary>
    ValueTask<SiloAddress?> GetActivationAddress(IAddressable reference);

    /// <summary>The activation of a grain ends when its running calls have ended. A grain without one is not activated.</summary>
    /// <param name="grainId">The grain.</param>
    /// <param name="cancellationToken">Ends the request; an activation that has been told to end still does.</param>
    Task DeactivateGrain(GrainId grainId, CancellationToken cancellationToken = default);

    /// <summary>The active grains of a type, on all silos.</summary>
    ValueTask<List<GrainId>> GetActiveGrains(GrainType type);

    /// <summary>
    /// How often grains have called each other since the last reset, as counted for the partitioning: sampled, the most frequent pairs.
    /// </summary>
    Task<List<GrainCallFrequency>> GetGrainCallFrequencies(SiloAddress[]? hostsIds = null);

    /// <summary>Begins the count of <see cref="GetGrainCallFrequencies"/> anew.</summary>
    ValueTask ResetGrainCallFrequencies(SiloAddress[]? hostsIds = null);
}

/// <summary>Load and use of one silo.</summary>
[GenerateSerializer, Immutable]
public sealed class SiloRuntimeStatistics
{
    internal SiloRuntimeStatistics(DateTime dateTime) => DateTime = dateTime;

    /// <summary>Its activations.</summary>
    [Id(0)]
    public int ActivationCount { get; internal init; }

    /// <summary>Its activations that were called within the last minutes.</summary>
    [Id(1)]
    public int RecentlyUsedActivationCount { get; internal init; }

    /// <summary>Its clients.</summary>
    [Id(2)]
    public long ClientCount { get; internal init; }

    /// <summary>Messages that it has received from other silos and clients, with those of the runtime.</summary>
    [Id(3)]
    public long ReceivedMessages { get; internal init; }

    /// <summary>Messages that it has sent to other silos and clients, with those of the runtime.</summary>
    [Id(4)]
    public long SentMessages { get; internal init; }

    /// <summary>Whether it refuses clients.</summary>
    [Id(5)]
    public bool IsOverloaded { get; internal init; }

    /// <summary>When it was measured.</summary>
    [Id(6)]
    public DateTime DateTime { get; internal init; }

    /// <summary>Processor and memory.</summary>
    [Id(7)]
    public EnvironmentStatistics EnvironmentStatistics { get; internal init; }

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"SiloRuntimeStatistics: ActivationCount={ActivationCount} RecentlyUsedActivationCount={RecentlyUsedActivationCount} "
        + $"ClientCount={ClientCount} IsOverloaded={IsOverloaded}");
}

/// <summary>The number of activations of one class on one silo.</summary>
[GenerateSerializer, Immutable]
public sealed class SimpleGrainStatistic
{
    /// <summary>The full name of the class.</summary>
    [Id(0)]
    public string GrainType { get; init; } = "";

    /// <summary>The silo.</summary>
    [Id(1)]
    public SiloAddress SiloAddress { get; init; } = null!;

    /// <summary>The number of activations.</summary>
    [Id(2)]
    public int ActivationCount { get; init; }

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"SimpleGrainStatistic: GrainType={GrainType} Silo={SiloAddress} NumActivations={ActivationCount}");
}

/// <summary>One activation.</summary>
[GenerateSerializer, Immutable]
public sealed class DetailedGrainStatistic
{
    /// <summary>The full name of the class.</summary>
    [Id(0)]
    public string GrainType { get; init; } = "";

    /// <summary>The silo.</summary>
    [Id(1)]
    public SiloAddress SiloAddress { get; init; } = null!;

    /// <summary>The grain.</summary>
    [Id(2)]
    public GrainId GrainId { get; init; }
}

/// <summary>How often one grain calls another.</summary>
[GenerateSerializer, Immutable]
public sealed class GrainCallFrequency
{
    /// <summary>The caller.</summary>
    [Id(0)]
    public GrainId SourceGrain { get; init; }

    /// <summary>The callee.</summary>
    [Id(1)]
    public GrainId TargetGrain { get; init; }

    /// <summary>The silo of the caller.</summary>
    [Id(2)]
    public SiloAddress? SourceHost { get; init; }

    /// <summary>The silo of the callee.</summary>
    [Id(3)]
    public SiloAddress? TargetHost { get; init; }

    /// <summary>The number of calls.</summary>
    [Id(4)]
    public ulong CallCount { get; init; }
}

/// <summary>Writes <see cref="Statistics.EnvironmentStatistics"/>, whose fields cannot be set.</summary>
[RegisterConverter]
internal sealed class EnvironmentStatisticsConverter : IConverter<EnvironmentStatistics, EnvironmentStatisticsValues>
{
    public EnvironmentStatistics ConvertFromSurrogate(in EnvironmentStatisticsValues surrogate) => new(
        surrogate.RawCpu, surrogate.FilteredCpu, surrogate.RawMemory, surrogate.FilteredMemory, surrogate.RawAvailable,
        surrogate.FilteredAvailable, surrogate.Maximum);

    public EnvironmentStatisticsValues ConvertToSurrogate(in EnvironmentStatistics value) => new()
    {
        RawCpu = value.RawCpuUsagePercentage,
        FilteredCpu = value.FilteredCpuUsagePercentage,
        RawMemory = value.RawMemoryUsageBytes,
        FilteredMemory = value.FilteredMemoryUsageBytes,
        RawAvailable = value.RawAvailableMemoryBytes,
        FilteredAvailable = value.FilteredAvailableMemoryBytes,
        Maximum = value.MaximumAvailableMemoryBytes,
    };
}

/// <summary>The fields of <see cref="EnvironmentStatistics"/>.</summary>
[GenerateSerializer]
internal struct EnvironmentStatisticsValues
{
    [Id(0)]
    public float RawCpu;

    [Id(1)]
    public float FilteredCpu;

    [Id(2)]
    public long RawMemory;

    [Id(3)]
    public long FilteredMemory;

    [Id(4)]
    public long RawAvailable;

    [Id(5)]
    public long FilteredAvailable;

    [Id(6)]
    public long Maximum;
}
