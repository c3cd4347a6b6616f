using ActOp.Streams;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.PostgreSql.Streams;

/// <summary>Who reads queues on this node, and whom it knows to be gone.</summary>
/// <param name="Name">Cluster and silo.</param>
/// <param name="IsGone">Whether the owner with that name cannot come back.</param>
/// <param name="IsDead">Whether this node was declared dead: then its agents must leave the queues to others.</param>
internal sealed record QueueOwner(string Name, Func<string, bool> IsGone, Func<bool> IsDead);

/// <summary>Reads one queue in PostgreSQL for its agent.</summary>
/// <remarks>
/// <para>Owns a claim of the queue, whose receipt goes with every read and confirmation, and the number up to which messages were
/// delivered. Used by one agent, one call at a time, which delivers in order; continues on the thread pool.</para>
/// <para>Failures. The database is away: the call throws, the agent logs it and calls again after a pause; the claim stays, and nothing is
/// read twice. A confirmation fails: the next call repeats it, and nothing is read before it has succeeded. The database crashes and takes
/// confirmations back: the next one contains them. The claim was taken, because its time was over or this silo was thought dead:
/// confirmations with the old receipt have no effect, the call throws (event 1291), and the next one claims the queue again, unless this
/// silo was declared dead. The silo dies: the next owner gets what was not confirmed. A message ends its agents: the last attempt is made
/// with that message alone, so that what was read together with it is not given up with it. It hangs: <see cref="Limit"/> ends the
/// call.</para>
/// </remarks>
internal sealed class QueueReceiver(
    QueueReader reader, QueueOwner owner, uint queue, string provider, AdoNetStreamOptions options, StreamsLog log) : IQueueAdapterReceiver
{
    private const int MostInRead = 1024;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan PauseOfClaim = TimeSpan.FromMilliseconds(200);

    private long _epoch;
    private long _last;

    /// <summary>The last message that the agent has got, the last one that it has delivered, and the last one that is confirmed.</summary>
    private long _held;
    private long _delivered;
    private long _confirmed;
    private long _aloneTo;
    private long _evictedAt;

    /// <summary>Claims the queue; waits for an owner that is just going, and says who it is if it does not go in time.</summary>
    public Task Initialize(TimeSpan timeout) => WithinAsync(timeout, default, async cancellationToken =>
    {
        string? before = null;
        try
        {
            while ((before = await ClaimAsync(cancellationToken).ConfigureAwait(false)) is not null)
                await Task.Delay(PauseOfClaim, reader.Database.Time, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception) when (before is not null && cancellationToken.IsCancellationRequested)
        {
            throw IsReadBy(before);
        }

        return true;
    });

    public Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount) => GetQueueMessagesAsync(maxCount, default);

    public Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount, CancellationToken cancellationToken) =>
        WithinAsync(Limit, cancellationToken, within => ReadAsync(maxCount, within));

    public Task MessagesDeliveredAsync(IList<IBatchContainer> messages) => MessagesDeliveredAsync(messages, default);

    public Task MessagesDeliveredAsync(IList<IBatchContainer> messages, CancellationToken cancellationToken)
    {
        foreach (var message in messages)
            _delivered = Math.Max(_delivered, ((QueuedBatch)message).Message.SequenceNumber);
        return WithinAsync(Limit, cancellationToken, ConfirmAsync);
    }

    /// <summary>Confirms what was delivered, and gives the queue to the next agent.</summary>
    public Task Shutdown(TimeSpan timeout) => _epoch == 0 ? Task.CompletedTask : WithinAsync(timeout, default, async cancellationToken =>
    {
        await ConfirmAsync(cancellationToken).ConfigureAwait(false);
        var epoch = _epoch;
        _epoch = 0;
        await reader.ReleaseAsync(epoch, cancellationToken).ConfigureAwait(false);
        return true;
    });

    private async Task<IList<IBatchContainer>> ReadAsync(int maxCount, CancellationToken cancellationToken)
    {
        if (_epoch == 0 && await ClaimAsync(cancellationToken).ConfigureAwait(false) is { } before)
            throw IsReadBy(before);
        await ConfirmAsync(cancellationToken).ConfigureAwait(false);
        await EvictAsync(cancellationToken).ConfigureAwait(false);
        var isAlone = _last < _aloneTo;
        if (isAlone && _held > _confirmed)
            return [];
        var most = isAlone ? 1 : maxCount < 0 ? MostInRead : Math.Min(maxCount, MostInRead);
        var read = await reader.ReadAsync(_epoch, _last, most, cancellationToken).ConfigureAwait(false);
        reader.Database.NoteReached();
        if (!read.IsOwner)
            throw Taken();
        if (read.Last == 0)
        {
            _aloneTo = 0;
            return [];
        }

        _last = read.Last;
        if (read.Expired > 0)
            log.DeadLetters(read.Expired, queue, provider, "nobody has read them in time");
        if (read.Messages.Count > 0)
            _held = read.Messages[^1].SequenceNumber;
        return [.. read.Messages.Select(static message => (IBatchContainer)new QueuedBatch(message, default))];
    }

    /// <summary>Null if this is the owner now; otherwise who is.</summary>
    private async Task<string?> ClaimAsync(CancellationToken cancellationToken)
    {
        if (owner.IsDead())
            throw new InvalidOperationException("This silo was declared dead: its agents read no queues.");
        var claim = await reader.ClaimAsync(owner.Name, owner.IsGone, cancellationToken).ConfigureAwait(false);
        reader.Database.NoteReached();
        if (claim.Epoch == 0)
            return claim.Owner;
        (_epoch, _last, _aloneTo) = (claim.Epoch, claim.ConfirmedTo, claim.AloneTo);
        // What was delivered with an earlier claim belongs to the owner in between.
        (_held, _delivered, _confirmed) = (0, 0, claim.ConfirmedTo);
        if (claim.Dead > 0)
            log.DeadLetters(claim.Dead, queue, provider, "their agents were lost " + options.MaxAttempts + " times");
        if (claim.Owner is not null)
            log.QueueTakenOver(queue, provider, claim.Owner, claim.Again);
        return null;
    }

    private async Task<bool> ConfirmAsync(CancellationToken cancellationToken)
    {
        // Without a claim, what was delivered belongs to the next owner.
        if (_epoch == 0 || _delivered <= _confirmed)
            return true;
        var upTo = _delivered;
        if (!await reader.ConfirmAsync(_epoch, upTo, cancellationToken).ConfigureAwait(false))
            throw Taken();
        _confirmed = upTo;
        return true;
    }

    private async ValueTask EvictAsync(CancellationToken cancellationToken)
    {
        var time = reader.Database.Time;
        if (_evictedAt != 0 && time.GetElapsedTime(_evictedAt) < options.EvictionInterval)
            return;
        await reader.EvictAsync(cancellationToken).ConfigureAwait(false);
        _evictedAt = time.GetTimestamp();
    }

    private InvalidOperationException Taken()
    {
        _epoch = 0;
        log.QueueTaken(queue, provider);
        return new InvalidOperationException("Another agent reads the queue " + queue + " of " + provider + ".");
    }

    private InvalidOperationException IsReadBy(string other) =>
        new("The queue " + queue + " of " + provider + " is read by " + other + ".");

    /// <summary>Limits what is done, and notes a loss of the database.</summary>
    private async Task<T> WithinAsync<T>(TimeSpan longest, CancellationToken cancellationToken, Func<CancellationToken, Task<T>> work)
    {
        using var limit = new CancellationTokenSource(longest, reader.Database.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            return await work(both.Token).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            reader.Database.IsLost(exception);
            throw;
        }
    }
}

/// <summary>Keeps a copy of what could not be delivered to a subscription. Any thread; owns nothing.</summary>
/// <remarks>Fails after <see cref="Limit"/>; the agent logs it (event 1207) and goes on, and the message leaves no dead letter.</remarks>
internal sealed class DeadLetterHandler(QueueReader reader, uint queue, string provider, StreamsLog log) : IStreamFailureHandler
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    public bool ShouldFaultSubsriptionOnError => false;

    public async Task OnDeliveryFailure(
        GuidId subscriptionId, string streamProviderName, StreamId streamIdentity, StreamSequenceToken? sequenceToken)
    {
        if (sequenceToken is null)
            return;
        using var limit = new CancellationTokenSource(Limit, reader.Database.Time);
        await reader.BuryAsync(sequenceToken.SequenceNumber, "not delivered to " + subscriptionId, limit.Token).ConfigureAwait(false);
        log.DeadLetters(1, queue, provider, "not delivered to the subscription " + subscriptionId);
    }

    public Task OnSubscriptionFailure(
        GuidId subscriptionId, string streamProviderName, StreamId streamIdentity, StreamSequenceToken? sequenceToken) =>
            Task.CompletedTask;
}
