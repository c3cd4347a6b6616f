using ActOp.Calls;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Groups;

/// <summary>
/// Shows the groups of all active silos, and changes what they get while the silos run: <c>GetGrain&lt;IGroupManagement&gt;(0)</c>.
/// </summary>
/// <remarks>
/// Silos may call it, and clients that may manage the cluster (<c>ClientRightsOptions.Management</c> on the silos). Other clients get an
/// <see cref="UnauthorizedAccessException"/>.
/// </remarks>
[Callers(Callers.Administrators)]
public interface IGroupManagement : IGrainWithIntegerKey
{
    /// <summary>Each group on each active silo, by silo and name. Silos without groups have none.</summary>
    Task<GroupReport[]> GetGroups();

    /// <summary>
    /// Changes a group on all active silos, and on those that become active later. A value that is wrong on one silo changes nothing on
    /// any. It holds until all silos have stopped; a silo that starts again takes it from the others.
    /// </summary>
    /// <param name="group">The name of the group. All silos must have it.</param>
    /// <param name="change">What changes.</param>
    /// <exception cref="ArgumentException">A silo has no such group, or a value is wrong; the message says what to do.</exception>
    Task Change(string group, GroupChange change);
}

/// <summary>A change of a group. A value that is null stays as it is; 0 removes a limit.</summary>
[GenerateSerializer]
public sealed record GroupChange
{
    /// <summary>Its share in proportion to the groups with the same parent, above 0 to 10,000.</summary>
    [Id(0)]
    public double? Weight { get; init; }

    /// <summary>The most that it gets of the time of all processors of a silo, above 0 to 1; 0 for no limit.</summary>
    [Id(1)]
    public double? Max { get; init; }

    /// <summary>Milliseconds of one processor per interval, 1 or more; 0 for no limit. Only with budgets in ticks.</summary>
    [Id(2)]
    public double? Ticks { get; init; }

    /// <summary>Activations on each silo, 1 or more; 0 for no limit.</summary>
    [Id(3)]
    public int? MaxActivations { get; init; }

    /// <summary>Requests that wait in its mailboxes on each silo, 1 or more; 0 for no limit.</summary>
    [Id(4)]
    public int? MaxQueued { get; init; }

    /// <summary>Requests per second on each silo, 0.001 to 1,000,000,000; 0 for no limit.</summary>
    [Id(5)]
    public double? MaxCallsPerSecond { get; init; }

    /// <summary>The least that it gets when it has something to run, above 0 to 0.95; 0 for no guarantee.</summary>
    [Id(6)]
    public double? Min { get; init; }
}

/// <summary>A group on a silo, as it is now. Racy snapshots.</summary>
[GenerateSerializer]
public sealed record GroupReport
{
    /// <summary>The silo.</summary>
    [Id(0)]
    public required SiloAddress Silo { get; init; }

    /// <summary>The name of the group.</summary>
    [Id(1)]
    public required string Name { get; init; }

    /// <summary>The group in whose share it is; null for none.</summary>
    [Id(2)]
    public string? Parent { get; init; }

    /// <summary>Its weight and limits; a limit that is not there is null.</summary>
    [Id(3)]
    public required GroupChange Budget { get; init; }

    /// <summary>The time for which it has held threads that run turns.</summary>
    [Id(4)]
    public TimeSpan Used { get; init; }

    /// <summary>What it had used too much when it last ran.</summary>
    [Id(5)]
    public TimeSpan Debt { get; init; }

    /// <summary>Its activations.</summary>
    [Id(6)]
    public long Activations { get; init; }

    /// <summary>Activations of it that wait for a thread.</summary>
    [Id(7)]
    public long Ready { get; init; }

    /// <summary>Requests that wait; counted only with <see cref="GroupChange.MaxQueued"/>.</summary>
    [Id(8)]
    public long Queued { get; init; }

    /// <summary>Requests and activations that its limits have refused.</summary>
    [Id(9)]
    public long Refused { get; init; }

    /// <summary>
    /// How long it waits for a thread when it has something to run: the 99th percentile of its last some thousand waits, to a quarter. Zero
    /// if it has never waited.
    /// </summary>
    [Id(10)]
    public TimeSpan WaitP99 { get; init; }

    /// <summary>Activations of it whose next request has a known cost, which does not fit into what is left of the interval.</summary>
    [Id(11)]
    public long Held { get; init; }
}
