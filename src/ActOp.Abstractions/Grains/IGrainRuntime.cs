using Orleans.Timers;

namespace Orleans.Runtime;

/// <summary>What grains use of the silo they are on.</summary>
public interface IGrainRuntime
{
    /// <summary>Makes references to grains.</summary>
    IGrainFactory GrainFactory { get; }

    /// <summary>The silo's services.</summary>
    IServiceProvider ServiceProvider { get; }

    /// <summary>The silo's address.</summary>
    SiloAddress SiloAddress { get; }

    /// <summary>The silo's address as text.</summary>
    string SiloIdentity { get; }

    /// <summary>The silo's clock.</summary>
    TimeProvider TimeProvider { get; }

    /// <summary>Makes timers.</summary>
    ITimerRegistry TimerRegistry { get; }

    /// <summary>Ends an activation once the calls that run have ended.</summary>
    void DeactivateOnIdle(IGrainContext grainContext);

    /// <summary>Keeps an activation for a time even when it is idle; zero or less takes an earlier request back.</summary>
    void DelayDeactivation(IGrainContext grainContext, TimeSpan timeSpan);
}
