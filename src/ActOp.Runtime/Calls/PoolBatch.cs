using ActOp.Calls;
using ActOp.Mesh;

namespace ActOp.Runtime.Calls;

/// <summary>
/// Callers outside of grains whose answers one read of the network has brought. They go on one after the other on a thread of the pool, and
/// what they send meanwhile leaves in one write.
/// </summary>
/// <remarks>
/// <para>An item of the pool for each caller cost a client 4 us of processor time per call, most of it in waking threads and in writes of
/// one frame each. No caller waits for another: while one runs and others wait, the batch is queued in the pool once more, so a caller that
/// blocks or computes keeps the others no longer than the pool would have.</para>
/// <para>Frames are kept back only while the batch is open. Whoever finds no more callers closes it. A caller that sends and then blocks or
/// computes is not to wait for itself: the receive stage looks at open batches every millisecond (<see cref="PoolBatches.Look"/>), writes
/// what is kept back, and closes a batch that has not gone on. After the close frames go their own way.</para>
/// <para>Filled by one thread of the receive stage before anybody else sees it. Then any thread runs and closes it; the gate guards the
/// links and whether it is open.</para>
/// </remarks>
internal sealed class PoolBatch(PoolBatches owner, Call[] calls) : IThreadPoolWorkItem
{
    /// <summary>Callers between two writes: the other end has something to do while the rest run.</summary>
    private const int CallersPerWrite = 64;

    [ThreadStatic]
    private static PoolBatch? t_current;

    private readonly Lock _gate = new();
    private List<Link>? _links = [];
    private int _next;
    private int _seenNext;
    private int _isQueued;

    /// <summary>The batch whose callers this thread runs.</summary>
    internal static PoolBatch? Current => t_current;

    /// <summary>Sends a frame of one of the callers, now or when the batch has more of them.</summary>
    internal SendResult Append(Link link, ReadOnlySpan<byte> frame)
    {
        lock (_gate)
        {
            if (_links is { } links)
            {
                var result = link.TryAppendDeferred(frame);
                if (result == SendResult.Accepted && !links.Contains(link))
                    links.Add(link);
                return result;
            }
        }

        return link.TryAppend(frame);
    }

    /// <inheritdoc/>
    public void Execute()
    {
        Volatile.Write(ref _isQueued, 0);
        t_current = this;
        try
        {
            while (Interlocked.Increment(ref _next) - 1 is var index && index < calls.Length)
            {
                if (index + 1 < calls.Length)
                    QueueOnce();
                calls[index].ResumeCaller();
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

    /// <summary>The receive stage, about a millisecond after the last look.</summary>
    internal void Look()
    {
        var next = Volatile.Read(ref _next);
        var stands = next == _seenNext && next > 0;
        _seenNext = next;
        if (stands)
            Close();
        else
            Flush(close: false);
    }

    /// <summary>Writes what was kept back and keeps back nothing more. Any thread, any number of times.</summary>
    internal void Close()
    {
        if (Flush(close: true))
            owner.Closed(this);
    }

    /// <summary>False when the batch was closed before.</summary>
    private bool Flush(bool close)
    {
        List<Link> links;
        lock (_gate)
        {
            if (_links is null)
                return false;
            // The list that callers add to is not to be read outside of the gate.
            if (!close && _links.Count == 0)
                return true;
            links = _links;
            _links = close ? null : [];
        }

        // More: somebody else's frames, who flushes them himself or has asked for it. Blocked: the poller asks for it.
        foreach (var link in links)
            link.Flush();
        return true;
    }

    /// <summary>Sees to it that the pool has the batch in its queue.</summary>
    internal void QueueOnce()
    {
        if (Volatile.Read(ref _isQueued) != 0 || Interlocked.Exchange(ref _isQueued, 1) != 0)
            return;
#pragma warning disable RS0030 // Code of the application that is no grain goes on where .NET code does: on the thread pool.
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
#pragma warning restore RS0030
    }
}

/// <summary>The batches of a node that are open: one that stands still must not keep frames back.</summary>
/// <remarks>The receive stage fills and looks; any thread closes. The gate guards the list and the time of the last look.</remarks>
internal sealed class PoolBatches(TimeProvider time)
{
    /// <summary>Between two looks, in milliseconds; a frame is kept back for at most about this.</summary>
    private const int LookMilliseconds = 1;

    [ThreadStatic]
    private static Gathering? t_gathering;

    private readonly Lock _gate = new();
    private readonly List<PoolBatch> _open = [];
    private volatile bool _hasOpen;
    private long _lookedAt;

    /// <summary>For how many milliseconds the receive stage may wait before it calls <see cref="Look"/>; -1 for as long as it likes.</summary>
    internal int Patience => _hasOpen ? LookMilliseconds : Timeout.Infinite;

    /// <summary>Callers who are to go on in the pool gather on this thread until <see cref="EndRead"/>.</summary>
    internal static void BeginRead() => (t_gathering ??= new Gathering()).IsOn = true;

    /// <summary>True when the caller goes on at the end of the read.</summary>
    internal static bool TryAdd(Call call)
    {
        if (t_gathering is not { IsOn: true } gathering)
            return false;
        gathering.Calls.Add(call);
        return true;
    }

    /// <summary>Hands what has gathered on this thread to the pool.</summary>
    internal void EndRead()
    {
        var gathering = t_gathering!;
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

    /// <summary>The receive stage, after each wait.</summary>
    internal void Look()
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
            batch.Look();
    }

    internal void Closed(PoolBatch batch)
    {
        lock (_gate)
        {
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
