using System.Collections.Immutable;
using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Management;

/// <summary>The membership as applications see it.</summary>
/// <remarks>
/// Any thread. Holds the last snapshot and the listeners. The task that tells the listeners begins with the first of them and ends with
/// the node; each listener has a queue of its own (<see cref="ListenerQueue{T}"/>), so one that throws or hangs keeps nothing from the
/// others. A reader of the updates that stops reading holds nothing. A change
/// that comes twice is told once: listeners are told of differences between views.
/// </remarks>
internal sealed class MembershipApi(LocalNode local, ClusterView cluster, Func<ClusterService?> service, string name)
    : IClusterMembershipService, ISiloStatusOracle
{
    private readonly BackgroundPart _work = local.Background.Part("membership updates");
    private readonly Lock _gate = new();
    private (ISiloStatusListener Listener, ListenerQueue<ClusterMember> Queue)[] _listeners = [];
    private (View View, ClusterMembershipSnapshot Snapshot) _last = (View.Empty, SnapshotOf(View.Empty));
    private bool _tells;

    public ClusterMembershipSnapshot CurrentSnapshot
    {
        get
        {
            var view = cluster.View;
            lock (_gate)
            {
                if (!ReferenceEquals(_last.View, view))
                    _last = (view, SnapshotOf(view));
                return _last.Snapshot;
            }
        }
    }

    public IAsyncEnumerable<ClusterMembershipSnapshot> MembershipUpdates => UpdatesUntil(_work.Stopping);

    public SiloStatus CurrentStatus => local.IsDead ? SiloStatus.Dead : cluster.View.StatusOf(local.Address) switch
    {
        SiloStatus.None => SiloStatus.Created,
        var status => status,
    };

    public SiloAddress SiloAddress => local.Address;

    public string SiloName => name;

    public async ValueTask Refresh(MembershipVersion minimumVersion = default, CancellationToken cancellationToken = default)
    {
        service()?.RefreshTable();
        while (true)
        {
            var changed = cluster.Changed;
            if (cluster.Version >= minimumVersion)
                return;
            await changed.WaitAsync(cancellationToken).ConfigureAwait(true);
        }
    }

    public Task<bool> TryKill(SiloAddress siloAddress)
    {
        ArgumentNullException.ThrowIfNull(siloAddress);
        var clusterService = service() ?? throw new InvalidOperationException("Only a silo that has joined can declare another one dead.");
        if (siloAddress.Equals(local.Address))
            throw new ArgumentException("A silo cannot declare itself dead: stop its host.", nameof(siloAddress));
        return clusterService.CondemnAsync(siloAddress, _work.Stopping);
    }

    public SiloAddress[] GetActiveSilos() => [.. cluster.Active];

    public SiloStatus GetApproximateSiloStatus(SiloAddress siloAddress) =>
        cluster.View.StatusOf(siloAddress) is not SiloStatus.None and var status ? status
            : cluster.IsDead(siloAddress) ? SiloStatus.Dead : SiloStatus.None;

    public Dictionary<SiloAddress, SiloStatus> GetApproximateSiloStatuses(bool onlyActive = false) =>
        cluster.View.Members.Where(member => !onlyActive || member.Status == SiloStatus.Active)
            .ToDictionary(static member => member.Silo, static member => member.Status);

    public bool TryGetSiloName(SiloAddress siloAddress, out string? siloName)
    {
        siloName = cluster.View.FindMember(siloAddress)?.Name;
        return siloName is not null;
    }

    public bool IsFunctionalDirectory(SiloAddress siloAddress) =>
        cluster.View.StatusOf(siloAddress) is SiloStatus.Active or SiloStatus.ShuttingDown;

    public bool IsDeadSilo(SiloAddress silo) => cluster.IsDead(silo);

    public bool SubscribeToSiloStatusEvents(ISiloStatusListener observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        lock (_gate)
        {
            if (Array.Exists(_listeners, one => ReferenceEquals(one.Listener, observer)))
                return false;
            _listeners = [.. _listeners, (observer, new ListenerQueue<ClusterMember>(
                change => observer.SiloStatusChangeNotification(change.SiloAddress, change.Status),
                exception => local.Log.BackgroundFailed("the status listener " + observer.GetType(), exception)))];
            if (_tells)
                return true;
            _tells = true;
        }

        var before = CurrentSnapshot;
        _work.Run(stopping => TellAsync(before, stopping));
        return true;
    }

    public bool UnSubscribeFromSiloStatusEvents(ISiloStatusListener observer)
    {
        lock (_gate)
        {
            var left = _listeners.Where(one => !ReferenceEquals(one.Listener, observer)).ToArray();
            var was = left.Length < _listeners.Length;
            _listeners = left;
            return was;
        }
    }

    private static ClusterMembershipSnapshot SnapshotOf(View view) => new(
        view.Members.ToImmutableDictionary(
            static member => member.Silo, static member => new ClusterMember(member.Silo, member.Status, member.Name)),
        view.Version);

    private IAsyncEnumerable<ClusterMembershipSnapshot> UpdatesUntil(CancellationToken stopping, CancellationToken reader = default) =>
        Updates.Read(() => cluster.Changed, () => CurrentSnapshot, stopping, reader);

    private async Task TellAsync(ClusterMembershipSnapshot before, CancellationToken stopping)
    {
        // Whoever subscribed may be a grain: the listeners are not told on its turns.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        await foreach (var now in UpdatesUntil(stopping, stopping).ConfigureAwait(false))
        {
            // The membership of another table begins anew.
            var update = now.Version >= before.Version ? now.CreateUpdate(before) : now.AsUpdate();
            before = now;
            foreach (var change in update.Changes)
            {
                foreach (var (_, queue) in _listeners)
                    queue.Tell(change);
            }
        }
    }
}
