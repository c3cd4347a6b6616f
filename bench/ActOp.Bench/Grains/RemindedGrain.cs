namespace ActOp.Bench.Grains;

/// <summary>A grain with one reminder.</summary>
public interface IRemindedGrain : IGrainWithIntegerKey
{
    /// <summary>Registers the reminder.</summary>
    Task Register(TimeSpan due, TimeSpan period);
}

/// <summary>Counts its ticks.</summary>
public sealed class RemindedGrain : Grain, IRemindedGrain, IRemindable
{
    /// <summary>The ticks of all grains of this process, by key.</summary>
    internal static int[] Ticks = [];

    public Task Register(TimeSpan due, TimeSpan period) => this.RegisterOrUpdateReminder("tick", due, period);

    public Task ReceiveReminder(string reminderName, TickStatus status)
    {
        Interlocked.Increment(ref Ticks[this.GetPrimaryKeyLong()]);
        return Task.CompletedTask;
    }
}
