using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Internal;
using Orleans.Runtime.Providers;
using Orleans.Streaming.Diagnostics;
using Orleans.Streams;
using Orleans.Streams.Filtering;

namespace ActOp.Runtime.Streams;

/// <summary>The agents of one provider on one silo: one for each queue that the balancer gives to this silo.</summary>
/// <remarks>
/// Owns the agents. One change at a time; any thread. A change that fails is logged as background work, and the next notification, or the
/// next change of the view, repeats it. A stop ends all agents, waits for each for a limited time, and cannot be undone by a late
/// notification.
/// </remarks>
internal sealed class PullingAgents : IStreamQueueBalanceListener
{
    private readonly AgentSetup _setup;
    private readonly IStreamQueueBalancer _balancer;
    private readonly IStreamQueueMapper _mapper;
    private readonly SemaphoreSlim _gate = new(1);
    private readonly Dictionary<QueueId, StreamAgent> _agents = [];
    private bool _isOpen;

    internal PullingAgents(IStreamSource source, IQueueAdapterFactory factory, StreamPubSub pubSub)
    {
        var services = source.Parts.Services;
        var name = source.Name;
        _mapper = factory.GetStreamQueueMapper();
        _balancer = services.GetKeyedService<IStreamQueueBalancer>(name) ?? new EvenQueueBalancer(services);
        _setup = new AgentSetup(
            source.Parts, name, source.Adapter, factory, pubSub,
                services.GetRequiredService<IOptionsMonitor<StreamPullingAgentOptions>>().Get(name),
            services.GetKeyedService<IStreamFilter>(name),
            services.GetKeyedService<IMessageDeliveryBackoffProvider>(name) ?? (IBackoffProvider)StreamBackoff.OfDeliveries,
            services.GetKeyedService<IQueueReaderBackoffProvider>(name) ?? (IBackoffProvider)StreamBackoff.OfReads);
    }

    /// <summary>The number of agents.</summary>
    internal int Count => _agents.Count;

    internal async Task StartAsync()
    {
        _isOpen = true;
        await _balancer.Initialize(_mapper).ConfigureAwait(false);
        _balancer.SubscribeToQueueDistributionChangeEvents(this);
        await AdjustAsync().ConfigureAwait(false);
    }

    internal async Task StopAsync()
    {
        _isOpen = false;
        _balancer.UnSubscribeFromQueueDistributionChangeEvents(this);
        try
        {
            // Before the balancer gives the queues to others.
            await AdjustAsync().ConfigureAwait(false);
        }
        finally
        {
            await _balancer.Shutdown().ConfigureAwait(false);
        }
    }

    public Task QueueDistributionChangeNotification() => AdjustAsync();

    private async Task AdjustAsync()
    {
        await _gate.WaitAsync(_setup.Parts.Background.Stopping).ConfigureAwait(false);
        try
        {
            HashSet<QueueId> wanted = _isOpen ? [.. _balancer.GetMyQueues()] : [];
            QueueId[] before = [.. _agents.Keys];
            var surplus = _agents.Keys.Where(queue => !wanted.Contains(queue)).ToArray();
            var missing = wanted.Where(queue => !_agents.ContainsKey(queue)).ToArray();
            var stopped = surplus.Select(queue => _agents[queue].StopAsync()).ToArray();
            foreach (var queue in surplus)
                _agents.Remove(queue);
            foreach (var queue in missing)
            {
                var agent = new StreamAgent(_setup, queue);
                _agents.Add(queue, agent);
                agent.Start();
            }

            await Task.WhenAll(stopped).ConfigureAwait(false);
            if (surplus.Length + missing.Length > 0)
            {
                _setup.Parts.Log.QueuesChanged(_setup.Provider, _agents.Count);
                Report(before);
            }
        }
        finally
        {
            _gate.Release();
        }
    }

    private void Report(QueueId[] before)
    {
        if (!StreamingEvents.Feed.IsWatched)
            return;
        var silo = _setup.Parts.Local.Address;
        StreamingEvents.Feed.Write(new StreamingEvents.BalancerChanged(_setup.Provider, silo, before, [.. _agents.Keys], _balancer));
        StreamingEvents.Feed.Write(new StreamingEvents.PullingAgentManagerState(_setup.Provider, silo, [.. _agents.Keys], _agents.Count));
    }
}

/// <summary>Pauses that double.</summary>
/// <param name="first">The first pause.</param>
/// <param name="longest">The longest pause.</param>
internal sealed class StreamBackoff(TimeSpan first, TimeSpan longest) : IBackoffProvider
{
    internal static StreamBackoff OfDeliveries { get; } = new(TimeSpan.FromMilliseconds(50), TimeSpan.FromSeconds(10));

    internal static StreamBackoff OfReads { get; } = new(TimeSpan.FromMilliseconds(100), TimeSpan.FromSeconds(5));

    public TimeSpan Next(int attempt) => attempt < 16 && first * (1 << attempt) is var pause && pause < longest ? pause : longest;
}
