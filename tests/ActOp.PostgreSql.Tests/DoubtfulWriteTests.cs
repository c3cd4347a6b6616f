using ActOp.PostgreSql.Storage;
using Npgsql;
using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>States after writes of which nobody knows whether they were done: given up, or with a lost answer.</summary>
public sealed class DoubtfulWriteTests(PostgresFixture postgres) : IAsyncLifetime
{
    private static readonly GrainId Grain = GrainId.Create("note", "1");

    private readonly List<AdoNetGrainStorage> _storages = [];
    private readonly LeapingTime _time = new();
    private string _connectionString = null!;
    private CutConnections _cut = null!;
    private NpgsqlDataSource _source = null!;
    private NpgsqlConnection _holder = null!;

    public async ValueTask InitializeAsync()
    {
        _connectionString = await postgres.CreateAsync();
        _cut = new CutConnections(postgres.Server.Host);
        _source = NpgsqlDataSource.Create(_connectionString);
        _holder = await _source.OpenConnectionAsync();
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var storage in _storages)
            await storage.DisposeAsync();
        await _holder.DisposeAsync();
        await _source.DisposeAsync();
        await _cut.DisposeAsync();
    }

    /// <summary>The lanes wait for a lock, so the write and the next one wait for a lane and get into one transaction.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_write_after_one_that_was_given_up_while_it_waited_succeeds(bool isNew)
    {
        var storage = Open();
        await storage.ReadStateAsync("s", Grain, new GrainState<Note>());
        var state = new GrainState<Note>(new Note(0));
        for (var round = 1; round <= 10; round++)
        {
            if (isNew)
                state.ETag = null;
            var key = isNew ? GrainId.Create("note", "new" + round) : Grain;
            if (!isNew)
                await storage.WriteStateAsync("s", key, state);
            List<Task> others = [];
            Task write;
            await using (var transaction = await _holder.BeginTransactionAsync())
            {
                await ExecuteAsync("lock table actop_state in exclusive mode");
                var sent = storage.Store.Sent;
                for (var lane = 1; lane <= StateStore.Connections; lane++)
                {
                    var other = GrainId.Create("note", "lane" + round + "-" + lane);
                    others.Add(storage.WriteStateAsync("s", other, new GrainState<Note>(new Note(lane))));
                    while (storage.Store.Sent < sent + lane)
                        await Task.Yield();
                }

                using var now = new CancellationTokenSource();
                state.State = new Note(-1);
                var givenUp = storage.WriteStateAsync("s", key, state, now.Token);
                await now.CancelAsync();
                await Assert.ThrowsAnyAsync<OperationCanceledException>(() => givenUp);
                state.State = new Note(round);
                write = storage.WriteStateAsync("s", key, state);
                await transaction.CommitAsync();
            }

            await write.WaitAsync(PostgresFixture.Limit);
            await Task.WhenAll(others).WaitAsync(PostgresFixture.Limit);
            Assert.Equal(round, await ReadAsync(storage, key));
        }
    }

    /// <summary>The server hangs in the insert when its answer is lost; it goes on, or is ended before the next operation.</summary>
    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    [InlineData(false, true)]
    public async Task A_clear_after_an_insert_of_unknown_outcome_succeeds(bool wasDone, bool deletes)
    {
        var storage = Open(deletes);
        var state = await InsertInDoubtAsync(storage, wasDone);
        await storage.ClearStateAsync("s", Grain, state).WaitAsync(PostgresFixture.Limit);
        await ReleaseAsync();
        Assert.Null(await ReadAsync(storage, Grain));
        state.State = new Note(5);
        await storage.WriteStateAsync("s", Grain, state);
        Assert.Equal(5, await ReadAsync(storage, Grain));
    }

    /// <summary>The storage of the other silo knows only what the state takes along.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task The_next_write_after_an_insert_of_unknown_outcome_succeeds_on_another_silo_too(bool wasDone)
    {
        var state = await InsertInDoubtAsync(Open(), wasDone);
        var other = Open();
        state.State = new Note(2);
        await other.WriteStateAsync("s", Grain, state).WaitAsync(PostgresFixture.Limit);
        await ReleaseAsync();
        Assert.Equal(2, await ReadAsync(other, Grain));
        await other.WriteStateAsync("s", Grain, state);
    }

    /// <summary>The first of three writes was done, the others were not, and no answer came: the fourth finds any of them.</summary>
    [Fact]
    public async Task The_write_after_several_of_unknown_outcome_succeeds_whichever_was_the_last_one_done()
    {
        await ReadAsync(Open(), Grain);
        for (var done = 0; done <= 3; done++)
        {
            var key = GrainId.Create("note", "several" + done);
            var versions = new RecordVersions([10], MayBeNone: false, []);
            for (var version = 11; version <= 13; version++)
                versions = versions.Or(version, []);
            await ExecuteAsync("insert into actop_state (service_id, state_name, grain_id, version) values ('service', 's', '"
                + key + "', " + (10 + done) + ")");
            var state = new GrainState<Note>(new Note(done), versions.Text());
            await Open().WriteStateAsync("s", key, state);
            Assert.Equal(done, await ReadAsync(Open(), key));
        }
    }

    [Fact]
    public async Task A_session_is_ended_only_if_it_is_the_one_that_was_lost()
    {
        await using var victim = await _source.OpenConnectionAsync();
        var session = (await new ServerSessions().OfAsync(victim, CancellationToken.None))!.Value;
        Assert.Equal(victim.ProcessID, session.Process);
        Assert.False(await ServerSessions.EndAsync(_holder, [session with { Began = session.Began - 1 }], CancellationToken.None));
        await using (var command = new NpgsqlCommand("select 1", victim))
            Assert.Equal(1, await command.ExecuteScalarAsync());
        Assert.True(await ServerSessions.EndAsync(_holder, [session], CancellationToken.None));
    }

    [Theory]
    [InlineData(null, null)]
    [InlineData("", null)]
    [InlineData("17", "17")]
    [InlineData("17?29", "17?29")]
    [InlineData("0?29?4711@1700000000000000", "0?29?4711@1700000000000000")]
    [InlineData("17?0", "0?17")]
    public void What_a_record_may_be_is_the_ETag(string? etag, string? same) => Assert.Equal(same, RecordVersions.Parse(etag)!.Text());

    [Theory]
    [InlineData("x")]
    [InlineData("-1")]
    [InlineData("17?")]
    [InlineData("17?x@1")]
    [InlineData("4711@1700000000000000")]
    [InlineData("99999999999999999999")]
    public void An_ETag_of_another_storage_is_none(string etag) => Assert.Null(RecordVersions.Parse(etag));

    /// <summary>The connection is cut while the server hangs in the insert, and the time for repeating it is over.</summary>
    private async Task<GrainState<Note>> InsertInDoubtAsync(AdoNetGrainStorage storage, bool wasDone)
    {
        await ReadAsync(storage, Grain);
        await ExecuteAsync("""
            create sequence runs;
            create function hang() returns trigger language plpgsql as
              $$ begin if nextval('runs') = 1 then perform pg_advisory_xact_lock(7); end if; return new; end $$;
            create trigger hang before insert on actop_state for each row execute function hang();
            select pg_advisory_lock(7)
            """);
        var state = new GrainState<Note>(new Note(1));
        var write = storage.WriteStateAsync("s", Grain, state);
        while (await ExecuteAsync("select count(*) from pg_locks where locktype = 'advisory' and not granted") is 0L)
            await Task.Yield();
        _time.Leap(new Configuration.PostgresOptions().RetryTime);
        _cut.Cut();
        var failure = await Assert.ThrowsAsync<OrleansException>(() => write.WaitAsync(PostgresFixture.Limit));
        Assert.Contains("may have been changed or not", failure.Message, StringComparison.Ordinal);
        if (wasDone)
            await ReleaseAsync();
        return state;
    }

    private async Task ReleaseAsync()
    {
        await ExecuteAsync("select pg_advisory_unlock_all()");
        while (await ExecuteAsync(
            "select count(*) from pg_stat_activity where state = 'active' and query like 'insert into actop_state%'") is not 0L)
        {
            await Task.Yield();
        }
    }

    private async Task<object?> ExecuteAsync(string sql)
    {
        await using var command = new NpgsqlCommand(sql, _holder);
        return await command.ExecuteScalarAsync();
    }

    private AdoNetGrainStorage Open(bool deletes = false)
    {
        var through = new NpgsqlConnectionStringBuilder(_connectionString) { Host = _cut.Folder }.ConnectionString;
        _storages.Add(new AdoNetGrainStorage(
            "test", new AdoNetGrainStorageOptions { GrainStorageSerializer = new Json(), DeleteStateOnClear = deletes }, "service",
            PostgresFixture.Open(through, time: _time), 1_000_000 * (_storages.Count + 1)));
        return _storages[^1];
    }

    private static async Task<int?> ReadAsync(AdoNetGrainStorage storage, GrainId grain)
    {
        var state = new GrainState<Note>();
        await storage.ReadStateAsync("s", grain, state);
        return state.RecordExists ? state.State!.Number : null;
    }

    public sealed record Note(int Number);
}
