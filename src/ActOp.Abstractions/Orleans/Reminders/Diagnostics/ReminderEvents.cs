using ActOp.Diagnostics;
using Orleans.Runtime;

namespace Orleans.Reminders.Diagnostics;

/// <summary>What happens to reminders, for tests and tools.</summary>
public static class ReminderEvents
{
    /// <summary>The name of the <see cref="System.Diagnostics.DiagnosticListener"/>. An event has the name of its class.</summary>
    public const string ListenerName = "Orleans.Reminders";

    /// <summary>All events. They come on the thread where they happen: an observer must be quick.</summary>
    public static IObservable<ReminderEvent> AllEvents => Feed;

    internal static EventFeed<ReminderEvent> Feed { get; } = new(ListenerName);

    /// <summary>Why a silo does not wait for the ticks of a reminder any more.</summary>
    public enum LocalReminderStopReason
    {
        /// <summary>Not known.</summary>
        Unknown = 0,

        /// <summary>The grain has unregistered it.</summary>
        Unregistered = 1,

        /// <summary>The grain has registered it again.</summary>
        Replaced = 2,

        /// <summary>Another silo is responsible for the grain.</summary>
        RemovedFromRange = 3,

        /// <summary>The table has it no longer, or its next tick is beyond the time for which reminders are kept in memory.</summary>
        RemovedFromTable = 4,

        /// <summary>The silo stops.</summary>
        ServiceStopped = 5,
    }

    /// <summary>An event of a reminder.</summary>
    public abstract class ReminderEvent(GrainId grainId, string reminderName, SiloAddress? siloAddress)
    {
        /// <summary>The grain that has the reminder.</summary>
        public GrainId GrainId { get; } = grainId;

        /// <summary>The name of the reminder.</summary>
        public string ReminderName { get; } = reminderName;

        /// <summary>The silo that is responsible for it.</summary>
        public SiloAddress? SiloAddress { get; } = siloAddress;
    }

    /// <summary>A reminder was registered or changed: the table has it.</summary>
    public sealed class Registered(GrainId grainId, string reminderName, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress);

    /// <summary>A reminder was removed from the table.</summary>
    public sealed class Unregistered(GrainId grainId, string reminderName, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress);

    /// <summary>A silo begins to wait for the ticks of a reminder.</summary>
    public sealed class LocalReminderStarted(GrainId grainId, string reminderName, object identity, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress)
    {
        /// <summary>The same object in all events of this wait.</summary>
        public object Identity { get; } = identity;
    }

    /// <summary>A silo does not wait for the ticks of a reminder any more.</summary>
    public sealed class LocalReminderStopped(
        GrainId grainId, string reminderName, object identity, LocalReminderStopReason reason, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress)
    {
        /// <summary>The same object in all events of this wait.</summary>
        public object Identity { get; } = identity;

        /// <summary>Why.</summary>
        public LocalReminderStopReason Reason { get; } = reason;
    }

    /// <summary>A tick is about to be sent to the grain.</summary>
    public sealed class TickFiring(GrainId grainId, string reminderName, TickStatus status, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress)
    {
        /// <summary>What the grain gets.</summary>
        public TickStatus Status { get; } = status;
    }

    /// <summary>The grain has processed a tick.</summary>
    public sealed class TickCompleted(GrainId grainId, string reminderName, TickStatus status, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress)
    {
        /// <summary>What the grain got.</summary>
        public TickStatus Status { get; } = status;
    }

    /// <summary>The grain has not processed a tick.</summary>
    public sealed class TickFailed(
        GrainId grainId, string reminderName, TickStatus status, Exception exception, SiloAddress? siloAddress)
        : ReminderEvent(grainId, reminderName, siloAddress)
    {
        /// <summary>What the grain got.</summary>
        public TickStatus Status { get; } = status;

        /// <summary>What it has thrown, or why it was not reached.</summary>
        public Exception Exception { get; } = exception;
    }
}
