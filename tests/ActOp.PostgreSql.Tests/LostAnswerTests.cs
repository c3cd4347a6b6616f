using System.Globalization;
using ActOp.PostgreSql.Configuration;
using Npgsql;
using Orleans.Storage;

namespace ActOp.PostgreSql.Tests;

/// <summary>
/// Batches of writes on a real server, with a connection that is cut at every step of the protocol in turn: the request is lost, or it is
/// done and its answer is lost. The writes are repeated, or given up, or cancelled while they wait.
/// </summary>
public sealed class LostAnswerTests(PostgresFixture postgres) : IAsyncLifetime
{
    private const int States = 6;

    /// <summary>The state that is cleared.</summary>
    private const int Cleared = 4;

    /// <summary>The state whose caller no longer waits.</summary>
    private const int Cancelled = 5;

    private readonly LeapingTime _time = new();
    private string _connectionString = null!;
    private CutAtStep _network = null!;

    public async ValueTask InitializeAsync()
    {
        _connectionString = await postgres.CreateAsync();
        _network = new CutAtStep(postgres.Server.Host);
    }

    public async ValueTask DisposeAsync() => await _network.DisposeAsync();

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public async Task What_was_acknowledged_is_stored_and_no_write_meets_itself_wherever_the_connection_is_cut(bool passes, bool givesUp)
    {
        var through = new NpgsqlConnectionStringBuilder(_connectionString) { Host = _network.Folder }.ConnectionString;
        await using var storage = Open(through, 1_000_000, deletes: givesUp);
        await using var direct = Open(_connectionString, 900_000_000, deletes: false);
        await direct.ReadStateAsync("s", GrainId.Create("note", "none"), new GrainState<Note>());
        await storage.ReadStateAsync("s", GrainId.Create("note", "none"), new GrainState<Note>());
        if (givesUp)
            _network.OnCut = () => _time.Leap(new PostgresOptions().RetryTime);
        var cuts = 0;
        while (true)
        {
            var states = Enumerable.Range(0, States).Select(state => new Kept(
                storage, GrainId.Create("note", cuts.ToString(CultureInfo.InvariantCulture) + "-" + state))).ToArray();
            _network.Arm(cuts + 1, passes);
            await PlayAsync(states, givesUp);
            if (!_network.Disarm())
                break;
            cuts++;
            await CheckAsync(states, direct);
        }

        // Three rounds of requests and answers at least.
        Assert.InRange(cuts, 6, 500);
    }

    /// <summary>The updates come before the insert in their transaction, and are undone with it.</summary>
    [Fact]
    public async Task No_write_is_acknowledged_before_the_whole_transaction_is_stored()
    {
        await using var storage = Open(_connectionString, 1_000_000, deletes: false);
        var states = Enumerable.Range(0, States).Select(state => new Kept(
            storage, GrainId.Create("note", state.ToString(CultureInfo.InvariantCulture)))).ToArray();
        await Task.WhenAll(states.Select(static state => state.WriteAsync(givesUp: false)));
        await using (var source = NpgsqlDataSource.Create(_connectionString))
        {
            await using var command = source.CreateCommand("""
                create function refuse() returns trigger language plpgsql as
                  $$ begin if new.grain_id like '%refused%' then raise exception 'refused'; end if; return new; end $$;
                create trigger refuse before insert on actop_state for each row execute function refuse()
                """);
            await command.ExecuteNonQueryAsync();
        }

        for (var round = 1; round <= 10; round++)
        {
            var refused = new Kept(storage, GrainId.Create("note", "refused" + round));
            var failure = Assert.ThrowsAnyAsync<OrleansException>(() => refused.WriteAsync(givesUp: false));
            await Task.WhenAll([failure, .. states.Select(static state => state.WriteAsync(givesUp: false))]);
            foreach (var state in states)
            {
                var found = new GrainState<Note>();
                await storage.ReadStateAsync("s", state.Grain, found);
                Assert.Equal(state.Acknowledged, found.State!.Number);
            }
        }
    }

    /// <summary>All are made, changed and changed again; one is cleared, and one given up. Another writer has an old version.</summary>
    private static async Task PlayAsync(Kept[] states, bool givesUp)
    {
        await Task.WhenAll(states.Select(state => state.WriteAsync(givesUp)));
        var old = states[0].State.ETag;
        using var now = new CancellationTokenSource();
        var writes = states.Select((state, index) => state.WriteAsync(givesUp, index == Cancelled ? now.Token : default)).ToArray();
        await now.CancelAsync();
        await Task.WhenAll(writes);
        var other = new Kept(states[0].Storage, states[0].Grain) { State = { ETag = old } };
        var conflict = Assert.ThrowsAsync<InconsistentStateException>(() => other.WriteAsync(givesUp));
        await Task.WhenAll(conflict, states[Cleared].ClearAsync(givesUp), states[1].WriteAsync(givesUp));
    }

    /// <summary>The next write of each state, whose last one may be in doubt, is no conflict, and nothing is lost.</summary>
    private static async Task CheckAsync(Kept[] states, AdoNetGrainStorage direct)
    {
        for (var index = 0; index < States; index++)
        {
            var found = new GrainState<Note>();
            await direct.ReadStateAsync("s", states[index].Grain, found);
            Assert.Equal(index == Cleared, !found.RecordExists);
            if (index != Cleared)
                Assert.InRange(found.State!.Number, states[index].Acknowledged, states[index].State.State!.Number);
        }

        await Task.WhenAll(states.Select(static state => state.WriteAsync(givesUp: false)));
        foreach (var state in states)
        {
            var found = new GrainState<Note>();
            await direct.ReadStateAsync("s", state.Grain, found);
            Assert.Equal(state.Acknowledged, found.State!.Number);
        }
    }

    private AdoNetGrainStorage Open(string connectionString, long firstVersion, bool deletes) => new(
        "test", new AdoNetGrainStorageOptions { GrainStorageSerializer = new Json(), DeleteStateOnClear = deletes }, "service",
        PostgresFixture.Open(connectionString, time: _time), firstVersion);

    public sealed record Note(int Number);

    /// <summary>A state, its only writer, and the last number that was acknowledged.</summary>
    private sealed class Kept(AdoNetGrainStorage storage, GrainId grain)
    {
        internal AdoNetGrainStorage Storage => storage;

        internal GrainId Grain => grain;

        internal GrainState<Note> State { get; } = new(new Note(0));

        internal int Acknowledged { get; private set; }

        /// <summary>Writes the next number; until it is acknowledged if that may fail.</summary>
        internal Task WriteAsync(bool givesUp, CancellationToken cancellationToken = default) => UntilDoneAsync(givesUp, async () =>
        {
            State.State = new Note(State.State!.Number + 1);
            try
            {
                await storage.WriteStateAsync("s", grain, State, cancellationToken).WaitAsync(
                    PostgresFixture.Limit, CancellationToken.None);
                Acknowledged = State.State.Number;
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                // Whether it was done is unknown, and its ETag says so.
            }
        });

        internal Task ClearAsync(bool givesUp) => UntilDoneAsync(givesUp, async () =>
        {
            var number = State.State!.Number;
            try
            {
                await storage.ClearStateAsync("s", grain, State).WaitAsync(PostgresFixture.Limit);
            }
            finally
            {
                State.State = new Note(number);
            }
        });

        private static async Task UntilDoneAsync(bool givesUp, Func<Task> operation)
        {
            for (var attempt = 1; ; attempt++)
            {
                try
                {
                    await operation();
                    return;
                }
                catch (OrleansException exception) when (givesUp && attempt < 3 && exception is not InconsistentStateException)
                {
                    // It was given up when the connection was cut.
                }
            }
        }
    }
}
