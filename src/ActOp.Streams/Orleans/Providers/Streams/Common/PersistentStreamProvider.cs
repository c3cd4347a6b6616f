using ActOp.Streams;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace Orleans.Providers.Streams.Common;

/// <summary>Commands that <see cref="PersistentStreamProvider"/> takes.</summary>
public enum PersistentStreamProviderCommand
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>Starts the agents of this silo.</summary>
    StartAgents = 1,

    /// <summary>Stops the agents of this silo.</summary>
    StopAgents = 2,

    /// <summary>The state of the agents of this silo.</summary>
    GetAgentsState = 3,

    /// <summary>The number of agents of this silo.</summary>
    GetNumberRunningAgents = 4,

    /// <summary>From here on, commands go to the adapter.</summary>
    AdapterCommandStartRange = 10_000,

    /// <summary>The end of the commands of the adapter.</summary>
    AdapterCommandEndRange = AdapterCommandStartRange + 9_999,

    /// <summary>From here on, commands go to the factory of the adapter.</summary>
    AdapterFactoryCommandStartRange = AdapterCommandEndRange + 1,

    /// <summary>The end of the commands of the factory.</summary>
    AdapterFactoryCommandEndRange = AdapterFactoryCommandStartRange + 9_999,
}

/// <summary>A stream provider whose items go through queues.</summary>
/// <remarks>
/// Owns the adapter and, on a silo, the agents. Starts and stops in the stages of <see cref="StreamLifecycleOptions"/>. Before the first
/// and after the last, its streams throw a <see cref="ProviderStateException"/>. A start that fails ends the start of the silo or client.
/// Any thread.
/// </remarks>
public class PersistentStreamProvider
    : IStreamProvider, IControllable, IStreamSubscriptionManagerRetriever, ILifecycleParticipant<ILifecycleObservable>, IStreamSource
{
    private readonly StreamLifecycleOptions _lifecycle;
    private readonly StreamPubSubOptions _pubSubOptions;
    private readonly StreamNode _parts;
    private readonly StreamPubSub _pubSub;
    private readonly int _batchSize;
    private IQueueAdapterFactory? _factory;
    private IQueueAdapter? _adapter;
    private PullingAgents? _agents;
    private StreamLifecycleOptions.RunState _state;

    /// <summary>Creates the provider.</summary>
    public PersistentStreamProvider(
        string name, StreamPubSubOptions pubsubOptions, StreamLifecycleOptions lifeCycleOptions, IProviderRuntime runtime,
        DeepCopier deepCopier, ILogger<PersistentStreamProvider> logger)
        : this(name, pubsubOptions, lifeCycleOptions, runtime)
    {
    }

    internal PersistentStreamProvider(
        string name, StreamPubSubOptions pubsubOptions, StreamLifecycleOptions lifeCycleOptions, IProviderRuntime runtime)
    {
        ArgumentNullException.ThrowIfNull(runtime);
        ArgumentNullException.ThrowIfNull(pubsubOptions);
        Name = name;
        _pubSubOptions = pubsubOptions;
        _lifecycle = lifeCycleOptions;
        _parts = runtime.ServiceProvider.GetRequiredService<StreamNode>();
        _pubSub = new StreamPubSub(_parts, runtime.ServiceProvider.GetRequiredService<ImplicitSubscriptions>(), pubsubOptions.PubSubType);
        _batchSize = Math.Max(
            1, runtime.ServiceProvider.GetRequiredService<IOptionsMonitor<StreamPullingAgentOptions>>().Get(name).BatchContainerBatchSize);
    }

    /// <inheritdoc/>
    public string Name { get; }

    /// <inheritdoc/>
    public bool IsRewindable => Adapter.IsRewindable;

    IQueueAdapter IStreamSource.Adapter => Adapter;

    IStreamPubSub IStreamSource.PubSub => _pubSub;

    int IStreamSource.BatchSize => _batchSize;

    StreamNode IStreamSource.Parts => _parts;

    private IQueueAdapter Adapter => _adapter ?? throw new ProviderStateException(
        "The stream provider " + Name + " has not started yet, or has stopped.");

    /// <summary>Makes the provider with that name, with the options under it.</summary>
    public static IStreamProvider Create(IServiceProvider services, string name)
    {
        ArgumentNullException.ThrowIfNull(services);
        // Not by the container: it would load the assembly of the copier, which is not needed.
        return new PersistentStreamProvider(
            name, Options<StreamPubSubOptions>(), Options<StreamLifecycleOptions>(), services.GetRequiredService<IProviderRuntime>());

        TOptions Options<TOptions>()
            where TOptions : class => services.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);
    }

    /// <summary>Lets the provider with that name join a lifecycle.</summary>
    public static ILifecycleParticipant<TLifecycle> ParticipateIn<TLifecycle>(IServiceProvider serviceProvider, string name)
        where TLifecycle : ILifecycleObservable =>
            new Participation<TLifecycle>((PersistentStreamProvider)serviceProvider.GetRequiredKeyedService<IStreamProvider>(name));

    /// <summary>The agents of this silo, for a simulation that checks them.</summary>
    internal IEnumerable<StreamAgent> Agents => _agents?.All ?? [];

    /// <inheritdoc/>
    public IAsyncStream<T> GetStream<T>(StreamId streamId) => streamId.FullKey.IsEmpty
        ? throw new ArgumentException("The default StreamId names no stream; use StreamId.Create.", nameof(streamId))
        : new StreamOf<T>(_parts, Name, streamId);

    /// <inheritdoc/>
    public IStreamSubscriptionManager? GetStreamSubscriptionManager() =>
        _pubSubOptions.PubSubType == StreamPubSubType.ImplicitOnly ? null : _pubSub;

    /// <inheritdoc/>
    public void Participate(ILifecycleObservable lifecycle)
    {
        lifecycle.Subscribe("stream provider " + Name, _lifecycle.InitStage, InitAsync, CloseAsync);
        lifecycle.Subscribe("agents of " + Name, _lifecycle.StartStage, StartAsync, StopAsync);
    }

    /// <inheritdoc/>
    public async Task<object?> ExecuteCommand(int command, object? arg)
    {
        switch ((PersistentStreamProviderCommand)command)
        {
            case PersistentStreamProviderCommand.StartAgents:
                await StartAgentsAsync().ConfigureAwait(false);
                return null;
            case PersistentStreamProviderCommand.StopAgents:
                await StopAsync(default).ConfigureAwait(false);
                return null;
            case PersistentStreamProviderCommand.GetAgentsState:
                return _state;
            case PersistentStreamProviderCommand.GetNumberRunningAgents:
                return _agents?.Count ?? 0;
        }

        var target = command >= (int)PersistentStreamProviderCommand.AdapterFactoryCommandStartRange ? _factory
            : command >= (int)PersistentStreamProviderCommand.AdapterCommandStartRange ? (object?)_adapter : null;
        return target is IControllable controllable
            ? await controllable.ExecuteCommand(command, arg).ConfigureAwait(false)
            : throw new NotSupportedException("The stream provider " + Name + " does not know the command " + command + ".");
    }

    private async Task InitAsync(CancellationToken cancellationToken)
    {
        try
        {
            _factory = _parts.Services.GetRequiredKeyedService<IQueueAdapterFactory>(Name);
            _adapter = await ActOp.Calls.Given.Task(_factory.CreateAdapter(cancellationToken), "CreateAdapter of " + _factory.GetType())
                .ConfigureAwait(false) ?? throw new InvalidOperationException("CreateAdapter of " + _factory.GetType()
                    + " has returned no adapter.");
            _state = StreamLifecycleOptions.RunState.Initialized;
        }
        catch (Exception exception)
        {
            throw new ProviderStartException("The stream provider " + Name + " could not be started: " + exception.Message, exception);
        }
    }

    private Task CloseAsync(CancellationToken cancellationToken)
    {
        _adapter = null;
        _state = StreamLifecycleOptions.RunState.None;
        return Task.CompletedTask;
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_parts.Local.IsSilo && _lifecycle.StartupState == StreamLifecycleOptions.RunState.AgentsStarted
            && Adapter.Direction is StreamProviderDirection.ReadOnly or StreamProviderDirection.ReadWrite)
        {
            await StartAgentsAsync().ConfigureAwait(false);
        }
    }

    private async Task StartAgentsAsync()
    {
        if (_agents is not null)
            return;
        _agents = new PullingAgents(this, _factory!, _pubSub);
        try
        {
            await _agents.StartAsync().ConfigureAwait(false);
        }
        catch
        {
            // So that they can be started again.
            await StopAsync(default).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            throw;
        }

        _state = StreamLifecycleOptions.RunState.AgentsStarted;
    }

    private async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_agents is not { } agents)
            return;
        _agents = null;
        await agents.StopAsync().ConfigureAwait(false);
        _state = StreamLifecycleOptions.RunState.AgentsStopped;
    }

    private sealed class Participation<TLifecycle>(PersistentStreamProvider provider) : ILifecycleParticipant<TLifecycle>
        where TLifecycle : ILifecycleObservable
    {
        public void Participate(TLifecycle lifecycle) => provider.Participate(lifecycle);
    }
}
