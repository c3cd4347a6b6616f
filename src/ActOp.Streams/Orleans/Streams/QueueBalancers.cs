using ActOp;
using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.LeaseProviders;
using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>
/// Distributes the queues by leases: a silo reads a queue while it holds its lease, so that two silos never read one queue, whatever they
/// think of the view. Each silo takes as many as an even share of the active silos.
/// </summary>
/// <remarks>
/// <para>Owns the leases of this silo. One loop works on them, as background work of the node; any thread reads the list of queues.</para>
/// <para>Failures. The provider throws, or does not answer within half of
/// <see cref="LeaseBasedQueueBalancerOptions.LeaseRenewPeriod"/>: it is logged, the leases go on until their time ends, and the next round
/// tries again. A lease is lost: its agent ends, and the next round looks for another. The silo dies: its leases end by themselves. A lease
/// is counted from before it was asked for, so it ends here no later than at the provider. A surplus lease is given back after its agent
/// has ended.</para>
/// </remarks>
public class LeaseBasedQueueBalancer : QueueBalancerBase
{
    private readonly string _name;
    private readonly LeaseBasedQueueBalancerOptions _options;
    private readonly ILeaseProvider _leases;
    private readonly StreamNode _parts;
    private readonly QueueBalancerLog _log;
    private readonly Dictionary<QueueId, HeldLease> _held = [];
    private readonly Lock _gate = new();
    private QueueId[] _all = [];
    private volatile QueueId[] _mine = [];
    private HashSet<SiloAddress> _silos = [];
    private TaskCompletionSource _changed = NewSignal();
    private Task _loop = Task.CompletedTask;
    private DateTimeOffset _nextRenewal;

    /// <summary>Creates the balancer.</summary>
    public LeaseBasedQueueBalancer(
        string name, LeaseBasedQueueBalancerOptions options, ILeaseProvider leaseProvider, IServiceProvider services,
        ILoggerFactory loggerFactory)
        : base(services, GuardedLoggers.GuardedOf(loggerFactory, services).CreateLogger<LeaseBasedQueueBalancer>())
    {
        _name = name;
        _options = options;
        _leases = leaseProvider;
        _parts = services.GetRequiredService<StreamNode>();
        _log = new QueueBalancerLog(Logger);
    }

    private string Category => _options.LeaseCategory;

    private DateTimeOffset Now => _parts.Local.Time.GetUtcNow();

    /// <summary>The balancer of a provider. The lease provider is the one of the same name, or else the one without a name.</summary>
    public static IStreamQueueBalancer Create(IServiceProvider services, string name)
    {
        ArgumentNullException.ThrowIfNull(services);
        return new LeaseBasedQueueBalancer(
            name, services.GetRequiredService<IOptionsMonitor<LeaseBasedQueueBalancerOptions>>().Get(name),
            services.GetKeyedService<ILeaseProvider>(name) ?? services.GetRequiredService<ILeaseProvider>(), services,
            services.GetRequiredService<ILoggerFactory>());
    }

    /// <inheritdoc/>
    public override async Task Initialize(IStreamQueueMapper queueMapper)
    {
        ArgumentNullException.ThrowIfNull(queueMapper);
        _all = [.. queueMapper.GetAllQueues().Order()];
        _silos = [.. _parts.ClusterView.Active];
        await base.Initialize(queueMapper).ConfigureAwait(false);
        _loop = RunAsync();
        _parts.Background.Follow(_loop);
    }

    /// <inheritdoc/>
    public override async Task Shutdown()
    {
        await base.Shutdown().ConfigureAwait(false);
        await _loop.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        var held = _held.Values.Select(static one => one.Lease).ToArray();
        _held.Clear();
        _mine = [];
        if (held.Length > 0)
            await TryAsync(() => ReleaseAsync(held)).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public override IEnumerable<QueueId> GetMyQueues() => _mine;

    /// <inheritdoc/>
    protected override void OnClusterMembershipChange(HashSet<SiloAddress> activeSilos)
    {
        lock (_gate)
        {
            _silos = activeSilos;
            _changed.TrySetResult();
        }
    }

    private async Task RunAsync()
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(Cancellation, _parts.Background.Stopping);
        while (!ended.IsCancellationRequested)
        {
            Task changed;
            int share;
            lock (_gate)
            {
                if (_changed.Task.IsCompleted)
                    _changed = NewSignal();
                changed = _changed.Task;
                share = Share(_all.Length, _silos, SiloAddress);
            }

            await TryAsync(() => RoundAsync(share)).ConfigureAwait(false);
            await WaitAsync(changed, _held.Count < share ? _options.LeaseAcquisitionPeriod : Timeout.InfiniteTimeSpan, ended.Token)
                .ConfigureAwait(false);
        }
    }

    /// <summary>As many queues for each silo, and one more for the first ones, in an order that all silos have.</summary>
    internal static int Share(int queues, HashSet<SiloAddress> silos, SiloAddress silo)
    {
        if (!silos.Contains(silo))
            return 0;
        var rank = silos.Order(SiloOrder.Instance).ToList().IndexOf(silo);
        return (queues / silos.Count) + (rank < queues % silos.Count ? 1 : 0);
    }

    private async Task RoundAsync(int share)
    {
        if (_held.Count > 0 && Now >= _nextRenewal)
            await TryAsync(RenewAsync).ConfigureAwait(false);
        foreach (var (queue, _) in _held.Where(one => one.Value.Until <= Now).ToArray())
            _held.Remove(queue);
        var surplus = _held.Keys.Order().Skip(share).ToArray();
        await PublishAsync(_held.Keys.Except(surplus)).ConfigureAwait(false);
        if (surplus.Length > 0)
        {
            var back = surplus.Select(queue => _held[queue].Lease).ToArray();
            foreach (var queue in surplus)
                _held.Remove(queue);
            await ReleaseAsync(back).ConfigureAwait(false);
        }

        Invariant.Holds(_held.Count <= share);
        if (_held.Count < share)
            await AcquireAsync(share).ConfigureAwait(false);
    }

    private async Task RenewAsync()
    {
        var start = Now;
        // If this fails: a tenth of the period later.
        _nextRenewal = start + (_options.LeaseRenewPeriod / 10);
        QueueId[] queues = [.. _held.Keys];
        AcquiredLease[] held = [.. queues.Select(queue => _held[queue].Lease)];
        var results = Checked(
            await ProviderAsync(nameof(_leases.Renew), () => _leases.Renew(Category, held)).ConfigureAwait(false), queues.Length);
        _nextRenewal = start + _options.LeaseRenewPeriod;
        for (var i = 0; i < queues.Length; i++)
        {
            if (results[i].StatusCode == ResponseCode.OK && results[i].AcquiredLease is { } lease)
                _held[queues[i]] = new HeldLease(lease, start + _options.LeaseLength);
            else if (results[i].StatusCode != ResponseCode.TransientFailure)
                _held.Remove(queues[i]);
        }
    }

    /// <summary>Asks for other queues until the share is complete or all were asked for.</summary>
    private async Task AcquireAsync(int share)
    {
        QueueId[] free = [.. _all.Except(_held.Keys).OrderBy(_ => _parts.Local.Random.Next(int.MaxValue))];
        if (_held.Count == 0)
            _nextRenewal = Now + _options.LeaseRenewPeriod;
        for (var at = 0; at < free.Length && _held.Count < share;)
        {
            var asked = free.AsSpan(at, Math.Min(share - _held.Count, free.Length - at)).ToArray();
            at += asked.Length;
            var start = Now;
            LeaseRequest[] wanted = [.. asked.Select(queue => new LeaseRequest(Key(queue), _options.LeaseLength))];
            var results = Checked(
                await ProviderAsync(nameof(_leases.Acquire), () => _leases.Acquire(Category, wanted)).ConfigureAwait(false), asked.Length);
            for (var i = 0; i < asked.Length; i++)
            {
                if (results[i].StatusCode == ResponseCode.OK && results[i].AcquiredLease is { } lease)
                    _held[asked[i]] = new HeldLease(lease, start + _options.LeaseLength);
                else if (results[i].FailureException is { } failure)
                    _log.LeaseFailed(_name, failure);
            }
        }

        Invariant.Holds(_held.Count <= share);
        await PublishAsync(_held.Keys).ConfigureAwait(false);
    }

    private Task ReleaseAsync(AcquiredLease[] leases) => ProviderAsync(nameof(_leases.Release), async () =>
    {
        await ActOp.Calls.Given.Task(_leases.Release(Category, leases), "Release of " + _leases.GetType()).ConfigureAwait(false);
        return true;
    });

    private Task<T> ProviderAsync<T>(string method, Func<Task<T>> step) =>
        PoolStep.RunAsync(
            method + " of the lease provider " + _leases.GetType(), _options.LeaseRenewPeriod / 2, _parts.Local.TaskTime, step);

    /// <summary>One answer for each queue.</summary>
    private AcquireLeaseResult[] Checked(AcquireLeaseResult[] results, int asked) =>
        results is not null && results.Length == asked && Array.TrueForAll(results, static one => one is not null) ? results
            : throw new InvalidOperationException("The lease provider " + _leases.GetType() + " has not answered for each of " + asked
                + " leases.");

    private string Key(QueueId queue) => _name + "/" + queue;

    private async Task PublishAsync(IEnumerable<QueueId> queues)
    {
        QueueId[] mine = [.. queues.Order()];
        if (mine.AsSpan().SequenceEqual(_mine))
            return;
        _mine = mine;
        await NotifyListeners().ConfigureAwait(false);
    }

    private async Task TryAsync(Func<Task> step)
    {
        try
        {
            await step().ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            // The provider is the application's: it may throw anything.
            if (!Cancellation.IsCancellationRequested && !_parts.Background.Stopping.IsCancellationRequested)
                _log.LeaseFailed(_name, exception);
        }
    }

    /// <summary>Until the silos change, a lease is to be renewed or ends, or it is time to look for more.</summary>
    private async Task WaitAsync(Task changed, TimeSpan longest, CancellationToken ended)
    {
        foreach (var one in _held.Values)
        {
            var due = (_nextRenewal < one.Until ? _nextRenewal : one.Until) - Now;
            due = due > TimeSpan.FromMilliseconds(100) ? due : TimeSpan.FromMilliseconds(100);
            if (longest < TimeSpan.Zero || due < longest)
                longest = due;
        }

        await changed.WaitAsync(longest, _parts.Local.TaskTime, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly record struct HeldLease(AcquiredLease Lease, DateTimeOffset Until);
}

/// <summary>
/// Distributes the queues over the silos of a deployment by their names: ideally over all of them. While every active silo is mature, the
/// queues of silos that are not active are read by the others.
/// </summary>
/// <remarks>
/// Any thread. Holds, for each active silo, until when it is not mature; background work of the node tells the listeners when it is.
/// </remarks>
public class DeploymentBasedQueueBalancer : QueueBalancerBase
{
    private readonly IDeploymentConfiguration _deployment;
    private readonly DeploymentBasedQueueBalancerOptions _options;
    private readonly StreamNode _parts;
    private readonly Dictionary<SiloAddress, DateTimeOffset> _matureAt = [];
    private readonly Lock _gate = new();
    private QueueId[] _all = [];

    /// <summary>Creates the balancer.</summary>
    public DeploymentBasedQueueBalancer(
        IDeploymentConfiguration deploymentConfig, DeploymentBasedQueueBalancerOptions options, IServiceProvider services,
        ILogger<DeploymentBasedQueueBalancer> logger)
        : base(services, logger is null ? Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance
            : GuardedLoggers.GuardedOf(logger, services))
    {
        _deployment = deploymentConfig;
        _options = options;
        _parts = services.GetRequiredService<StreamNode>();
    }

    /// <summary>The balancer of a provider.</summary>
    public static IStreamQueueBalancer Create(IServiceProvider services, string name, IDeploymentConfiguration deploymentConfig)
    {
        ArgumentNullException.ThrowIfNull(services);
        return new DeploymentBasedQueueBalancer(
            deploymentConfig, services.GetRequiredService<IOptionsMonitor<DeploymentBasedQueueBalancerOptions>>().Get(name), services,
            services.GetRequiredService<ILogger<DeploymentBasedQueueBalancer>>());
    }

    /// <inheritdoc/>
    public override Task Initialize(IStreamQueueMapper queueMapper)
    {
        ArgumentNullException.ThrowIfNull(queueMapper);
        _all = [.. queueMapper.GetAllQueues().Order()];
        lock (_gate)
        {
            // The silos that were there before this one are mature.
            foreach (var silo in _parts.ClusterView.Active)
                _matureAt[silo] = silo.Equals(SiloAddress) ? _parts.Local.Time.GetUtcNow() + _options.SiloMaturityPeriod : default;
        }

        Wake(_options.SiloMaturityPeriod);
        return base.Initialize(queueMapper);
    }

    /// <inheritdoc/>
    public override IEnumerable<QueueId> GetMyQueues()
    {
        var view = _parts.ClusterView.View;
        if (view.FindMember(SiloAddress) is not { Name: var me })
            return [];
        var all = _deployment.GetAllSiloNames().Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal).ToArray();
        if (all.Length > 0 && IsIdeal())
            return EvenQueueBalancer.ShareByName(_all, all, me);
        string[] active = [.. view.Members.Where(static one => one.Status == SiloStatus.Active).Select(static one => one.Name)
            .Order(StringComparer.Ordinal)];
        // The queues of silos that are not active are shared out again among those that are.
        var left = all.Length == 0
            ? _all : [.. all.Except(active).SelectMany(name => EvenQueueBalancer.ShareByName(_all, all, name)).Order()];
        return [.. EvenQueueBalancer.ShareByName(_all, all, me), .. EvenQueueBalancer.ShareByName(left, active, me)];
    }

    /// <inheritdoc/>
    protected override void OnClusterMembershipChange(HashSet<SiloAddress> activeSilos)
    {
        ArgumentNullException.ThrowIfNull(activeSilos);
        lock (_gate)
        {
            foreach (var gone in _matureAt.Keys.Except(activeSilos).ToArray())
                _matureAt.Remove(gone);
            foreach (var silo in activeSilos)
            {
                if (_matureAt.TryAdd(silo, _parts.Local.Time.GetUtcNow() + _options.SiloMaturityPeriod))
                    Wake(_options.SiloMaturityPeriod);
            }
        }

        _parts.Background.Follow(NotifyListeners());
    }

    private bool IsIdeal()
    {
        lock (_gate)
            return _options.IsFixed || _matureAt.Values.Any(at => at > _parts.Local.Time.GetUtcNow());
    }

    private void Wake(TimeSpan after) => _parts.Background.Run(async stopping =>
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stopping, Cancellation);
        await Task.Delay(after, _parts.Local.TaskTime, ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!ended.IsCancellationRequested)
            await NotifyListeners().ConfigureAwait(false);
    });
}

/// <summary>The silos of the view, dead ones left out, by their names.</summary>
internal sealed class DynamicDeployment(ClusterView cluster) : IDeploymentConfiguration
{
    public IList<string> GetAllSiloNames() =>
        [.. cluster.View.Members.Where(static one => one.Status is not SiloStatus.Dead).Select(static one => one.Name)];
}

/// <summary>The log lines of balancers and checkpointers: event ids 1340 to 1349.</summary>
internal sealed partial class QueueBalancerLog(ILogger logger)
{
    [LoggerMessage(1340, LogLevel.Warning, "The leases of the queues of {provider} could not be taken, renewed or given back.")]
    private static partial void LeaseFailed(ILogger logger, string provider, Exception exception);

    [LoggerMessage(1341, LogLevel.Warning, "A position of a partition of a queue could not be written; a later update writes it.")]
    private static partial void CheckpointFailed(ILogger logger, Exception exception);

    internal void CheckpointFailed(Exception exception) => CheckpointFailed(logger, exception);

    internal void LeaseFailed(string provider, Exception exception) => LeaseFailed(logger, provider, exception);
}
