using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Placement;
using ActOp.Runtime.Routing;
using ActOp.Runtime.Stages;
using ActOp.Staging;
using ActOp.Staging.Groups;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The parts of a node that its activations use: one object for all activations. An activation uses nearly every part, and nearly every
/// part uses activations, so the node sets some properties when all parts exist. Not changed afterwards; any thread.
/// </summary>
internal sealed class ActivationParts
{
    internal required LocalNode Local { get; init; }

    internal required NodeStages Stages { get; init; }

    internal required LeaseGate Lease { get; init; }

    internal required EdgeCounters Edges { get; init; }

    internal required PlacementHints Hints { get; init; }

    internal required ClusterView ClusterView { get; init; }

    internal required GrainCollectionOptions Collection { get; init; }

    /// <summary>How many requests may wait for one activation.</summary>
    internal required RequestLimits Limits { get; init; }

    /// <summary>A turn that takes longer than this, in milliseconds, is logged.</summary>
    internal required long LongTurnMs { get; init; }

    /// <summary>Null without groups.</summary>
    internal NodeGroups? Groups => Stages.Groups;

    /// <summary>A visit of the stage ends after so many milliseconds.</summary>
    internal required long QuantumMs { get; init; }

    internal required LateWork LateWork { get; init; }

    /// <summary>Null but in a simulation.</summary>
    internal LifeWatch? LifeWatch { get; init; }

    /// <summary>Null on a client, whose observers nobody gives up.</summary>
    internal Workload? Workload { get; set; }

    internal ActivationTable Activations { get; set; } = null!;

    internal AbandonedRequests Abandoned { get; set; } = null!;

    internal RuntimeMetrics Metrics { get; set; } = null!;

    internal CallSender Calls { get; set; } = null!;

    internal CallFilters Filters { get; set; } = null!;

    internal GrainFactory Factory { get; set; } = null!;

    internal Router Router { get; set; } = null!;

    internal LocationCache Locations { get; set; } = null!;

    internal DirectoryClient Directory { get; set; } = null!;

    internal GrainPlacement Placement { get; set; } = null!;

    internal ILocality Locality { get; set; } = null!;

    internal Migrations Migrations { get; set; } = null!;

    internal void ReportLongTurn(Activation activation, long milliseconds)
    {
        Local.Counts.Add(NodeEvent.LongTurn);
        Local.Log.LongTurn(activation.GrainId, ((IStageItem)activation).Group?.Shape.Name, milliseconds);
    }

    /// <summary>
    /// For a step that has taken too long: it continues, and nothing waits for it, not even the end of the node. Logs its failure.
    /// </summary>
    internal void LogLateFailure(Activation activation, Task step, string name) => step.ContinueWith(
        late => Local.Log.LateStepFailed(name, activation.GrainId, late.Exception!),
        CancellationToken.None,
        TaskContinuationOptions.OnlyOnFaulted | TaskContinuationOptions.ExecuteSynchronously,
        TaskScheduler.Default);
}

/// <summary>What all activations of a class and of a group on a node share. Immutable; any thread.</summary>
/// <param name="parts">The parts of the node.</param>
/// <param name="grainClass">The class.</param>
/// <param name="stage">The stage on which their turns run.</param>
/// <param name="group">The group; null if there are none, and for what is the runtime's own.</param>
/// <param name="isFirst">They have not joined a group yet.</param>
internal sealed class ActivationHome(
    ActivationParts parts, GrainClass grainClass, Stage stage, GrainGroup? group = null, bool isFirst = false)
{
    internal ActivationParts Parts { get; } = parts;

    internal GrainClass Class { get; } = grainClass;

    /// <summary>The stage on which their turns run.</summary>
    internal Stage Stage { get; } = stage;

    /// <summary>The group, after they have joined it.</summary>
    internal GrainGroup? Group { get; } = isFirst ? null : group;

    /// <summary>The group whose time their turns use.</summary>
    internal StageGroup? TimeOf { get; } = group?.OfStage;

    /// <summary>They join a group with their first turn, because the application may choose it.</summary>
    internal bool IsFirst { get; } = isFirst;

    /// <summary>
    /// Requests that may wait for one activation. System targets have no limit, because a refused registration would be lost.
    /// </summary>
    internal int Limit { get; } = ReferenceEquals(stage, parts.Stages.Control) ? int.MaxValue : parts.Limits.HardOf(grainClass);
}

/// <summary>How many requests may wait for one activation. Immutable; any thread.</summary>
/// <param name="Mailbox">The limit that always holds, <see cref="ActOp.Configuration.StageOptions.MailboxLimit"/>.</param>
/// <param name="Hard">The application's limit, at most <paramref name="Mailbox"/>; 0 for none.</param>
/// <param name="HardOfWorkers">The same for stateless workers.</param>
internal sealed record RequestLimits(int Mailbox, int Hard, int HardOfWorkers)
{
    internal int HardOf(GrainClass grainClass) =>
        (grainClass.Worker is null ? Hard : HardOfWorkers) is > 0 and var hard ? Math.Min(hard, Mailbox) : Mailbox;

    /// <summary>Why a request is not put into a mailbox.</summary>
    internal LimitExceededException RefusalOf(Activation activation, Call call) => new(
        "The mailbox of " + activation.GrainId + " is full: " + activation.Limit + " requests wait (" + NameOf(activation.Class)
        + "). The call " + call.Method.ActivityName + " was refused.");

    /// <summary>The option that sets the limit of a class.</summary>
    internal string NameOf(GrainClass grainClass) => HardOf(grainClass) == Mailbox ? "StageOptions.MailboxLimit"
        : grainClass.Worker is null ? "SiloMessagingOptions.MaxEnqueuedRequestsHardLimit"
        : "SiloMessagingOptions.MaxEnqueuedRequestsHardLimit_StatelessWorker";
}
