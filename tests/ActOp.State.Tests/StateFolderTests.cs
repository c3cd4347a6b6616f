using System.Globalization;
using System.Text;
using ActOp.Storage.Files;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>Files of states on a disk that ends or fails at every step: what was acknowledged is there.</summary>
public class StateFolderTests
{
    /// <summary>Of several levels that are new.</summary>
    private const string Root = "/data/silo/states";
    private const int Seeds = 12;

    private static readonly GrainId Grain = GrainId.Create("account", "one");

    private int _etags;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_end_at_any_step_loses_only_what_was_not_acknowledged(bool lossOfPower)
    {
        var ends = 0;
        foreach (var afterwards in new[] { false, true })
        {
            for (var step = 1; ; step++)
            {
                var (disk, known) = EndAt(step, afterwards);
                if (disk is null)
                    break;
                ends++;
                for (var seed = 0; seed < (lossOfPower ? Seeds : 1); seed++)
                    CheckAfter(disk.Restart(lossOfPower ? new Random(seed) : null), known, lossOfPower);
            }
        }

        // Four operations, each of several steps, both ways.
        Assert.InRange(ends, 60, 1000);
    }

    [Fact]
    public void What_a_process_finds_after_the_end_of_another_is_durable_before_anybody_sees_it()
    {
        for (var step = 1; ; step++)
        {
            var (disk, known) = EndAt(step, afterwards: true);
            if (disk is null)
                break;
            disk.Continue();
            var seen = Start(disk).Read("s", Grain);
            Assert.Contains(TextOf(seen), known);
            for (var seed = 0; seed < Seeds; seed++)
                Assert.Equal(TextOf(seen), TextOf(Start(disk.Restart(new Random(seed))).Read("s", Grain)));
        }
    }

    /// <summary>The first process may have created a directory whose name is not on the disk yet.</summary>
    [Fact]
    public void What_the_next_process_writes_after_a_kill_survives_a_loss_of_power()
    {
        for (var step = 1; ; step++)
        {
            var (disk, _) = EndAt(step, afterwards: true);
            if (disk is null)
                break;
            disk.Continue();
            var folder = Start(disk);
            var found = folder.Read("s", Grain);
            Assert.NotNull(folder.TryWrite("s", Grain, found?.ETag, Bytes("after")));
            for (var seed = 0; seed < Seeds; seed++)
                Assert.Equal("after", TextOf(Start(disk.Restart(new Random(seed))).Read("s", Grain)));
        }
    }

    /// <summary>It has opened the directory before the other one began, so no start flushes what that one has left.</summary>
    [Fact]
    public void What_a_killed_process_has_left_is_durable_before_a_running_one_shows_it()
    {
        for (var step = 1; ; step++)
        {
            var before = new SimulatedDisk();
            var folder = Start(before);
            var (disk, known) = EndAt(before.Steps + step, afterwards: true, disk: before);
            if (disk is null)
                break;
            disk.Continue();
            var seen = folder.Read("s", Grain);
            Assert.Contains(TextOf(seen), known);
            for (var seed = 0; seed < Seeds; seed++)
                Assert.Equal(TextOf(seen), TextOf(Start(disk.Restart(new Random(seed))).Read("s", Grain)));
            if (seen is not null)
                continue;
            Assert.True(folder.TryClear("s", Grain, null));
            for (var seed = 0; seed < Seeds; seed++)
                Assert.Null(Start(disk.Restart(new Random(seed))).Read("s", Grain));
        }
    }

    [Fact]
    public void What_another_thread_writes_during_a_read_is_durable_before_anybody_sees_it()
    {
        var failed = true;
        for (var step = 1; failed; step++)
        {
            failed = false;
            var disk = new SimulatedDisk();
            var folder = Start(disk);
            var etag = folder.TryWrite("s", Grain, null, Bytes("old"));
            disk.BeforeRead = () =>
            {
                disk.FailsFrom = disk.Steps + step;
                try
                {
                    folder.TryWrite("s", Grain, etag, Bytes("new"));
                }
                catch (IOException)
                {
                    failed = true;
                }

                disk.FailsFrom = 0;
            };
            var seen = TextOf(folder.Read("s", Grain));
            for (var seed = 0; seed < Seeds; seed++)
                Assert.Equal(seen, TextOf(Start(disk.Restart(new Random(seed))).Read("s", Grain)));
        }
    }

    [Fact]
    public void A_disk_that_does_not_flush_would_be_found_out()
    {
        var lost = 0;
        for (var step = 1; ; step++)
        {
            var (disk, known) = EndAt(step, afterwards: false, flushes: false);
            if (disk is null)
                break;
            for (var seed = 0; seed < Seeds; seed++)
            {
                try
                {
                    lost += known.Contains(TextOf(Start(disk.Restart(new Random(seed))).Read("s", Grain))) ? 0 : 1;
                }
                catch (InvalidDataException)
                {
                    lost++;
                }
            }
        }

        Assert.NotEqual(0, lost);
    }

    [Fact]
    public void A_full_disk_or_missing_rights_fail_the_write_and_lose_nothing()
    {
        for (var step = 1; ; step++)
        {
            var disk = new SimulatedDisk();
            var folder = Start(disk);
            var etag = folder.TryWrite("s", Grain, null, Bytes("old"));
            var steps = disk.Steps;
            disk.FailsFrom = steps + step;
            try
            {
                folder.TryWrite("s", Grain, etag, Bytes("new"));
                break;
            }
            catch (IOException error)
            {
                Assert.Contains("No space left", error.Message, StringComparison.Ordinal);
            }

            // As long as the disk is full, the last record is read, unless nobody knows whether a new one is durable.
            disk.FailsFrom = 0;
            var read = folder.Read("s", Grain);
            Assert.Contains(TextOf(read), new[] { "old", "new" });
            Assert.DoesNotContain(disk.Names, static name => name.EndsWith(".new", StringComparison.Ordinal));
            Assert.NotNull(folder.TryWrite("s", Grain, read!.ETag, Bytes("newer")));
            for (var seed = 0; seed < Seeds; seed++)
                Assert.Equal("newer", TextOf(Start(disk.Restart(new Random(seed))).Read("s", Grain)));
        }
    }

    [Fact]
    public void A_damaged_file_is_refused_whatever_is_damaged_and_so_is_a_foreign_one()
    {
        var bytes = new StateFile("s", Bytes(Grain.ToString()), "1", Bytes("content")).Encode();
        Assert.Equal("content", TextOf(StateFile.Decode(bytes, "p")));
        for (var length = 0; length < bytes.Length; length++)
            Assert.Throws<InvalidDataException>(() => StateFile.Decode(bytes[..length], "p"));
        for (var at = 0; at < bytes.Length; at++)
        {
            var damaged = (byte[])bytes.Clone();
            damaged[at] ^= 0x10;
            var error = Assert.Throws<InvalidDataException>(() => StateFile.Decode(damaged, "the-path"));
            Assert.Contains("the-path", error.Message, StringComparison.Ordinal);
        }

        var disk = new SimulatedDisk();
        var folder = Start(disk);
        var (name, file) = StateFile.NameOf("s", GrainId.Create("account", "two"));
        disk.TryCreateDirectory(Path.Combine(Root, name));
        disk.Write(Path.Combine(Root, name, file), bytes);
        var foreign = Assert.Throws<InvalidDataException>(() => folder.Read("s", GrainId.Create("account", "two")));
        Assert.Contains("account/one", foreign.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidDataException>(() => folder.TryWrite("s", GrainId.Create("account", "two"), "1", Bytes("x")));
    }

    [Fact]
    public void A_file_of_a_newer_format_is_refused_with_its_number()
    {
        var bytes = new StateFile("s", Bytes(Grain.ToString()), "1", Bytes("content")).Encode();
        bytes[8] = 9;
        var error = Assert.Throws<InvalidDataException>(() => StateFile.Decode(bytes, "p"));
        Assert.Contains("format 9", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Every_key_has_a_file_name_of_its_own_that_any_file_system_takes()
    {
        string[] keys =
        [
            "a", "A", "../../etc/passwd", "a/b", "a\\b", "a:b", "a?b*c", "a ", ".", "CON", new string('x', 5000), new string('x', 5001),
            "ä€𝄞", "x\n\t",
        ];
        var names = keys.Select(static key => StateFile.NameOf("s/t", GrainId.Create("t", key))).ToArray();
        Assert.Equal(keys.Length, names.Select(static one => one.Folder + one.Name.ToLowerInvariant()).Distinct().Count());
        Assert.All(names, static one =>
        {
            Assert.InRange(one.Name.Length, 1, 200);
            Assert.Matches("^[a-z0-9_.]+$", one.Name);
            Assert.Matches("^[0-9a-f]{2}$", one.Folder);
        });
    }

    /// <summary>A client chooses the bytes of a key; as text, all that are no UTF-8 are the same.</summary>
    [Fact]
    public void Grains_whose_keys_are_no_text_have_records_of_their_own()
    {
        var folder = Start(new SimulatedDisk());
        GrainId[] grains = [KeyOf(0xFE), KeyOf(0xFF), KeyOf(0xFE, 0xFF), GrainId.Create("account", "\uFFFD")];
        foreach (var grain in grains)
            Assert.NotNull(folder.TryWrite("s", grain, null, Bytes(Convert.ToHexString(grain.Key.AsSpan()))));
        Assert.All(grains, grain => Assert.Equal(Convert.ToHexString(grain.Key.AsSpan()), TextOf(folder.Read("s", grain))));

        static GrainId KeyOf(params byte[] key) => new(GrainType.Create("account"), new IdSpan(key));
    }

    /// <summary>Files that were written before keep their names.</summary>
    [Fact]
    public void The_name_of_a_file_is_what_it_always_was() => Assert.Equal(
        ("48", "account.__1.s.480036b3b1b7cdd5b7d946dd1dc1ea94"), StateFile.NameOf("s", GrainId.Create("account", "\u00e4/1")));

    /// <summary>
    /// Writes, overwrites, clears and writes again, and ends at a step. Returns the disk, or null if it did not end, and the texts of which
    /// one must be there: the last acknowledged, or the one that was under way.
    /// </summary>
    private (SimulatedDisk? Disk, string[] Known) EndAt(
        int step, bool afterwards, bool flushes = true, SimulatedDisk? disk = null)
    {
        disk ??= new SimulatedDisk { Flushes = flushes };
        (disk.EndsAt, disk.EndsAfterwards) = (step, afterwards);
        var acknowledged = "none";
        var running = "none";
        string? etag = null;
        try
        {
            var folder = Start(disk);
            for (var round = 1; round <= 4; round++)
            {
                running = round == 3 ? "none" : round.ToString(CultureInfo.InvariantCulture);
                if (round == 3)
                    Assert.True(folder.TryClear("s", Grain, etag));
                etag = round == 3 ? null : folder.TryWrite("s", Grain, etag, Bytes(running));
                acknowledged = running;
            }

            return (null, []);
        }
        catch (EndedException)
        {
            return (disk, [acknowledged, running]);
        }
    }

    private void CheckAfter(SimulatedDisk disk, string[] known, bool lossOfPower)
    {
        var folder = Start(disk);
        var found = folder.Read("s", Grain);
        Assert.Contains(TextOf(found), known);
        Assert.DoesNotContain(disk.Names, static name => name.EndsWith(".new", StringComparison.Ordinal));
        Assert.Throws<InconsistentStateException>(() => folder.TryWrite("s", Grain, "never given", Bytes("x")));
        Assert.NotNull(folder.TryWrite("s", Grain, found?.ETag, Bytes("after")));
        Assert.Equal("after", TextOf(Start(disk.Restart(lossOfPower ? new Random(1) : null)).Read("s", Grain)));
    }

    private StateFolder Start(SimulatedDisk disk)
    {
        var folder = new StateFolder(disk, Root, () => (++_etags).ToString(CultureInfo.InvariantCulture));
        folder.Open();
        return folder;
    }

    private static string TextOf(StateFile? file) => file is null ? "none" : Encoding.UTF8.GetString(file.Content.Span);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
