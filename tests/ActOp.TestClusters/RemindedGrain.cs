using System.Collections.Concurrent;

namespace ActOp.TestClusters;

/// <summary>A grain with reminders.</summary>
public interface IReminded : IGrainWithGuidKey
{
    Task Register(string name, TimeSpan due, TimeSpan period);

    Task Unregister(string name);

    /// <summary>With the handle from before the reminder was registered again.</summary>
    Task UnregisterStale(string name);

    Task<bool> Has(string name);

    Task<string[]> Names();
}

public sealed class RemindedGrain : Grain, IReminded, IRemindable
{
    internal static readonly ConcurrentDictionary<GrainId, ConcurrentQueue<TickStatus>> Ticks = new();

    public Task Register(string name, TimeSpan due, TimeSpan period) => this.RegisterOrUpdateReminder(name, due, period);

    public async Task Unregister(string name) => await this.UnregisterReminder((await this.GetReminder(name))!);

    public async Task UnregisterStale(string name)
    {
        var stale = (await this.GetReminder(name))!;
        await this.RegisterOrUpdateReminder(name, TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(1));
        await this.UnregisterReminder(stale);
    }

    public async Task<bool> Has(string name) => await this.GetReminder(name) is not null;

    public async Task<string[]> Names() => [.. (await this.GetReminders()).Select(static reminder => reminder.ReminderName).Order()];

    public async Task ReceiveReminder(string reminderName, TickStatus status)
    {
        Ticks.GetOrAdd(this.GetGrainId(), static _ => new()).Enqueue(status);
        if (reminderName == "fails")
            throw new InvalidOperationException("This tick fails.");
        await Gate.PassAsync(reminderName);
    }
}

internal static class RemindedGrains
{
    /// <summary>The ticks of all reminders of a grain so far.</summary>
    internal static TickStatus[] Ticks(this IReminded grain) =>
        RemindedGrain.Ticks.TryGetValue(grain.GetGrainId(), out var ticks) ? [.. ticks] : [];
}
