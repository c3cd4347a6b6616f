using ActOp.PostgreSql.Schema;
using Npgsql;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Runtime;

namespace ActOp.PostgreSql.Streams;

/// <summary>What a claim of a queue says.</summary>
/// <param name="Epoch">The receipt of the claim; 0 if the queue belongs to somebody else.</param>
/// <param name="Owner">Who had the queue; null if nobody.</param>
/// <param name="ConfirmedTo">The last number that was confirmed.</param>
/// <param name="AloneTo">The last number of a message that is read for the last time, or 0.</param>
/// <param name="Again">Messages that the owner before has read and not confirmed.</param>
/// <param name="Dead">How many of them are dead letters now.</param>
internal readonly record struct QueueClaim(
    long Epoch, string? Owner, long ConfirmedTo = 0, long AloneTo = 0, long Again = 0, long Dead = 0);

/// <summary>What a read has found.</summary>
/// <param name="IsOwner">False if another claim is newer: then nothing was read.</param>
/// <param name="Last">The last number that was read, dead letters included; 0 if there was none.</param>
/// <param name="Expired">Messages that are dead letters now.</param>
/// <param name="Messages">The others, in order.</param>
internal readonly record struct QueueRead(bool IsOwner, long Last, long Expired, List<MemoryMessageData> Messages);

/// <summary>The statements by which agents use one queue.</summary>
/// <remarks>
/// Owns nothing. Any thread. Each method is one transaction. Reads and confirmations do not wait for the disk: what a crash of the server
/// takes back is read again, and goes with the next confirmation. Claims do, and dead letters: no two agents get the same receipt, and
/// no message goes without a trace.
/// </remarks>
internal sealed class QueueReader(Database database, long queueId, AdoNetStreamOptions options)
{
    private const string Hasty = "select set_config('synchronous_commit', 'off', true)";

    private const string OwnerSql = """
        select owner, lease_until > now(), read_to, confirmed_to from actop_stream_reader where queue_id = $1 for update
        """;

    /// <summary>Between $2 and $3 is what the owner before has read and not confirmed.</summary>
    private const string CountAttemptsSql =
        "update actop_stream_message set attempts = attempts + 1 where queue_id = $1 and number > $2 and number <= $3";

    private const string GiveUpSql = """
        with gone as (
          delete from actop_stream_message where queue_id = $1 and number > $2 and attempts > 0 and attempts >= $3
          returning queue_id, number, namespace, key, created, attempts, payload
        )
        insert into actop_stream_dead (queue_id, number, namespace, key, created, attempts, payload, reason, remove_at)
        select gone.*, 'attempts', now() + $4 * interval '1 second' from gone on conflict do nothing
        """;

    private const string ClaimSql = """
        update actop_stream_reader
        set epoch = epoch + 1, owner = $2, lease_until = now() + $3 * interval '1 second', read_to = confirmed_to where queue_id = $1
        returning epoch,
            (select coalesce(max(number), 0) from actop_stream_message where queue_id = $1 and attempts > 0 and attempts >= $4 - 1)
        """;

    private const string ReadSql = """
        with found as (
          select number, namespace, key, created, attempts, payload, expires <= now() as late from actop_stream_message
          where queue_id = $1 and number > $3 and exists (select from actop_stream_reader where queue_id = $1 and epoch = $2)
          order by number limit $4
        ), noted as (
          update actop_stream_reader set read_to = greatest(read_to, coalesce(f.top, 0)), lease_until = now() + $5 * interval '1 second'
          from (select max(number) as top from found) f
          where queue_id = $1 and epoch = $2 and (f.top is not null or lease_until < now() + $5 / 2 * interval '1 second')
        ), gone as (
          delete from actop_stream_message m using found f where m.queue_id = $1 and m.number = f.number and f.late
        ), dead as (
          insert into actop_stream_dead (queue_id, number, namespace, key, created, attempts, payload, reason, remove_at)
          select $1, number, namespace, key, created, attempts, payload, 'expired', now() + $6 * interval '1 second' from found where late
          on conflict do nothing
        )
        select number, namespace, key, created, case when not late then payload end,
          case when late then set_config('synchronous_commit', null, true) end
        from found order by number
        """;

    /// <summary>
    /// By the number up to which the row says that all was confirmed, not by the agent's: a crash may have taken back what that has
    /// confirmed before.
    /// </summary>
    private const string ConfirmSql = """
        with mine as (
          select queue_id, confirmed_to from actop_stream_reader where queue_id = $1 and epoch = $2 for update
        ), noted as (
          update actop_stream_reader r
          set confirmed_to = greatest(r.confirmed_to, $3), lease_until = now() + $4 * interval '1 second' from mine
          where r.queue_id = mine.queue_id
        ), gone as (
          delete from actop_stream_message m using mine where m.queue_id = $1 and m.number > mine.confirmed_to and m.number <= $3
        )
        select exists (select from mine)
        """;

    private const string ReleaseSql = """
        update actop_stream_reader set owner = null, lease_until = now(), read_to = confirmed_to where queue_id = $1 and epoch = $2
        """;

    private const string BurySql = """
        insert into actop_stream_dead (queue_id, number, namespace, key, created, attempts, payload, reason, remove_at)
        select queue_id, number, namespace, key, created, attempts, payload, $3, now() + $4 * interval '1 second' from actop_stream_message
        where queue_id = $1 and number = $2 on conflict do nothing
        """;

    private const string EvictSql = """
        delete from actop_stream_dead where queue_id = $1 and number in (
          select number from actop_stream_dead where queue_id = $1 and remove_at <= now() order by remove_at limit $2)
        """;

    internal Database Database => database;

    /// <summary>Makes <paramref name="owner"/> the owner of the queue if nobody is, or if <paramref name="isGone"/> says so.</summary>
    internal async Task<QueueClaim> ClaimAsync(string owner, Func<string, bool> isGone, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenAsync(cancellationToken).ConfigureAwait(false);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken).ConfigureAwait(false);
        string? before;
        long readTo, confirmedTo;
        await using (var look = await ExecuteAsync(connection, cancellationToken, Database.Command(OwnerSql, Queue)).ConfigureAwait(false))
        {
            if (!await look.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                throw new InvalidOperationException(
                    "Rows of actop_stream_reader were removed: " + database.Part + " must be started again.");
            }

            before = look.IsDBNull(0) ? null : look.GetString(0);
            if (before is not null && look.GetBoolean(1) && !isGone(before))
                return new QueueClaim(0, before);
            (readTo, confirmedTo) = (look.GetInt64(2), look.GetInt64(3));
        }

        var again = await ChangeAsync(
            connection, CountAttemptsSql, cancellationToken, Queue, Number(confirmedTo), Number(readTo)).ConfigureAwait(false);
        var dead = await ChangeAsync(
            connection, GiveUpSql, cancellationToken, Queue, Number(confirmedTo), Number(options.MaxAttempts),
            Seconds(options.DeadLetterEvictionTimeout)).ConfigureAwait(false);
        await using (var claim = await ExecuteAsync(connection, cancellationToken, Database.Command(
            ClaimSql, Queue, Text(owner), Seconds(options.VisibilityTimeout), Number(options.MaxAttempts))).ConfigureAwait(false))
        {
            await claim.ReadAsync(cancellationToken).ConfigureAwait(false);
            var claimed = new QueueClaim(claim.GetInt64(0), before, confirmedTo, claim.GetInt64(1), again - dead, dead);
            await claim.DisposeAsync().ConfigureAwait(false);
            await transaction.CommitAsync(cancellationToken).ConfigureAwait(false);
            return claimed;
        }
    }

    /// <summary>The messages behind <paramref name="after"/>. Those that have expired become dead letters.</summary>
    internal async Task<QueueRead> ReadAsync(long epoch, long after, int most, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenAsync(cancellationToken).ConfigureAwait(false);
        await using var reader = await ExecuteAsync(
            connection, cancellationToken,
            Database.Command("select epoch from actop_stream_reader where queue_id = $1", Queue),
            Database.Command(Hasty),
            Database.Command(
                ReadSql, Queue, Number(epoch), Number(after), Number(most), Seconds(options.VisibilityTimeout),
                Seconds(options.DeadLetterEvictionTimeout))).ConfigureAwait(false);
        var isOwner = await reader.ReadAsync(cancellationToken).ConfigureAwait(false) && reader.GetInt64(0) == epoch;
        await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        List<MemoryMessageData> messages = [];
        long last = 0, expired = 0;
        while (await reader.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            last = reader.GetInt64(0);
            if (reader.IsDBNull(4))
                expired++;
            else
                messages.Add(Message(reader));
        }

        await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        return new QueueRead(isOwner, last, expired, messages);
    }

    /// <summary>The messages up to a number were delivered and leave the queue. False without effect if another claim is newer.</summary>
    internal async Task<bool> ConfirmAsync(long epoch, long upTo, CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenAsync(cancellationToken).ConfigureAwait(false);
        await using var reader = await ExecuteAsync(
            connection, cancellationToken, Database.Command(Hasty),
            Database.Command(
                ConfirmSql, Queue, Number(epoch), Number(upTo), Seconds(options.VisibilityTimeout))).ConfigureAwait(false);
        await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        var isMine = await reader.ReadAsync(cancellationToken).ConfigureAwait(false) && reader.GetBoolean(0);
        await reader.NextResultAsync(cancellationToken).ConfigureAwait(false);
        return isMine;
    }

    /// <summary>The owner ends: the next one need not wait, and what was read and not confirmed was no attempt.</summary>
    internal Task ReleaseAsync(long epoch, CancellationToken cancellationToken) =>
        ChangeAsync(ReleaseSql, cancellationToken, Queue, Number(epoch));

    /// <summary>A copy of the message is kept as a dead letter.</summary>
    internal Task BuryAsync(long number, string reason, CancellationToken cancellationToken) => ChangeAsync(
        BurySql, cancellationToken, Queue, Number(number), Text(reason), Seconds(options.DeadLetterEvictionTimeout));

    /// <summary>Removes dead letters whose time is over.</summary>
    internal Task EvictAsync(CancellationToken cancellationToken) =>
        ChangeAsync(EvictSql, cancellationToken, Queue, Number(options.EvictionBatchSize));

    private NpgsqlParameter Queue => Number(queueId);

    private static MemoryMessageData Message(NpgsqlDataReader reader) => new()
    {
        StreamId = StreamId.Create(reader.GetFieldValue<byte[]>(1), reader.GetFieldValue<byte[]>(2)),
        SequenceNumber = reader.GetInt64(0),
        EnqueueTimeUtc = reader.GetDateTime(3).ToUniversalTime(),
        Payload = reader.GetFieldValue<byte[]>(4),
    };

    private static async Task<NpgsqlDataReader> ExecuteAsync(
        NpgsqlConnection connection, CancellationToken cancellationToken, params NpgsqlBatchCommand[] commands)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var command in commands)
            batch.BatchCommands.Add(command);
        return await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
    }

    private async Task ChangeAsync(string sql, CancellationToken cancellationToken, params NpgsqlParameter[] parameters)
    {
        await using var connection = await database.OpenAsync(cancellationToken).ConfigureAwait(false);
        await ChangeAsync(connection, sql, cancellationToken, parameters).ConfigureAwait(false);
    }

    private static async Task<int> ChangeAsync(
        NpgsqlConnection connection, string sql, CancellationToken cancellationToken, params NpgsqlParameter[] parameters)
    {
        await using var batch = new NpgsqlBatch(connection);
        batch.BatchCommands.Add(Database.Command(sql, parameters));
        return await batch.ExecuteNonQueryAsync(cancellationToken).ConfigureAwait(false);
    }

    private static NpgsqlParameter Number(long value) => new NpgsqlParameter<long> { TypedValue = value };

    private static NpgsqlParameter Text(string value) => new NpgsqlParameter<string> { TypedValue = value };

    private static NpgsqlParameter Seconds(TimeSpan time) => new NpgsqlParameter<double> { TypedValue = time.TotalSeconds };
}
