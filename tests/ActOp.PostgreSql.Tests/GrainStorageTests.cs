using System.Collections.Concurrent;
using ActOp.PostgreSql.Configuration;
using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Storage;
using Npgsql;
using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>States in PostgreSQL: versions, conflicts, many at once, and connections that are lost.</summary>
public sealed class GrainStorageTests(PostgresFixture postgres) : IAsyncLifetime
{
    private string _connectionString = null!;
    private AdoNetGrainStorage _storage = null!;

    public async ValueTask InitializeAsync()
    {
        _connectionString = await postgres.CreateAsync();
        _storage = Open(_connectionString, 1);
    }

    public async ValueTask DisposeAsync()
    {
        if (_storage is not null)
            await _storage.DisposeAsync();
    }

    [Fact]
    public async Task A_state_comes_back_with_its_version()
    {
        var written = new GrainState<Note>(new Note("a", 1));
        await _storage.WriteStateAsync("s", Grain(1), written);
        var read = await ReadAsync(_storage, 1);

        Assert.Equal((new Note("a", 1), written.ETag, true), (read.State, read.ETag, read.RecordExists));
        Assert.NotNull(written.ETag);
        Assert.True(written.RecordExists);
        Assert.False((await ReadAsync(_storage, 2)).RecordExists);
    }

    [Fact]
    public async Task Every_write_has_a_version_of_its_own_also_after_a_removal()
    {
        var storage = Open(_connectionString, 100, deletes: true);
        var state = new GrainState<Note>(new Note("a", 1));
        HashSet<string?> versions = [];
        for (var turn = 0; turn < 3; turn++)
        {
            await storage.WriteStateAsync("s", Grain(1), state);
            Assert.True(versions.Add(state.ETag));
            await storage.WriteStateAsync("s", Grain(1), state);
            Assert.True(versions.Add(state.ETag));
            await storage.ClearStateAsync("s", Grain(1), state);
            Assert.Equal((null, false, 0L), (state.ETag, state.RecordExists, await RowsAsync()));
            state.State = new Note("b", turn);
        }

        await storage.DisposeAsync();
    }

    [Fact]
    public async Task A_clear_that_keeps_the_record_keeps_a_version()
    {
        var state = new GrainState<Note>(new Note("a", 1));
        await _storage.WriteStateAsync("s", Grain(1), state);
        await _storage.ClearStateAsync("s", Grain(1), state);
        var read = await ReadAsync(_storage, 1);

        Assert.Equal((state.ETag, false, 1L), (read.ETag, read.RecordExists, await RowsAsync()));
        Assert.NotNull(read.ETag);
        await Assert.ThrowsAsync<InconsistentStateException>(
            () => _storage.WriteStateAsync("s", Grain(1), new GrainState<Note>(new Note("b", 2))));
        read.State = new Note("c", 3);
        await _storage.WriteStateAsync("s", Grain(1), read);
        Assert.Equal(new Note("c", 3), (await ReadAsync(_storage, 1)).State);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_clear_of_nothing_is_no_error_and_one_of_something_unknown_is(bool deletes)
    {
        var storage = Open(_connectionString, 100, deletes);
        var nothing = new GrainState<Note>();
        await storage.ClearStateAsync("s", Grain(1), nothing);
        Assert.Equal((null, 0L), (nothing.ETag, await RowsAsync()));

        await storage.WriteStateAsync("s", Grain(1), new GrainState<Note>(new Note("a", 1)));
        await Assert.ThrowsAsync<InconsistentStateException>(() => storage.ClearStateAsync("s", Grain(1), nothing));
        Assert.Equal(1L, await RowsAsync());
        await storage.DisposeAsync();
    }

    [Fact]
    public async Task A_conflict_names_both_versions_and_changes_nothing()
    {
        var one = new GrainState<Note>(new Note("a", 1));
        await _storage.WriteStateAsync("s", Grain(1), one);
        var other = await ReadAsync(_storage, 1);
        await _storage.WriteStateAsync("s", Grain(1), one);
        var stale = other.ETag;
        other.State = new Note("late", 9);

        var conflict = await Assert.ThrowsAsync<InconsistentStateException>(() => _storage.WriteStateAsync("s", Grain(1), other));

        Assert.Equal((one.ETag, stale, stale), (conflict.StoredEtag, conflict.CurrentEtag, other.ETag));
        Assert.Equal(new Note("a", 1), (await ReadAsync(_storage, 1)).State);
        await Assert.ThrowsAsync<InconsistentStateException>(
            () => _storage.WriteStateAsync("s", Grain(1), new GrainState<Note>(new Note("b", 1), "not-a-version")));
    }

    [Fact]
    public async Task Grains_whose_keys_are_no_text_are_told_apart()
    {
        byte[][] keys = [[0xFF], [0xFE], [0], [(byte)'\\', (byte)'f', (byte)'f'], [0xC3, 0xA4], "ä\\"u8.ToArray(), "a/b"u8.ToArray()];
        foreach (var key in keys)
            await _storage.WriteStateAsync("s", Grain(key), new GrainState<Note>(new Note(Convert.ToHexString(key), 1)));
        foreach (var key in keys)
        {
            var read = new GrainState<Note>();
            await _storage.ReadStateAsync("s", Grain(key), read);
            Assert.Equal(Convert.ToHexString(key), read.State!.Text);
        }
    }

    [Fact]
    public async Task Of_two_writers_of_one_version_one_succeeds_whether_they_write_together_or_apart()
    {
        await using var other = Open(_connectionString, 1_000_000);
        var states = Enumerable.Range(0, 20).ToDictionary(static key => key, static _ => new GrainState<Note>(new Note("0", 0)));
        foreach (var (key, state) in states)
            await _storage.WriteStateAsync("s", Grain(key), state);
        for (var round = 1; round <= 20; round++)
        {
            var won = 0;
            await Task.WhenAll(states.SelectMany(entry => Enumerable.Range(0, 6).Select(async writer =>
            {
                var mine = new GrainState<Note>(new Note(writer.ToString(), round), entry.Value.ETag);
                try
                {
                    await (writer % 2 == 0 ? _storage : other).WriteStateAsync("s", Grain(entry.Key), mine);
                    Interlocked.Increment(ref won);
                }
                catch (InconsistentStateException)
                {
                    // One of the others.
                }
            }))).WaitAsync(PostgresFixture.Limit);
            Assert.Equal(states.Count, won);
            foreach (var key in states.Keys.ToArray())
                states[key] = await ReadAsync(_storage, key);
            Assert.All(states.Values, state => Assert.Equal(round, state.State!.Number));
        }
    }

    [Fact]
    public async Task Of_many_that_make_a_record_one_succeeds()
    {
        var outcomes = await Task.WhenAll(Enumerable.Range(0, 30).Select(async writer =>
        {
            try
            {
                await _storage.WriteStateAsync("s", Grain(writer % 5), new GrainState<Note>(new Note("x", writer)));
                return 1;
            }
            catch (InconsistentStateException)
            {
                return 0;
            }
        })).WaitAsync(PostgresFixture.Limit);

        Assert.Equal((5, 5L), (outcomes.Sum(), await RowsAsync()));
    }

    /// <summary>The table is locked until all are asked for: few would wait while the database is faster than their caller.</summary>
    [Fact]
    public async Task States_that_are_written_at_the_same_time_share_transactions()
    {
        await _storage.WriteStateAsync("s", Grain(0), new GrainState<Note>(new Note("x", 0)));
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var holder = await source.OpenConnectionAsync();
        var before = _storage.Store.Sent;

        await TogetherAsync(key => _storage.WriteStateAsync("s", Grain(key), new GrainState<Note>(new Note("x", key))));
        await TogetherAsync(async key => Assert.Equal(key, (await ReadAsync(_storage, key)).State!.Number));

        Assert.InRange(_storage.Store.Sent - before, 2, 200);

        async Task TogetherAsync(Func<int, Task> use)
        {
            await using var transaction = await holder.BeginTransactionAsync();
            await ExecuteAsync(holder, "lock table actop_state in access exclusive mode");
            Task[] uses = [.. Enumerable.Range(1, 1_000).Select(use)];
            await transaction.CommitAsync();
            await Task.WhenAll(uses).WaitAsync(PostgresFixture.Limit);
        }
    }

    /// <summary>The index of the database would refuse a key of 8 KB; those that are sent at the same time do not notice.</summary>
    [Fact]
    public async Task A_state_that_the_database_refuses_fails_alone()
    {
        var random = new Random(1);
        var tooLong = new string([.. Enumerable.Range(0, 8_000).Select(_ => (char)random.Next('a', 'z'))]);
        var writes = Enumerable.Range(0, 50).Select(key => _storage.WriteStateAsync(
            key == 25 ? tooLong : "s", Grain(key), new GrainState<Note>(new Note("x", key)))).ToArray();

        for (var key = 0; key < writes.Length; key++)
        {
            if (key == 25)
            {
                Assert.Contains(
                    "PostgreSQL stores at most", (await Assert.ThrowsAsync<OrleansException>(() => writes[25])).Message, StringComparison.Ordinal);
            }
            else
            {
                await writes[key];
            }
        }

        Assert.Equal(49L, await RowsAsync());
    }

    [Fact]
    public async Task A_large_state_is_written_and_read()
    {
        var text = new string('x', 10_000_000);
        await Task.WhenAll(
            Enumerable.Range(0, 3).Select(key => _storage.WriteStateAsync("s", Grain(key), new GrainState<Note>(new Note(text, key)))));

        Assert.Equal(text.Length, (await ReadAsync(_storage, 2)).State!.Text.Length);
    }

    [Fact]
    public async Task A_writer_that_gave_up_waiting_can_write_again()
    {
        var state = new GrainState<Note>(new Note("a", 1));
        await _storage.WriteStateAsync("s", Grain(1), state);
        using var now = new CancellationTokenSource();
        await now.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _storage.WriteStateAsync("s", Grain(1), state, now.Token));

        // Whether it was done is unknown; the next write accepts both.
        await _storage.ReadStateAsync("other", Grain(1), new GrainState<Note>());
        state.State = new Note("b", 2);
        await _storage.WriteStateAsync("s", Grain(1), state);

        Assert.Equal(new Note("b", 2), (await ReadAsync(_storage, 1)).State);
    }

    /// <summary>
    /// The server is killed three times in the midst of the writes of 64 grains. Each write either was acknowledged, and then it or a later
    /// one is there afterwards, or it failed. No writer sees a conflict: nobody else writes its state.
    /// </summary>
    [Fact]
    public async Task No_acknowledged_write_is_lost_when_the_database_is_killed_under_load()
    {
        await using var server = await PostgresFixture.StartServerAsync();
        await using var storage = Open(server.ConnectionString, 1);
        var acknowledged = new ConcurrentDictionary<int, int>();
        using var enough = new CancellationTokenSource();
        var total = 0;
        var writers = Enumerable.Range(0, 64).Select(key => Task.Run(async () =>
        {
            var state = new GrainState<Note>(new Note("", 0));
            for (var number = 1; !enough.IsCancellationRequested; number++)
            {
                state.State = new Note(new string('x', 200), number);
                await storage.WriteStateAsync("s", Grain(key), state);
                acknowledged[key] = number;
                Interlocked.Increment(ref total);
            }
        })).ToArray();

        for (var kill = 1; kill <= 3; kill++)
        {
            while (Volatile.Read(ref total) < kill * 2_000)
                await Task.WhenAny(Task.WhenAll(writers), Task.Delay(TimeSpan.FromMilliseconds(1), TimeProvider.System));
            await server.KillAsync();
            await server.StartAgainAsync();
        }

        await enough.CancelAsync();
        await Task.WhenAll(writers).WaitAsync(PostgresFixture.Limit);
        for (var key = 0; key < writers.Length; key++)
            Assert.Equal(acknowledged[key], (await ReadAsync(storage, key)).State!.Number);
    }

    /// <summary>The database is gone for longer than the storage tries again.</summary>
    [Fact]
    public async Task A_write_whose_outcome_is_unknown_says_so_and_the_next_one_succeeds()
    {
        await using var server = await PostgresFixture.StartServerAsync();
        var time = new LeapingTime();
        await using var database = PostgresFixture.Open(server.ConnectionString, time: time);
        await using var storage = new AdoNetGrainStorage("test", Options(false), "service", database, 1);
        var state = new GrainState<Note>(new Note("a", 1));
        await storage.WriteStateAsync("s", Grain(1), state);
        await server.KillAsync();
        state.State = new Note("b", 2);
        var write = storage.WriteStateAsync("s", Grain(1), state);
        time.Leap(storage.Store.RetryTime);

        var failure = await Assert.ThrowsAsync<OrleansException>(() => write.WaitAsync(PostgresFixture.Limit));
        Assert.Contains("may have been changed or not", failure.Message, StringComparison.Ordinal);

        await server.StartAgainAsync();
        state.State = new Note("c", 3);
        await storage.WriteStateAsync("s", Grain(1), state).WaitAsync(PostgresFixture.Limit);
        Assert.Equal(new Note("c", 3), (await ReadAsync(storage, 1)).State);
    }

    [Fact]
    public async Task How_long_operations_are_repeated_is_an_option_of_the_storage()
    {
        await using var database = PostgresFixture.Open(_connectionString);
        var limits = new PostgresOptions { RetryTime = TimeSpan.FromMinutes(3) };
        await using var storage = new AdoNetGrainStorage("test", Options(false), "service", database, 1, limits: limits);
        var before = database.Time.GetTimestamp();
        var operation = storage.Store.Read(new StateKey("s", "g"));
        Assert.InRange(database.Time.GetElapsedTime(before, operation.GivenUpAt), limits.RetryTime, limits.RetryTime * 2);
        await operation.Ended.WaitAsync(PostgresFixture.Limit);
        limits.RetryTime = TimeSpan.Zero;
        var wrong = Assert.Throws<OrleansConfigurationException>(
            () => new AdoNetGrainStorage("test", Options(false), "service", database, 1, limits: limits));
        Assert.Contains("PostgresOptions.RetryTime", wrong.Message, StringComparison.Ordinal);
    }

    /// <summary>The commit was done and its answer lost: the same write is sent again and finds itself.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_write_that_was_done_before_its_answer_was_lost_is_no_conflict(bool isNew)
    {
        await using var database = PostgresFixture.Open(_connectionString);
        await using var connection = await database.OpenAsync(CancellationToken.None);
        var statements = new StateStatements("service");
        var expected = RecordVersions.None;
        if (!isNew)
        {
            var first = new StoreOperation(StateWork.Write, new StateKey("s", "g"), RecordVersions.None, [1]) { Version = 5 };
            await statements.ExecuteAsync(connection, [first], CancellationToken.None);
            expected = RecordVersions.Exactly((await first.Ended).Version!.Value);
        }

        StoreOperation[] attempts =
        [
            .. Enumerable.Range(0, 3).Select(_ =>
                new StoreOperation(StateWork.Write, new StateKey("s", "g"), expected, [2]) { Version = 7 }),
        ];
        foreach (var attempt in attempts)
            Assert.Empty(await statements.ExecuteAsync(connection, [attempt], CancellationToken.None));

        foreach (var attempt in attempts)
            Assert.Equal(new StateOutcome(false, 7), await attempt.Ended);
        var next = new StoreOperation(StateWork.Write, new StateKey("s", "g"), expected.Or(7, []), [3]) { Version = 9 };
        for (var again = new List<StoreOperation> { next }; again.Count > 0;)
            again = await statements.ExecuteAsync(connection, again, CancellationToken.None);
        Assert.Equal(new StateOutcome(false, 9), await next.Ended);
    }

    /// <summary>The server hangs in the first insert, whose connection breaks; the second one is done, and the record is removed.</summary>
    [Fact]
    public async Task An_insert_that_the_server_does_long_after_its_connection_broke_does_not_revive_a_removed_record()
    {
        await using var cut = new CutConnections(postgres.Server.Host);
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var holder = await source.OpenConnectionAsync();
        await ReadAsync(_storage, 1);
        await ExecuteAsync(holder, """
            create sequence runs;
            create function hang() returns trigger language plpgsql as
              $$ begin if nextval('runs') = 1 then perform pg_advisory_xact_lock(7); end if; return new; end $$;
            create trigger hang before insert on actop_state for each row execute function hang();
            select pg_advisory_lock(7)
            """);
        var storage = Open(new NpgsqlConnectionStringBuilder(_connectionString) { Host = cut.Folder }.ConnectionString, 100, deletes: true);
        var state = new GrainState<Note>(new Note("a", 1));
        var write = storage.WriteStateAsync("s", Grain(1), state);
        const string hanging = "select count(*) from pg_locks where locktype = 'advisory' and not granted";
        while (await ExecuteAsync(holder, hanging) is 0L)
            await Task.Yield();
        cut.Cut();
        await write.WaitAsync(PostgresFixture.Limit);
        await storage.ClearStateAsync("s", Grain(1), state);
        await ExecuteAsync(holder, "select pg_advisory_unlock(7)");
        while (await ExecuteAsync(
            holder, "select count(*) from pg_stat_activity where state = 'active' and query like 'insert into actop_state%'") is not 0L)
        {
            await Task.Yield();
        }

        Assert.Equal(0L, await RowsAsync());
        await storage.DisposeAsync();
    }

    /// <summary>Clients choose keys. Such a write took the transactions of all others apart.</summary>
    [Fact]
    public async Task A_key_that_the_database_refuses_is_refused_before_it_touches_others()
    {
        await using var database = PostgresFixture.Open(_connectionString);
        var store = new StateStore(database, "service", 1, mostWaiting: 100);
        var random = new Random(7);
        string Key(int length) => string.Concat(Enumerable.Range(0, length).Select(_ => (char)random.Next('!', '~')));
        var refused = Assert.Throws<OrleansException>(() => store.Write(new StateKey("s", Key(3_000)), RecordVersions.None, [1]));
        Assert.Contains("3001 bytes", refused.Message, StringComparison.Ordinal);
        Assert.InRange(refused.Message.Length, 1, 500);
        Assert.Throws<OrleansException>(() => store.Read(new StateKey("s\0", "g/1")));
        Assert.Equal((0, 0), (store.Sent, store.Waiting));
        var longest = store.Write(
            new StateKey("s", Key(StateStore.MostKeyBytes - "service".Length - 1)), RecordVersions.None, [1]);
        await longest.Ended.WaitAsync(PostgresFixture.Limit);
        await store.EndAsync();
        Assert.Equal(1L, await RowsAsync());
    }

    /// <summary>One operation of many that the database refuses for another reason costs the others a few transactions.</summary>
    [Fact]
    public async Task A_refused_operation_is_found_by_halves()
    {
        await using var database = PostgresFixture.Open(_connectionString);
        await using var holder = await database.OpenAsync(CancellationToken.None);
        await ExecuteAsync(holder, "alter table actop_state add constraint no_evil check (grain_id <> 'evil/1')");
        var store = new StateStore(database, "service", 1, mostWaiting: 1_000);
        List<StoreOperation> operations = [];
        await using (var transaction = await holder.BeginTransactionAsync())
        {
            await ExecuteAsync(holder, "lock table actop_state in exclusive mode");
            for (var lane = 1; lane <= StateStore.Connections; lane++)
            {
                operations.Add(store.Write(new StateKey("s", "lane" + lane), RecordVersions.None, [1]));
                while (store.Sent < lane)
                    await Task.Yield();
            }

            for (var number = 0; number < 128; number++)
                operations.Add(store.Write(new StateKey("s", number == 77 ? "evil/1" : "good/" + number), RecordVersions.None, [1]));
            await transaction.CommitAsync();
            await Task.WhenAll(operations.Select(static operation => operation.Ended.ContinueWith(
                static _ => { }, TaskScheduler.Default))).WaitAsync(PostgresFixture.Limit);
        }

        await store.EndAsync();
        Assert.Equal(130L, await RowsAsync());
        // 3 lanes, the whole, and at most two halves on each of the 7 levels.
        Assert.InRange(store.Sent, 4, 3 + 3 + 14);
    }

    [Fact]
    public async Task More_operations_than_may_wait_are_refused_by_name()
    {
        await using var database = PostgresFixture.Open(_connectionString);
        await using var holder = await database.OpenAsync(CancellationToken.None);
        var store = new StateStore(database, "service", 1, mostWaiting: 2);
        await using (var transaction = await holder.BeginTransactionAsync())
        {
            await ExecuteAsync(holder, "lock table actop_state in exclusive mode");
            List<StoreOperation> operations = [];
            for (var lane = 1; lane <= StateStore.Connections; lane++)
            {
                operations.Add(store.Write(new StateKey("s", "lane" + lane), RecordVersions.None, [1]));
                while (store.Sent < lane)
                    await Task.Yield();
            }

            operations.Add(store.Write(new StateKey("s", "a"), RecordVersions.None, [1]));
            operations.Add(store.Write(new StateKey("s", "b"), RecordVersions.None, [1]));
            Assert.Equal(2, store.Waiting);
            var refused = Assert.Throws<OrleansException>(() => store.Write(new StateKey("s", "c"), RecordVersions.None, [1]));
            Assert.Contains("PostgresOptions.MaxWaitingOperations", refused.Message, StringComparison.Ordinal);
            await transaction.CommitAsync();
            await Task.WhenAll(operations.Select(static operation => operation.Ended)).WaitAsync(PostgresFixture.Limit);
        }

        await store.EndAsync();
        Assert.Equal((5L, 0), (await RowsAsync(), store.Waiting));
    }

    [Fact]
    public async Task A_loop_that_throws_begins_again_and_is_waited_for()
    {
        await using var database = PostgresFixture.Open(_connectionString);
        var runs = 0;
        List<int> failed = [];
        List<int> returned = [];
        Lanes<int> lanes = null!;
        List<int>? Take()
        {
            if (++runs < 3)
                return [runs];
            lanes.Leave();
            return null;
        }

        lanes = new Lanes<int>(
            database, 1, Take, static (_, _) => throw new InvalidOperationException("broken on purpose"), (one, _) => failed.Add(one),
            returned.AddRange);
        Assert.True(lanes.TryEnter());
        Assert.False(lanes.TryEnter());
        lanes.Start();
        await lanes.EndedAsync().WaitAsync(PostgresFixture.Limit);
        Assert.Equal(3, runs);
        Assert.Equal([1, 2], failed);
        Assert.Equal([1, 2], returned);
        Assert.True(lanes.TryEnter());
    }

    private static async Task<object?> ExecuteAsync(NpgsqlConnection connection, string sql)
    {
        await using var command = new NpgsqlCommand(sql, connection);
        return await command.ExecuteScalarAsync();
    }

    private static GrainId Grain(int key) => GrainId.Create("note", key.ToString());

    private static GrainId Grain(byte[] key) => GrainId.Create(GrainType.Create("note"), new IdSpan(key));

    private static AdoNetGrainStorageOptions Options(bool deletes) =>
        new() { GrainStorageSerializer = new Json(), DeleteStateOnClear = deletes };

    private static AdoNetGrainStorage Open(string connectionString, long firstVersion, bool deletes = false) =>
        new("test", Options(deletes), "service", PostgresFixture.Open(connectionString), firstVersion);

    private static async Task<GrainState<Note>> ReadAsync(AdoNetGrainStorage storage, int key)
    {
        var state = new GrainState<Note>();
        await storage.ReadStateAsync("s", Grain(key), state);
        return state;
    }

    private async Task<long> RowsAsync()
    {
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var command = source.CreateCommand("select count(*) from actop_state");
        return (long)(await command.ExecuteScalarAsync())!;
    }

    public sealed record Note(string Text, int Number);
}
