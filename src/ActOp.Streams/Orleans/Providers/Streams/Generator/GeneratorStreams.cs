using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans.Providers.Streams.Generator;

/// <summary>Commands that <see cref="GeneratorAdapterFactory"/> takes.</summary>
public enum StreamGeneratorCommand
{
    /// <summary>Sets the generator; the argument is an <see cref="IStreamGeneratorConfig"/>.</summary>
    Configure = PersistentStreamProviderCommand.AdapterFactoryCommandStartRange,
}

/// <summary>The settings of a generator.</summary>
public interface IStreamGeneratorConfig
{
    /// <summary>
    /// The class of the generator, which implements <see cref="IStreamGenerator"/> and has a constructor without parameters.
    /// </summary>
    Type StreamGeneratorType { get; }
}

/// <summary>Makes items up. One per queue; used by its agent.</summary>
public interface IStreamGenerator
{
    /// <summary>The next items; false if there are none now.</summary>
    bool TryReadEvents(DateTime utcNow, int maxCount, out List<IBatchContainer> events);

    /// <summary>Takes the settings, before the first read.</summary>
    void Configure(IServiceProvider serviceProvider, IStreamGeneratorConfig generatorConfig);
}

/// <summary>An item of the simple generator.</summary>
[GenerateSerializer]
public sealed class GeneratedEvent
{
    /// <summary>What an item is for.</summary>
    public enum GeneratedEventType
    {
        /// <summary>One of many.</summary>
        Fill,

        /// <summary>The last one of a stream.</summary>
        Report,
    }

    /// <summary>What the item is for.</summary>
    [Id(0)]
    public GeneratedEventType EventType { get; set; }

    /// <summary>Something to carry.</summary>
    [Id(1)]
    public int[] Payload { get; set; } = [];
}

/// <summary>One generated item.</summary>
[GenerateSerializer]
public class GeneratedBatchContainer : IBatchContainer
{
    /// <summary>Creates the batch.</summary>
    public GeneratedBatchContainer(StreamId streamId, object payload, EventSequenceTokenV2 token)
    {
        StreamId = streamId;
        Payload = payload;
        RealToken = token;
    }

    /// <inheritdoc/>
    [Id(0)]
    public StreamId StreamId { get; private set; }

    /// <inheritdoc/>
    public StreamSequenceToken SequenceToken => RealToken;

    /// <summary>The position.</summary>
    [Id(1)]
    public EventSequenceTokenV2 RealToken { get; private set; }

    /// <summary>The item.</summary>
    [Id(2)]
    public object Payload { get; private set; }

    /// <inheritdoc/>
    public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => [Tuple.Create((T)Payload, SequenceToken)];

    /// <inheritdoc/>
    public bool ImportRequestContext() => false;
}

/// <summary>
/// Streams whose items are made up where they are read; for tests of consumers. The generator is that of the
/// <see cref="IStreamGeneratorConfig"/> under the name of the provider, or of the command <see cref="StreamGeneratorCommand.Configure"/>.
/// </summary>
/// <remarks>Holds the settings and the receivers of this silo; any thread. A generator that throws is read again after a pause.</remarks>
public class GeneratorAdapterFactory : IQueueAdapterFactory, IQueueAdapter, IQueueAdapterCache, IControllable
{
    private readonly IServiceProvider _services;
    private readonly HashRingBasedStreamQueueMapper _mapper;
    private readonly SimpleQueueAdapterCache _caches;
    private readonly TimeProvider _time;
    private volatile IStreamGeneratorConfig? _config;

    internal GeneratorAdapterFactory(string name, IServiceProvider services)
    {
        Name = name;
        _services = services;
        _mapper = new HashRingBasedStreamQueueMapper(Options<HashRingStreamQueueMapperOptions>(), name);
        _caches = new SimpleQueueAdapterCache(Options<SimpleQueueCacheOptions>(), name, services.GetRequiredService<ILoggerFactory>());
        _time = services.GetRequiredService<TimeProvider>();
        _config = services.GetKeyedService<IStreamGeneratorConfig>(name);

        TOptions Options<TOptions>() => services.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public bool IsRewindable => true;

    /// <inheritdoc/>
    public StreamProviderDirection Direction => StreamProviderDirection.ReadOnly;

    /// <summary>Makes the factory of a provider.</summary>
    public static GeneratorAdapterFactory Create(IServiceProvider services, string name) => new(name, services);

    /// <inheritdoc/>
    public Task<IQueueAdapter> CreateAdapter() => Task.FromResult<IQueueAdapter>(this);

    /// <inheritdoc/>
    public IQueueAdapterCache GetQueueAdapterCache() => this;

    /// <inheritdoc/>
    public IQueueCache CreateQueueCache(QueueId queueId) => _caches.CreateQueueCache(queueId);

    /// <inheritdoc/>
    public IStreamQueueMapper GetStreamQueueMapper() => _mapper;

    /// <inheritdoc/>
    public Task<IStreamFailureHandler> GetDeliveryFailureHandler(QueueId queueId) =>
        Task.FromResult<IStreamFailureHandler>(new NoOpStreamDeliveryFailureHandler());

    /// <inheritdoc/>
    public IQueueAdapterReceiver CreateReceiver(QueueId queueId) => new GeneratorReceiver(this);

    /// <inheritdoc/>
    public Task QueueMessageBatchAsync<T>(
        StreamId streamId, IEnumerable<T> events, StreamSequenceToken? token, Dictionary<string, object>? requestContext) =>
            throw new NotSupportedException("The items of the stream provider " + Name + " are generated; nobody can add any.");

    /// <inheritdoc/>
    public Task<object?> ExecuteCommand(int command, object? arg)
    {
        if (command != (int)StreamGeneratorCommand.Configure || arg is not IStreamGeneratorConfig config)
            throw new ArgumentException("The command must be Configure, with an IStreamGeneratorConfig.", nameof(arg));
        _config = config;
        return Task.FromResult<object?>(true);
    }

    /// <summary>Reads from a generator of its own, a new one when the settings were replaced.</summary>
    private sealed class GeneratorReceiver(GeneratorAdapterFactory factory) : IQueueAdapterReceiver
    {
        private IStreamGeneratorConfig? _current;
        private IStreamGenerator? _generator;

        public Task Initialize(TimeSpan timeout) => Task.CompletedTask;

        public Task<IList<IBatchContainer>> GetQueueMessagesAsync(int maxCount)
        {
            if (factory._config is not { } config)
                return Task.FromResult<IList<IBatchContainer>>([]);
            if (!ReferenceEquals(config, _current))
            {
                _generator = (IStreamGenerator)ActivatorUtilities.CreateInstance(factory._services, config.StreamGeneratorType);
                _generator.Configure(factory._services, config);
                _current = config;
            }

            return Task.FromResult<IList<IBatchContainer>>(
                _generator!.TryReadEvents(factory._time.GetUtcNow().UtcDateTime, maxCount < 0 ? int.MaxValue : maxCount,
                    out var events) ? events : []);
        }

        public Task MessagesDeliveredAsync(IList<IBatchContainer> messages) => Task.CompletedTask;

        public Task Shutdown(TimeSpan timeout) => Task.CompletedTask;
    }
}

/// <summary>A new stream with a number of items; the last one is a report.</summary>
internal sealed class SimpleGenerator : IStreamGenerator
{
    private readonly StreamId _stream;
    private Orleans.Hosting.SimpleGeneratorOptions _options = new();
    private StreamId? _named;
    private int _next;

    public SimpleGenerator(StreamNode parts) => _stream = StreamId.Create(null, parts.Local.NewId());

    public void Configure(IServiceProvider serviceProvider, IStreamGeneratorConfig generatorConfig)
    {
        _options = (Orleans.Hosting.SimpleGeneratorOptions)generatorConfig;
        if (_options.StreamGeneratorType != GetType())
            throw new ArgumentException("The settings are for " + _options.StreamGeneratorType + ".", nameof(generatorConfig));
        _named = StreamId.Create(System.Text.Encoding.UTF8.GetBytes(_options.StreamNamespace ?? ""), _stream.Key.Span);
    }

    public bool TryReadEvents(DateTime utcNow, int maxCount, out List<IBatchContainer> events)
    {
        events = [];
        while (_next < _options.EventsInStream && events.Count < maxCount)
        {
            _next++;
            events.Add(new GeneratedBatchContainer(
                _named ?? _stream,
                new GeneratedEvent
                {
                    EventType = _next < _options.EventsInStream
                        ? GeneratedEvent.GeneratedEventType.Fill
                        : GeneratedEvent.GeneratedEventType.Report,
                    Payload = [_next],
                },
                new EventSequenceTokenV2(_next)));
        }

        return events.Count > 0;
    }
}
