using ActOp.Runtime.Directory;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Reminders;

/// <summary>
/// The reminders of one silo, as called by the others. The silo that owns the directory slot of a grain runs its reminders.
/// </summary>
internal interface IReminderTarget : ISystemTarget
{
    /// <summary>Stores and schedules a reminder; null if this silo does not own the grain's slot.</summary>
    ValueTask<ReminderHandle?> Register(ReminderRequest request);

    /// <summary>Removes a reminder: true if it was removed, false if it is another one now, null if this silo is not the owner.</summary>
    ValueTask<bool?> Unregister(ReminderHandle reminder);

    /// <summary>The receiver is the new owner of slots; this is when the sender has stopped their ticks.</summary>
    [OneWay]
    ValueTask Release(ReminderRelease release);

    /// <summary>
    /// The sender has written or removed a reminder, and the receiver may have been the owner of the grain's slot already.
    /// </summary>
    [OneWay]
    ValueTask Changed(GrainId grain, string name);
}

/// <summary>A table of reminders that finds the rows of a silo's slots without reading the others.</summary>
internal interface ISlotReminderTable : IReminderTable
{
    /// <summary>False if rows can be found by ranges only, as of any other table. Known after the start of the table.</summary>
    bool FindsSlots { get; }

    /// <summary>The reminders of the grains in these slots of the directory (<see cref="SlotMap.SlotOf"/>).</summary>
    Task<ReminderTableData> ReadSlots(int[] slots);
}

/// <summary>Lets the silo call <see cref="IRemindable.ReceiveReminder"/>: its interface is compiled without the generator.</summary>
internal interface IReminderReceiver : IRemindable;

/// <summary>Lets clients of grain services call <see cref="IReminderService"/>: its interface is compiled without the generator.</summary>
internal interface IReminderServiceTarget : IReminderService;

/// <summary>A request to create or replace a reminder.</summary>
/// <param name="Grain">Whose reminder it is.</param>
/// <param name="Name">Its name.</param>
/// <param name="DueTime">Time to the first tick.</param>
/// <param name="Period">Time between ticks.</param>
[GenerateSerializer]
internal readonly record struct ReminderRequest(GrainId Grain, string Name, TimeSpan DueTime, TimeSpan Period);

/// <summary>Slots whose ticks have stopped at one silo and go on at another.</summary>
/// <param name="Slots">The slots.</param>
/// <param name="At">Ticks (100 ns, UTC) of the time: what was due later has not been sent.</param>
/// <param name="View">The number of the view by which the sender has chosen the receiver; 0 from silos that do not say it.</param>
[GenerateSerializer]
internal sealed record ReminderRelease(SlotSet Slots, long At, long View = 0);

/// <summary>What a grain holds of its reminder. The ETag shows whether the reminder is still the same.</summary>
[GenerateSerializer]
internal sealed class ReminderHandle : IGrainReminder
{
    internal ReminderHandle(GrainId grain, string name, string? eTag) => (GrainId, ReminderName, ETag) = (grain, name, eTag);

    private ReminderHandle()
    {
    }

    [Id(0)]
    public GrainId GrainId { get; private set; }

    [Id(1)]
    public string ReminderName { get; private set; } = "";

    [Id(2)]
    public string? ETag { get; private set; }

    internal static ReminderHandle HandleOf(ReminderEntry entry) => new(entry.GrainId, entry.ReminderName, entry.ETag);
}
