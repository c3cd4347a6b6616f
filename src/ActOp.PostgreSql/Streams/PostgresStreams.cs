using System.Diagnostics.Metrics;
using ActOp.Foundation;
using ActOp.PostgreSql.Configuration;
using ActOp.PostgreSql.Schema;
using ActOp.Runtime.Diagnostics;
using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Npgsql;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.PostgreSql.Streams;

/// <summary>Streams whose queues are rows of PostgreSQL: a message stays until it was delivered, whatever silo is lost.</summary>
/// <remarks>
/// <para>Owns the connections and, once started, the writer. Receivers belong to the agents that ask for them. Any thread. Disposed with
/// the container, after the agents have stopped.</para>
/// <para>Failures. The database does not answer at the start: the start fails after <c>InitializationTimeout</c>. Later: see
/// <see cref="MessageWriter"/> and <see cref="QueueReceiver"/>. The positions of messages are numbers of their queue, without gaps and in
/// the order of their commits.</para>
/// </remarks>
internal sealed class PostgresStreams
    : IQueueAdapterFactory, IQueueAdapter, IQueueAdapterCache, IQueuedFormat, IAsyncDisposable, IDisposable
{
    /// <summary>Beside those of the writer: agents use one at a time, and share them.</summary>
    private const int ReaderConnections = 5;

    private const string RowsSql = """
        insert into actop_stream_queue (service_id, provider, queue)
        select $1, $2, n from generate_series(0, $3 - 1) n
        where not exists (select from actop_stream_queue q where q.service_id = $1 and q.provider = $2 and q.queue = n)
        on conflict do nothing
        """;

    private const string ReadersSql = """
        insert into actop_stream_reader (queue_id) select id from actop_stream_queue q where q.service_id = $1 and q.provider = $2
        and not exists (select from actop_stream_reader r where r.queue_id = q.id) on conflict do nothing
        """;

    private const string IdsSql =
        "select id from actop_stream_queue where service_id = $1 and provider = $2 and queue < $3 order by queue";

    private readonly HashRingBasedStreamQueueMapper _mapper;
    private readonly int _queueCount;
    private readonly AdoNetStreamOptions _options;
    private readonly SimpleQueueCacheOptions _cacheOptions;
    private readonly StreamCacheEvictionOptions _eviction;
    private readonly PostgresOptions _limits;
    private readonly string _serviceId;
    private readonly Database _database;
    private readonly BatchFormat _format;
    private readonly QueueOwner _owner;
    private readonly StreamsLog _log;
    private readonly Meter _meter = new(RuntimeMetrics.MeterName);
    private long[] _queueIds = [];
    private MessageWriter? _writer;

    private PostgresStreams(string name, IServiceProvider services)
    {
        Name = name;
        _options = Options<AdoNetStreamOptions>();
        _options.Validate();
        var queues = Options<HashRingStreamQueueMapperOptions>();
        _queueCount = queues.TotalQueueCount;
        _mapper = new HashRingBasedStreamQueueMapper(queues, name);
        _cacheOptions = Options<SimpleQueueCacheOptions>();
        _eviction = Options<StreamCacheEvictionOptions>();
        _limits = Options<PostgresOptions>().Checked();
        var parts = services.GetRequiredService<StreamNode>();
        var cluster = services.GetRequiredService<IOptions<ClusterOptions>>().Value;
        _serviceId = cluster.ServiceId;
        _format = new BatchFormat(
            parts.Calls, MessageBodySerializer.Create<DefaultMemoryMessageBodySerializer>(services), typed: true);
        _owner = OwnerOf(parts, cluster.ClusterId);
        _log = new StreamsLog(GuardedLoggers.GuardedOf(services).CreateLogger("ActOp.PostgreSql.Streams"));
        _database = Database.FromServices(services, _options.Choice(name), MessageWriter.Connections + ReaderConnections);
        _meter.CreateObservableUpDownCounter(
            "actop.streams.waiting", () => new Measurement<int>(_writer?.Waiting ?? 0, new KeyValuePair<string, object?>("provider", name)),
            "{message}", "Messages that wait to be written to PostgreSQL.");

        TOptions Options<TOptions>() => services.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public bool IsRewindable => true;

    /// <inheritdoc/>
    public StreamProviderDirection Direction => StreamProviderDirection.ReadWrite;

    internal static IQueueAdapterFactory Create(IServiceProvider services, string name) => new PostgresStreams(name, services);

    /// <inheritdoc/>
    public Task<IQueueAdapter> CreateAdapter() => CreateAdapter(default);

    /// <summary>Makes the rows of the queues.</summary>
    public async Task<IQueueAdapter> CreateAdapter(CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(_options.InitializationTimeout, _database.Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        await using var connection = await _database.OpenAsync(both.Token).ConfigureAwait(false);
        await using var batch = new NpgsqlBatch(connection);
        batch.BatchCommands.Add(Database.Command(RowsSql, Text(_serviceId), Text(Name), Count));
        batch.BatchCommands.Add(Database.Command(ReadersSql, Text(_serviceId), Text(Name)));
        batch.BatchCommands.Add(Database.Command(IdsSql, Text(_serviceId), Text(Name), Count));
        List<long> ids = [];
        await using var reader = await batch.ExecuteReaderAsync(both.Token).ConfigureAwait(false);
        while (await reader.ReadAsync(both.Token).ConfigureAwait(false))
            ids.Add(reader.GetInt64(0));
        _database.NoteReached();
        if (ids.Count != _queueCount)
        {
            throw new OrleansException(
                ids.Count + " rows of actop_stream_queue were found for the " + _queueCount + " queues of " + Name + ".");
        }

        _queueIds = [.. ids];
        _writer = new MessageWriter(_database, _queueIds, _options.ExpiryTimeout, _limits.MaxWaitingMessages)
        {
            RetryTime = _limits.RetryTime,
        };
        return this;
    }

    /// <inheritdoc/>
    public IQueueAdapterCache GetQueueAdapterCache() => this;

    /// <inheritdoc/>
    public IStreamQueueMapper GetStreamQueueMapper() => _mapper;

    /// <inheritdoc/>
    public Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId) => Task.FromResult<IStreamFailureHandler>(
        new DeadLetterHandler(ReaderOf(queueId), queueId.GetNumericId(), Name, _log));

    /// <inheritdoc/>
    public IQueueCache CreateQueueCache(QueueId queueId) => new SimpleQueueCache(_cacheOptions.CacheSize, _eviction, _database.Time);

    /// <inheritdoc/>
    public IQueueAdapterReceiver CreateReceiver(QueueId queueId) =>
        new QueueReceiver(ReaderOf(queueId), _owner, queueId.GetNumericId(), Name, _options, _log);

    /// <inheritdoc/>
    /// <exception cref="ArgumentException">A position was given: the database makes them itself.</exception>
    public Task QueueMessageBatchAsync<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext)
    {
        ArgumentNullException.ThrowIfNull(events);
        if (token is not null)
        {
            throw new ArgumentException(
                "Producers of streams in PostgreSQL cannot choose positions: the token must be null.", nameof(token));
        }

        var payload = _format.Write(events, requestContext);
        return _writer!.Add((int)_mapper.GetQueueForStream(streamId).GetNumericId(), streamId,
            payload.Array is { } array && array.Length == payload.Count ? array : payload.ToArray());
    }

    IBatchContainer IQueuedFormat.Open(QueuedBatch batch) => _format.Open(batch);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _meter.Dispose();
        if (_writer is { } writer)
            await writer.EndAsync().ConfigureAwait(false);
        await _database.DisposeAsync().ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _meter.Dispose();
        _database.Dispose();
    }

    /// <summary>
    /// An owner of the same cluster whose silo is not in the view, or dead in it, cannot come back; one of this silo is an agent that has
    /// ended. Of other clusters nothing is known, nor of any owner while this silo is not active in its own view.
    /// </summary>
    private static QueueOwner OwnerOf(StreamNode parts, string clusterId)
    {
        var cluster = clusterId + "/";
        var self = cluster + parts.Local.Address.ToParsableString();
        return new QueueOwner(self, other => other == self
            || (parts.ClusterView.IsActive(parts.Local.Address)
                && other.StartsWith(cluster, StringComparison.Ordinal) && SiloAddress.TryParse(other[cluster.Length..], out var silo)
                && (parts.ClusterView.IsDead(silo) || parts.ClusterView.View.StatusOf(silo) == SiloStatus.None)),
            () => parts.Local.IsDead);
    }

    private QueueReader ReaderOf(QueueId queue) => new(_database, _queueIds[queue.GetNumericId()], _options);

    private NpgsqlParameter Count => new NpgsqlParameter<int> { TypedValue = _queueCount };

    private static NpgsqlParameter Text(string value) => new NpgsqlParameter<string> { TypedValue = value };
}
