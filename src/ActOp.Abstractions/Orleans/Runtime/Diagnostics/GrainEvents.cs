using ActOp.Diagnostics;

namespace Orleans.Runtime.Diagnostics;

/// <summary>What happens to activations of grains, for tests and tools.</summary>
public static class GrainLifecycleEvents
{
    /// <summary>The name of the <see cref="System.Diagnostics.DiagnosticListener"/>. An event has the name of its class.</summary>
    public const string ListenerName = "Orleans.GrainLifecycle";

    /// <summary>All events. They come on the thread where they happen: an observer must be quick.</summary>
    public static IObservable<LifecycleEvent> AllEvents => Feed;

    internal static EventFeed<LifecycleEvent> Feed { get; } = new(ListenerName);

    /// <summary>An event of an activation.</summary>
    public abstract class LifecycleEvent(IGrainContext grainContext)
    {
        /// <summary>The activation.</summary>
        public IGrainContext GrainContext { get; } = grainContext;
    }

    /// <summary>The instance of the grain was constructed.</summary>
    public sealed class Created(IGrainContext grainContext) : LifecycleEvent(grainContext);

    /// <summary>The activation takes requests.</summary>
    public sealed class Activated(IGrainContext grainContext) : LifecycleEvent(grainContext);

    /// <summary>The end of the activation begins: no request runs any more.</summary>
    public sealed class Deactivating(IGrainContext grainContext, DeactivationReason reason) : LifecycleEvent(grainContext)
    {
        /// <summary>Why it ends.</summary>
        public DeactivationReason Reason { get; } = reason;
    }

    /// <summary>The activation has ended, and its silo has forgotten it.</summary>
    public sealed class Deactivated(IGrainContext grainContext, DeactivationReason reason) : LifecycleEvent(grainContext)
    {
        /// <summary>Why it has ended.</summary>
        public DeactivationReason Reason { get; } = reason;
    }
}

/// <summary>What happens to the timers of grains, for tests and tools.</summary>
public static class GrainTimerEvents
{
    /// <summary>The name of the <see cref="System.Diagnostics.DiagnosticListener"/>. An event has the name of its class.</summary>
    public const string ListenerName = "Orleans.GrainTimers";

    /// <summary>All events. They come on the thread where they happen: an observer must be quick.</summary>
    public static IObservable<TimerEvent> AllEvents => Feed;

    internal static EventFeed<TimerEvent> Feed { get; } = new(ListenerName);

    /// <summary>An event of a timer.</summary>
    public abstract class TimerEvent(IGrainContext grainContext, IGrainTimer timer)
    {
        /// <summary>The activation that has the timer.</summary>
        public IGrainContext GrainContext { get; } = grainContext;

        /// <summary>The timer.</summary>
        public IGrainTimer Timer { get; } = timer;
    }

    /// <summary>A timer was created.</summary>
    public sealed class Created(IGrainContext grainContext, IGrainTimer timer, TimeSpan dueTime, TimeSpan period)
        : TimerEvent(grainContext, timer)
    {
        /// <summary>Until its first tick.</summary>
        public TimeSpan DueTime { get; } = dueTime;

        /// <summary>From the end of a tick to the next one.</summary>
        public TimeSpan Period { get; } = period;
    }

    /// <summary>The callback of a tick is about to be called.</summary>
    public sealed class TickStart(IGrainContext grainContext, IGrainTimer timer) : TimerEvent(grainContext, timer);

    /// <summary>The callback of a tick has ended.</summary>
    public sealed class TickStop(IGrainContext grainContext, IGrainTimer timer, Exception? exception) : TimerEvent(grainContext, timer)
    {
        /// <summary>What the callback has thrown, or null.</summary>
        public Exception? Exception { get; } = exception;
    }

    /// <summary>A timer was disposed: by the grain, or by the end of its activation.</summary>
    public sealed class Disposed(IGrainContext grainContext, IGrainTimer timer) : TimerEvent(grainContext, timer);
}
