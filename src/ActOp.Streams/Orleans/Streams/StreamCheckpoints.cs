using ActOp.Calls;
using ActOp.Foundation;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Storage;

namespace Orleans.Streams;

/// <summary>Keeps how far one partition of a queue was read.</summary>
[OfRuntime]
public interface IStreamCheckpointerGrain : IGrainWithStringKey
{
    /// <summary>The position; empty when there is none.</summary>
    ValueTask<string> Load(CancellationToken cancellationToken);

    /// <summary>Sets the position if it is <paramref name="expectedCheckpoint"/> now; null for whatever it is.</summary>
    /// <returns>The position after that.</returns>
    ValueTask<string> Update(string offset, string? expectedCheckpoint, CancellationToken cancellationToken);
}

/// <summary>What <see cref="IStreamCheckpointerGrain"/> stores.</summary>
[GenerateSerializer]
public class StreamCheckpointerGrainState
{
    /// <summary>The position; empty when there is none.</summary>
    [Id(0)]
    public string Checkpoint { get; set; } = "";
}

/// <summary>Keeps one position in the grain storage that the options of the provider name.</summary>
/// <remarks>
/// The key is the provider, the service and the partition. One request at a time. The storage throws: the caller gets the exception, and
/// the next request reads the state again. An update comes twice: the second one finds the position that it sets.
/// </remarks>
[GrainType("actop.streams.checkpoint")]
internal sealed class StreamCheckpointGrain(IServiceProvider services) : Grain, IStreamCheckpointerGrain
{
    private const string StateName = "checkpoint";

    private readonly GrainState<StreamCheckpointerGrainState> _record = new(new StreamCheckpointerGrainState());
    private bool _isRead;

    private IGrainStorage Storage => field ??= services.GetRequiredKeyedService<IGrainStorage>(
        services.GetRequiredService<IOptionsMonitor<GrainStreamQueueCheckpointerOptions>>().Get(
            this.GetPrimaryKeyString().Split('/')[0]).StorageProviderName);

    public async ValueTask<string> Load(CancellationToken cancellationToken)
    {
        if (!_isRead)
            await Storage.ReadStateAsync(StateName, this.GetGrainId(), _record);
        _isRead = true;
        return (_record.State ??= new StreamCheckpointerGrainState()).Checkpoint;
    }

    public async ValueTask<string> Update(string offset, string? expectedCheckpoint, CancellationToken cancellationToken)
    {
        var current = await Load(cancellationToken);
        if (current == offset || (expectedCheckpoint is not null && current != expectedCheckpoint))
            return current;
        _isRead = false;
        _record.State = new StreamCheckpointerGrainState { Checkpoint = offset };
        await Storage.WriteStateAsync(StateName, this.GetGrainId(), _record);
        _isRead = true;
        return offset;
    }
}

/// <summary>Makes the checkpointers of a provider, which keep their positions in grains.</summary>
public class GrainStreamQueueCheckpointerFactory : IStreamQueueCheckpointerFactory
{
    private readonly string _provider;
    private readonly string _service;
    private readonly IClusterClient _client;
    private readonly GrainStreamQueueCheckpointerOptions _options;

    /// <summary>Uses the default options.</summary>
    public GrainStreamQueueCheckpointerFactory(string providerName, IOptions<ClusterOptions> clusterOptions, IClusterClient clusterClient)
        : this(providerName, clusterOptions, clusterClient, new GrainStreamQueueCheckpointerOptions())
    {
    }

    /// <summary>Uses options.</summary>
    public GrainStreamQueueCheckpointerFactory(
        string providerName, IOptions<ClusterOptions> clusterOptions, IClusterClient clusterClient,
        GrainStreamQueueCheckpointerOptions checkpointerOptions)
    {
        ArgumentNullException.ThrowIfNull(clusterOptions);
        _provider = providerName;
        _service = clusterOptions.Value.ServiceId;
        _client = clusterClient;
        _options = checkpointerOptions;
    }

    /// <summary>The factory of a provider.</summary>
    public static IStreamQueueCheckpointerFactory CreateFactory(IServiceProvider services, string providerName)
    {
        ArgumentNullException.ThrowIfNull(services);
        return new GrainStreamQueueCheckpointerFactory(
            providerName, services.GetRequiredService<IOptions<ClusterOptions>>(), services.GetRequiredService<IClusterClient>(),
            services.GetRequiredService<IOptionsMonitor<GrainStreamQueueCheckpointerOptions>>().Get(providerName));
    }

    /// <inheritdoc/>
    public async Task<IStreamQueueCheckpointer<string>> Create(string partition, CancellationToken cancellationToken)
    {
        var grain = _client.GetGrain<IStreamCheckpointerGrain>(_provider + "/" + _service + "/" + partition);
        var checkpointer = new GrainStreamQueueCheckpointer(grain, _options, _client.ServiceProvider);
        await checkpointer.Load(cancellationToken).ConfigureAwait(false);
        return checkpointer;
    }
}

/// <summary>The position of one partition, written to its grain once in a period.</summary>
/// <remarks>
/// One caller at a time, the receiver of the partition. A write runs beside it as background work of the node: a failure is logged, and the
/// next update after the period writes again. Another checkpointer has written meanwhile: the later position stays, if there is an order.
/// </remarks>
public sealed class GrainStreamQueueCheckpointer : IStreamQueueCheckpointer<string>
{
    private readonly IStreamCheckpointerGrain _grain;
    private readonly GrainStreamQueueCheckpointerOptions _options;
    private readonly BackgroundWrites _writes;
    private string _stored = "";
    private string _latest = "";
    private DateTime _nextWrite = DateTime.MinValue;
    private Task _write = Task.CompletedTask;

    internal GrainStreamQueueCheckpointer(
        IStreamCheckpointerGrain grain, GrainStreamQueueCheckpointerOptions options, IServiceProvider services)
    {
        _grain = grain;
        _options = options;
        _writes = new BackgroundWrites(services);
    }

    /// <inheritdoc/>
    public bool CheckpointExists => _latest.Length > 0;

    /// <inheritdoc/>
    public async Task<string> Load(CancellationToken cancellationToken) =>
        _latest = _stored = await _grain.Load(cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public void Update(string offset, DateTime utcNow, CancellationToken cancellationToken)
    {
        if (IsOlder(offset, _latest))
            return;
        _latest = offset;
        if (utcNow < _nextWrite || !_write.IsCompleted || offset == _stored)
            return;
        _nextWrite = utcNow + _options.PersistInterval;
        _write = _writes.Follow(WriteAsync(cancellationToken));
    }

    /// <inheritdoc/>
    public async Task FlushAsync(CancellationToken cancellationToken)
    {
        await _write.WaitAsync(cancellationToken).ConfigureAwait(false);
        if (_latest != _stored)
            await WriteAsync(cancellationToken).ConfigureAwait(false);
    }

    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        var offset = _latest;
        for (var expected = _stored; ;)
        {
            var after = await _grain.Update(offset, expected, cancellationToken).ConfigureAwait(false);
            _stored = after;
            if (IsOlder(_latest, after))
                _latest = after;
            if (after == offset || IsOlder(offset, after) || after == expected)
                return;
            expected = after;
        }
    }

    private bool IsOlder(string offset, string than) =>
        than.Length > 0 && _options.CheckpointComparer is { } comparer && comparer.Compare(offset, than) < 0;

    /// <summary>Logs what a write in the background throws.</summary>
    private sealed class BackgroundWrites(IServiceProvider services)
    {
        private readonly QueueBalancerLog _log =
            new(GuardedLoggers.GuardedOf(services).CreateLogger<GrainStreamQueueCheckpointer>());

        internal async Task Follow(Task write)
        {
            try
            {
                await write.ConfigureAwait(false);
            }
            catch (Exception exception)
            {
                _log.CheckpointFailed(exception);
            }
        }
    }
}
