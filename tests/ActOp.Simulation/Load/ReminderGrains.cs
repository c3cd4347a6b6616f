using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Load;

/// <summary>A grain with reminders.</summary>
public interface IAlarm : IGrainWithIntegerKey
{
    /// <summary>Registers a reminder, or replaces it.</summary>
    Task Set(string name, int dueMilliseconds, int periodMilliseconds);

    /// <summary>Ends a reminder if there is one.</summary>
    Task Unset(string name);

    /// <summary>Ends all reminders.</summary>
    Task UnsetAll();

    /// <summary>Ends the activation.</summary>
    Task Leave();

    /// <summary>Moves the activation to another silo.</summary>
    Task Move();
}

/// <summary>An alarm that takes one tick after the other.</summary>
public interface IPlainAlarm : IAlarm;

/// <summary>An alarm whose ticks could run beside each other.</summary>
public interface IBusyAlarm : IAlarm;

/// <inheritdoc cref="IAlarm"/>
internal abstract class AlarmGrain(ReminderLoad load, Machine machine) : Grain, IAlarm, IRemindable, IGrainMigrationParticipant
{
    public async Task Set(string name, int dueMilliseconds, int periodMilliseconds)
    {
        using var call = Occupy();
        var reminder = await this.RegisterOrUpdateReminder(
            name, TimeSpan.FromMilliseconds(dueMilliseconds), TimeSpan.FromMilliseconds(periodMilliseconds));
        load.IsSet(GrainContext.GrainId, reminder);
    }

    public async Task Unset(string name)
    {
        using var call = Occupy();
        if (await this.GetReminder(name) is { } reminder)
            await EndAsync(reminder);
    }

    public async Task UnsetAll()
    {
        using var call = Occupy();
        foreach (var reminder in await this.GetReminders())
            await EndAsync(reminder);
    }

    public Task Leave()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Move()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext)
    {
    }

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
    }

    public async Task ReceiveReminder(string reminderName, TickStatus status)
    {
        using var call = Occupy();
        await load.TickAsync(GrainContext.GrainId, machine, reminderName, status);
    }

    /// <summary>Ticks wait until the call has ended, unless they could run beside it. A tick may hold up that of another reminder.</summary>
    private IDisposable? Occupy() => this is PlainAlarm ? load.Occupy(GrainContext.GrainId, machine) : null;

    private async Task EndAsync(IGrainReminder reminder)
    {
        await this.UnregisterReminder(reminder);
        load.IsUnset(GrainContext.GrainId, reminder);
    }
}

/// <inheritdoc cref="IPlainAlarm"/>
internal sealed class PlainAlarm(ReminderLoad load, Machine machine) : AlarmGrain(load, machine), IPlainAlarm;

/// <inheritdoc cref="IBusyAlarm"/>
[Reentrant]
internal sealed class BusyAlarm(ReminderLoad load, Machine machine) : AlarmGrain(load, machine), IBusyAlarm;
