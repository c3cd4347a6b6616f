using System.Text;
using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Streams;
using ActOp.Streams;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;
using Orleans.Streams;
using Orleans.TestingHost.Utils;

namespace ActOp.PostgreSql.Tests.Streams;

/// <summary>One queue of streams in PostgreSQL: claims and their receipts, order, confirmations, dead letters. No silo.</summary>
public sealed class StreamQueueTests(PostgresFixture postgres) : IAsyncLifetime
{
    private readonly AdoNetStreamOptions _options = new();
    private readonly StreamId _stream = StreamId.Create("ns", "key");
    private string _connectionString = null!;
    private Database _database = null!;
    private long[] _ids = null!;
    private MessageWriter _writer = null!;

    public async ValueTask InitializeAsync()
    {
        _connectionString = await postgres.CreateAsync();
        _database = PostgresFixture.Open(_connectionString);
        await using (await _database.OpenAsync(CancellationToken.None))
        {
            await SqlAsync("insert into actop_stream_queue (service_id, provider, queue) values ('s', 'p', 0), ('s', 'p', 1)");
            await SqlAsync("insert into actop_stream_reader (queue_id) select id from actop_stream_queue");
        }

        _ids = [await CountAsync("select min(id) from actop_stream_queue"), await CountAsync("select max(id) from actop_stream_queue")];
        _writer = new MessageWriter(_database, _ids, _options.ExpiryTimeout, 1000);
    }

    public async ValueTask DisposeAsync()
    {
        if (_writer is not null)
            await _writer.EndAsync();
        if (_database is not null)
            await _database.DisposeAsync();
    }

    [Fact]
    public async Task Messages_are_read_in_order_and_leave_with_their_confirmation()
    {
        await AddAsync("a", "b", "c");
        var receiver = await OpenAsync("one");
        var messages = await receiver.GetQueueMessagesAsync(2);
        Assert.Equal(["a", "b"], Texts(messages));
        Assert.Equal([1L, 2L], messages.Select(static one => one.SequenceToken.SequenceNumber));
        Assert.Equal((_stream, "key"), (messages[0].StreamId, messages[0].StreamId.GetKeyAsString()));
        Assert.Equal(["c"], Texts(await receiver.GetQueueMessagesAsync(-1)));
        Assert.Empty(await receiver.GetQueueMessagesAsync(10));

        await receiver.MessagesDeliveredAsync([messages[0]]);
        Assert.Equal("2,3", await NumbersAsync());
        await receiver.MessagesDeliveredAsync([messages[0], messages[1]]);
        Assert.Equal("3", await NumbersAsync());
    }

    [Fact]
    public async Task Of_producers_on_several_silos_each_keeps_its_order_and_no_number_is_missing()
    {
        var others = Enumerable.Range(0, 3).Select(_ => new MessageWriter(_database, _ids, _options.ExpiryTimeout, 1000)).ToArray();
        await Task.WhenAll(others.SelectMany((writer, who) => Enumerable.Range(0, 4).Select(async producer =>
        {
            for (var i = 0; i < 40; i++)
                await writer.Add(i % 2, _stream, Bytes($"{who}.{producer}:{i:00}"));
        })));
        foreach (var writer in others)
            await writer.EndAsync();
        for (var queue = 0; queue < 2; queue++)
        {
            var read = await (await OpenAsync("one", queue)).GetQueueMessagesAsync(-1);
            Assert.Equal(Enumerable.Range(1, 240).Select(static number => (long)number),
                read.Select(static one => one.SequenceToken.SequenceNumber));
            foreach (var producer in Texts(read).GroupBy(static text => text.Split(':')[0]))
                Assert.Equal(producer.Order(StringComparer.Ordinal), producer);
        }
    }

    /// <summary>A lower number that becomes visible after a higher one would never be read.</summary>
    [Fact]
    public async Task A_message_is_not_visible_before_those_that_were_numbered_earlier()
    {
        await using var connection = await _database.OpenAsync(CancellationToken.None);
        await using var transaction = await connection.BeginTransactionAsync();
        await using var earlier = new NpgsqlCommand($"""
            select id from actop_stream_queue where id = {_ids[0]} for update;
            insert into actop_stream_message (queue_id, number, namespace, key, payload, expires)
            select id, next, 'n', 'k', 'early', now() + interval '1 hour' from actop_stream_queue where id = {_ids[0]};
            update actop_stream_queue set next = next + 1 where id = {_ids[0]}
            """, connection);
        await earlier.ExecuteNonQueryAsync();
        var receiver = await OpenAsync("one");
        var later = _writer.Add(0, _stream, Bytes("late"));
        Assert.Empty(await receiver.GetQueueMessagesAsync(-1));
        Assert.False(later.IsCompleted);
        await transaction.CommitAsync();
        await later.WaitAsync(PostgresFixture.Limit);

        Assert.Equal(["early", "late"], Texts(await receiver.GetQueueMessagesAsync(-1)));
    }

    [Fact]
    public async Task A_queue_belongs_to_its_agent_until_it_stops_or_is_gone_or_silent_for_too_long()
    {
        var one = await OpenAsync("one");
        var refused = await Assert.ThrowsAsync<InvalidOperationException>(() => OpenAsync("two", timeout: TimeSpan.FromSeconds(5)));
        Assert.Contains("is read by one", refused.Message, StringComparison.Ordinal);
        await one.Shutdown(PostgresFixture.Limit);

        var two = await OpenAsync("two");
        await SqlAsync("update actop_stream_reader set lease_until = now()");
        var three = await OpenAsync("three");
        await Assert.ThrowsAsync<InvalidOperationException>(() => two.GetQueueMessagesAsync(1));
        await OpenAsync("four", isGone: static who => who == "three");
        await Assert.ThrowsAsync<InvalidOperationException>(() => three.GetQueueMessagesAsync(1));
    }

    [Fact]
    public async Task An_agent_that_has_lost_its_queue_confirms_nothing_of_the_next_one()
    {
        await AddAsync("a", "b", "c");
        var old = await OpenAsync("old");
        var atOld = await old.GetQueueMessagesAsync(2);
        await SqlAsync("update actop_stream_reader set lease_until = now()");
        var next = await OpenAsync("next");
        var atNext = await next.GetQueueMessagesAsync(-1);

        Assert.Equal(["a", "b", "c"], Texts(atNext));
        await Assert.ThrowsAsync<InvalidOperationException>(() => old.MessagesDeliveredAsync(atOld));
        await Assert.ThrowsAsync<InvalidOperationException>(() => old.GetQueueMessagesAsync(-1));
        Assert.Equal("1,2,3", await NumbersAsync());
        await next.MessagesDeliveredAsync(atNext);
        Assert.Empty(await NumbersAsync());
    }

    [Fact]
    public async Task An_agent_of_a_silo_that_was_declared_dead_does_not_take_its_queue_back()
    {
        await AddAsync("a");
        var isDead = false;
        var old = await OpenAsync("old", isGone: static _ => true, isDead: () => isDead);
        isDead = true;
        var next = await OpenAsync("next", isGone: static _ => true);
        for (var turn = 0; turn < 3; turn++)
            await Assert.ThrowsAsync<InvalidOperationException>(() => old.GetQueueMessagesAsync(-1));
        Assert.Equal(["a"], Texts(await next.GetQueueMessagesAsync(-1)));
    }

    [Fact]
    public async Task Reading_and_confirming_renew_the_time_of_the_agent()
    {
        var receiver = await OpenAsync("one");
        const string isOver = "select count(*) from actop_stream_reader where epoch > 0 and lease_until <= now()";
        await SqlAsync("update actop_stream_reader set lease_until = now()");
        Assert.Empty(await receiver.GetQueueMessagesAsync(-1));
        Assert.Equal(0, await CountAsync(isOver));
        await AddAsync("a");
        var messages = await receiver.GetQueueMessagesAsync(-1);
        await SqlAsync("update actop_stream_reader set lease_until = now()");
        await receiver.MessagesDeliveredAsync(messages);
        Assert.Equal(0, await CountAsync(isOver));
    }

    [Fact]
    public async Task What_an_agent_gives_back_was_no_attempt()
    {
        await AddAsync("a");
        for (var turn = 0; turn < 20; turn++)
        {
            var receiver = await OpenAsync("one");
            Assert.Equal(["a"], Texts(await receiver.GetQueueMessagesAsync(-1)));
            await receiver.Shutdown(PostgresFixture.Limit);
        }

        Assert.Equal(0, await CountAsync("select max(attempts) from actop_stream_message"));
    }

    /// <summary>Each agent ends when it has "poison", and confirms nothing of what it has read with it.</summary>
    [Fact]
    public async Task A_message_that_ends_its_agents_becomes_a_dead_letter_and_those_read_with_it_do_not()
    {
        await AddAsync("a", "poison", "b", "c");
        List<string> delivered = [];
        var lost = 0;
        for (var quiet = false; !quiet;)
        {
            var receiver = await OpenAsync("agent" + lost, isGone: static _ => true);
            while (true)
            {
                var messages = await receiver.GetQueueMessagesAsync(-1);
                if (quiet = messages.Count == 0)
                    break;
                if (Texts(messages).Contains("poison"))
                {
                    lost++;
                    break;
                }

                delivered.AddRange(Texts(messages));
                await receiver.MessagesDeliveredAsync(messages);
            }
        }

        Assert.Equal(_options.MaxAttempts, lost);
        Assert.Equal(["a", "b", "c"], delivered);
        Assert.Equal(1,
            await CountAsync("select count(*) from actop_stream_dead where payload = 'poison' and reason = 'attempts' and attempts = 5"));
        Assert.Equal(1, await CountAsync("select count(*) from actop_stream_dead"));
        Assert.Empty(await NumbersAsync());
    }

    [Fact]
    public async Task A_message_that_nobody_has_read_in_time_becomes_a_dead_letter()
    {
        await AddAsync("a", "b", "c");
        Assert.Equal(3, await CountAsync("select count(*) from actop_stream_message where expires = created + interval '10 minutes'"));
        var receiver = await OpenAsync("one");
        var first = await receiver.GetQueueMessagesAsync(1);
        await SqlAsync("update actop_stream_message set expires = now() where number < 3");
        Assert.Equal(["c"], Texts(await receiver.GetQueueMessagesAsync(-1)));
        Assert.Equal(
            1, await CountAsync("select count(*) from actop_stream_dead where payload = 'b' and reason = 'expired' and attempts = 0"));
        await receiver.MessagesDeliveredAsync(first);
        Assert.Equal("3", await NumbersAsync());
        Assert.Equal(1, await CountAsync("select count(*) from actop_stream_dead"));
    }

    [Fact]
    public async Task Dead_letters_go_after_their_time_in_portions_at_intervals()
    {
        var time = new Leap();
        await using var database = PostgresFixture.Open(_connectionString, time: time);
        _options.EvictionBatchSize = 2;
        _options.DeadLetterEvictionTimeout = TimeSpan.FromDays(3);
        await AddAsync("a", "b", "c", "d");
        await SqlAsync("update actop_stream_message set expires = now()");
        var receiver = await OpenAsync("one", database: database);
        Assert.Empty(await receiver.GetQueueMessagesAsync(-1));
        const string count = "select count(*) from actop_stream_dead where remove_at = died + interval '3 days'";
        Assert.Equal(4, await CountAsync(count));
        await SqlAsync(
            "update actop_stream_dead set died = died - interval '3 days', remove_at = remove_at - interval '3 days' where number < 4");
        foreach (var (leap, left) in new[] { (9, 4), (2, 2), (9, 2), (2, 1), (20, 1) })
        {
            time.Add(TimeSpan.FromSeconds(leap));
            await receiver.GetQueueMessagesAsync(-1);
            Assert.Equal(left, await CountAsync(count));
        }
    }

    [Fact]
    public async Task A_message_that_was_not_delivered_leaves_a_dead_letter()
    {
        await AddAsync("a");
        var receiver = await OpenAsync("one");
        var messages = await receiver.GetQueueMessagesAsync(-1);
        var handler = new DeadLetterHandler(Reader(0, _database), 0, "p", Log);
        for (var turn = 0; turn < 2; turn++)
            await handler.OnDeliveryFailure(GuidId.GetNewGuidId(), "p", _stream, messages[0].SequenceToken);
        await receiver.MessagesDeliveredAsync(messages);
        Assert.False(handler.ShouldFaultSubsriptionOnError);
        Assert.Empty(await NumbersAsync());
        Assert.Equal(
            1, await CountAsync("select count(*) from actop_stream_dead where payload = 'a' and reason like 'not delivered to %'"));
    }

    [Fact]
    public async Task A_confirmation_that_fails_is_repeated_before_the_next_read()
    {
        await AddAsync("a", "b");
        var receiver = await OpenAsync("one");
        var messages = await receiver.GetQueueMessagesAsync(1);
        await SqlAsync("alter table actop_stream_message rename to gone");
        await Assert.ThrowsAsync<PostgresException>(() => receiver.MessagesDeliveredAsync(messages));
        await Assert.ThrowsAsync<PostgresException>(() => receiver.GetQueueMessagesAsync(1));
        await SqlAsync("alter table gone rename to actop_stream_message");
        Assert.Equal(["b"], Texts(await receiver.GetQueueMessagesAsync(1)));
        Assert.Equal("2", await NumbersAsync());
    }

    [Fact]
    public async Task Confirmations_that_a_crash_of_the_database_takes_back_go_with_the_next_one()
    {
        await AddAsync("a", "b", "c", "d");
        var receiver = await OpenAsync("one");
        var messages = await receiver.GetQueueMessagesAsync(3);
        await SqlAsync("create table before as select * from actop_stream_message");
        await receiver.MessagesDeliveredAsync([.. messages.Take(2)]);
        await SqlAsync("""
            insert into actop_stream_message select * from before on conflict do nothing;
            update actop_stream_reader set confirmed_to = 0
            """);
        Assert.Equal("1,2,3,4", await NumbersAsync());
        await receiver.MessagesDeliveredAsync([messages[2]]);
        Assert.Equal("4", await NumbersAsync());
    }

    [Fact]
    public async Task A_message_that_the_database_refuses_fails_alone()
    {
        await SqlAsync("alter table actop_stream_message add check (length(payload) < 10)");
        var adds = Enumerable.Range(0, 20).Select(i => _writer.Add(i % 2, _stream, Bytes(i == 7 ? "much too long" : i.ToString("00"))))
            .ToArray();
        for (var i = 0; i < adds.Length; i++)
            Assert.Equal(i == 7, await Record.ExceptionAsync(() => adds[i]) is OrleansException);
        Assert.Equal(19, await CountAsync("select count(*) from actop_stream_message"));
        await NoneWaitAsync(_writer);
    }

    [Fact]
    public async Task More_messages_than_may_wait_are_refused_by_name()
    {
        await using var connection = await _database.OpenAsync(CancellationToken.None);
        await using var transaction = await connection.BeginTransactionAsync();
        await using (var hold = new NpgsqlCommand("select id from actop_stream_queue for update", connection))
            await hold.ExecuteNonQueryAsync();
        var writer = new MessageWriter(_database, _ids, _options.ExpiryTimeout, 3);
        var adds = Enumerable.Range(0, 3).Select(i => writer.Add(0, _stream, Bytes("a"))).ToArray();
        var refused = await Assert.ThrowsAsync<OrleansException>(() => writer.Add(0, _stream, Bytes("b")));
        Assert.Contains("PostgresOptions.MaxWaitingMessages", refused.Message, StringComparison.Ordinal);
        await transaction.CommitAsync();
        await Task.WhenAll(adds).WaitAsync(PostgresFixture.Limit);
        await NoneWaitAsync(writer);
        await writer.Add(0, _stream, Bytes("c")).WaitAsync(PostgresFixture.Limit);
        await writer.EndAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => writer.Add(0, _stream, Bytes("d")));
    }

    [Fact]
    public void Options_that_make_no_sense_are_named()
    {
        (string, Action<AdoNetStreamOptions>)[] wrong =
        [
            ("VisibilityTimeout", static options => options.VisibilityTimeout = TimeSpan.Zero),
            ("ExpiryTimeout", static options => options.ExpiryTimeout = TimeSpan.Zero),
            ("DeadLetterEvictionTimeout", static options => options.DeadLetterEvictionTimeout = TimeSpan.Zero),
            ("EvictionInterval", static options => options.EvictionInterval = TimeSpan.Zero),
            ("InitializationTimeout", static options => options.InitializationTimeout = TimeSpan.Zero),
            ("MaxAttempts", static options => options.MaxAttempts = 0),
            ("EvictionBatchSize", static options => options.EvictionBatchSize = 0),
        ];
        foreach (var (name, set) in wrong)
        {
            var options = new AdoNetStreamOptions();
            options.Validate();
            set(options);
            Assert.Contains("AdoNetStreamOptions." + name, Assert.Throws<OrleansConfigurationException>(options.Validate).Message,
                StringComparison.Ordinal);
        }
    }

    private static StreamsLog Log { get; } = new(NullLogger.Instance);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string[] Texts(IEnumerable<IBatchContainer> messages) =>
        [.. messages.Select(static one => Encoding.UTF8.GetString(((QueuedBatch)one).Message.Payload))];

    private QueueReader Reader(int queue, Database database) => new(database, _ids[queue], _options);

    private async Task<QueueReceiver> OpenAsync(
        string owner, int queue = 0, Func<string, bool>? isGone = null, Database? database = null, Func<bool>? isDead = null,
        TimeSpan? timeout = null)
    {
        var receiver = new QueueReceiver(
            Reader(queue, database ?? _database), new QueueOwner(owner, isGone ?? (static _ => false), isDead ?? (static () => false)),
            (uint)queue, "p", _options, Log);
        await receiver.Initialize(timeout ?? PostgresFixture.Limit);
        return receiver;
    }

    /// <summary>Who added a message may go on before the loop that has written it has put its place back.</summary>
    private static Task NoneWaitAsync(MessageWriter writer) =>
        TestingUtils.WaitUntilAsync(_ => Task.FromResult(writer.Waiting == 0), PostgresFixture.Limit, Received.Often);

    private async Task AddAsync(params string[] texts)
    {
        foreach (var text in texts)
            await _writer.Add(0, _stream, Bytes(text)).WaitAsync(PostgresFixture.Limit);
    }

    /// <summary>The messages that were not confirmed.</summary>
    private async Task<string> NumbersAsync()
    {
        await using var connection = await _database.OpenAsync(CancellationToken.None);
        await using var command =
            new NpgsqlCommand("select coalesce(string_agg(number::text, ',' order by number), '') from actop_stream_message", connection);
        return (string)(await command.ExecuteScalarAsync())!;
    }

    private async Task<long> CountAsync(string sql)
    {
        await using var connection = await _database.OpenAsync(CancellationToken.None);
        await using var command = new NpgsqlCommand(sql, connection);
        return Convert.ToInt64(await command.ExecuteScalarAsync());
    }

    private async Task SqlAsync(string sql)
    {
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    /// <summary>Stands still between leaps; its timers are the system's.</summary>
    private sealed class Leap : TimeProvider
    {
        private long _now = TimeSpan.TicksPerDay;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Add(TimeSpan time) => Interlocked.Add(ref _now, time.Ticks);

        public override long GetTimestamp() => Volatile.Read(ref _now);
    }
}
