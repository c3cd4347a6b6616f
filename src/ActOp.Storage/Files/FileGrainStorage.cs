using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Staging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;
using Orleans.Storage;

namespace ActOp.Storage.Files;

/// <summary>What a simulation puts in place of the machine's disk and of the threads of the storage.</summary>
/// <param name="Disk">Where the files are.</param>
/// <param name="Driver">Runs the operations.</param>
/// <param name="NewETag">Makes ETags, no two the same.</param>
internal sealed record FileSeams(Disk Disk, StageDriver Driver, Func<string> NewETag);

/// <summary>
/// Keeps states in files; see <see cref="StateFolder"/>. Files block, so operations run on threads of this storage and never on those that
/// run grains.
/// </summary>
/// <remarks>
/// <para>Any thread. Owns a stage with its threads, from the start in its stage of the silo's lifecycle until the silo stops or the
/// container is disposed. Operations that wait then still run; later ones are refused, also those that come while the stage ends.</para>
/// <para>Failures: serialization throws on the grain's turn, and nothing is queued. Too many operations wait: refused. An operation
/// throws: its caller gets the exception, and the thread goes on. One hangs, as on a network disk: it holds its thread; when all are held,
/// the others wait up to the limit, and their callers until they give up. Another process holds a folder: tried again every 5 ms, until
/// LockTimeout. A caller whose token is cancelled before the operation begins leaves the queue without it.</para>
/// </remarks>
internal sealed class FileGrainStorage : IGrainStorage, ILifecycleParticipant<ISiloLifecycle>, IDisposable
{
    private static readonly TimeSpan LockPause = TimeSpan.FromMilliseconds(5);

    private readonly string _name;
    private readonly FileGrainStorageOptions _options;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly StateFolder _folder;
    private readonly IActivatorProvider? _activators;
    private readonly StageDriver? _driver;
    private Stage? _stage;
    private int _waiting;

    internal FileGrainStorage(
        string name, FileGrainStorageOptions options, TimeProvider time, ILoggerFactory loggers, IActivatorProvider? activators = null,
        FileSeams? seams = null)
    {
        options.Validate(name);
        _name = name;
        _options = options;
        _time = time;
        _logger = GuardedLoggers.GuardedOf(loggers, time).CreateLogger("ActOp.Runtime");
        Root = Path.Combine(Path.GetFullPath(options.RootDirectory), Uri.EscapeDataString(name));
        _folder = new StateFolder(seams?.Disk ?? RealDisk.Instance, Root, seams?.NewETag ?? (static () => Guid.NewGuid().ToString("N")));
        _activators = activators;
        _driver = seams?.Driver;
    }

    /// <summary>Null before the start and from the stop on.</summary>
    internal Stage? Stage => Volatile.Read(ref _stage);

    /// <summary>The directory of this storage.</summary>
    internal string Root { get; }

    internal static FileGrainStorage Create(IServiceProvider services, string name) => new(
        name,
        services.GetRequiredService<IOptionsMonitor<FileGrainStorageOptions>>().Get(name),
        services.GetRequiredService<TimeProvider>(),
        services.GetRequiredService<ILoggerFactory>(),
        services.GetService<IActivatorProvider>(),
        services.GetService<FileSeams>());

    public void Participate(ISiloLifecycle lifecycle) =>
        lifecycle.Subscribe("storage " + _name, _options.InitStage, _ => StartAsync(), _ => StopAsync());

    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        ReadStateAsync(stateName, grainId, grainState, CancellationToken.None);

    public async Task ReadStateAsync<T>(
        string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        var record = await RunAsync(() => _folder.Read(stateName, grainId), cancellationToken);
        if (record is null)
        {
            Reset(grainState);
            return;
        }

        grainState.State = _options.GrainStorageSerializer.Deserialize<T>(new BinaryData(record.Content));
        grainState.ETag = record.ETag;
        grainState.RecordExists = true;
    }

    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        WriteStateAsync(stateName, grainId, grainState, CancellationToken.None);

    public async Task WriteStateAsync<T>(
        string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        var content = _options.GrainStorageSerializer.Serialize(grainState.State).ToMemory();
        var etag = grainState.ETag;
        grainState.ETag = await UnlockedAsync(() => _folder.TryWrite(stateName, grainId, etag, content), cancellationToken);
        grainState.RecordExists = true;
    }

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        ClearStateAsync(stateName, grainId, grainState, CancellationToken.None);

    public async Task ClearStateAsync<T>(
        string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        var etag = grainState.ETag;
        await UnlockedAsync(() => _folder.TryClear(stateName, grainId, etag) ? "" : null, cancellationToken);
        Reset(grainState);
    }

    public void Dispose() => Interlocked.Exchange(ref _stage, null)?.Dispose();

    internal async Task StartAsync()
    {
        _stage = _driver is null
            ? new Stage("storage-files", _options.Threads, StageMode.OwnThreads, LogDefect)
            : new Stage("storage-files", _driver, LogDefect);
        try
        {
            await RunAsync<object?>(
                () =>
                {
                    _folder.Open();
                    return null;
                },
                CancellationToken.None);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            Dispose();
            throw new OrleansConfigurationException("The directory " + Root + " of the storage \"" + _name
                + "\" cannot be used (FileGrainStorageOptions.RootDirectory): " + exception.Message, exception);
        }
    }

    internal Task StopAsync() => Interlocked.Exchange(ref _stage, null)?.StopAsync() ?? Task.CompletedTask;

    private void Reset<T>(IGrainState<T> state)
    {
        state.State = NewState<T>.Create(_activators);
        state.ETag = null;
        state.RecordExists = false;
    }

    /// <summary>Repeats an operation that returns null while another process writes in its folder.</summary>
    private async Task<string> UnlockedAsync(Func<string?> operation, CancellationToken cancellationToken)
    {
        var began = _time.GetTimestamp();
        while (true)
        {
            if (await RunAsync(operation, cancellationToken) is { } done)
                return done;
            if (_time.GetElapsedTime(began) > _options.LockTimeout)
            {
                throw new IOException("Another process has held a lock in " + Root
                    + " for longer than FileGrainStorageOptions.LockTimeout (" + _options.LockTimeout + ").");
            }

            await Task.Delay(LockPause, _time, cancellationToken);
        }
    }

    private async Task<TResult> RunAsync<TResult>(Func<TResult> operation, CancellationToken cancellationToken)
    {
        var stage = _stage ?? throw new OrleansException("The storage \"" + _name
            + "\" does not run: its silo has not started it yet, or has stopped it.");
        if (Interlocked.Increment(ref _waiting) > _options.MaxWaiting)
        {
            Interlocked.Decrement(ref _waiting);
            throw new LimitExceededException("The storage \"" + _name + "\" has " + _options.MaxWaiting
                + " operations that wait (FileGrainStorageOptions.MaxWaiting). This one was refused.");
        }

        try
        {
            return await RunOnAsync(stage, operation, cancellationToken);
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }

    /// <summary>Runs an operation on the stage, which may have ended since the caller has got it: then nobody takes the item.</summary>
    internal async Task<TResult> RunOnAsync<TResult>(Stage stage, Func<TResult> operation, CancellationToken cancellationToken)
    {
        var item = new Operation<TResult>(operation, cancellationToken);
        stage.Post(item);
        if (!ReferenceEquals(Volatile.Read(ref _stage), stage))
        {
            await stage.StopAsync();
            item.Refuse(new OrleansException("The storage \"" + _name + "\" was stopped before the operation began."));
        }

        return await item.Result;
    }

    private void LogDefect(Exception exception) => new Foundation.Log(_logger).StageFailed("storage-files", exception);

    private sealed class Operation<TResult>(Func<TResult> operation, CancellationToken cancellationToken) : IStageItem
    {
        private readonly TaskCompletionSource<TResult> _result = new(TaskCreationOptions.RunContinuationsAsynchronously);

        internal Task<TResult> Result => _result.Task;

        /// <summary>Fails it, if it has not run; no thread may take it any more.</summary>
        internal void Refuse(Exception exception) => _result.TrySetException(exception);

        public void Execute()
        {
            if (cancellationToken.IsCancellationRequested)
            {
                _result.TrySetCanceled(cancellationToken);
                return;
            }

            try
            {
                _result.TrySetResult(operation());
            }
            catch (Exception exception)
            {
                _result.TrySetException(exception);
            }
        }
    }
}
