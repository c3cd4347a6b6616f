using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Streams;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Providers;
using Orleans.Providers.Streams.Common;
using Orleans.Storage;
using Orleans.Streams;

namespace ActOp.Simulation.Load;

/// <summary>
/// Producers on silos and clients, and consumers that are grains or clients, on streams with queues in memory and in a database, while
/// silos come and go, and the database and the storage of subscriptions fail.
/// </summary>
/// <remarks>What must hold is in <see cref="StreamChecks"/>; after the faults, <see cref="StreamProof"/> shows that all works.</remarks>
internal sealed class StreamLoad : IThemeLoad
{
    private const int ProducersPerMachine = 2;

    private readonly World.World _world;
    private readonly Ledger _ledger;
    private readonly Dice _dice;
    private readonly StreamSetup _setup;
    private readonly StreamProof _proof;
    private readonly RequestTrouble _trouble;
    private readonly Dictionary<Machine, ClientConsumer> _clients = [];
    private readonly (double Throws, double Slow, double Hangs, double Stubborn) _failures;
    private long _producers;
    private long _hungAt = long.MinValue / 2;
    private bool _isOver;

    internal StreamLoad(World.World world, Ledger ledger, Faults faults)
    {
        (_world, _ledger) = (world, ledger);
        _dice = world.Dice.Fork("streams");
        _setup = new StreamSetup(world, _dice.Fork("setup"));
        _setup.Store.Kill = machine => faults.Crash(machine);
        Checks = new StreamChecks(world, ledger, faults, _setup.QueueCount, _setup.LongestDelivery);
        _failures = (_dice.Pick<double>([0, 0, 0.02, 0.1]), _dice.Pick<double>([0, 0.05]), _dice.Pick<double>([0, 0, 0.002]),
            _dice.Pick<double>([0, 0, 0.001]));
        _proof = new StreamProof(world, ledger, Checks, _setup, this);
        _trouble = new RequestTrouble(world, faults, nameof(IStreamAgent), nameof(IPubSubRendezvousGrain));
        if (_trouble.HasAny)
            world.Network.Tap = _trouble;
    }

    public bool HasProven => _proof.IsDone;

    internal StreamChecks Checks { get; }

    internal long Now => _world.Pump.Now;

    internal IEnumerable<ClientConsumer> Clients => _clients.Values;

    public void Configure(Machine machine, IServiceCollection services)
    {
        services.AddSingleton(this);
        _setup.Configure(machine, services, text => Checks.Skipped(text, _failures is not (0, _, 0, 0)));
    }

    public void BeginFaults()
    {
        _setup.BeginFaults();
        _trouble.IsOn = true;
    }

    public void EndFaults()
    {
        _setup.EndFaults();
        _trouble.IsOn = false;
        Checks.IsStormOver = true;
    }

    public void Begin(Machine machine)
    {
        for (var producer = 0; producer < ProducersPerMachine; producer++)
            _ = ProduceAsync(machine, ++_producers);
        _ = DirectAsync(machine);
        if (!machine.IsSilo)
            _ = ConsumeAsync(machine, _clients[machine] = new ClientConsumer(this, machine));
    }

    public void Watch() => _proof.Watch();

    public void Lived(Machine machine, Activation activation, LifeEvent happened) => Checks.Lived(machine, activation, happened);

    public void End()
    {
        _isOver = true;
        _proof.Begin();
    }

    public bool MayStay(Activation activation) => activation.GrainInstance is MemoryQueueGrain;

    public int ObserversOf(Machine machine) => machine.IsSilo ? 0 : 1;

    public Excuse? ExcuseOf(LogLine line) => null;

    /// <summary>Whether a subscription takes several items at once.</summary>
    internal bool HearsInBatches(Subscription subscription) => _dice.Chance(0.2);

    /// <summary>The position of an item that a subscription has had; null if it has had none.</summary>
    internal StreamSequenceToken? TokenOf(Subscription subscription) =>
        subscription.Tokens.Count == 0 ? null : _dice.Pick<StreamSequenceToken>([.. subscription.Tokens]);

    internal void Told(Exception failure) => _ledger.Count("told of " + failure.GetType().Name);

    /// <summary>A consumer is slow, or throws, or throws for a while.</summary>
    internal async Task TroubleAsync(Subscription subscription, Machine machine)
    {
        if (Checks.IsStormOver)
            return;
        if (_dice.Chance(_failures.Stubborn))
            subscription.StubbornUntil = Now + _dice.Between(2 * Pump.Second, 20 * Pump.Second);
        if (_dice.Chance(_failures.Slow))
            await Task.Delay(TimeSpan.FromMilliseconds(_dice.Below(100)), machine.AppClock);
        if (_dice.Chance(_failures.Hangs))
        {
            var time = _dice.Between(1, 8);
            // Requests that wait behind several items may time out.
            _hungAt = Now + (time * Pump.Second);
            await Task.Delay(TimeSpan.FromSeconds(time), machine.AppClock);
        }

        if (Now < subscription.StubbornUntil || _dice.Chance(_failures.Throws))
            throw new InvalidOperationException("The consumer fails.");
    }

    /// <summary>Sends items; whether they are in the queue.</summary>
    internal async Task<bool> SendAsync(Machine machine, StreamName name, long producer, int count)
    {
        var items = Checks.Send(name, producer, count);
        try
        {
            var stream = StreamSetup.ProviderOf(machine, name.Provider).GetStream<long>(name.Id);
            await (count == 1 ? stream.OnNextAsync(items[0].Id) : stream.OnNextBatchAsync(items.Select(static item => item.Id)));
            foreach (var item in items)
                item.IsAcknowledged = true;
            _ledger.Count("items sent", count);
            return true;
        }
        catch (LimitExceededException)
        {
            foreach (var item in items)
                item.IsRefused = true;
            _ledger.Count("items refused", count);
        }
        catch (Exception exception)
        {
            Failed("send", exception);
        }

        return false;
    }

    /// <summary>Something of the load has failed; says so if it may not fail, or not in this way.</summary>
    internal void Failed(string what, Exception exception)
    {
        var isEnding = exception is ObjectDisposedException or ProviderStateException or SiloUnavailableException;
        var hasWaited = exception is TimeoutException && Now - _hungAt < 2 * _world.Settings.ResponseTimeout.Ticks;
        if (!IsExpected(exception) || (_world.IsCalm && !isEnding && !hasWaited))
            _ledger.Accuse("exception", "To " + what + " has ended with " + exception);
        else
            _ledger.Count(what + " " + exception.GetType().Name);
    }

    private static bool IsExpected(Exception exception) => exception switch
    {
        AggregateException all => all.InnerExceptions.All(IsExpected),
        ObjectDisposedException => true,
        InvalidOperationException => exception.Message.StartsWith("The queue ends", StringComparison.Ordinal),
        TimeoutException or SiloUnavailableException or OrleansMessageRejectionException or ClientNotAvailableException
            or LimitExceededException or InconsistentStateException or ProviderStateException or OperationCanceledException
            or IOException => true,
        _ => false,
    };

    private bool GoesOn(Machine machine) => !_isOver && machine is { State: MachineState.Up, IsDead: false };

    private Task PauseAsync(Machine machine, long mean) =>
        Task.Delay(TimeSpan.FromTicks(Math.Max(1, _dice.Exponential(mean))), machine.AppClock);

    private async Task ProduceAsync(Machine machine, long producer)
    {
        while (GoesOn(machine))
        {
            await SendAsync(machine, _dice.Pick(_setup.Streams), producer, _dice.Chance(0.8) ? 1 : 1 + _dice.Below(5));
            await PauseAsync(machine, _setup.Pause);
        }
    }

    /// <summary>Tells listeners what to do.</summary>
    private async Task DirectAsync(Machine machine)
    {
        while (GoesOn(machine))
        {
            await PauseAsync(machine, 200 * Pump.Millisecond);
            if (!GoesOn(machine))
                return;
            var listener = _setup.Listener(machine.Grains, _dice.Pick(_setup.Listeners));
            try
            {
                await (_dice.Below(10) switch
                {
                    < 4 => listener.Subscribe(),
                    < 6 => listener.Unsubscribe(),
                    < 7 => listener.Rewind(),
                    < 8 => listener.Leave(),
                    _ => listener.Move(),
                });
                _ledger.Count("listener ok");
            }
            catch (Exception exception)
            {
                Failed("direct", exception);
            }
        }
    }

    /// <summary>A client that subscribes and unsubscribes.</summary>
    private async Task ConsumeAsync(Machine machine, ClientConsumer consumer)
    {
        while (GoesOn(machine))
        {
            try
            {
                await (consumer.Count < 2 ? consumer.SubscribeAsync(_dice.Pick(_setup.Streams)) : consumer.UnsubscribeAsync());
            }
            catch (Exception exception)
            {
                Failed("consume", exception);
            }

            await PauseAsync(machine, 2 * Pump.Second);
        }
    }
}

/// <summary>The subscriptions of one client.</summary>
internal sealed class ClientConsumer(StreamLoad load, Machine machine)
{
    private readonly List<(StreamSubscriptionHandle<long> Handle, Subscription Subscription, Ear Ear)> _handles = [];

    internal int Count => _handles.Count;

    internal Machine Machine => machine;

    internal async Task SubscribeAsync(StreamName name)
    {
        var stream = StreamSetup.ProviderOf(machine, name.Provider).GetStream<long>(name.Id);
        var subscription = load.Checks.New(name, default, machine);
        var ear = new Ear(load, subscription, machine, null);
        var handle = await stream.SubscribeAsync(ear);
        _handles.Add((handle, subscription, ear));
        load.Checks.Confirm(subscription, handle.HandleId, machine);
    }

    internal async Task UnsubscribeAsync()
    {
        var (handle, subscription, ear) = _handles[0];
        subscription.AskEnd(load.Now);
        await handle.UnsubscribeAsync();
        ear.IsDetached = true;
        _handles.RemoveAt(0);
        load.Checks.End(subscription, machine);
    }
}

/// <summary>What the providers of a run are configured with, drawn once.</summary>
internal sealed class StreamSetup
{
    private readonly World.World _world;
    private readonly Dice _dice;
    private readonly SharedQueues _queues;
    private readonly string[] _providers;
    private readonly int _limit;
    private readonly TimeSpan _inactivity;
    private readonly int _batch;
    private readonly TimeSpan _poll;

    internal StreamSetup(World.World world, Dice dice)
    {
        (_world, _dice) = (world, dice);
        Store = new Store(world.Pump, world.Dice.Fork("subscription store"));
        _providers = dice.Pick<string[]>([[StreamName.Memory], [StreamName.Queues], [StreamName.Memory, StreamName.Queues]]);
        QueueCount = 1 + dice.Below(4);
        _limit = dice.Pick<int>([10, 50, 16_384]);
        CacheSize = dice.Pick<int>([4, 32, 4096]);
        _inactivity = TimeSpan.FromSeconds(dice.Pick<int>([2, 2, 1800]));
        _batch = dice.Pick<int>([1, 10]);
        _poll = TimeSpan.FromMilliseconds(dice.Pick<int>([50, 300]));
        LongestDelivery = TimeSpan.FromSeconds(dice.Pick<int>([3, 10, 60]));
        Pause = dice.Pick<long>([50, 150, 400]) * Pump.Millisecond;
        _queues = new SharedQueues(world.Pump, world.Dice.Fork("queues"), _limit);
        var count = 1 + dice.Below(3);
        Streams = [.. _providers.SelectMany(provider => Enumerable.Range(0, count).SelectMany(number => new[]
            { StreamName.Of(provider, StreamName.Plain, number), StreamName.Of(provider, StreamName.Archived, number) }))];
        Listeners = [.. Streams.SelectMany(static stream => Enumerable.Range(0, 2).Select(number =>
            stream.Id.GetNamespace() + "/" + stream.Id.GetKeyAsString() + "/" + number))];
    }

    internal Store Store { get; }

    internal int QueueCount { get; }

    /// <summary>Batches that an agent keeps at most.</summary>
    internal int CacheSize { get; }

    internal TimeSpan LongestDelivery { get; }

    /// <summary>Between the items of a producer.</summary>
    internal long Pause { get; }

    internal StreamName[] Streams { get; }

    /// <summary>The keys of the listeners.</summary>
    internal string[] Listeners { get; }

    /// <summary>Messages that wait outside of the silos.</summary>
    internal int Queued => _queues.Count;

    internal static IStreamProvider ProviderOf(Machine machine, string name) =>
        machine.Node.Local.Services.GetRequiredKeyedService<IStreamProvider>(name);

    internal IEnumerable<PersistentStreamProvider> ProvidersOf(Machine machine) =>
        _providers.Select(name => (PersistentStreamProvider)ProviderOf(machine, name));

    internal IListener Listener(IGrainFactory grains, string key) =>
        key.EndsWith('0') ? grains.GetGrain<IPlainListener>(key) : grains.GetGrain<IBusyListener>(key);

    internal void BeginFaults()
    {
        _queues.BeginFaults(_dice, _world.IsCalm);
        Store.Delays = _dice.Pick<double>([0, 0.01, 0.1]);
        if (_world.IsCalm)
            return;
        Store.Refusals = _dice.Pick<double>([0, 0.02, 0.2]);
        Store.LostAnswers = _dice.Pick<double>([0, 0.02, 0.1]);
        Store.LateWrites = _dice.Pick<double>([0, 0.02, 0.1]);
        Store.Kills = _dice.Pick<double>([0, 0, 0.005]);
    }

    internal void EndFaults()
    {
        _queues.EndFaults();
        (Store.Refusals, Store.LostAnswers, Store.Delays, Store.LateWrites, Store.Kills) = (0, 0, 0, 0, 0);
    }

    internal void Configure(Machine machine, IServiceCollection services, Action<string> skipped)
    {
        SkipLog.Wrap(services, skipped);
        services.AddSingleton(new MemoryQueueLimits(_limit));
        services.AddKeyedSingleton<IGrainStorage>(ProviderConstants.DEFAULT_PUBSUB_PROVIDER_NAME, new SubscriptionStorage(Store, machine));
        foreach (var name in _providers)
        {
            services.Configure<StreamPullingAgentOptions>(name, options =>
            {
                (options.MaxEventDeliveryTime, options.StreamInactivityPeriod) = (LongestDelivery, _inactivity);
                (options.BatchContainerBatchSize, options.GetQueueMsgsTimerPeriod) = (_batch, _poll);
            });
            services.Configure<SimpleQueueCacheOptions>(name, options => options.CacheSize = CacheSize);
            services.Configure<HashRingStreamQueueMapperOptions>(name, options => options.TotalQueueCount = QueueCount);
            Add(machine, services, name);
        }
    }

    private void Add(Machine machine, IServiceCollection services, string name)
    {
        var builder = new Builder(services);
        if (name == StreamName.Memory && machine.IsSilo)
            SiloBuilderMemoryStreamExtensions.AddMemoryStreams(builder, name);
        else if (name == StreamName.Memory)
            ClientBuilderStreamingExtensions.AddMemoryStreams(builder, name);
        else if (machine.IsSilo)
            SiloBuilderStreamingExtensions.AddPersistentStreams(builder, name, Queues, static _ => { });
        else
            ClientBuilderStreamingExtensions.AddPersistentStreams(builder, name, Queues, null);

        IQueueAdapterFactory Queues(IServiceProvider provider, string given) => new MachineQueues(
            _queues, machine, given, new HashRingStreamQueueMapperOptions { TotalQueueCount = QueueCount }, new SimpleQueueAdapterCache(
                new SimpleQueueCacheOptions { CacheSize = CacheSize }, given, provider.GetRequiredService<ILoggerFactory>()));
    }

    private sealed class Builder(IServiceCollection services) : ISiloBuilder, IClientBuilder
    {
        public IServiceCollection Services => services;

        public IConfiguration Configuration { get; } = new ConfigurationBuilder().Build();
    }
}
