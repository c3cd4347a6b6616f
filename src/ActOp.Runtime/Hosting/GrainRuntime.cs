using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Timers;
using Orleans;
using Orleans.Runtime;
using Orleans.Timers;

namespace ActOp.Runtime.Hosting;

/// <summary>What grains see of their silo.</summary>
internal sealed class GrainRuntime(LocalNode local, GrainFactory factory, TimeProvider applicationTime) : IGrainRuntime
{
    public IGrainFactory GrainFactory => factory;

    public IServiceProvider ServiceProvider => local.Services;

    public SiloAddress SiloAddress => local.Address;

    public string SiloIdentity => local.Address.ToString();

    public TimeProvider TimeProvider => applicationTime;

    public ITimerRegistry TimerRegistry { get; } = new TimerRegistry();

    public void DeactivateOnIdle(IGrainContext grainContext) =>
        grainContext.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested, "The grain asked for it."));

    public void DelayDeactivation(IGrainContext grainContext, TimeSpan timeSpan) => ((Activation)grainContext).KeepAliveFor(timeSpan);
}

/// <summary>The activation whose turn, or whose construction, runs on this thread.</summary>
internal sealed class GrainContextAccessor : IGrainContextAccessor
{
    public IGrainContext GrainContext => CallHost.Current as IGrainContext ?? GrainContextScope.Current ?? throw new InvalidOperationException("No grain runs on this thread.");
}
