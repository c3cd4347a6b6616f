using ActOp.Foundation;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Internal;
using Orleans.Runtime.Providers;
using Orleans.Streaming.Diagnostics;
using Orleans.Streams;
using Orleans.Streams.Filtering;

namespace ActOp.Streams;

/// <summary>The agents of one provider on one silo: one for each queue that the balancer gives to this silo.</summary>
/// <remarks>
/// <para>Owns the agents. One change at a time; any thread. A change that fails is logged as background work, and the next notification, or
/// the next change of the view, repeats it. A stop ends all agents, waits for each for a limited time, and cannot be undone by a late
/// notification.</para>
/// <para>The balancer may be one of the application. It is called on the thread pool, for as long as a delivery may take (<see
/// cref="PoolStep"/>). One that fails
/// at the start fails the start; later, the agents stay as they are. The stop does not need it.</para>
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
        _mapper = factory.GetStreamQueueMapper() ?? throw new InvalidOperationException(
            nameof(factory.GetStreamQueueMapper) + " of " + factory.GetType() + " has returned null.");
        _balancer = services.GetKeyedService<IStreamQueueBalancer>(name) ?? new EvenQueueBalancer(services);
        _setup = new AgentSetup(
            source.Parts, name, source.Adapter, factory, pubSub,
            services.GetRequiredService<IOptionsMonitor<StreamPullingAgentOptions>>().Get(name),
            services.GetKeyedService<IStreamFilter>(name),
            new AgentBackoffs(
                services.GetKeyedService<IMessageDeliveryBackoffProvider>(name) ?? (IBackoffProvider)StreamBackoff.OfDeliveries,
                services.GetKeyedService<IQueueReaderBackoffProvider>(name) ?? (IBackoffProvider)StreamBackoff.OfReads));
    }

    /// <summary>The number of agents.</summary>
    internal int Count => _agents.Count;

    internal IEnumerable<StreamAgent> All => _agents.Values;

    internal async Task StartAsync()
    {
        _isOpen = true;
        await BalancerAsync(nameof(_balancer.Initialize), () => _balancer.Initialize(_mapper)).ConfigureAwait(false);
        _balancer.SubscribeToQueueDistributionChangeEvents(this);
        await AdjustAsync().ConfigureAwait(false);
    }

    internal async Task StopAsync()
    {
        _isOpen = false;
        try
        {
            _balancer.UnSubscribeFromQueueDistributionChangeEvents(this);
        }
        catch (Exception exception)
        {
            _setup.Parts.Log.ProviderPartFailed("The balancer " + _balancer.GetType(), _setup.Provider, exception);
        }

        try
        {
            // Before the balancer gives the queues to others.
            await AdjustAsync().ConfigureAwait(false);
        }
        finally
        {
            await BalancerAsync(nameof(_balancer.Shutdown), _balancer.Shutdown).ConfigureAwait(false);
        }
    }

    public Task QueueDistributionChangeNotification() => AdjustAsync();

    private async Task AdjustAsync()
    {
        await _gate.WaitAsync(_setup.Parts.Background.Stopping).ConfigureAwait(false);
        try
        {
            if (Invariant.AreChecked)
                Invariant.Holds(_gate.CurrentCount == 0);
            var wanted = _isOpen ? await WantedAsync().ConfigureAwait(false) : [];
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

            Invariant.Holds(_agents.Count == wanted.Count);
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

    private async Task<HashSet<QueueId>> WantedAsync()
    {
        HashSet<QueueId> wanted = [];
        await BalancerAsync(nameof(_balancer.GetMyQueues), () =>
        {
            wanted = [.. _balancer.GetMyQueues() ?? throw new InvalidOperationException(
                nameof(_balancer.GetMyQueues) + " of " + _balancer.GetType() + " has returned null.")];
            return Task.CompletedTask;
        }).ConfigureAwait(false);
        return wanted;
    }

    /// <summary>The caller gets what fails, too: it may be the application.</summary>
    private async Task BalancerAsync(string method, Func<Task> step)
    {
        if (_balancer is EvenQueueBalancer)
        {
            await step().ConfigureAwait(false);
            return;
        }

        var name = method + " of the queue balancer " + _balancer.GetType();
        try
        {
            await PoolStep.RunAsync(name, _setup.Options.MaxEventDeliveryTime, _setup.Parts.Local.TaskTime, step).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            _setup.Parts.Log.ProviderPartFailed(name, _setup.Provider, exception);
            throw;
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
