using ActOp.Calls;
using ActOp.Runtime.Activations;
using Orleans.CodeGeneration;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Timers;

/// <summary>A tick of a timer in the mailbox of its activation: admitted and filtered like any request.</summary>
internal sealed class TimerCall : TaskRequest
{
    private static readonly CallMethod Tick = new(typeof(IGrainTimerTick), "IGrainTimerInvoker", nameof(IGrainTimerTick.InvokeCallbackAsync), 0, InvokeMethodOptions.OneWay, null, static () => typeof(IGrainTimerTick).GetMethod(nameof(IGrainTimerTick.InvokeCallbackAsync))!);

    private readonly IGrainTimerTick _timer;

    internal TimerCall(IGrainTimerTick timer, Activation activation, bool interleave, bool keepAlive)
    {
        _timer = timer;
        KeepAlive = keepAlive;
        Unpooled = true;
        Runtime = activation.Node.Calls;
        Origin = CallOrigin.Nobody;
        Flags = InvokeMethodOptions.OneWay | (interleave ? InvokeMethodOptions.AlwaysInterleave : 0);
        RemoteTarget = activation.GrainId;
        ArgumentsIsolated = true;
    }

    /// <summary>The tick counts as use of the activation.</summary>
    internal bool KeepAlive { get; }

    public override CallMethod Method => Tick;

    public override object? GetTarget() => _timer;

    public override void SetTarget(ITargetHolder holder)
    {
    }

    public override void Recycle()
    {
    }

    protected override Task InvokeInner() => _timer.InvokeCallbackAsync();
}
