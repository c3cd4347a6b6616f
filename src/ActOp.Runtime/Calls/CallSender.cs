using System.Diagnostics;
using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.CodeGeneration;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>Step 1 of a call's path: who asks, on whose behalf, until when; and the way back to callers outside of grains.</summary>
/// <remarks>
/// Runs on the caller's thread (a turn, or any application thread). The calls that wait for an answer are in its
/// <see cref="CallRuntime.Registry"/>.
/// </remarks>
internal sealed class CallSender(LocalNode local, RuntimeMetrics metrics) : CallRuntime
{
    private Router _router = null!;
    private FrameWriter _writer = null!;
    private GrainFactory _factory = null!;
    private CallFilters _filters = null!;

    private readonly long _timeoutMs = Milliseconds(local.ResponseTimeout);

    /// <summary>Calls that wait for their answers; 0 in a quiet node. Walks all slots: for tests and diagnosis.</summary>
    internal int InFlight => Registry.InFlight;

    /// <summary>Callers that wait for a thread of the pool.</summary>
    internal PoolBatches Batches { get; } = new(local.Time);

    /// <summary>Slots made for calls in flight.</summary>
    internal int Slots => Registry.Capacity;

    /// <summary>The one-way call that was lost last.</summary>
    internal LostCall? LastLost { get; private set; }

    /// <summary>The parts that a call takes from here. They use this one, so they are set when all exist, before the first call.</summary>
    internal void Connect(Router router, FrameWriter writer, GrainFactory factory, CallFilters filters)
    {
        _router = router;
        _writer = writer;
        _factory = factory;
        _filters = filters;
    }

    /// <summary>Sends a call that a filter has let through.</summary>
    internal void SendFiltered(Call call)
    {
        if (TryBegin(call))
            _router.Route(call, call.Reference!);
    }

    internal override void Send(Call call, GrainReference reference)
    {
        call.Caller = CallHost.Current;
        call.Context = RequestContext.Current;
        if ((call.Flags & InvokeMethodOptions.OneWay) != 0)
            call.Origin = CallOrigin.Nobody;
        else
            call.Deadline = DeadlineOf(call.Method.ResponseTimeout is { } own ? Milliseconds(own) : _timeoutMs);
        if (!TryBegin(call))
            return;
        if (_filters.HasOutgoing || CallTrace.IsOn)
            SendObserved(call, reference);
        else
            _router.Route(call, reference);
    }

    /// <summary>
    /// Enters a call that somebody waits for among those in flight; its deadline must be set. False when the call was ended instead,
    /// because the node ends or has too many.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryBegin(Call call)
    {
        if (call.Origin == CallOrigin.Nobody ? !Registry.IsClosed : Registry.TryAdd(call))
            return true;
        Activation.Fail(call, Refusal(call));
        return false;
    }

    /// <summary>Why no call is taken.</summary>
    internal Exception Refusal(Call call)
    {
        var text = "The call " + call.Method.ActivityName + " to " + call.TargetId;
        if (!Registry.IsClosed)
            return new LimitExceededException(text + " was refused: " + Registry.Capacity + " calls of " + local.Address + " wait for their answers.");
        return local.IsSilo
            ? new SiloUnavailableException(text + " got no answer: its caller's silo " + local.Address + " has stopped.")
            : new ObjectDisposedException(nameof(IClusterClient), text + " got no answer: the client " + local.Address + " has stopped.");
    }

    internal override GrainId FindId(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => IdIntern.Current.Find(hash, type, key);

    internal override void SendReply(Call call) => _writer.SendReply(call);

    internal override void Lost(Call call) => Lost(call.Method.ActivityName, call.TargetId, call.Error!);

    internal void Lost(string method, GrainId grain, Exception reason)
    {
        LastLost = new LostCall(method, grain, reason);
        metrics.CallLost();
    }

    /// <summary>On this thread if it is one of the pool: it may be the caller's own.</summary>
    internal override void Resume(Call call)
    {
        if (PoolBatches.TryAdd(call))
            return;
#pragma warning disable RS0030 // Code of the application that is no grain goes on where .NET code does: on the thread pool.
        ThreadPool.UnsafeQueueUserWorkItem(call, preferLocal: true);
#pragma warning restore RS0030
    }

    internal override object Cast(GrainReference reference, Type interfaceType) => _factory.Cast(reference, interfaceType);

    internal override GrainReference CreateReference(GrainId id, Type interfaceType) => _factory.Create(id, interfaceType);

    /// <summary>When a call ends that has so many milliseconds left.</summary>
    internal long DeadlineOf(long milliseconds) => milliseconds < CallRegistry.NoDeadline ? local.Clock.Now + milliseconds : CallRegistry.NoDeadline;

    private static long Milliseconds(TimeSpan timeout) => timeout < TimeSpan.Zero ? CallRegistry.NoDeadline : (long)timeout.TotalMilliseconds;

    /// <summary>
    /// Filters, and traces that are recorded, need a call of their own around this one. A trace that nobody records only travels on.
    /// </summary>
    private void SendObserved(Call call, GrainReference reference)
    {
        var current = Activity.Current;
        var activity = CallTrace.IsOn ? CallTrace.StartClient(call) : null;
        if (activity is null && !_filters.HasOutgoing)
        {
            _router.Route(call, reference);
            return;
        }

        _filters.RunOutgoing(call, activity);
        if (activity is not null)
            Activity.Current = current;
    }

    /// <summary>A one-way call that never ran.</summary>
    /// <param name="Method">Its method.</param>
    /// <param name="Grain">The grain that was called.</param>
    /// <param name="Reason">What stood in its way.</param>
    internal sealed record LostCall(string Method, GrainId Grain, Exception Reason);
}
