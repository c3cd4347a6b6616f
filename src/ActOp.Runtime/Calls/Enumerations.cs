using ActOp.Runtime.Activations;
using Microsoft.Extensions.Logging;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Runtime.Calls;

/// <summary>The enumerations of one activation that others consume: the producer's end.</summary>
/// <remarks>
/// <para>On the turns of the activation. Calls interleave, so several enumerations run beside each other and beside other calls.</para>
/// <para>Holds an enumerator and a source for each enumeration, from its first call until: its end or failure, which the consumer gets with
/// the next answer; the consumer's DisposeAsync; its cancellation; a pause of a response timeout (checked once in such a time); or the end
/// of the activation, when waiting calls are answered at once. The enumerator is disposed then; if its producer is still busy and ignores
/// its token, it is disposed when the producer has ended. A failure of that is logged.</para>
/// <para>A second start with the same id replaces the first one; a second disposal finds nothing.</para>
/// </remarks>
internal sealed class Enumerations : IAsyncEnumerableGrainExtension, IDisposable
{
    /// <summary>
    /// The most items of one answer, whatever the consumer wants: a producer that never waits would otherwise fill the memory of its silo,
    /// and keep its turn for as long. About ten times the default, so that larger answers would save little.
    /// </summary>
    internal const int MaxBatch = 1_024;

    /// <summary>
    /// An answer ends after so many milliseconds with the items that it has, so that other calls of the grain get their turns: an item may
    /// take long to make. By the coarse clock, so it may be some tens of milliseconds more.
    /// </summary>
    internal const long LongestBatchMs = 20;

    /// <summary>Of one activation; further ones are refused.</summary>
    private const int MaxOpen = 10_000;

    private readonly Dictionary<Guid, Enumeration> _open = [];
    private readonly Activation _activation;
    private readonly TimeSpan _idleTime;
    private ITimer? _timer;

    internal Enumerations(Activation activation)
    {
        _activation = activation;
        _idleTime = activation.Parts.Local.ResponseTimeout;
        activation.Extras.Ending += EndAll;
        activation.Extras.Enumerations = this;
    }

    /// <summary>Enumerations that are open: as long as there are, the runtime neither moves nor collects the grain. Any thread.</summary>
    internal int Count => _open.Count;

    public ValueTask<(EnumerationResult Status, object? Value)> StartEnumeration<T>(
        Guid requestId, IAsyncEnumerableRequest<T> request, CancellationToken cancellationToken)
    {
        if (_open.Count >= MaxOpen)
        {
            throw new LimitExceededException(
                MaxOpen + " enumerations of " + _activation.GrainId + " are open. The enumeration " + request.GetActivityName()
                    + " was refused.");
        }

        if (_open.Remove(requestId, out var other))
            other.End();
        EnsureTimer();
        request.SetTarget(_activation);
        var enumeration = new Enumeration<T>(_activation, request);
        _open.Add(requestId, enumeration);
        return NextAsync(requestId, enumeration, cancellationToken);
    }

    public ValueTask<(EnumerationResult Status, object? Value)> MoveNext<T>(Guid requestId, CancellationToken cancellationToken) =>
        _open.TryGetValue(requestId, out var found) && found is Enumeration<T> { IsBusy: false } enumeration
            ? NextAsync(requestId, enumeration, cancellationToken)
            : new((EnumerationResult.MissingEnumeratorError, null));

    public ValueTask DisposeAsync(Guid requestId) => _open.Remove(requestId, out var enumeration) ? enumeration.DisposeAsync() : default;

    /// <summary>The activation has ended.</summary>
    public void Dispose()
    {
        _timer?.Dispose();
        EndAll();
    }

    private async ValueTask<(EnumerationResult Status, object? Value)> NextAsync(
        Guid id, Enumeration enumeration, CancellationToken cancellationToken)
    {
        var answer = enumeration.TryNext() ?? await enumeration.NextAsync(_idleTime / 2, cancellationToken);
        enumeration.Use();
        const EnumerationResult GoesOn = EnumerationResult.Heartbeat | EnumerationResult.Element | EnumerationResult.Batch;
        if ((answer.Status & ~GoesOn) == 0)
            return answer;
        // A later start with the same id may have replaced this one.
        if (_open.TryGetValue(id, out var open) && ReferenceEquals(open, enumeration))
            _open.Remove(id);
        enumeration.End();
        if (answer.Value is InconsistentStateException conflict && answer.Status == EnumerationResult.Error)
            _activation.Life.EndInconsistent(_activation, conflict);
        return answer;
    }

    private void EndAll()
    {
        foreach (var enumeration in _open.Values)
            enumeration.Abort();
        _open.Clear();
    }

    private void EnsureTimer()
    {
        if (_timer is not null || _idleTime <= TimeSpan.Zero)
            return;
        _timer = _activation.Parts.Local.Time.CreateTimer(static state => ((Enumerations)state!).OnDue(), this, _idleTime, _idleTime);
        // Ended with the activation. No timer of the grain, which would keep it from migrating for ever.
        _activation.Extras.AddTimer(this);
    }

    private void OnDue() => _activation.Enqueue(new ActionItem(static state => ((Enumerations)state!).EndIdle(), this));

    private void EndIdle()
    {
        var now = _activation.Parts.Local.Clock.Now;
        foreach (var (id, enumeration) in _open)
        {
            if (!enumeration.IsIdle(now - (long)_idleTime.TotalMilliseconds))
                continue;
            _open.Remove(id);
            enumeration.End();
        }

        if (_open.Count > 0)
            return;
        _timer?.Dispose();
        _timer = null;
        _activation.RemoveTimer(this);
    }
}

/// <summary>One enumeration of an activation. On its turns.</summary>
internal abstract class Enumeration
{
    private readonly Activation _activation;
    private readonly CancellationTokenSource _source = new();
    private long _usedAt;
    private bool _isAborted;
    private bool _isEnded;

    protected Enumeration(Activation activation)
    {
        _activation = activation;
        Token = _source.Token;
        _usedAt = activation.Parts.Local.Clock.Now;
    }

    /// <summary>Coarse time in milliseconds.</summary>
    protected long Now => _activation.Parts.Local.Clock.Now;

    /// <summary>A call waits for items.</summary>
    internal bool IsBusy { get; private set; }

    /// <summary>Also valid when the source was disposed.</summary>
    protected CancellationToken Token { get; }

    /// <summary>Somebody gets an answer, also if it has not waited.</summary>
    internal void Use() => _usedAt = Now;

    /// <summary>Nobody has asked for items since coarse time <paramref name="since"/>.</summary>
    internal bool IsIdle(long since) => !IsBusy && _usedAt <= since;

    /// <summary>The items that are there without waiting; null if there are none.</summary>
    internal abstract (EnumerationResult Status, object? Value)? TryNext();

    /// <summary>The items that are there as soon as there are any, or a sign of life.</summary>
    internal async ValueTask<(EnumerationResult Status, object? Value)> NextAsync(TimeSpan heartbeat, CancellationToken cancellationToken)
    {
        Invariant.Holds(!IsBusy);
        IsBusy = true;
        using var registration = cancellationToken.UnsafeRegister(static state => ((Enumeration)state!).Cancel(), this);
        try
        {
            // Waiting for no longer than the call lasts; an answer that never comes does not wait for ever either.
            await Pending.WaitAsync(heartbeat > TimeSpan.Zero
                ? heartbeat : Timeout.InfiniteTimeSpan, _activation.Parts.Local.TaskTime, Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
        finally
        {
            IsBusy = false;
            Use();
        }

        if (_isAborted)
            return (EnumerationResult.MissingEnumeratorError, null);
        if (!_isEnded && TryNext() is { } answer)
            return answer;
        return _source.IsCancellationRequested ? (EnumerationResult.Canceled, null) : (EnumerationResult.Heartbeat, null);
    }

    /// <summary>The step of the producer that runs.</summary>
    protected abstract Task Pending { get; }

    /// <summary>Ends it; the call that waits is told that the grain does not know the enumeration any more.</summary>
    internal void Abort()
    {
        _isAborted = true;
        End();
    }

    /// <summary>Ends it without waiting. Comes twice if a call waited.</summary>
    internal void End() => _ = EndAsync();

    /// <summary>The task does not fail, so nobody needs it.</summary>
    private async Task EndAsync()
    {
        if (_isEnded)
            return;
        try
        {
            await DisposeAsync(waits: true);
        }
        catch (Exception exception)
        {
            EnumerationLog.DisposalFailed(_activation.Parts.Local.Log.Logger, _activation.GrainId, exception);
        }
    }

    /// <summary>Ends it; if the producer is busy, it is disposed later.</summary>
    internal ValueTask DisposeAsync()
    {
        Cancel();
        if (Pending.IsCompleted)
            return _isEnded ? default : DisposeAsync(waits: false);
        End();
        return default;
    }

    protected abstract ValueTask DisposeEnumeratorAsync();

    private async ValueTask DisposeAsync(bool waits)
    {
        Invariant.Holds(!_isEnded);
        _isEnded = true;
        Cancel();
        if (waits)
            await Pending.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        await DisposeEnumeratorAsync();
        _source.Dispose();
    }

    private void Cancel()
    {
        if (!_source.IsCancellationRequested)
            Turn.Cancel(_source, _activation);
    }
}

/// <summary>One enumeration with its items.</summary>
internal sealed class Enumeration<T> : Enumeration
{
    /// <summary>What a batch begins with; it grows up to the size that the consumer wants.</summary>
    private const int FirstCapacity = 128;

    private readonly int _maxBatch;
    private readonly IAsyncEnumerator<T>? _items;
    private Task<bool>? _pending;

    internal Enumeration(Activation activation, IAsyncEnumerableRequest<T> request)
        : base(activation)
    {
        _maxBatch = Math.Clamp(request.MaxBatchSize, 1, Enumerations.MaxBatch);
        try
        {
            (request as AsyncEnumerableRequest<T>)?.SetCancellationToken(Token);
            _items = request.InvokeImplementation().GetAsyncEnumerator(Token);
        }
        catch (Exception exception)
        {
            _pending = Task.FromException<bool>(exception);
        }
    }

    protected override Task Pending => _pending ?? Task.CompletedTask;

    internal override (EnumerationResult Status, object? Value)? TryNext()
    {
        T[]? batch = null;
        var count = 0;
        var end = Now + Enumerations.LongestBatchMs;
        while (count < _maxBatch && (count == 0 || Now <= end))
        {
            if (!IsReady())
                break;
            if (_pending is not { } pending)
            {
                Add(ref batch, count++);
                continue;
            }

            if (count > 0 && !pending.IsCompletedSuccessfully)
                break;
            _pending = null;
            if (!pending.IsCompletedSuccessfully)
                return Failure(pending);
            if (!pending.Result)
                return Answer(EnumerationResult.Completed, batch, count);
            Add(ref batch, count++);
        }

        return count == 0 ? null : Answer(default, batch, count);
    }

    protected override ValueTask DisposeEnumeratorAsync() => _items?.DisposeAsync() ?? default;

    /// <summary>
    /// Asks the producer for an item if no step runs. True if the step has ended: then there is an item, or <see cref="_pending"/> says how
    /// it has ended.
    /// </summary>
    private bool IsReady()
    {
        if (_pending is { } running)
            return running.IsCompleted;
        try
        {
            var step = _items!.MoveNextAsync();
            if (step.IsCompletedSuccessfully && step.Result)
                return true;
            _pending = step.IsCompletedSuccessfully ? Task.FromResult(false) : step.AsTask();
        }
        catch (Exception exception)
        {
            _pending = Task.FromException<bool>(exception);
        }

        return _pending.IsCompleted;
    }

    private void Add(ref T[]? batch, int index)
    {
        batch ??= new T[Math.Min(_maxBatch, FirstCapacity)];
        if (index == batch.Length)
            Array.Resize(ref batch, Math.Min(_maxBatch, index * 2));
        batch[index] = _items!.Current;
    }

    private static (EnumerationResult Status, object? Value) Answer(EnumerationResult end, T[]? batch, int count) => count switch
    {
        0 => (end, null),
        1 => (end | EnumerationResult.Element, batch![0]),
        _ => (end | EnumerationResult.Batch, count == batch!.Length ? batch : batch.AsSpan(0, count).ToArray()),
    };

    private (EnumerationResult Status, object? Value) Failure(Task failed)
    {
        if (failed.IsCanceled && Token.IsCancellationRequested)
            return (EnumerationResult.Canceled, null);
        try
        {
            failed.GetAwaiter().GetResult();
            return (EnumerationResult.Completed, null);
        }
        catch (Exception exception)
        {
            return (EnumerationResult.Error, exception);
        }
    }
}

/// <summary>What the log says about enumerations.</summary>
internal static partial class EnumerationLog
{
    [LoggerMessage(1181, LogLevel.Warning, "An enumeration of {Grain} failed at its disposal.")]
    internal static partial void DisposalFailed(ILogger logger, GrainId grain, Exception exception);
}
