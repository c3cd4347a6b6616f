using System.Text;
using ActOp.PostgreSql.Configuration;
using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;
using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>
/// States in the tables of Orleans. Hashes and rows here were taken from a database that Microsoft.Orleans.Persistence.AdoNet 10.4.2 has
/// written; ActOp.Orleans.Data.Tests runs it.
/// </summary>
public sealed class OrleansTableTests(PostgresFixture postgres) : IAsyncLifetime
{
    private static readonly Guid Guid = new("fedcba98-7654-3210-fedc-ba9876543210");

    private readonly List<AdoNetGrainStorage> _storages = [];
    private string _connectionString = null!;

    public async ValueTask InitializeAsync()
    {
        _connectionString = await postgres.CreateAsync();
        await SqlAsync(OrleansScript.Text);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var storage in _storages)
            await storage.DisposeAsync();
    }

    public static TheoryData<GrainId, int, long, long, string?> Keys => new()
    {
        { GrainId.Create(GrainType.Create("t"), GrainIdKeyExtensions.CreateIntegerKey(-1)), -641301823, 0, -1, null },
        { GrainId.Create(GrainType.Create("t"), GrainIdKeyExtensions.CreateIntegerKey(long.MinValue)), -911580987, 0, long.MinValue, null },
        { GrainId.Create(GrainType.Create("t"), GrainIdKeyExtensions.CreateIntegerKey(12, "ä+b")), -1681341867, 0, 12, "ä+b" },
        { GrainId.Create(GrainType.Create("t"), GrainIdKeyExtensions.CreateIntegerKey(13, "x")), -1390658356, 0, 13, "x" },
        { GrainId.Create("t", "Grüße, 世界 / + \\ ' \" %20"), -728604659, 0, 0, "Grüße, 世界 / + \\ ' \" %20" },
        // Hex digits count as a number, also in a text, and before a plus sign.
        { GrainId.Create("t", "0000000000000000000abc"), -1454169915, 0, 0xABC, null },
        { GrainId.Create("t", "12+text"), -1020489861, 0, 0x12, "text" },
        {
            GrainId.Create(GrainType.Create("t"), GrainIdKeyExtensions.CreateGuidKey(Guid)),
            1713071978, 3607513408948976280, 1167088121787636990, null
        },
        {
            GrainId.Create(GrainType.Create("t"), GrainIdKeyExtensions.CreateGuidKey(Guid, "order/7")),
            1862110386, 3607513408948976280, 1167088121787636990, "order/7"
        },
        { GrainId.Create("t", "0123456789abcdef0123456789abcdef"), 226093389, -3607513408948976281, -1167088121787636991, null },
    };

    [Theory]
    [MemberData(nameof(Keys))]
    public async Task A_row_that_Orleans_has_written_is_found_by_its_key(GrainId grain, int hash, long n0, long n1, string? text)
    {
        const int hashOfKept = -1089758913;
        await SqlAsync("insert into OrleansStorage values ($1, $2, $3, $4, 'kept', $5, 'service', $6, now(), 7)", hash, n0, n1, hashOfKept,
            text, Encoding.UTF8.GetBytes("""{"Text":"a","Number":1}"""));
        var storage = Open();
        var state = new GrainState<Note>();

        await storage.ReadStateAsync("kept", grain, state);
        Assert.Equal((new Note("a", 1), "7", true), (state.State, state.ETag, state.RecordExists));
        await storage.WriteStateAsync("kept", grain, state);
        Assert.Equal(("8", 8, 1L), (state.ETag, await ScalarAsync<int>("select Version from OrleansStorage"), await RowsAsync()));
    }

    [Fact]
    public async Task A_new_row_is_version_1_and_a_clear_keeps_it_without_payload_and_counts()
    {
        var storage = Open();
        var state = new GrainState<Note>(new Note("a", 1));
        await storage.WriteStateAsync("s", Grain, state);
        Assert.Equal(("1", true), (state.ETag, state.RecordExists));
        await storage.ClearStateAsync("s", Grain, state);
        Assert.Equal(("2", false), (state.ETag, state.RecordExists));
        Assert.True(await ScalarAsync<bool>("select PayloadBinary is null and Version = 2 from OrleansStorage"));

        var read = new GrainState<Note>();
        await storage.ReadStateAsync("s", Grain, read);
        Assert.Equal(("2", false), (read.ETag, read.RecordExists));
        read.State = new Note("b", 2);
        await storage.WriteStateAsync("s", Grain, read);
        Assert.Equal(("3", 1L), (read.ETag, await RowsAsync()));
    }

    [Fact]
    public async Task A_clear_that_removes_leaves_no_row_and_no_version()
    {
        var storage = Open(deletes: true);
        var state = new GrainState<Note>(new Note("a", 1));
        await storage.WriteStateAsync("s", Grain, state);
        await storage.ClearStateAsync("s", Grain, state);
        Assert.Equal((null, false, 0L), (state.ETag, state.RecordExists, await RowsAsync()));
        await storage.ClearStateAsync("s", Grain, state);
        await storage.WriteStateAsync("s", Grain, state);
        Assert.Equal("1", state.ETag);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_version_that_another_has_changed_is_a_conflict_with_both_and_changes_nothing(bool deletes)
    {
        var storage = Open(deletes);
        var one = new GrainState<Note>(new Note("a", 1));
        await storage.WriteStateAsync("s", Grain, one);
        var other = new GrainState<Note>(new Note("b", 2), "1");
        await storage.WriteStateAsync("s", Grain, one);

        foreach (var change in new[]
            {
                () => storage.WriteStateAsync("s", Grain, other), () => storage.ClearStateAsync("s", Grain, other),
            })
        {
            var conflict = await Assert.ThrowsAsync<InconsistentStateException>(change);
            Assert.Equal(("2", "1", "1"), (conflict.StoredEtag, conflict.CurrentEtag, other.ETag));
        }

        var nothing = new GrainState<Note>(new Note("c", 3));
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.WriteStateAsync("s", Grain, nothing));
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.ClearStateAsync("s", Grain, nothing));
        // An ETag of our own tables, and one of nobody.
        foreach (var etag in new[] { "9000000000000000001", "1?2", "x" })
        {
            await Assert.ThrowsAsync<InconsistentStateException>(
                () => storage.WriteStateAsync("s", Grain, new GrainState<Note>(new Note("d", 4), etag)));
        }

        Assert.Equal("2 {\"Text\":\"a\",\"Number\":1}",
            await ScalarAsync<string>("select Version || ' ' || convert_from(PayloadBinary, 'UTF8') from OrleansStorage"));
    }

    [Fact]
    public async Task Of_many_who_write_the_first_version_of_a_row_one_succeeds_and_there_is_one_row()
    {
        var storages = new[] { Open(), Open(), Open() };
        for (var key = 0; key < 20; key++)
        {
            var grain = GrainId.Create("t", "of many " + key);
            var won = 0;
            await Task.WhenAll(Enumerable.Range(0, 9).Select(async writer =>
            {
                try
                {
                    await storages[writer % 3].WriteStateAsync("s", grain, new GrainState<Note>(new Note("a", writer)));
                    Interlocked.Increment(ref won);
                }
                catch (InconsistentStateException)
                {
                    // Another one.
                }
            })).WaitAsync(PostgresFixture.Limit);
            Assert.Equal((1, key + 1L), (won, await RowsAsync()));
        }
    }

    [Fact]
    public async Task Many_operations_travel_together_and_one_that_is_refused_does_not_fail_the_others()
    {
        var storage = Open();
        // The column has 512 characters.
        var work = Enumerable.Range(0, 100).Select(key => storage.WriteStateAsync(
            "s", GrainId.Create("t", key == 50 ? new string('y', 600) : "key " + key), new GrainState<Note>(new Note("a", key)))).ToArray();
        await Task.WhenAll(work).WaitAsync(PostgresFixture.Limit).ContinueWith(static _ => { }, TaskScheduler.Default);
        Assert.Equal([50], Enumerable.Range(0, 100).Where(key => work[key].IsFaulted));
        Assert.Contains("character varying(512)", work[50].Exception!.InnerException!.Message, StringComparison.Ordinal);
        Assert.Equal(99L, await RowsAsync());
        Assert.InRange(storage.Store.Sent, 1, 60);
    }

    [Fact]
    public async Task A_write_of_unknown_outcome_leaves_the_ETag_so_that_the_next_one_conflicts_if_it_was_done()
    {
        var storage = Open();
        var state = new GrainState<Note>(new Note("a", 1));
        await storage.WriteStateAsync("s", Grain, state);
        // It was sent, the connection broke, and it or another one was done.
        await SqlAsync("update OrleansStorage set Version = Version + 1");
        await using (var connection = new NpgsqlConnection(_connectionString))
        {
            await connection.OpenAsync(TestContext.Current.CancellationToken);
            var key = Key(storage, Grain);
            var lost = new StoreOperation(StateWork.Write, key, RecordVersions.Exactly(1), [1]) { Version = 5 };
            lost.NoteLost();
            await new OrleansStatements("service", await QueriesAsync()).ExecuteAsync(
                connection, [lost], TestContext.Current.CancellationToken);
            var failed = await Assert.ThrowsAsync<OrleansException>(() => lost.Ended);
            Assert.Contains("may have been changed or not", failed.Message, StringComparison.Ordinal);
            Assert.Equal("1", lost.InDoubt(isCounted: true).Text());
        }

        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.WriteStateAsync("s", Grain, state));
    }

    [Fact]
    public async Task An_insert_of_unknown_outcome_names_the_session_that_may_still_do_it()
    {
        var insert = new StoreOperation(StateWork.Write, new StateKey("s", "g"), RecordVersions.None, [1])
        {
            Version = 5,
            Session = new ServerSession(4711, 12),
        };
        insert.NoteLost();
        Assert.Equal("?4711@12", insert.InDoubt(isCounted: true).Text()![1..]);
        Assert.Equal(insert.InDoubt(isCounted: true).Lost, RecordVersions.Parse(insert.InDoubt(isCounted: true).Text())!.Lost);
        await Task.CompletedTask;
    }

    [Fact]
    public async Task Two_rows_of_one_state_and_a_payload_that_is_no_JSON_are_errors_that_say_so()
    {
        var storage = Open();
        await storage.WriteStateAsync("s", Grain, new GrainState<Note>(new Note("a", 1)));
        await SqlAsync("update OrleansStorage set PayloadBinary = '\\x0102'");
        var unreadable = await Assert.ThrowsAsync<OrleansException>(() => storage.ReadStateAsync("s", Grain, new GrainState<Note>()));
        Assert.Contains("written with another serializer", unreadable.Message, StringComparison.Ordinal);
        await SqlAsync("insert into OrleansStorage select * from OrleansStorage");
        var several = await Assert.ThrowsAsync<OrleansException>(() => storage.ReadStateAsync("s", Grain, new GrainState<Note>()));
        Assert.Contains("several rows", several.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Keys_that_the_table_cannot_tell_apart_are_refused()
    {
        var storage = Open();
        foreach (var (name, key) in new[] { ("s", (byte[])[0xFF]), ("s", [(byte)'a', 0]), ("State`1[[X]]", [(byte)'a']) })
        {
            var refused = await Assert.ThrowsAsync<OrleansException>(() => storage.WriteStateAsync(
                name, GrainId.Create(GrainType.Create("t"), new IdSpan(key)), new GrainState<Note>(new Note("a", 1))));
            Assert.Contains("cannot be in OrleansStorage", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void The_hash_of_version_3_adds_a_number_to_keys_that_are_a_text()
    {
        var picker = new Orleans3CompatibleStorageHashPicker();
        var bytes = Encoding.UTF8.GetBytes("some text");
        var ofText = picker.PickHasher("service", "storage", "s", GrainId.Create("t", "some text"), new GrainState<Note>());
        var ofNumber = picker.PickHasher("service", "storage", "s", GrainId.Create("t", "12"), new GrainState<Note>());
        Assert.Equal(ofNumber.Hash([.. bytes, .. new byte[8]]), ofText.Hash(bytes));
        Assert.Equal(ofNumber.Hash([(byte)'s']), ofText.Hash([(byte)'s']));
        Assert.NotEqual(new OrleansDefaultHasher().Hash(bytes), ofNumber.Hash(bytes));
    }

    internal sealed record Note(string Text, int Number);

    private static GrainId Grain => GrainId.Create("t", "some text");

    private static StateKey Key(AdoNetGrainStorage storage, GrainId grain)
    {
        Assert.NotNull(storage);
        var picker = new StorageHasherPicker([new OrleansDefaultHasher()]);
        return new StateKey("s", GrainKeys.TextOf(grain))
        {
            Orleans = OrleansKey.KeyOf(picker, "service", "test", "s", grain, new GrainState<Note>()),
        };
    }

    private AdoNetGrainStorage Open(bool deletes = false)
    {
        var database = OrleansScript.Open(_connectionString, OrleansStatements.Tables(deletes));
        var options = new AdoNetGrainStorageOptions
        {
            GrainStorageSerializer = new Json(),
            DeleteStateOnClear = deletes,
            HashPicker = new StorageHasherPicker([new OrleansDefaultHasher()]),
        };
        _storages.Add(new AdoNetGrainStorage("test", options, "service", database, 1));
        return _storages[^1];
    }

    private async Task<Dictionary<string, string>> QueriesAsync()
    {
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var command = source.CreateCommand("select QueryKey, QueryText from OrleansQuery");
        await using var reader = await command.ExecuteReaderAsync();
        Dictionary<string, string> queries = [];
        while (await reader.ReadAsync())
            queries[reader.GetString(0)] = reader.GetString(1);
        return queries;
    }

    private Task<long> RowsAsync() => ScalarAsync<long>("select count(*) from OrleansStorage");

    private async Task<T> ScalarAsync<T>(string sql)
    {
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var command = source.CreateCommand(sql);
        return (T)(await command.ExecuteScalarAsync())!;
    }

    private async Task SqlAsync(string sql, params object?[] values)
    {
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var command = source.CreateCommand(sql);
        foreach (var value in values)
            command.Parameters.Add(new NpgsqlParameter { Value = value ?? DBNull.Value });
        await command.ExecuteNonQueryAsync();
    }
}

/// <summary>The tables of Orleans, as tests need them.</summary>
internal static class OrleansScript
{
    internal static string Text
    {
        get
        {
            using var reader = new StreamReader(typeof(OrleansScript).Assembly.GetManifestResourceStream("orleans.sql")!);
            return reader.ReadToEnd();
        }
    }

    internal static Database Open(string connectionString, TablePair tables, PostgresTables wanted = PostgresTables.Automatic)
    {
        var log = new PostgresLog(NullLogger.Instance);
        return new Database(
            new DatabaseChoice("Test", "TestOptions", connectionString, null, DatabaseChoice.Npgsql), 10, TimeProvider.System, log, seed: 1,
            new TableChoice(wanted, tables, "Test", "service", log));
    }
}
