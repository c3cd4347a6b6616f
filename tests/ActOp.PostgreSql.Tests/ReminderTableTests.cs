using ActOp.PostgreSql.Reminders;
using ActOp.Runtime.Directory;

namespace ActOp.PostgreSql.Tests;

/// <summary>Reminders in PostgreSQL.</summary>
public sealed class ReminderTableTests(PostgresFixture postgres) : IAsyncLifetime
{
    private PostgresReminderTable _table = null!;

    public async ValueTask InitializeAsync()
    {
        _table = new PostgresReminderTable(PostgresFixture.Open(await postgres.CreateAsync()), "service", 1);
        await _table.StartAsync(TestContext.Current.CancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (_table is not null)
            await _table.DisposeAsync();
    }

    [Fact]
    public async Task A_reminder_comes_back_as_it_was_written_and_is_replaced()
    {
        var entry = Entry(1, "wake \"up\"");
        var first = await _table.UpsertRow(entry);
        entry.Period = TimeSpan.FromMinutes(7);
        var second = await _table.UpsertRow(entry);

        var read = (await _table.ReadRow(entry.GrainId, entry.ReminderName))!;
        Assert.NotEqual(first, second);
        Assert.Equal(
            (entry.GrainId, entry.ReminderName, entry.StartAt, DateTimeKind.Utc, entry.Period, second),
            (read.GrainId, read.ReminderName, read.StartAt, read.StartAt.Kind, read.Period, read.ETag));
        Assert.Null(await _table.ReadRow(entry.GrainId, "other"));
    }

    [Fact]
    public async Task A_reminder_is_removed_only_by_who_knows_its_version()
    {
        var entry = Entry(1, "a");
        var stale = await _table.UpsertRow(entry);
        var version = await _table.UpsertRow(entry);

        Assert.False(await _table.RemoveRow(entry.GrainId, "a", stale!));
        Assert.False(await _table.RemoveRow(entry.GrainId, "a", "no version"));
        Assert.True(await _table.RemoveRow(entry.GrainId, "a", version!));
        Assert.False(await _table.RemoveRow(entry.GrainId, "a", version!));
        Assert.NotEqual(version, await _table.UpsertRow(entry));
    }

    [Fact]
    public async Task Ranges_of_the_ring_give_each_reminder_once()
    {
        for (var key = 0; key < 50; key++)
        {
            await _table.UpsertRow(Entry(key, "a"));
            await _table.UpsertRow(Entry(key, "b"));
        }

        uint[] cuts = [0x2000_0000, 0x8000_0000, 0xE000_0000];
        var parts = new List<ReminderTableData>();
        for (var at = 0; at < cuts.Length; at++)
            parts.Add(await _table.ReadRows(cuts[at], cuts[(at + 1) % cuts.Length]));
        Assert.Equal(100, parts.Sum(static part => part.Reminders.Count));
        Assert.Equal(100, parts.SelectMany(static part => part.Reminders).Select(static entry => (entry.GrainId, entry.ReminderName))
            .Distinct().Count());
        Assert.All(parts[0].Reminders, entry => Assert.InRange(entry.GrainId.GetUniformHashCode(), cuts[0] + 1, cuts[1]));
        Assert.Equal(100, (await _table.ReadRows(7, 7)).Reminders.Count);
        Assert.Equal(2, (await _table.ReadRows(Entry(3, "").GrainId)).Reminders.Count);
        await _table.TestOnlyClearTable();
        Assert.Empty((await _table.ReadRows(0, 0)).Reminders);
    }

    [Fact]
    public async Task Slots_of_the_directory_give_their_reminders_and_no_others()
    {
        for (var key = 0; key < 200; key++)
            await _table.UpsertRow(Entry(key, "a"));
        var bySlot = Enumerable.Range(0, 200).Select(static key => Entry(key, "").GrainId).ToLookup(static grain => SlotMap.SlotOf(grain));
        foreach (var slot in bySlot)
            Assert.Equal(slot.Order(), (await _table.ReadSlots([slot.Key])).Reminders.Select(static entry => entry.GrainId).Order());
        int[] some = [.. bySlot.Take(30).Select(static slot => slot.Key)];
        Assert.Equal(bySlot.Take(30).Sum(static slot => slot.Count()), (await _table.ReadSlots(some)).Reminders.Count);
        Assert.Equal(200, (await _table.ReadSlots([.. Enumerable.Range(0, SlotMap.SlotCount)])).Reminders.Count);
    }

    [Fact]
    public async Task Keys_that_are_no_text_come_back()
    {
        byte[][] keys = [[0xFF, 1], [0, (byte)'\\', (byte)'/'], "ä"u8.ToArray()];
        foreach (var key in keys)
        {
            var entry = Entry(1, "a");
            entry.GrainId = GrainId.Create(GrainType.Create("note"), new IdSpan(key));
            await _table.UpsertRow(entry);
            Assert.Equal(entry.GrainId, Assert.Single((await _table.ReadRows(entry.GrainId)).Reminders).GrainId);
        }
    }

    private static ReminderEntry Entry(int key, string name) => new()
    {
        GrainId = GrainId.Create("note", key.ToString()),
        ReminderName = name,
        StartAt = new DateTime(2030, 1, 2, 3, 4, 5, DateTimeKind.Utc).AddTicks(1_234_567),
        Period = TimeSpan.FromMinutes(2),
    };
}
