using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Foundation;
using ActOp.Runtime.Tenants;
using ActOp.Runtime.Timers;
using Orleans;
using Orleans.Core;
using Orleans.Runtime;
using Orleans.Storage;
using Orleans.Timers;

namespace ActOp.Runtime.Nodes;

/// <summary>The runtime as seen by grains.</summary>
internal sealed class GrainRuntime(LocalNode local, GrainFactory factory, TimeProvider applicationTime) : IGrainRuntime
{
    public IGrainFactory GrainFactory => factory;

    public IServiceProvider ServiceProvider => local.Services;

    public SiloAddress SiloAddress => local.Address;

    public string SiloIdentity => local.Address.ToString();

    public TimeProvider TimeProvider => applicationTime;

    public ITimerRegistry TimerRegistry { get; } = new TimerRegistry();

    public void DeactivateOnIdle(IGrainContext grainContext) =>
        grainContext.Deactivate(new DeactivationReason(DeactivationReasonCode.ApplicationRequested,
            "DeactivateOnIdle was called."));

    public void DelayDeactivation(IGrainContext grainContext, TimeSpan timeSpan) => ((Activation)grainContext).KeepAliveFor(timeSpan);

    public IStorage<TGrainState> GetStorage<TGrainState>(IGrainContext grainContext)
    {
        var named = GrainStorageHelpers.GetGrainStorage(((Activation)grainContext).Class.Type, local.Services);
        return new StateStorageBridge<TGrainState>("state", grainContext, TenantStorage.Resolve(named, grainContext.GrainId));
    }
}

/// <summary>The activation whose turn, or whose construction, runs on this thread.</summary>
internal sealed class GrainContextAccessor : IGrainContextAccessor
{
    public IGrainContext GrainContext => (CallHost.Current as IGrainContext ?? GrainContextScope.Current).OrNoGrain();
}
