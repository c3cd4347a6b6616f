using System.Globalization;
using ActOp.Reminders;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Testing.Simulated;

/// <summary>A reminder as it was written once.</summary>
internal sealed class ReminderVersion(ReminderEntry entry, long since)
{
    internal ReminderEntry Entry => entry;

    /// <summary>When the table took it.</summary>
    internal long Since => since;

    /// <summary>When the grain was told that it is there; null while it was not.</summary>
    internal long? AcknowledgedAt { get; set; }

    /// <summary>When it was replaced or removed; null while it is in the table.</summary>
    internal long? EndedAt { get; set; }

    /// <summary>When a grain was told that it was replaced or removed.</summary>
    internal long? EndAcknowledgedAt { get; set; }
}

/// <summary>
/// The table of reminders of a run, which all silos share. Besides the faults of its kind, it reports conflicts: a write that was not done
/// because somebody else has written, though nobody has.
/// </summary>
internal sealed class SharedReminders(Pump pump, Dice dice) : OutsideService(pump, dice)
{
    private readonly Dictionary<(GrainId Grain, string Name), ReminderVersion> _rows = [];
    private long _written;

    /// <summary>Share of the writes that are refused as conflicts.</summary>
    internal double Conflicts { get; set; }

    /// <summary>Every version of every row, in the order of their writing.</summary>
    internal List<ReminderVersion> Versions { get; } = [];

    /// <summary>The versions that are in the table.</summary>
    internal IReadOnlyCollection<ReminderVersion> Rows => _rows.Values;

    internal ReminderVersion? Get(GrainId grain, string name) => _rows.GetValueOrDefault((grain, name));

    internal Task<ReminderEntry[]> ReadAsync(Machine machine, Func<ReminderEntry, bool> match) => AskAsync(machine, "read reminders", () =>
        _rows.Values.Where(row => match(row.Entry)).Select(static row => Copy(row.Entry)).ToArray());

    /// <summary>The new tag; null for a conflict.</summary>
    internal Task<string?> WriteAsync(Machine machine, ReminderEntry entry)
    {
        // The sender may change the object while the request is on its way.
        var written = Copy(entry);
        return AskAsync(machine, "write reminder", () =>
        {
            if (Dice.Chance(Conflicts))
                return null;
            End(written.GrainId, written.ReminderName);
            written.ETag = (++_written).ToString(CultureInfo.InvariantCulture);
            var version = new ReminderVersion(written, Pump.Now);
            _rows[(written.GrainId, written.ReminderName)] = version;
            Versions.Add(version);
            return written.ETag;
        });
    }

    internal Task<bool> RemoveAsync(Machine machine, GrainId grain, string name, string tag) => AskAsync(machine, "remove reminder", () =>
        Get(grain, name)?.Entry.ETag == tag && !Dice.Chance(Conflicts) && End(grain, name));

    private bool End(GrainId grain, string name)
    {
        if (!_rows.Remove((grain, name), out var row))
            return false;
        row.EndedAt = Pump.Now;
        return true;
    }

    private static ReminderEntry Copy(ReminderEntry entry) => new()
    {
        GrainId = entry.GrainId,
        ReminderName = entry.ReminderName,
        StartAt = entry.StartAt,
        Period = entry.Period,
        ETag = entry.ETag,
    };
}

/// <summary>The table as one machine sees it.</summary>
internal sealed class MachineReminders(SharedReminders table, Machine machine) : IReminderTable
{
    public async Task<ReminderTableData> ReadRows(GrainId grainId) =>
        new(await table.ReadAsync(machine, entry => entry.GrainId == grainId));

    public async Task<ReminderTableData> ReadRows(uint begin, uint end) => new(await table.ReadAsync(
        machine, entry => MemoryReminderTable.IsWithin(entry.GrainId.GetUniformHashCode(), begin, end)));

    public async Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) => (await table.ReadAsync(
        machine, entry => entry.GrainId == grainId && entry.ReminderName == reminderName)).FirstOrDefault();

    public Task<string?> UpsertRow(ReminderEntry entry) => table.WriteAsync(machine, entry);

    public Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag) =>
        table.RemoveAsync(machine, grainId, reminderName, eTag);

    public Task TestOnlyClearTable() => throw new NotSupportedException("Nothing of the simulation is cleared.");
}
