using ActOp.Runtime.Cluster;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>Calls a method with the active silos, at the start and after each change of the view, until it is disposed.</summary>
/// <remarks>Runs as background work of the node, which ends it with the node; a failure of the method is logged and the watch goes
/// on.</remarks>
internal sealed class SiloWatch(IServiceProvider services, Action<HashSet<SiloAddress>> changed) : IDisposable
{
    private readonly StreamNode _parts = services.GetRequiredService<StreamNode>();
    private readonly CancellationTokenSource _ended = new();

    internal SiloAddress Local => _parts.Local.Address;

    internal CancellationToken Ended => _ended.Token;

    internal void Start() => _parts.Background.Run(WatchAsync);

    public void Dispose() => _ended.Cancel();

    private async Task WatchAsync(CancellationToken stopping)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stopping, _ended.Token);
        HashSet<SiloAddress>? before = null;
        while (!ended.IsCancellationRequested)
        {
            var next = _parts.ClusterView.Changed;
            HashSet<SiloAddress> active = [.. _parts.ClusterView.Active];
            if (before is null || !before.SetEquals(active))
            {
                before = active;
                _parts.Background.Do(() => changed(active));
            }

            await next.WaitAsync(ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}

/// <summary>
/// Distributes the queues evenly: each queue, in order, to the active silo that it prefers by hash among those that have room. Every silo
/// with the same view has the same result, and few queues move when a silo comes or goes.
/// </summary>
internal sealed class EvenQueueBalancer(IServiceProvider services) : QueueBalancerBase(services, NullLogger.Instance)
{
    private readonly StreamNode _parts = services.GetRequiredService<StreamNode>();
    private QueueId[] _all = [];
    private volatile QueueId[] _mine = [];

    public override Task Initialize(IStreamQueueMapper queueMapper)
    {
        _all = [.. queueMapper.GetAllQueues().Order()];
        _mine = Share(_all, [.. _parts.ClusterView.Active], SiloAddress);
        return base.Initialize(queueMapper);
    }

    public override IEnumerable<QueueId> GetMyQueues() => _mine;

    /// <summary>The queues of one silo.</summary>
    internal static QueueId[] Share(QueueId[] queues, SiloAddress[] silos, SiloAddress silo) =>
        Share(queues, silos, silo, SiloOrder.EndpointHash);

    /// <summary>The queues of one silo, by the names of the silos.</summary>
    internal static QueueId[] ShareByName(QueueId[] queues, string[] names, string name) =>
        Share(queues, names, name, static one => Orleans.StableHash.ComputeHash(one));

    private static QueueId[] Share<TOwner>(QueueId[] queues, TOwner[] owners, TOwner me, Func<TOwner, ulong> hash)
        where TOwner : class
    {
        if (Array.IndexOf(owners, me) < 0)
            return [];
        var most = (queues.Length + owners.Length - 1) / owners.Length;
        var used = new Dictionary<TOwner, int>();
        var mine = new List<QueueId>();
        foreach (var queue in queues)
        {
            var seed = SiloOrder.Mix(queue.GetUniformHashCode() ^ ((ulong)queue.GetNumericId() << 32));
            var owner = owners.Where(one => used.GetValueOrDefault(one) < most).MaxBy(one => SiloOrder.Mix(hash(one) ^ seed))!;
            used[owner] = used.GetValueOrDefault(owner) + 1;
            if (owner.Equals(me))
                mine.Add(queue);
        }

        return [.. mine];
    }

    protected override void OnClusterMembershipChange(HashSet<SiloAddress> activeSilos)
    {
        var mine = Share(_all, [.. activeSilos.Order(SiloOrder.Instance)], SiloAddress);
        if (mine.AsSpan().SequenceEqual(_mine))
            return;
        _mine = mine;
        _parts.Background.Follow(NotifyListeners());
    }
}
