using ActOp.Foundation;
using ActOp.Groups;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Groups;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Management;

/// <summary>
/// Shows and changes the groups of all silos. One activation, not reentrant: changes come to the silos one after the other, each with a
/// stamp, so that all silos end with the same.
/// </summary>
/// <remarks>
/// Holds the last stamp. All silos check a change before any of them makes it. A silo that does not answer fails the call: then some
/// silos may have changed, and the caller repeats the change, which does no harm. If the activation is lost in between, the same. Silos
/// that become active later: <see cref="LateGroups"/>.
/// </remarks>
[GrainType("actop.groups")]
internal sealed class GroupManagementGrain(ManagementNeeds parts) : Grain, IGroupManagement
{
    private long _lastStamp;

    public async Task<GroupReport[]> GetGroups()
    {
        var reports = await Task.WhenAll(parts.Cluster.Active.Select(silo => At(silo).GetGroups()));
        return
        [
            .. reports.SelectMany(static one => one).OrderBy(static one => one.Silo)
                .ThenBy(static one => one.Name, StringComparer.Ordinal),
        ];
    }

    public async Task Change(string group, GroupChange change)
    {
        ArgumentException.ThrowIfNullOrEmpty(group);
        ArgumentNullException.ThrowIfNull(change);
        // A silo that would refuse it must do so before another one has changed.
        await ForAllAsync(new GroupSetting(group, change, long.MaxValue), onlyCheck: true);
        await ForAllAsync(new GroupSetting(group, change, Stamp()), onlyCheck: false);
    }

    /// <summary>Also those that become active meanwhile.</summary>
    private async Task ForAllAsync(GroupSetting setting, bool onlyCheck)
    {
        var told = new HashSet<SiloAddress>();
        while (parts.Cluster.Active.Where(told.Add).ToArray() is { Length: > 0 } next)
            await Task.WhenAll(next.Select(silo => At(silo).SetGroup(setting, onlyCheck)));
    }

    private long Stamp()
    {
        var time = ServiceProvider.GetService(typeof(TimeProvider)) as TimeProvider ?? TimeProvider.System;
        return _lastStamp = Math.Max(_lastStamp + 1, time.GetUtcNow().UtcTicks);
    }

    private IManagementTarget At(SiloAddress silo) => parts.Factory.GetSystemTarget<IManagementTarget>(ManagementTarget.Name, silo);
}

/// <summary>
/// A silo with groups that starts learns from the others what was changed before and meanwhile, as <see cref="LateVersions"/>.
/// </summary>
/// <remarks>
/// Holds nothing. A silo that does not answer within 5 s is left out, with a warning: the others have the same. A change of a group that
/// this silo has not got is left out, too. An answer that comes twice changes nothing. Any thread.
/// </remarks>
internal sealed partial class LateGroups(Func<ManagementNeeds> parts, Func<NodeGroups?> groups, ILoggerFactory loggers)
    : ILifecycleParticipant<ISiloLifecycle>
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    public void Participate(ISiloLifecycle lifecycle)
    {
        lifecycle.Subscribe("groups", ServiceLifecycleStage.BecomeActive - 1, LearnAsync);
        lifecycle.Subscribe("late groups", ServiceLifecycleStage.Active, LearnAsync);
    }

    private async Task LearnAsync(CancellationToken cancellationToken)
    {
        if (groups() is not { } own)
            return;
        var (local, cluster, factory, _, _) = parts();
        var others = cluster.Active.Where(silo => !silo.Equals(local.Address));
        await Task.WhenAll(others.Select(silo => LearnAsync(own, local, factory, silo, cancellationToken))).ConfigureAwait(false);
    }

    private async Task LearnAsync(
        NodeGroups own, LocalNode local, GrainFactory factory, SiloAddress silo, CancellationToken cancellationToken)
    {
        try
        {
            var changes = await factory.GetSystemTarget<IManagementTarget>(ManagementTarget.Name, silo).GetGroupChanges()
                .WaitAsync(Patience, local.TaskTime, cancellationToken).ConfigureAwait(false);
            Array.ForEach(changes, change => Apply(own, silo, change));
        }
        catch (Exception exception) when (!cancellationToken.IsCancellationRequested)
        {
            NotLearned(loggers.CreateLogger("ActOp.Runtime"), silo, exception);
        }
    }

    private void Apply(NodeGroups own, SiloAddress silo, GroupSetting change)
    {
        try
        {
            own.Change(change);
        }
        catch (ArgumentException exception)
        {
            NotLearned(loggers.CreateLogger("ActOp.Runtime"), silo, exception);
        }
    }

    [LoggerMessage(1301, LogLevel.Warning, "Changes of groups were not taken from the silo {silo}.")]
    private static partial void NotLearned(ILogger logger, SiloAddress silo, Exception exception);
}
