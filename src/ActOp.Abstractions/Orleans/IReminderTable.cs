using ActOp.Calls;
using Orleans.Runtime;

namespace Orleans;

/// <summary>Where reminders are kept, so that they outlive silos.</summary>
/// <remarks>Used by all silos at the same time, from any thread. A method that fails throws; its caller repeats it.</remarks>
public interface IReminderTable
{
    /// <summary>Called once, before the first use.</summary>
    Task StartAsync(CancellationToken cancellationToken = default) => Task.CompletedTask;

    /// <summary>Called when the silo stops, after the last use.</summary>
    Task StopAsync(CancellationToken cancellationToken = default) => Task.CompletedTask;

    /// <summary>All reminders of a grain.</summary>
    Task<ReminderTableData> ReadRows(GrainId grainId);

    /// <summary>
    /// The reminders of the grains whose <see cref="GrainId.GetUniformHashCode"/> is above <paramref name="begin"/> and not above
    /// <paramref
    /// name="end"/>. Unless <paramref name="begin"/> is less than <paramref
    /// name="end"/>, the part wraps around: all above the first and all
    /// up to the second; all there are if both are equal.
    /// </summary>
    Task<ReminderTableData> ReadRows(uint begin, uint end);

    /// <summary>One reminder, or null.</summary>
    Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName);

    /// <summary>Adds a reminder or replaces it, whatever its ETag.</summary>
    /// <returns>The new ETag.</returns>
    Task<string?> UpsertRow(ReminderEntry entry);

    /// <summary>Removes a reminder if it has this ETag.</summary>
    /// <returns>Whether it was there and had it.</returns>
    Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag);

    /// <summary>Removes all reminders. For tests.</summary>
    Task TestOnlyClearTable();

    /// <inheritdoc cref="ReadRows(GrainId)"/>
    /// <remarks>Silos call the methods with a token. A table that has not its own stops the caller's wait, not the work.</remarks>
    /// <param name="grainId">The grain.</param>
    /// <param name="cancellationToken">Signalled when nobody waits any more.</param>
    Task<ReminderTableData> ReadRows(GrainId grainId, CancellationToken cancellationToken) =>
        Given.Task(ReadRows(grainId)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="ReadRows(uint, uint)"/>
    Task<ReminderTableData> ReadRows(uint begin, uint end, CancellationToken cancellationToken) =>
        Given.Task(ReadRows(begin, end)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="ReadRow(GrainId, string)"/>
    Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName, CancellationToken cancellationToken) =>
        Given.Task(ReadRow(grainId, reminderName)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="UpsertRow(ReminderEntry)"/>
    Task<string?> UpsertRow(ReminderEntry entry, CancellationToken cancellationToken) =>
        Given.Task(UpsertRow(entry)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="RemoveRow(GrainId, string, string)"/>
    Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag, CancellationToken cancellationToken) =>
        Given.Task(RemoveRow(grainId, reminderName, eTag)).WaitAsync(cancellationToken);

    /// <inheritdoc cref="TestOnlyClearTable()"/>
    Task TestOnlyClearTable(CancellationToken cancellationToken) => Given.Task(TestOnlyClearTable()).WaitAsync(cancellationToken);
}

/// <summary>One reminder as it is kept.</summary>
[GenerateSerializer]
public sealed class ReminderEntry
{
    /// <summary>Whose reminder it is.</summary>
    [Id(0)]
    public GrainId GrainId { get; set; }

    /// <summary>Its name, different from those of the grain's other reminders.</summary>
    [Id(1)]
    public string ReminderName { get; set; } = null!;

    /// <summary>When the first tick is due, in UTC.</summary>
    [Id(2)]
    public DateTime StartAt { get; set; }

    /// <summary>Time between ticks.</summary>
    [Id(3)]
    public TimeSpan Period { get; set; }

    /// <summary>Given by the table at each write.</summary>
    [Id(4)]
    public string? ETag { get; set; }

    /// <inheritdoc/>
    public override string ToString() =>
        "<GrainId=" + GrainId + " ReminderName=" + ReminderName + " Period=" + Period + " StartAt=" + StartAt.ToString("O")
        + " ETag=" + ETag + ">";
}

/// <summary>Some reminders of a table.</summary>
[GenerateSerializer]
public sealed class ReminderTableData
{
    /// <summary>None.</summary>
    public ReminderTableData()
    {
    }

    /// <summary>One.</summary>
    public ReminderTableData(ReminderEntry entry) => Reminders = [entry];

    /// <summary>All of a list.</summary>
    public ReminderTableData(IEnumerable<ReminderEntry> list) => Reminders = [.. list];

    /// <summary>The reminders, in no order.</summary>
    [Id(0)]
    public IList<ReminderEntry> Reminders { get; private set; } = new List<ReminderEntry>();

    /// <inheritdoc/>
    public override string ToString() => "[" + Reminders.Count + " reminders: " + string.Join(", ", Reminders) + "]";
}
