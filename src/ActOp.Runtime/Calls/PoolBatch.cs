using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Mesh;

namespace ActOp.Runtime.Calls;

/// <summary>
/// Callers outside of grains whose answers came with one read of a link. They resume one after the other on a thread of the thread pool,
/// and the frames that they send meanwhile leave in one write.
/// </summary>
/// <remarks>
/// <para>One work item per caller cost a client 4 us of processor time per call, mostly for waking threads and for writes of one frame
/// each. A caller that blocks or computes does not hold the others back: while callers wait, the batch is also in the queue of the thread
/// pool, so another thread continues with it.</para>
/// <para>Frames are deferred only while the batch is open. The thread that finds no more callers closes it. A caller may send and then
/// block until the answer comes, so the receive stage checks open batches every millisecond (<see cref="PoolBatches.CheckOpen"/>): it
/// writes the deferred frames, and closes a batch that has made no progress. After that, frames are sent directly.</para>
/// <para>One thread of the receive stage fills it before other threads see it. Then any thread runs and closes it. The gate guards the list
/// of links, which is null when the batch is closed. The receive stage alone uses the last number seen.</para>
/// </remarks>
internal sealed class PoolBatch(PoolBatches owner, Call[] calls) : IThreadPoolWorkItem
{
    /// <summary>Callers between two writes, so that the other end can start while the rest run.</summary>
    private const int CallersPerWrite = 64;

    [ThreadStatic]
    private static PoolBatch? t_current;

    private readonly Lock _gate = new();
    private List<Link>? _links = [];
    private int _next;
    private int _seenNext;
    private int _isQueued;

    /// <summary>The batch whose callers this thread runs, or null.</summary>
    internal static PoolBatch? Current => t_current;

    /// <summary>Defers a frame of one of the callers. Null, and nothing is done, if the batch is closed.</summary>
    internal SendResult? TryAppend(Link link, ReadOnlySpan<byte> frame)
    {
        lock (_gate)
        {
            if (_links is not { } links)
                return null;
            var result = link.TryAppendDeferred(frame);
            if (result == SendResult.Accepted && !links.Contains(link))
                links.Add(link);
            return result;
        }
    }

    /// <inheritdoc/>
    public void Execute()
    {
        Volatile.Write(ref _isQueued, 0);
        if (Invariant.AreChecked)
            Invariant.Holds(t_current is null);
        t_current = this;
        try
        {
            while (Interlocked.Increment(ref _next) - 1 is var index && index < calls.Length)
            {
                if (index + 1 < calls.Length)
                    QueueOnce();
                calls[index].ResumeOutside();
                if ((index + 1) % CallersPerWrite == 0)
                    Flush(close: false);
            }
        }
        finally
        {
            t_current = null;
            Close();
        }
    }

    /// <summary>
    /// Writes the deferred frames; closes the batch if it has made no progress since the last check. On the receive stage.
    /// </summary>
    internal void FlushOrClose()
    {
        var next = Volatile.Read(ref _next);
        var stands = next == _seenNext && next > 0;
        _seenNext = next;
        if (stands)
            Close();
        else
            Flush(close: false);
    }

    /// <summary>Writes the deferred frames and defers no more. Any thread, any number of times.</summary>
    internal void Close()
    {
        if (Flush(close: true))
            owner.Closed(this);
    }

    /// <summary>False if the batch was closed before.</summary>
    private bool Flush(bool close)
    {
        List<Link> links;
        lock (_gate)
        {
            if (_links is null)
                return false;
            // Callers add to the list, so it must not be read outside of the gate. It is replaced.
            if (!close && _links.Count == 0)
                return true;
            links = _links;
            _links = close ? null : [];
        }

        // The result is not needed. Frames that remain are flushed by the thread that added them, or by the poller if the socket is full.
        foreach (var link in links)
            link.Flush();
        return true;
    }

    /// <summary>Puts the batch into the queue of the thread pool, unless it is there.</summary>
    internal void QueueOnce()
    {
        if (Volatile.Read(ref _isQueued) != 0 || Interlocked.Exchange(ref _isQueued, 1) != 0)
            return;
#pragma warning disable RS0030 // Code of the application that is no grain goes on where .NET code does: on the thread pool.
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
#pragma warning restore RS0030
    }
}

/// <summary>The open batches of a node. They are checked so that a batch without progress does not defer frames.</summary>
/// <remarks>
/// The receive stage creates and checks the batches; any thread closes one. The gate guards the list and the time of the last check.
/// </remarks>
internal sealed class PoolBatches(NodeTime time)
{
    /// <summary>Between two checks, in milliseconds: a frame is deferred for about this time at most.</summary>
    private const int LookMilliseconds = 1;

    [ThreadStatic]
    private static Gathering? t_gathering;

    private readonly Lock _gate = new();
    private readonly List<PoolBatch> _open = [];
    private volatile bool _hasOpen;
    private long _lookedAt;

    /// <summary>How many milliseconds the receive stage may wait before it calls <see cref="CheckOpen"/>; -1 for no limit.</summary>
    internal int Patience => _hasOpen ? LookMilliseconds : Timeout.Infinite;

    /// <summary>From now until <see cref="EndRead"/>, callers to be resumed are collected on this thread.</summary>
    internal static void BeginRead() => (t_gathering ??= new Gathering()).IsOn = true;

    /// <summary>True if the caller resumes at the end of the read.</summary>
    internal static bool TryAdd(Call call)
    {
        if (t_gathering is not { IsOn: true } gathering)
            return false;
        gathering.Calls.Add(call);
        return true;
    }

    /// <summary>Passes the callers that were collected on this thread to the thread pool.</summary>
    internal void EndRead()
    {
        var gathering = t_gathering!;
        if (Invariant.AreChecked)
            Invariant.Holds(gathering.IsOn);
        gathering.IsOn = false;
        var calls = gathering.Calls;
        if (calls.Count > 1)
        {
            var batch = new PoolBatch(this, [.. calls]);
            lock (_gate)
            {
                _open.Add(batch);
                _hasOpen = true;
            }

            batch.QueueOnce();
        }
        else if (calls.Count == 1)
        {
#pragma warning disable RS0030 // Code of the application that is no grain goes on where .NET code does: on the thread pool.
            ThreadPool.UnsafeQueueUserWorkItem(calls[0], preferLocal: false);
#pragma warning restore RS0030
        }

        calls.Clear();
    }

    /// <summary>Checks the open batches if it is time. Called by the receive stage after each wait.</summary>
    internal void CheckOpen()
    {
        if (!_hasOpen)
            return;
        PoolBatch[] open;
        lock (_gate)
        {
            if (time.GetElapsedTime(_lookedAt).TotalMilliseconds < LookMilliseconds)
                return;
            _lookedAt = time.GetTimestamp();
            open = [.. _open];
        }

        foreach (var batch in open)
            batch.FlushOrClose();
    }

    internal void Closed(PoolBatch batch)
    {
        lock (_gate)
        {
            if (Invariant.AreChecked)
                Invariant.Holds(_open.Contains(batch));
            _open.Remove(batch);
            _hasOpen = _open.Count > 0;
        }
    }

    private sealed class Gathering
    {
        internal readonly List<Call> Calls = [];

        internal bool IsOn;
    }
}
