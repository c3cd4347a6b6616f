using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Timers;
using Microsoft.Extensions.DependencyInjection;
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

    public IStorage<TGrainState> GetStorage<TGrainState>(IGrainContext grainContext) =>
        local.Services.GetRequiredService<IGrainStates>().Create<TGrainState>((Activation)grainContext);
}

/// <summary>Makes the states of grains that derive from <see cref="Grain{TGrainState}"/>. Storage registers it. Any thread.</summary>
internal interface IGrainStates
{
    /// <summary>A state that is not read yet.</summary>
    /// <exception cref="BadProviderConfigException">The storage that the class names is not there.</exception>
    IStorage<TGrainState> Create<TGrainState>(Activation activation);
}

/// <summary>The activation whose turn, or whose construction, runs on this thread.</summary>
internal sealed class GrainContextAccessor : IGrainContextAccessor
{
    public IGrainContext GrainContext => (CallHost.Current as IGrainContext ?? GrainContextScope.Current).OrNoGrain();
}
