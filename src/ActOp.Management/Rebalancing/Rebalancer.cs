using System.Collections.Immutable;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Concurrency;
using Orleans.Configuration;
using Orleans.Internal;
using Orleans.Placement.Rebalancing;
using Orleans.Runtime;

namespace ActOp.Management.Rebalancing;

/// <summary>The rebalancer of one silo, as called by the others.</summary>
internal interface IRebalancerTarget : ISystemTarget
{
    /// <summary>The state of the silo that decides.</summary>
    ValueTask<RebalancerState> Get();

    /// <summary>Moves nothing for that time, infinite without an end. Returns the new state.</summary>
    ValueTask<RebalancerState> Suspend(TimeSpan duration);

    ValueTask<RebalancerState> Resume();

    /// <summary>The state of the silo that decides has changed.</summary>
    [OneWay]
    ValueTask Tell(RebalancerState state);

    /// <summary>Moves up to so many activations to another silo. Returns how many have moved.</summary>
    ValueTask<int> Disperse(SiloAddress target, int count);
}

/// <summary>What the silo that decides tells the others, on the wire.</summary>
[GenerateSerializer]
internal sealed class RebalancerState
{
    [Id(0)]
    public SiloAddress Host { get; set; } = SiloAddress.Zero;

    /// <summary>From when it was sent; null if activations are moved.</summary>
    [Id(1)]
    public TimeSpan? Suspension { get; set; }

    [Id(2)]
    public double Imbalance { get; set; }

    [Id(3)]
    public SiloAddress[] Silos { get; set; } = [];

    [Id(4)]
    public ulong[] Dispersed { get; set; } = [];

    [Id(5)]
    public ulong[] Acquired { get; set; } = [];

    [Id(6)]
    public DateTime[] ChangedAt { get; set; } = [];

    /// <summary>Grows with each state, so that of two states the later one is known, in whichever order they arrive.</summary>
    [Id(7)]
    public long Version { get; set; }
}

/// <summary>Activations that one silo shall give to another.</summary>
internal readonly record struct RebalancingMove(SiloAddress From, SiloAddress To, int Count);

/// <summary>What one cycle of a session has decided.</summary>
/// <param name="Imbalance">Before the moves.</param>
/// <param name="Moves">None if the session ends.</param>
/// <param name="HasFailed">Whether it ends although the silos are not balanced.</param>
internal readonly record struct RebalancingCycle(double Imbalance, List<RebalancingMove> Moves, bool HasFailed)
{
    internal bool Ends => Moves.Count == 0;
}

/// <summary>Decides the moves of one session, cycle by cycle. Pure; one thread.</summary>
internal sealed class RebalancingSession(ActivationRebalancerOptions options)
{
    private int _cycle;
    private int _stagnant;
    private double _last = double.PositiveInfinity;

    /// <summary>1 - entropy / ln(silos) of the shares of the silos; 0 for fewer than two silos or no activations.</summary>
    internal static double ImbalanceOf(IReadOnlyCollection<int> counts)
    {
        var total = counts.Sum(static count => (double)count);
        if (counts.Count < 2 || total == 0)
            return 0;
        var entropy = 0.0;
        foreach (var count in counts)
            entropy -= count == 0 ? 0 : count / total * Math.Log(count / total);
        return Math.Clamp(1 - (entropy / Math.Log(counts.Count)), 0, 1);
    }

    internal RebalancingCycle Next(IReadOnlyList<KeyValuePair<SiloAddress, int>> silos)
    {
        _cycle++;
        var imbalance = ImbalanceOf([.. silos.Select(static silo => silo.Value)]);
        if (imbalance <= Allowed(silos.Sum(static silo => (long)silo.Value)))
            return new RebalancingCycle(imbalance, [], HasFailed: false);
        _stagnant = _last - imbalance < options.EntropyQuantum ? _stagnant + 1 : 0;
        _last = imbalance;
        return _stagnant >= options.MaxStagnantCycles
            ? new RebalancingCycle(imbalance, [], HasFailed: true)
            : new RebalancingCycle(imbalance, Moves(silos), HasFailed: false);
    }

    private double Allowed(long activations)
    {
        var threshold = options.ScaledEntropyDeviationActivationThreshold;
        return !options.ScaleAllowedEntropyDeviation || activations <= threshold ? options.AllowedEntropyDeviation
            : Math.Min(ActivationRebalancerOptions.MAX_SCALED_ENTROPY_DEVIATION,
                options.AllowedEntropyDeviation * (1 + Math.Log((double)activations / threshold)));
    }

    /// <summary>The silo with the most gives to the one with the fewest, the next one to the next one, and so on.</summary>
    private List<RebalancingMove> Moves(IReadOnlyList<KeyValuePair<SiloAddress, int>> silos)
    {
        var sorted = silos.OrderBy(static silo => silo.Value).ThenBy(static silo => silo.Key).ToList();
        var weight = options.CycleNumberWeight * _cycle;
        var share = weight / (1 + weight + (options.SiloNumberWeight * Math.Log(sorted.Count)));
        var left = options.ActivationMigrationCountLimit;
        var moves = new List<RebalancingMove>();
        for (var i = 0; i < sorted.Count / 2 && left > 0; i++)
        {
            var (few, many) = (sorted[i], sorted[^(i + 1)]);
            // Half the difference: more would only turn it round.
            var half = (many.Value - few.Value) / 2;
            var count = Math.Min(left, (int)Math.Ceiling(share * half));
            if (count <= 0)
                continue;
            left -= count;
            moves.Add(new RebalancingMove(many.Key, few.Key, count));
        }

        return moves;
    }
}

/// <summary>
/// Spreads activations evenly over the silos, in sessions of cycles, for applications that ask for it. Locality partitioning keeps the
/// balance too, but only among grains that call each other.
/// </summary>
/// <remarks>
/// <para>The oldest active silo decides. In each cycle it asks the silos for their numbers, and those with many to move some. All silos
/// hold its last state, so that the next one goes on with the same status and numbers. Only grains that lose no state move, and only when
/// they are at rest. The state is under one lock; the cycle, which owns the session, runs on the thread pool, one at a time; calls of
/// other silos run on turns of this target. A listener is told the latest report, one at a time, under no lock: one that
/// hangs holds its thread, and the others are told.</para>
/// <list type="table">
/// <item><term>a silo does not answer</term><description> It is left out of the cycle, and its numbers stay.</description></item>
/// <item><term>the deciding silo dies</term><description> The next oldest one begins a session. Moves under way end by
/// themselves.</description></item>
/// <item><term>two silos decide, while their views differ</term><description> Activations move more than needed, and each once at a
/// time.</description></item>
/// <item><term>states arrive in another order than they were decided</term><description> One that is older than the state that is known is
/// dropped.</description></item>
/// <item><term>a request comes twice</term><description> A suspension begins anew; the other changes nothing.</description></item>
/// <item><term>a listener or the backoff provider throws</term><description> It is logged. Without a pause the next session begins with the
/// next cycle.</description></item>
/// </list>
/// </remarks>
internal sealed class Rebalancer(
    LocalNode local, ClusterView cluster, ActivationTable activations, ClusterManifests manifests, ILocality locality,
    GrainFactory factory, ActivationRebalancerOptions options, IFailedSessionBackoffProvider backoff)
    : IActivationRebalancer, IRebalancerTarget, ILifecycleParticipant<ISiloLifecycle>
{
    internal const string Name = "rebalancer";

    /// <summary>Time within which an activation must be at rest to move; see <see cref="ILocality"/>.</summary>
    private static readonly TimeSpan RestTime = TimeSpan.FromMilliseconds(300);

    private static readonly TimeSpan LongestPause = TimeSpan.FromDays(1);

    /// <summary>Activations of one silo that move at the same time.</summary>
    private const int Batch = 200;

    private readonly BackgroundPart _work = local.Background.Part("rebalancer");
    private readonly Lock _gate = new();

    private readonly SortedDictionary<SiloAddress, (ulong Dispersed, ulong Acquired, DateTime ChangedAt)> _numbers = [];
    private ImmutableArray<ToldListener> _listeners = [];
    private RebalancingSession? _session;
    private SiloAddress? _host;
    private double _imbalance;
    private int _failures;
    private long _pausedUntil;

    /// <summary>Of the state that is known.</summary>
    private long _version;

    /// <summary>Time in ms; the greatest number for ever, 0 if activations are moved.</summary>
    private long _suspendedUntil;

    private long Now => local.Clock.Update();

    private SiloAddress Host => cluster.Active.Min() ?? local.Address;

    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe(nameof(Rebalancer), ServiceLifecycleStage.Active, _ =>
    {
        _pausedUntil = Now + (long)options.RebalancerDueTime.TotalMilliseconds;
        _work.Every(options.SessionCyclePeriod, CycleAsync);
        return Task.CompletedTask;
    });

    public async ValueTask<RebalancingReport> GetRebalancingReport(bool force = false)
    {
        lock (_gate)
        {
            if (!force && _host is not null)
                return Report();
        }

        return Learn(await AskHost(static host => host.Get()).ConfigureAwait(true));
    }

    public async Task ResumeRebalancing() => TellListenersUnlessOwn(await AskHost(static host => host.Resume()).ConfigureAwait(true));

    public async Task SuspendRebalancing(TimeSpan? duration = null)
    {
        var time = duration ?? Timeout.InfiniteTimeSpan;
        if (time != Timeout.InfiniteTimeSpan)
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(time, TimeSpan.Zero, nameof(duration));
        TellListenersUnlessOwn(await AskHost(host => host.Suspend(time)).ConfigureAwait(true));
    }

    public void SubscribeToReports(IActivationRebalancerReportListener listener)
    {
        ArgumentNullException.ThrowIfNull(listener);
        lock (_gate)
        {
            if (!_listeners.Any(one => one.Tells(listener)))
                _listeners = _listeners.Add(new ToldListener(this, listener));
        }
    }

    public void UnsubscribeFromReports(IActivationRebalancerReportListener listener)
    {
        lock (_gate)
            _listeners = _listeners.RemoveAll(one => one.Tells(listener));
    }

    public ValueTask<RebalancerState> Get() => new(Decided(static _ => { }));

    public ValueTask<RebalancerState> Suspend(TimeSpan duration)
    {
        var until = duration == Timeout.InfiniteTimeSpan ? long.MaxValue : Now + (long)duration.TotalMilliseconds;
        return new(Publish(Decided(self => self._suspendedUntil = until)));
    }

    public ValueTask<RebalancerState> Resume() => new(Publish(Decided(static self => self._suspendedUntil = 0)));

    public ValueTask Tell(RebalancerState state)
    {
        TellListenersUnlessOwn(state);
        return default;
    }

    public async ValueTask<int> Disperse(SiloAddress target, int count)
    {
        var moved = 0;
        var chosen = new List<Activation>();
        foreach (var activation in activations)
        {
            if (chosen.Count >= count || local.IsStopping)
                break;
            if (activation.IsIdle && locality.MayMove(activation)
                && manifests.Known is var known && (known.AreAlike || known.Hosts(target, activation.GrainId.Type)))
            {
                chosen.Add(activation);
            }
        }

        foreach (var batch in chosen.Chunk(Batch))
            moved += await MoveAsync(batch, target).ConfigureAwait(true);
        return moved;
    }

    private async Task<int> MoveAsync(Activation[] batch, SiloAddress target)
    {
        var requests = batch.Select(_ => new MigrationRequest(target)).ToArray();
        for (var i = 0; i < batch.Length; i++)
            batch[i].TryMigrate(requests[i]);
        var all = Task.WhenAll(requests.Select(static request => request.Outcome));
        Task rest = all;
        await rest.WaitAsync(RestTime, local.TaskTime)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        for (var i = 0; i < batch.Length; i++)
        {
            if (!requests[i].Outcome.IsCompleted)
                batch[i].GiveUpMigration(requests[i]);
        }

        return (await all.ConfigureAwait(true)).Count(static outcome => outcome == MigrationOutcome.Moved);
    }

    private async Task CycleAsync(CancellationToken stopping)
    {
        if (local.IsStopping || !local.Address.Equals(Host) || IsSuspended() || Now < _pausedUntil)
            return;
        var counts = await Task.WhenAll(cluster.Active.Select(CountAsync)).ConfigureAwait(false);
        var cycle = (_session ??= new RebalancingSession(options)).Next([.. counts.OfType<KeyValuePair<SiloAddress, int>>()]);
        if (cycle.Ends)
            End(cycle.HasFailed);
        var moved = await Task.WhenAll(cycle.Moves.Select(MoveAsync)).ConfigureAwait(false);
        var state = Decided(self =>
        {
            self._imbalance = cycle.Imbalance;
            foreach (var (move, count) in cycle.Moves.Zip(moved))
                self.Count(move, count);
        });
        if (moved.Sum() is > 0 and var total)
            RebalancerLog.Moved(local.Log.Logger, total, cycle.Imbalance);
        Publish(state);
    }

    /// <summary>The session is over; the next one begins after a pause.</summary>
    private void End(bool hasFailed)
    {
        _session = null;
        _failures = hasFailed ? _failures + 1 : 0;
        if (hasFailed)
            RebalancerLog.Failed(local.Log.Logger, _failures);
        var pause = hasFailed ? PauseAfterFailure() : options.RebalancerDueTime;
        _pausedUntil = Now + (long)pause.TotalMilliseconds;
    }

    /// <summary>Code of the application: a pause that it does not choose, or that cannot be, is the usual one.</summary>
    private TimeSpan PauseAfterFailure()
    {
        try
        {
            if (backoff.Next(_failures) is { Ticks: >= 0 } pause && pause <= LongestPause)
                return pause;
            throw new InvalidOperationException("The pause after a failed session is negative, or longer than " + LongestPause + ".");
        }
        catch (Exception exception)
        {
            Failed("the backoff provider " + backoff.GetType(), exception);
            return options.SessionCyclePeriod;
        }
    }

    private async Task<KeyValuePair<SiloAddress, int>?> CountAsync(SiloAddress silo)
    {
        try
        {
            var count = await factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).GetActivationCount().ConfigureAwait(false);
            return KeyValuePair.Create(silo, count);
        }
        catch (Exception exception) when (exception is SiloUnavailableException or TimeoutException)
        {
            return null;
        }
    }

    private async Task<int> MoveAsync(RebalancingMove move)
    {
        try
        {
            return await At(move.From).Disperse(move.To, move.Count).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException)
        {
            RebalancerLog.NotMoved(local.Log.Logger, move.From, exception);
            return 0;
        }
    }

    private void Count(RebalancingMove move, int moved)
    {
        if (moved == 0)
            return;
        var now = local.TaskTime.GetUtcNow().UtcDateTime;
        var (from, to) = (_numbers.GetValueOrDefault(move.From), _numbers.GetValueOrDefault(move.To));
        _numbers[move.From] = (from.Dispersed + (ulong)moved, from.Acquired, now);
        _numbers[move.To] = (to.Dispersed, to.Acquired + (ulong)moved, now);
    }

    private bool IsSuspended()
    {
        lock (_gate)
            return _suspendedUntil > Now;
    }

    private ValueTask<RebalancerState> AskHost(Func<IRebalancerTarget, ValueTask<RebalancerState>> ask)
    {
        var host = Host;
        return ask(local.Address.Equals(host) ? this : At(host));
    }

    private IRebalancerTarget At(SiloAddress silo) => factory.GetSystemTarget<IRebalancerTarget>(Name, silo);

    /// <summary>Changes the state of this silo, which decides, and returns it.</summary>
    private RebalancerState Decided(Action<Rebalancer> change)
    {
        lock (_gate)
        {
            change(this);
            ForgetLeft();
            _host = local.Address;
            return new RebalancerState
            {
                Host = local.Address,
                Version = ++_version,
                Suspension = Suspension(),
                Imbalance = _imbalance,
                Silos = [.. _numbers.Keys],
                Dispersed = [.. _numbers.Values.Select(static one => one.Dispersed)],
                Acquired = [.. _numbers.Values.Select(static one => one.Acquired)],
                ChangedAt = [.. _numbers.Values.Select(static one => one.ChangedAt)],
            };
        }
    }

    /// <summary>Takes over the state of the silo that decides, unless a later one is known.</summary>
    private RebalancingReport Learn(RebalancerState state)
    {
        lock (_gate)
        {
            if (!local.Address.Equals(state.Host) && !IsLate(state))
                TakeOver(state);
            return Report();
        }
    }

    /// <summary>
    /// Under the lock. The silo that decides now may not have seen the last state of the one before it; its states count nevertheless.
    /// </summary>
    private bool IsLate(RebalancerState state) =>
        state.Version < _version && (state.Host.Equals(_host) || !state.Host.Equals(Host));

    private void TakeOver(RebalancerState state)
    {
        Invariant.Held(_gate);
        (_host, _version, _imbalance) = (state.Host, state.Version, state.Imbalance);
        _suspendedUntil = state.Suspension is not { } time ? 0
            : time == Timeout.InfiniteTimeSpan ? long.MaxValue : Now + (long)time.TotalMilliseconds;
        _numbers.Clear();
        for (var i = 0; i < state.Silos.Length; i++)
            _numbers[state.Silos[i]] = (state.Dispersed[i], state.Acquired[i], state.ChangedAt[i]);
        ForgetLeft();
    }

    /// <summary>The numbers of silos that have left say nothing any more; kept, they would travel for ever.</summary>
    private void ForgetLeft()
    {
        Invariant.Held(_gate);
        var view = cluster.View;
        foreach (var silo in _numbers.Keys.Where(silo => view.StatusOf(silo) is SiloStatus.None or SiloStatus.Dead).ToArray())
            _numbers.Remove(silo);
    }

    /// <summary>Under the lock.</summary>
    private RebalancingReport Report() => new()
    {
        Host = _host!,
        Status = Suspension() is null ? RebalancerStatus.Executing : RebalancerStatus.Suspended,
        SuspensionDuration = Suspension(),
        ClusterImbalance = _imbalance,
        Statistics = [.. _numbers.Select(static pair => new RebalancingStatistics
        {
            SiloAddress = pair.Key,
            DispersedActivations = pair.Value.Dispersed,
            AcquiredActivations = pair.Value.Acquired,
            TimeStamp = pair.Value.ChangedAt,
        })],
    };

    /// <summary>Under the lock.</summary>
    private TimeSpan? Suspension() => _suspendedUntil switch
    {
        long.MaxValue => Timeout.InfiniteTimeSpan,
        var until when until - Now is > 0 and var left => TimeSpan.FromMilliseconds(left),
        _ => null,
    };

    /// <summary>A report is told with the state that is known then, so the last one that a listener sees is the latest.</summary>
    private void TellListeners(RebalancerState state)
    {
        Learn(state);
        foreach (var listener in _listeners)
            listener.Tell();
    }

    private RebalancingReport CurrentReport()
    {
        lock (_gate)
            return Report();
    }

    /// <summary>Whoever comes while the listener is being told leaves it to that one to tell it once more.</summary>
    private sealed class ToldListener(Rebalancer rebalancer, IActivationRebalancerReportListener listener)
    {
        private int _due;

        internal bool Tells(IActivationRebalancerReportListener other) => ReferenceEquals(listener, other);

        internal void Tell()
        {
            if (Interlocked.Increment(ref _due) > 1)
                return;
            int due;
            do
            {
                due = Volatile.Read(ref _due);
                try
                {
                    listener.OnReport(rebalancer.CurrentReport());
                }
                catch (Exception exception)
                {
                    rebalancer.Failed("the report listener " + listener.GetType(), exception);
                }
            }
            while (Interlocked.CompareExchange(ref _due, 0, due) != due);
        }
    }

    private void Failed(string what, Exception exception) => local.Log.BackgroundFailed(what, exception);

    /// <summary>Another silo, which decides, has told its state. What this silo has decided its listeners know already.</summary>
    private void TellListenersUnlessOwn(RebalancerState state)
    {
        if (!local.Address.Equals(state.Host))
            TellListeners(state);
    }

    /// <summary>Tells all silos what this one has decided.</summary>
    private RebalancerState Publish(RebalancerState state)
    {
        TellListeners(state);
        foreach (var silo in cluster.Active)
        {
            if (!silo.Equals(local.Address))
                _work.Follow(At(silo).Tell(state));
        }

        return state;
    }
}

/// <summary>The pause after a session that has failed, if the application does not choose another.</summary>
internal sealed class UsualSessionBackoff(TimeSpan pause) : FixedBackoff(pause), IFailedSessionBackoffProvider;

/// <summary>Wrong options of the rebalancer fail the start.</summary>
internal sealed class RebalancerRule(IOptions<ActivationRebalancerOptions> options) : IConfigurationValidator
{
    public void ValidateConfiguration() => OptionRules.Check(options.Value);
}

/// <summary>What the log says about the rebalancer.</summary>
internal static partial class RebalancerLog
{
    [LoggerMessage(1351, LogLevel.Information, "{Count} activations were moved to balance the silos; the imbalance was {Imbalance}.")]
    internal static partial void Moved(ILogger logger, int count, double imbalance);

    [LoggerMessage(1352, LogLevel.Information, "The silos could not be balanced: session {Failures} in a row that brought too little.")]
    internal static partial void Failed(ILogger logger, int failures);

    [LoggerMessage(1353, LogLevel.Warning, "The silo {Silo} did not move the activations that it was asked to move.")]
    internal static partial void NotMoved(ILogger logger, SiloAddress silo, Exception exception);
}
