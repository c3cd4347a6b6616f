using ActOp.Calls;
using ActOp.Management.Snapshots;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Core.Internal;
using Orleans.Runtime;
using Orleans.Runtime.Placement;

namespace ActOp.Management.Operations;

/// <summary>
/// What the tool for operators asks of the silo that it is connected with: for clients with <c>ClusterSecurityOptions.OperatorSecret</c>,
/// or all if <c>ClientRightsOptions.Management</c> is set. Others get an <see cref="UnauthorizedAccessException"/>.
/// </summary>
[Callers(Callers.Administrators)]
internal interface IOperatorTarget : ISystemTarget
{
    /// <summary>All active silos as <see cref="SnapshotReader"/> finds them.</summary>
    Task<ClusterReport> GetReport();

    /// <summary>The silo on which the grain is active; null if it is not.</summary>
    Task<SiloAddress?> Locate(GrainId grain);

    /// <summary>Asks an activation to move as soon as it has no call. Where it is then, <see cref="Locate"/> says.</summary>
    Task<OperatorAnswer> Move(GrainId grain, SiloAddress silo);

    /// <summary>Asks a silo to stop in order, as its host does after SIGTERM. The view shows when it has gone.</summary>
    /// <param name="silo">The silo.</param>
    /// <param name="evenLast">Also if no other silo is active, so that nobody takes its grains.</param>
    Task<OperatorAnswer> Drain(SiloAddress silo, bool evenLast);
}

/// <summary>What became of a wish of an operator.</summary>
[GenerateSerializer]
internal enum OperatorAnswer
{
    /// <summary>It has begun.</summary>
    Begun,

    /// <summary>The grain is there already.</summary>
    IsThere,

    /// <summary>No silo has an activation of the grain.</summary>
    NotActive,

    /// <summary>The silo is not active.</summary>
    NoSuchSilo,

    /// <summary>No other silo is active.</summary>
    LastSilo,
}

/// <summary>The cluster at one moment, on the wire.</summary>
[GenerateSerializer]
internal sealed class ClusterReport
{
    /// <summary>The number of the view.</summary>
    [Id(0)]
    public long View { get; set; }

    /// <summary>The active silos that have answered.</summary>
    [Id(1)]
    public List<SiloSnapshot> Silos { get; set; } = [];

    /// <summary>The active silos that have not, with the reason.</summary>
    [Id(2)]
    public Dictionary<SiloAddress, string> Silent { get; set; } = [];
}

/// <summary>One silo's door for operators.</summary>
/// <remarks>
/// On the control stage; holds nothing. What changes something is logged. A wish that comes twice is done twice, which does no more than
/// once. A silo that does not answer fails the call after the response timeout.
/// </remarks>
internal sealed partial class OperatorTarget(ManagementNeeds parts, SnapshotReader snapshots, ILogger logger) : IOperatorTarget
{
    internal const string Name = "operators";

    public async Task<ClusterReport> GetReport()
    {
        var cluster = await snapshots.ReadAsync(CancellationToken.None);
        return new ClusterReport { View = cluster.View, Silos = [.. cluster.Silos], Silent = new(cluster.Silent) };
    }

    public async Task<SiloAddress?> Locate(GrainId grain) =>
        await parts.Directory.LookupAsync(grain) is { IsNone: false } location ? location.Silo : null;

    public async Task<OperatorAnswer> Move(GrainId grain, SiloAddress silo)
    {
        if (!parts.Cluster.IsActive(silo))
            return OperatorAnswer.NoSuchSilo;
        var location = await parts.Directory.LookupAsync(grain);
        if (location.IsNone)
            return OperatorAnswer.NotActive;
        if (location.Silo.Equals(silo))
            return OperatorAnswer.IsThere;
        MoveAsked(logger, grain, location.Silo, silo);
        RequestContext.Set(IPlacementDirector.PlacementHintKey, silo);
        var asked = parts.Factory.GetGrain(grain).AsReference<IGrainManagementExtension>().MigrateOnIdle();
        RequestContext.Remove(IPlacementDirector.PlacementHintKey);
        await asked;
        return OperatorAnswer.Begun;
    }

    public async Task<OperatorAnswer> Drain(SiloAddress silo, bool evenLast)
    {
        if (!parts.Cluster.IsActive(silo))
            return OperatorAnswer.NoSuchSilo;
        if (!evenLast && parts.Cluster.Active.Length == 1)
            return OperatorAnswer.LastSilo;
        DrainAsked(logger, silo);
        await parts.Factory.GetSystemTarget<IManagementTarget>(ManagementTarget.Name, silo).BeginStop();
        return OperatorAnswer.Begun;
    }

    [LoggerMessage(1302, LogLevel.Warning, "An operator has asked the silo {silo} to stop in order.")]
    private static partial void DrainAsked(ILogger logger, SiloAddress silo);

    [LoggerMessage(1303, LogLevel.Warning, "An operator has asked {grain} to move from {from} to {to}.")]
    private static partial void MoveAsked(ILogger logger, GrainId grain, SiloAddress from, SiloAddress to);
}
