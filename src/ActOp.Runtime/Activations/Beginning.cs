using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using ActOp.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Foundation;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Routing;
using ActOp.Staging;
using ActOp.Wire;
using Orleans;
using Orleans.Runtime;
using Orleans.Runtime.Diagnostics;
using Orleans.Storage;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The start of one activation: registers it, constructs its instance and runs its hooks. It is also the mailbox item that starts this, and
/// it exists as long as the start runs. A start that does not have to wait needs no other object.
/// </summary>
/// <remarks>
/// Runs on the turns of the activation. Failures by step:
/// <list type="table">
/// <item><term>register</term><description> Throws: it is not known whether the activation is registered. The waiting requests fail with
/// the exception, and the activation ends and removes what may be there; but one that carries state tries again as long as the silo runs.
/// Hangs: the directory client throws after the response timeout. Twice: registering the same activation again changes nothing. Another one
/// is registered: the requests are forwarded to it. The activation that it takes over from is not registered any more: the state is
/// outdated, and the requests start a new activation. </description></item>
/// <item><term>ask the source for the grain</term><description> Only one that has come from another silo. Refused: it gives the
/// registration back and ends; the requests are forwarded. No answer: asks again until the source answers or is dead, or this silo stops.
/// Twice: the source gives the same answer. </description></item>
/// <item><term>construct</term><description> Throws: as above; the service scope is disposed. Blocks: it holds its thread, which is logged
/// as a long turn; it cannot be ended. </description></item>
/// <item><term>OnRehydrate</term><description>Throws: logged; the other participants still get their state.</description></item>
/// <item><term>lifecycle stages, OnActivateAsync</term><description> Throw: as above; stages that were started are stopped, the instance is
/// disposed, OnDeactivateAsync is not called. Exceed ActivationTimeout: their token is cancelled, the waiting requests fail with a
/// <see cref="TimeoutException"/>, and the activation ends. The rest of the hook runs on turns of an activation that is gone: it cannot
/// create timers, and the activation cannot become active. </description></item>
/// <item><term>callbacks on the token</term><description>Throw: logged.</description></item>
/// <item><term>the end is requested from outside</term><description> The token is cancelled. If the hooks observe it, or have not started,
/// the activation ends without a failure; the requests are forwarded to the next one. </description></item>
/// <item><term>DeactivateOnIdle meanwhile</term><description> Takes effect when OnActivateAsync has ended: the activation runs no request,
/// and the requests are forwarded to the next one. </description></item>
/// </list>
/// </remarks>
/// <param name="activation">The activation.</param>
/// <param name="state">The state that it has taken along, or null.</param>
/// <param name="context">The request context of the constructor, the hooks and their calls, or null.</param>
/// <param name="trace">The trace that the calls of the hooks continue, or null.</param>
internal sealed class Beginning(Activation activation, MigrationState? state, RequestContextData? context, object? trace) : MailboxItem
{
    /// <summary>Between two attempts to register, or to ask the source. Each has the timeout of its request.</summary>
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    [ThreadStatic]
    private static Beginning? t_spare;

    private CancellationTokenSource? _cancellation;
    private Activity? _span;
    private bool _isCancelled;
    private bool _mayRun;

    /// <summary>The end or the migration that was requested during the start, or null.</summary>
    internal Departure? Departure { get; set; }

    /// <summary>The registration of an activation of this silo that this one takes over, as long as it is not registered itself.</summary>
    internal Location Kept => state is { HasReturned: true } ? state.Previous.Location : default;

    internal override void Run(CallHost host) => ActivationLife.Supervise(activation, RunAsync());

    /// <summary>
    /// The start of an activation for its first request, not run yet. A thread reuses one object for all starts that do not have to wait.
    /// Other threads may still read it as that of an earlier start. This is harmless, because none of these starts has state.
    /// </summary>
    internal static Beginning For(Activation activation, RequestContextData? context, object? trace)
    {
        if (t_spare is not { } spare)
            return new Beginning(activation, null, context, trace);
        t_spare = null;
        spare.Use(activation, context, trace);
        return spare;
    }

    /// <summary>Runs the start that <see cref="For"/> has returned.</summary>
    internal void RunFirst()
    {
        var running = RunAsync();
        ActivationLife.Supervise(activation, running);
        if (!running.IsCompletedSuccessfully || _cancellation is not null)
            return;
        Use(null!, null, null);
        t_spare = this;
    }

    private void Use(Activation next, RequestContextData? itsContext, object? itsTrace)
    {
        (activation, context, trace) = (next, itsContext, itsTrace);
        _isCancelled = false;
        _mayRun = false;
        Departure = null;
    }

    /// <summary>
    /// The end of the activation was requested: hooks that have not started are skipped, and the token of the others is cancelled.
    /// </summary>
    internal void Cancel()
    {
        _isCancelled = true;
        if (_cancellation is not null)
            Turn.Cancel(_cancellation, activation);
    }

    private Task RunAsync() => GrainSpans.IsOn ? RunTracedAsync() : StartAsync();

    private async Task RunTracedAsync()
    {
        _span = GrainSpans.Activating(activation, state is not null, trace);
        try
        {
            await StartAsync();
        }
        finally
        {
            CallTrace.End(_span);
            _span = null;
        }
    }

    private async Task StartAsync()
    {
        try
        {
            if (activation.Class.UsesDirectory)
            {
                var winner = await (_span is null ? RegisterAsync() : RegisterTracedAsync());
                if (!winner.Activation.Equals(activation.ActivationId))
                {
                    EndDuplicate(winner);
                    return;
                }
            }

            if (state is { MustAsk: true } && !await AskAsync())
            {
                GiveBack();
                return;
            }

            _mayRun = activation.Class.UsesDirectory;
            if (_isCancelled)
                throw new OperationCanceledException();
            if (_span is null)
                CallTrace.Enter(trace);
            RequestContext.Current = context;
            activation.Construct();
            if (GrainLifecycleEvents.Feed.IsWatched)
                GrainLifecycleEvents.Feed.Write(new GrainLifecycleEvents.Created(activation));
            if (state is not null)
                Restore(state);
            if (activation.HasHooks || _span is not null)
                await RunHooksAsync();
        }
        catch (Exception exception)
        {
            Fail(exception);
            return;
        }

        activation.Life.Begun(activation, state);
    }

    /// <summary>
    /// Registers the activation. If the directory does not answer, the start fails, unless the activation carries the state of a grain:
    /// then it tries again until its silo stops. It may be registered, and its silo may hold the only copy.
    /// </summary>
    private async ValueTask<Location> RegisterAsync()
    {
        var previous = state is { HasReturned: true, HandOver: { } handOver } ? handOver.Next
            : state?.Previous.Location.Activation ?? default;
        while (true)
        {
            try
            {
                var winner = await activation.Parts.Directory.RegisterAsync(activation, previous);
                if (!IsOlder(winner) || winner.Activation.Equals(previous))
                    return winner;
                previous = winner.Activation;
            }
            catch (Exception exception) when (TriesAgain())
            {
                activation.Parts.Local.Log.RegistrationRepeated(activation.GrainId, exception);
                await Task.Delay(Pause, activation.Parts.Local.TaskTime);
            }
        }
    }

    private async ValueTask<Location> RegisterTracedAsync()
    {
        using var span = new GrainSpan(GrainSpans.Step(activation, GrainSpans.Register));
        span.Tag("orleans.directory.previousRegistration.present", state is not null);
        try
        {
            var winner = await RegisterAsync();
            span.Tag("orleans.directory.registered.address", winner.ToString());
            return winner;
        }
        catch (Exception exception)
        {
            span.Fail(exception);
            throw;
        }
    }

    /// <summary>
    /// The registered activation is one that the state was taken back from: the one that has left, or the one on the target, which has run
    /// no turn and never will.
    /// </summary>
    private bool IsOlder(Location winner) => state is { HasReturned: true, HandOver: { } handOver }
        && (winner.Activation.Equals(handOver.Next) || winner.Activation.Equals(state.Previous.Location.Activation));

    /// <summary>A directory of the application gets no second request.</summary>
    private bool TriesAgain() => state is not null && activation.Parts.Local.AcceptsActivations
        && (state.HasReturned || !activation.Parts.Directory.IsCustom(activation.Class.GrainType));

    /// <summary>Asks the source for the grain until there is an answer. False if this activation must not run.</summary>
    private async ValueTask<bool> AskAsync()
    {
        while (!_isCancelled && activation.Parts.Local.AcceptsActivations)
        {
            if (await activation.Parts.Migrations.AskAsync(state!.Previous, activation.Location) is { } answer)
                return answer;
            await Task.Delay(Pause, activation.Parts.Local.TaskTime);
        }

        return false;
    }

    /// <summary>Hands over the state, in the request context of the migration request.</summary>
    private void Restore(MigrationState carried)
    {
        RequestContext.Current = carried.Context;
        var isTaker = activation.Instance is IGrainMigrationParticipant;
        using var span = new GrainSpan(isTaker ? GrainSpans.Step(activation, GrainSpans.Rehydrate) : null);
        span.Tag("orleans.rehydrate.previousRegistration", carried.Previous.Location.ToString());
        foreach (var participant in activation.MigrationParticipants)
        {
            try
            {
                participant.OnRehydrate(carried);
            }
            catch (Exception exception)
            {
                span.Fail(exception);
                activation.Parts.Local.Log.RehydrationFailed(activation.GrainId, exception);
            }
        }

        RequestContext.Current = context;
    }

    private async Task RunHooksAsync()
    {
        var limit = new TimeLimit(activation.Parts.Local.TaskTime, activation.Parts.Collection.ActivationTimeout);
        _cancellation = new CancellationTokenSource();
        var hooks = CallHooksAsync(_cancellation.Token);
        if (hooks.IsCompleted || await limit.EndsAsync(hooks))
        {
            await hooks;
            return;
        }

        activation.LogLateFailure(hooks, "OnActivateAsync");
        Cancel();
        throw new TimeoutException(
            "The activation of " + activation.GrainId + " on the silo " + activation.Parts.Local.Address +
                " has not ended within ActivationTimeout (" + limit.Length + "): "
            + "OnActivateAsync of " + activation.Class.Type +
                " or a stage of its lifecycle hangs. It was given up. Calls are refused for 5 s; the next one begins a new activation.");
    }

    private async Task CallHooksAsync(CancellationToken cancellation)
    {
        await activation.StartLifecycleAsync(cancellation);
        if (activation.Instance is IGrainBase grain)
            await (_span is null ? Given.Task(grain.OnActivateAsync(cancellation)) : CallTracedAsync(grain, cancellation));
    }

    private Task CallTracedAsync(IGrainBase grain, CancellationToken cancellation) =>
        GrainSpans.Around(activation, GrainSpans.OnActivate, () => Given.Task(grain.OnActivateAsync(cancellation)));

    private void EndDuplicate(Location winner)
    {
        activation.Parts.Local.Counts.Add(NodeEvent.StartedTwice);
        if (!winner.IsNone)
            activation.Parts.Locations.Put(activation.GrainId, winner);
        state?.Refused(winner);
        activation.Life.Unbegin(activation, new DeactivationReason(
            DeactivationReasonCode.DuplicateActivation,
            winner.IsNone ? "The grain has ended since its state was taken." : "Another activation of the grain is registered."));
    }

    /// <summary>The source goes on with the grain.</summary>
    private void GiveBack()
    {
        state!.Refused(default);
        activation.Life.Unbegin(
            activation,
            new DeactivationReason(DeactivationReasonCode.DuplicateActivation, "The silo that the grain comes from goes on with it."),
            previous: state.Previous);
    }

    private void Fail(Exception exception)
    {
        Exception? refusal = null;
        // It leaves this activation, which ends anyway.
        (exception as InconsistentStateException)?.TryLeaveOrigin();
        state?.Refused(default);
        // A hook that observes the cancelled token has not failed: the requests are forwarded when the activation ends.
        if (exception is not OperationCanceledException || !_isCancelled)
        {
            CallTrace.Fail(_span, exception);
            activation.Parts.Local.Counts.Add(NodeEvent.StartFailed);
            activation.Parts.Local.Log.ActivationFailed(activation.GrainId, exception);
            activation.FailWaiting(exception);
            if (_mayRun)
                refusal = exception;
        }

        activation.Life.Unbegin(
            activation, new DeactivationReason(DeactivationReasonCode.ActivationFailed, exception, "The activation failed."), refusal,
            state is { MustAsk: true } && !_mayRun ? state.Previous : null);
    }
}

/// <summary>
/// The shares that clients have in starting activations. The work stage runs what is posted in order, so a client that calls thousands of
/// new grains at once would hold up all others behind them. So of each client, the stage has at most <see cref="Quantum"/> starts that have
/// not run; further requests that would start one wait here, and follow behind what others have posted meanwhile.
/// </summary>
/// <remarks>
/// <para>Owns the requests that wait, at most so many of a client as may wait for one activation; others are refused. A client has an entry
/// from its first start until its item in the stage has found nothing to do. Any thread: each entry has a lock, under which nothing of
/// others is called.</para>
/// <para>The order of a client's requests to one grain stays: while one of them waits, those behind it wait, too. The length of a start
/// does not count: a start that waits for a storage gives its place to the next one.</para>
/// <para>Failures. The request has expired or its caller is gone: it is dropped when its turn comes. The start throws: the request fails.
/// The silo stops: a request whose turn comes is routed to another silo. The client is gone: its requests still take their turns.</para>
/// </remarks>
/// <param name="work">The stage that runs turns.</param>
/// <param name="begin">Starts the activation of a request, or routes it if it cannot start here.</param>
/// <param name="abandoned">Drops requests that nobody waits for.</param>
/// <param name="limit">How many requests of one client may wait.</param>
internal sealed class StartShares(Stage work, Action<Call, GrainId> begin, AbandonedRequests abandoned, int limit)
{
    /// <summary>Some hundred microseconds of the stage: little beside a round trip, much beside the cost of a visit.</summary>
    internal const int Quantum = 32;

    private readonly ConcurrentDictionary<SiloAddress, Share> _shares = new();
    private int _waiting;

    /// <summary>Whether requests wait, of any client.</summary>
    internal bool HasWaiting => Volatile.Read(ref _waiting) > 0;

    /// <summary>Requests that wait.</summary>
    internal int Waiting => Volatile.Read(ref _waiting);

    /// <summary>A request that starts an activation. True if it has to wait, or was refused; else the caller starts it now.</summary>
    internal bool Holds(Call call, GrainId target)
    {
        if (ClientOf(call) is not { } client)
            return false;
        while (true)
        {
            var share = _shares.GetOrAdd(client, static (address, shares) => new Share(shares, address), this);
            if (share.TryCount(call, target, out var holds))
                return holds;
        }
    }

    /// <summary>A request of any kind. True if an earlier one of its client for the same grain waits: then it waits behind it.</summary>
    internal bool Follows(Call call, GrainId target) =>
        ClientOf(call) is { } client && _shares.TryGetValue(client, out var share) && share.TryFollow(call, target);

    private static SiloAddress? ClientOf(Call call) => call.Remote is SiloAddress { IsClient: true } client ? client : null;

    private sealed class Share(StartShares shares, SiloAddress client) : IStageItem
    {
        private readonly Lock _gate = new();
        private readonly Queue<(Call Call, GrainId Target)> _requests = [];
        private readonly Dictionary<GrainId, int> _targets = new(GrainsByRandomHash.Instance);
        private int _started;
        private bool _isOver;

        /// <summary>False if the entry is over, and another one is needed.</summary>
        internal bool TryCount(Call call, GrainId target, out bool holds)
        {
            bool isFirst, hasRoom;
            lock (_gate)
            {
                holds = false;
                if (_isOver)
                    return false;
                holds = _started >= Quantum || _targets.Count > 0;
                hasRoom = !holds || TryKeep(call, target);
                isFirst = !holds && _started++ == 0;
            }

            if (!hasRoom)
                Refuse(call);
            else if (isFirst)
                shares.Work.PostBehind(this);
            return true;
        }

        internal bool TryFollow(Call call, GrainId target)
        {
            lock (_gate)
            {
                if (!_targets.ContainsKey(target))
                    return false;
                if (TryKeep(call, target))
                    return true;
            }

            Refuse(call);
            return true;
        }

        /// <summary>Those that were started before have had their turn.</summary>
        public void Execute()
        {
            var count = 0;
            for (; count < Quantum && TryTake(out var next); count++)
            {
                Begin(next.Call, next.Target);
                Forget(next.Target);
            }

            lock (_gate)
            {
                _started = count;
                _isOver = count == 0 && _requests.Count == 0;
                if (_isOver)
                    shares._shares.TryRemove(KeyValuePair.Create(client, this));
            }

            if (!_isOver)
                shares.Work.PostBehind(this);
        }

        private void Begin(Call call, GrainId target)
        {
            if (shares.Abandoned.Drops(call))
                return;
            try
            {
                shares.Start(call, target);
            }
            catch (Exception exception)
            {
                Activation.Fail(call, exception);
            }
        }

        private bool TryTake(out (Call Call, GrainId Target) next)
        {
            lock (_gate)
                return _requests.TryDequeue(out next);
        }

        /// <summary>Under the lock.</summary>
        private bool TryKeep(Call call, GrainId target)
        {
            if (_requests.Count >= shares.Limit)
                return false;
            _requests.Enqueue((call, target));
            CollectionsMarshal.GetValueRefOrAddDefault(_targets, target, out _)++;
            Interlocked.Increment(ref shares._waiting);
            return true;
        }

        /// <summary>The request is in the mailbox of its grain, so those that come now go there, too.</summary>
        private void Forget(GrainId target)
        {
            lock (_gate)
            {
                if (--CollectionsMarshal.GetValueRefOrNullRef(_targets, target) == 0)
                    _targets.Remove(target);
            }

            Interlocked.Decrement(ref shares._waiting);
        }

        private void Refuse(Call call) => Activation.Fail(call, new LimitExceededException(
            "The client " + client + " waits for the start of " + shares.Limit + " grains (StageOptions.MailboxLimit). The call "
            + call.Method.ActivityName + " was refused."));
    }

    private Stage Work => work;

    private AbandonedRequests Abandoned => abandoned;

    private int Limit => limit;

    private void Start(Call call, GrainId target) => begin(call, target);
}
