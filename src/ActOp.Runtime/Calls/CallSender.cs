using System.Diagnostics;
using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>
/// Sends calls: sets caller, request context and deadline, and registers the call. Also resumes callers outside of grains.
/// </summary>
/// <remarks>
/// Runs on the thread of the caller (a turn, or any application thread). Owns the <see cref="CallRuntime.Registry"/> of the calls that wait
/// for an answer.
/// </remarks>
internal sealed class CallSender(LocalNode local, RuntimeMetrics metrics) : CallRuntime
{
    private Router _router = null!;
    private FrameWriter _writer = null!;
    private GrainFactory _factory = null!;
    private CallFilters _filters = null!;
    private Cancellations _cancellations = null!;
    private PeerTable _peers = null!;

    private readonly long _timeoutMs = Milliseconds(local.ResponseTimeout);
    private readonly long _systemTimeoutMs = Milliseconds(local.SystemResponseTimeout);

    /// <summary>Calls that wait for their answers; 0 in a quiet node. Visits all slots: for tests and diagnosis.</summary>
    internal int InFlight => Registry.InFlight;

    /// <summary>Callers that wait for a thread of the thread pool.</summary>
    internal PoolBatches Batches { get; } = new(local.Time);

    /// <summary>Slots created for calls in flight.</summary>
    internal int Slots => Registry.Capacity;

    /// <summary>The application's services, for values that are bound to the node that reads them.</summary>
    internal override IServiceProvider Services => local.Services;

    /// <summary>The one-way call that was lost last.</summary>
    internal LostCall? LastLost { get; private set; }

    /// <summary>Sets the parts that use this one and are used by it, when all of them exist and before the first call.</summary>
    internal void Connect(
        Router router, FrameWriter writer, PeerTable peers, GrainFactory factory, CallFilters filters, Cancellations cancellations)
    {
        _peers = peers;
        _cancellations = cancellations;
        _router = router;
        _writer = writer;
        _factory = factory;
        _filters = filters;
    }

    /// <summary>Sends a call that a filter has let through.</summary>
    internal void SendFiltered(Call call)
    {
        if (TryBegin(call))
            Route(call, call.Reference!);
    }

    /// <summary>Sends a registered call, unless its token is cancelled already.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Route(Call call, GrainReference reference)
    {
        if ((call.Flags & Call.Cancellable) == 0 || Cancellations.TryWatch(call))
            RouteOrCollect(call, reference);
    }

    /// <summary>
    /// The call of an observer may be one of many of a notification, that of a grain one of a broadcast, which calls by references of its
    /// own. That costs others one look at what is read already.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void RouteOrCollect(Call call, GrainReference reference)
    {
        if (!reference.Shared.IsCollected || Fanout.Current is not { } fanout || !fanout.TryTake(call, reference))
            _router.Route(call, reference);
    }

    internal override void Send(Call call, GrainReference reference)
    {
        // Looked at once: most calls have none of these.
        var special = call.Flags & (InvokeMethodOptions.OneWay | Call.Cancellable | Call.FiltersItself);
        if ((special & ~InvokeMethodOptions.OneWay) == Call.Cancellable && !_filters.HasOutgoing)
            Cancellations.ThrowIfCancelled(call);
        call.Caller = CallHost.Current;
        call.Context = RequestContext.Current;
        if ((special & InvokeMethodOptions.OneWay) != 0)
            call.Origin = CallOrigin.Nobody;
        else
            Await(call);
        if (!TryBegin(call))
            return;
        if (CallTrace.IsOn)
            SendTraced(call, reference);
        else if (_filters.HasOutgoing || special != 0)
            SendObserved(call, reference, traced: false);
        else
            RouteOrCollect(call, reference);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Await(Call call)
    {
        call.Deadline = DeadlineOf(TimeoutOf(call.Method));
        if (metrics.Calls.IsOn)
            metrics.Calls.Begin(call);
    }

    internal override void Answered(Call call, Exception? error)
    {
        if (call.Began != Call.Unmeasured)
            metrics.Calls.End(call, error);
        if (call.HasSpan)
            CallTrace.EndClient(call.Trace, error);
    }

    /// <summary>
    /// Registers a call with a waiting caller as in flight; its deadline must be set. False if the call was failed instead, because the
    /// node stops or too many calls are in flight.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryBegin(Call call)
    {
        if (call.Origin == CallOrigin.Nobody ? !Registry.IsClosed : Registry.TryAdd(call))
            return true;
        Activation.Fail(call, Refusal(call));
        return false;
    }

    /// <summary>Why a call is not accepted.</summary>
    internal Exception Refusal(Call call)
    {
        var text = "The call " + call.Method.ActivityName + " to " + call.TargetId;
        if (!Registry.IsClosed)
        {
            return new LimitExceededException(
                text + " was refused: " + Registry.Capacity + " calls of " + local.Address + " wait for their answers.");
        }

        return local.IsSilo
            ? new SiloUnavailableException(text + " got no answer: its caller's silo " + local.Address + " has stopped.")
            : new ObjectDisposedException(nameof(IClusterClient), text + " got no answer: the client " + local.Address + " has stopped.");
    }

    internal override Fanout? NewFanout() => local.IsSilo ? new FanoutSender(local, this, _writer, _peers, _router, metrics) : null;

    internal override GrainReference Collected(GrainReference reference) =>
        local.IsSilo ? _factory.CreateCollected(reference) : reference;

    internal override GrainId FindId(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) =>
        IdIntern.Current.Intern(hash, type, key);

    internal override void SendReply(Call call) => _writer.SendReply(call);

    internal override void CallerCancelled(CallCancellation cancellation, CancellationToken token)
    {
        local.Counts.Add(NodeEvent.CallCancelled);
        _cancellations.OfCaller(cancellation, token);
    }

    internal override void Lost(Call call) => Lost(call.Method.ActivityName, call.TargetId, call.Error!);

    /// <summary>One-way calls did not reach their grains.</summary>
    /// <param name="method">Their method.</param>
    /// <param name="grain">One of the grains.</param>
    /// <param name="reason">Why.</param>
    /// <param name="count">How many calls.</param>
    internal void Lost(string method, GrainId grain, Exception reason, int count = 1)
    {
        LastLost = new LostCall(method, grain, reason);
        metrics.CallsLost(count);
    }

    /// <summary>At the end of the read if this thread reads answers; otherwise on the thread pool.</summary>
    internal override void Resume(Call call)
    {
        if (PoolBatches.TryAdd(call))
            return;
#pragma warning disable RS0030 // Code of the application that is no grain goes on where .NET code does: on the thread pool.
        ThreadPool.UnsafeQueueUserWorkItem(call, preferLocal: true);
#pragma warning restore RS0030
    }

    internal override void ContextFailed(Exception exception) => Border.Failed(BorderKind.CallerContext, exception);

    internal override object Cast(GrainReference reference, Type interfaceType) => _factory.Cast(reference, interfaceType);

    internal override GrainReference CreateReference(GrainId id, Type interfaceType) => _factory.Create(id, interfaceType);

    /// <summary>The deadline of a call that has so many milliseconds left.</summary>
    internal long DeadlineOf(long milliseconds) =>
        milliseconds < CallRegistry.NoDeadline ? local.Clock.Now + milliseconds : CallRegistry.NoDeadline;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal long TimeoutOf(CallMethod method) =>
        method.ResponseTimeout is { } own ? Milliseconds(own) : method.IsSystem ? _systemTimeoutMs : _timeoutMs;

    private static long Milliseconds(TimeSpan timeout) =>
        timeout < TimeSpan.Zero ? CallRegistry.NoDeadline : (long)timeout.TotalMilliseconds;

    /// <summary>A trace that is not recorded only travels with the call. Most are not.</summary>
    private void SendTraced(Call call, GrainReference reference)
    {
        if (call.Method.IsOfRuntime)
            Route(call, reference);
        else if (!CallTrace.TryPass(call, local.Roots))
            SendObserved(call, reference, traced: true);
        else if (_filters.HasOutgoing || (call.Flags & Call.FiltersItself) != 0)
            SendObserved(call, reference, traced: false);
        else
            Route(call, reference);
    }

    /// <summary>
    /// Filters need an asynchronous method around the call. The span of a call without filters ends where the caller takes the answer. The
    /// runtime's own calls are not the application's: no filter sees them, and no trace contains them.
    /// </summary>
    /// <param name="call">The call.</param>
    /// <param name="reference">Through which it is made.</param>
    /// <param name="traced">The trace of the call is still to be decided.</param>
    private void SendObserved(Call call, GrainReference reference, bool traced)
    {
        var isFiltered = _filters.HasOutgoing || (call.Flags & Call.FiltersItself) != 0;
        if (call.Method.IsOfRuntime || !(isFiltered || traced))
        {
            Route(call, reference);
            return;
        }

        // Restored as a whole: setting the current activity would allocate another context. Null where its flow is suppressed.
        var context = traced ? ExecutionContext.Capture() : null;
        var current = traced && context is null ? Activity.Current : null;
        var activity = traced ? CallTrace.StartClient(call) : null;
        if (isFiltered)
            _ = _filters.RunOutgoing(call, activity);
        else if (activity is null || call.Origin == CallOrigin.Nobody)
            RouteWithin(activity, call, reference);
        else
            RouteAndAwait(call, reference);
        if (activity is null)
            return;
        if (context is null)
            Activity.Current = current;
        else
            ExecutionContext.Restore(context);
    }

    /// <summary>The span of a call without an answer contains its sending.</summary>
    private void RouteWithin(Activity? activity, Call call, GrainReference reference)
    {
        Route(call, reference);
        CallTrace.End(activity);
    }

    private void RouteAndAwait(Call call, GrainReference reference)
    {
        call.HasSpan = true;
        if (call.Began == 0)
            call.Began = Call.Unmeasured;
        Route(call, reference);
    }

    /// <summary>A one-way call that never ran.</summary>
    /// <param name="Method">Its method.</param>
    /// <param name="Grain">The grain that was called.</param>
    /// <param name="Reason">Why it did not run.</param>
    internal sealed record LostCall(string Method, GrainId Grain, Exception Reason);
}
