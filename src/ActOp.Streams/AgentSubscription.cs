using ActOp.Foundation;
using ActOp.Runtime.Nodes;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>Delivers the batches of one stream to one subscription, in order.</summary>
/// <remarks>
/// <para>Belongs to its agent and runs on the agent's turns. Owns a cursor in the agent's cache, which holds the batches that were not
/// delivered yet, and one delivery at a time. The consumer owns nothing of it. What a consumer says is checked: how many batches it has
/// taken, and how often it wants to begin elsewhere.</para>
/// <para>A cursor that stands still holds the whole queue. So no failure may keep it where it is for longer than MaxEventDeliveryTime:
/// whatever fails besides a delivery (a cursor or a position of the application, for example) is repeated until then; after that the
/// subscription goes on behind the newest batch. If there is no cursor to be had, it gives its own back and ends at this agent, until the
/// consumer resumes it or an agent asks for the subscriptions of the stream again.</para>
/// <para>Failures. The delivery throws, or the consumer's silo dies: it is repeated after a pause, until the time limit of the batch; then
/// the observer's <c>OnErrorAsync</c> is called, the failure handler is told, and the batch is skipped. It hangs: its call times out. The
/// client that consumes is unknown to this silo: that is a failure like others, but if it stays unknown, also when there is nothing to
/// deliver any more, the subscription ends. The report is lost: the batches are delivered twice. The position that the consumer
/// wants has left the cache: its observer is told, and it begins with the oldest batch. The position cannot be compared with those of the
/// batches: its observer is told, and it goes on where it is.</para>
/// </remarks>
internal sealed class AgentSubscription : IDisposable
{
    /// <summary>Batches in one delivery.</summary>
    private const int MostInDelivery = 128;

    /// <summary>A consumer that has not taken anything may want to begin elsewhere so many times.</summary>
    private const int MostRestarts = 3;

    /// <summary>
    /// A client that is unknown for so long is gone. One that is there learns of a new silo within 2 s (<see
    /// cref="ClientMembership.MaxViewStaleness"/>), and dials a silo again after at most 5 s (MeshOptions.ReconnectMax).
    /// </summary>
    private static readonly TimeSpan LongestAbsence = TimeSpan.FromSeconds(10);

    private readonly StreamAgent _agent;
    private readonly AgentStream _stream;
    private readonly IStreamConsumerExtension _consumer;
    private readonly List<IBatchContainer> _pending = [];
    private IQueueCacheCursor _cursor;
    private StreamSequenceToken? _agreedStart;
    private long? _absentSince;
    private bool _mustAsk = true;
    private int _restarts;
    private bool _isRunning;
    private bool _hasEnded;

    internal AgentSubscription(StreamAgent agent, AgentStream stream, SubscriptionEntry entry, IQueueCacheCursor cursor)
    {
        _agent = agent;
        _stream = stream;
        Entry = entry;
        _cursor = cursor;
        _consumer = agent.Parts.Reference<IStreamConsumerExtension>(entry.Consumer);
    }

    internal SubscriptionEntry Entry { get; }

    /// <summary>No delivery is under way, and none is due.</summary>
    internal bool IsIdle => !_isRunning;

    /// <summary>The observer may want to begin elsewhere.</summary>
    internal void AskAgain()
    {
        _mustAsk = true;
        Wake();
    }

    /// <summary>Tells a cursor of a cache of the application that there is more. If it throws, the next read shows why.</summary>
    internal void Refresh(StreamSequenceToken token)
    {
        try
        {
            _cursor.Refresh(token);
        }
        catch (Exception exception)
        {
            _agent.QueueBorder.Failed("Refresh of " + _cursor.GetType(), exception);
        }
    }

    /// <summary>There may be something to deliver.</summary>
    internal void Wake()
    {
        if (_isRunning || _hasEnded)
            return;
        _isRunning = true;
        _agent.Follow(RunAsync());
    }

    /// <summary>The batches that were not delivered are given up.</summary>
    public void Dispose()
    {
        _hasEnded = true;
        _agent.QueueBorder.Release(_cursor);
    }

    private async Task RunAsync()
    {
        Invariant.Holds(_isRunning && _pending.Count == 0);
        var hasDelivered = false;
        try
        {
            var began = _agent.Parts.Now;
            for (int failures = 0, looks = 0; !_hasEnded && !_agent.IsStopping;)
            {
                try
                {
                    if (await StepAsync())
                        (hasDelivered, looks) = (true, 0);
                    else if (_absentSince is null || !await LookAgainAsync(looks++))
                        break;
                    (began, failures) = (_agent.Parts.Now, 0);
                }
                catch (Exception exception)
                {
                    await RecoverAsync(exception, began, failures++);
                }
            }
        }
        finally
        {
            _isRunning = false;
            _pending.Clear();
            if (hasDelivered && !_hasEnded && !_agent.IsStopping)
                _agent.Reports.Drained(_stream.Id, Entry.Id);
            _agent.OnIdle();
        }
    }

    /// <summary>Delivers what can be read now. False if there is nothing.</summary>
    private async ValueTask<bool> StepAsync()
    {
        if (_mustAsk)
            await AskAsync();
        if (_hasEnded)
            return false;
        // What came while the consumer was being asked must be asked about too: nobody may wake a quiet stream.
        if (!await ReadAsync())
            return _mustAsk;
        await DeliverAsync();
        _agent.OnProgress();
        return true;
    }

    /// <summary>
    /// Nothing is to be delivered to a client that was unknown last: asks it again after a pause, so that its subscription does not outlive
    /// it. False if it has ended.
    /// </summary>
    private async Task<bool> LookAgainAsync(int failures)
    {
        await _agent.PauseAfterFailureAsync(failures);
        _mustAsk = true;
        return !_hasEnded;
    }

    /// <summary>Something else than a delivery has failed. It must not hold the queue for longer than a delivery may.</summary>
    private async Task RecoverAsync(Exception failure, long began, int failures)
    {
        if (_hasEnded || _agent.IsStopping)
            return;
        if (failures == 0)
            _agent.Parts.Log.DeliveryFailed(_stream.Id, Entry.Consumer, failure);
        if (_agent.Parts.Now - began < (long)_agent.Options.MaxEventDeliveryTime.TotalMilliseconds)
        {
            await _agent.PauseAfterFailureAsync(failures);
            return;
        }

        _agent.Parts.Log.ItemSkipped(_stream.Id, Entry.Consumer, failure);
        var held = _cursor;
        try
        {
            _cursor = QueueBorder.NewCursor(_agent.Cache, _stream.Id, null);
            _agent.QueueBorder.Release(held);
        }
        catch (Exception exception)
        {
            _agent.Parts.Log.DeliveryFailed(_stream.Id, Entry.Consumer, exception);
            Dispose();
            _agent.Drop(_stream, Entry);
            return;
        }

        _agent.OnProgress();
        await TellAsync(failure);
    }

    /// <summary>Asks the consumer where to begin. A new observer is in no hurry, so a failure is found by the first delivery.</summary>
    private async Task AskAsync()
    {
        _mustAsk = false;
        try
        {
            var start = await _consumer.GetStart(Entry.Id);
            _absentSince = null;
            if (start is not null && !_hasEnded)
                await RestartAsync(start);
        }
        catch (Exception exception)
        {
            if (!NoteAbsence(exception))
                _agent.Parts.Log.DeliveryFailed(_stream.Id, Entry.Consumer, exception);
        }
    }

    /// <summary>Reads what the filter lets through, without giving it up in the cache. False if there is nothing.</summary>
    private async ValueTask<bool> ReadAsync()
    {
        _pending.Clear();
        if (_cursor is SimpleQueueCacheCursor own)
        {
            own.Peek(_pending, MostInDelivery);
            if (_pending.Count == 0)
                own.Skip(0);
        }
        else
        {
            await ReadForeignAsync(Math.Max(1, _agent.Options.BatchContainerBatchSize));
        }

        return _pending.Count > 0;
    }

    /// <summary>
    /// Reads a cursor of the application. So many messages in a row that cannot be read are a failure, as is one that is not there.
    /// </summary>
    private async ValueTask ReadForeignAsync(int most)
    {
        for (var failures = 0; _pending.Count < most && !_hasEnded && !_agent.IsStopping;)
        {
            var moved = _cursor.MoveNextWithResult();
            if (moved.Kind == QueueCacheCursorMoveResultKind.CacheMiss)
                throw moved.CacheMiss!.Value.ToException();
            if (moved.Kind != QueueCacheCursorMoveResultKind.Success)
                break;
            var batch = _cursor.GetCurrent(out var failure);
            if (batch is not null)
                _pending.Add(batch);
            else if (failure is null)
                throw new InvalidOperationException("The cursor " + _cursor.GetType() + " has moved to a message and has none.");
            if (failure is null)
                continue;
            await TellAsync(failure);
            if (++failures == MostInDelivery)
                throw new InvalidOperationException("The cursor " + _cursor.GetType() + " has no message that can be read.", failure);
        }
    }

    private async Task DeliverAsync()
    {
        var began = _agent.Parts.Now;
        for (var attempt = 0; _pending.Count > 0 && !_hasEnded && !_agent.IsStopping;)
        {
            if (NextWanted() is not { Length: > 0 } wanted)
                continue;
            var report = await SendAsync(wanted);
            if (_hasEnded)
                return;
            if (report.Restart is { } start)
            {
                _restarts++;
                Invariant.Holds(_restarts <= MostRestarts);
                await RestartAsync(start);
                return;
            }

            if (report.Taken > 0)
            {
                (_agreedStart, _restarts) = (null, 0);
                if (!report.HasNobody)
                    _agent.Reports.Delivered(_stream.Id, Entry, _consumer, _pending, report.Taken);
                Invariant.Holds(report.Taken <= _pending.Count);
                Passed(report.Taken);
                (began, attempt) = (_agent.Parts.Now, 0);
            }

            if ((report.Error ?? ErrorOfNoneTaken(report)) is not { } error)
                continue;
            _cursor.RecordDeliveryFailure();
            if (_agent.Parts.Now - began >= (long)_agent.Options.MaxEventDeliveryTime.TotalMilliseconds)
            {
                await SkipAsync(error);
                (began, attempt) = (_agent.Parts.Now, 0);
                continue;
            }

            if (attempt == 0)
                _agent.Parts.Log.DeliveryFailed(_stream.Id, Entry.Consumer, error);
            await _agent.PauseAfterFailureAsync(attempt++);
        }
    }

    /// <summary>
    /// The batches up to the next one that the filter refuses, after it has passed those that it refuses before them. It is asked once
    /// about each, so that an answer that changes cannot make an empty delivery.
    /// </summary>
    private IBatchContainer[] NextWanted()
    {
        if (!_agent.HasFilter)
            return [.. _pending];
        var refused = 0;
        while (refused < _pending.Count && !_agent.IsWanted(_stream.Id, _pending[refused], Entry.FilterData))
            refused++;
        if (refused > 0)
            Passed(refused);
        return _pending.Count == 0 ? []
            : [_pending[0], .. _pending.Skip(1).TakeWhile(batch => _agent.IsWanted(_stream.Id, batch, Entry.FilterData))];
    }

    /// <summary>A consumer that takes nothing and says nothing would be asked for ever.</summary>
    private static InvalidOperationException? ErrorOfNoneTaken(DeliveryReport report) =>
        report.Taken > 0 ? null : new InvalidOperationException("The consumer has taken nothing.");

    /// <summary>One delivery.</summary>
    private async ValueTask<DeliveryReport> SendAsync(IBatchContainer[] wanted)
    {
        try
        {
            var report = await _consumer.Deliver(Entry.Id, _stream.Qualified, new DeliveryBatch(wanted), _agreedStart);
            _absentSince = null;
            return Checked(report, wanted.Length);
        }
        catch (Exception exception)
        {
            NoteAbsence(exception);
            return new DeliveryReport(0, null, exception);
        }
    }

    /// <summary>What a consumer may say about a delivery of so many batches; anything else is a failure of the delivery.</summary>
    private DeliveryReport Checked(DeliveryReport report, int sent) =>
        report.Taken < 0 || report.Taken > sent
            ? Failed("The consumer says that it has taken " + report.Taken + " of " + sent + " batches.")
        : report.Restart is not null && report.Taken > 0 ? Failed("The consumer has taken batches and wants to begin elsewhere.")
        : report.Restart is not null && _restarts >= MostRestarts ? Failed("The consumer wants to begin elsewhere again and again.")
        : report;

    private static DeliveryReport Failed(string reason) => new(0, null, new InvalidOperationException(reason));

    /// <summary>The first batches are done with.</summary>
    private void Passed(int count)
    {
        _pending.RemoveRange(0, count);
        (_cursor as SimpleQueueCacheCursor)?.Skip(count);
        _agent.OnProgress();
    }

    /// <summary>The batch could not be delivered in time.</summary>
    private async Task SkipAsync(Exception error)
    {
        var token = _pending[0].SequenceToken;
        var failure = new StreamEventDeliveryFailureException(
            "The item at " + token + " of the stream " + _stream.Qualified + " was not delivered to " + Entry.Consumer + " within "
            + _agent.Options.MaxEventDeliveryTime + ".", error);
        _agent.Parts.Log.ItemSkipped(_stream.Id, Entry.Consumer, failure);
        await TellAsync(failure);
        if (_hasEnded)
            return;
        if (await _agent.ReportAsync(_stream, Entry, token))
        {
            Dispose();
            return;
        }

        if (_pending.Count > 0)
            Passed(1);
    }

    private async Task TellAsync(Exception failure)
    {
        try
        {
            await _consumer.Fail(Entry.Id, _stream.Qualified, failure);
        }
        catch (Exception exception)
        {
            if (!NoteAbsence(exception))
                _agent.Parts.Log.DeliveryFailed(_stream.Id, Entry.Consumer, exception);
        }
    }

    private async Task RestartAsync(StreamSequenceToken start)
    {
        _pending.Clear();
        _agreedStart = start;
        Exception? failure = null;
        var cursor = _cursor;
        try
        {
            cursor = QueueBorder.NewCursor(_agent.Cache, _stream.Id, start);
        }
        catch (DataNotAvailableException exception)
        {
            failure = exception;
            cursor = QueueBorder.NewCursorAtOldest(_agent.Cache, _stream.Id);
        }
        catch (Exception exception)
        {
            failure = exception;
        }

        if (!ReferenceEquals(cursor, _cursor))
            _agent.QueueBorder.Release(_cursor);
        _cursor = cursor;
        if (failure is not null)
            await TellAsync(failure);
    }

    /// <summary>
    /// True if a call has failed because the consumer is a client that this silo does not know. If that lasts, the client is gone, and the
    /// subscription ends here. The code of a grain may say the same of a client that the grain calls: the grain is there.
    /// </summary>
    private bool NoteAbsence(Exception failure)
    {
        if (failure is not ClientNotAvailableException || !SystemGrainIds.IsSystemGrain(Entry.Consumer))
            return false;
        _absentSince ??= _agent.Parts.Now;
        if (_agent.Parts.Now - _absentSince >= (long)LongestAbsence.TotalMilliseconds)
            End();
        return true;
    }

    /// <summary>The consumer was a client that is gone for ever.</summary>
    private void End()
    {
        if (_hasEnded)
            return;
        Dispose();
        _agent.OnConsumerGone(_stream, Entry);
    }
}
