using System.Runtime.CompilerServices;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Orleans.BroadcastChannel;
using Orleans.Storage;
using Orleans.Streams;

namespace ActOp.Simulation.Explore;

/// <summary>Sends ids to streams and channels.</summary>
public interface IPublisher : IGrainWithIntegerKey
{
    /// <summary>Sends ids to a stream, one after the other.</summary>
    Task Publish(string stream, long first, int count);

    /// <summary>Sends an id to a channel.</summary>
    Task Broadcast(string channel, long id);
}

/// <summary>Hears the ids of streams.</summary>
public interface ISubscriber : IGrainWithIntegerKey
{
    /// <summary>Hears a stream from now on.</summary>
    Task Subscribe(string stream);

    /// <summary>Hears it no more.</summary>
    Task Unsubscribe(string stream);

    /// <summary>Moves the activation to another silo.</summary>
    Task Move();
}

/// <summary>Hears the ids of channels.</summary>
public interface IListener : IGrainWithStringKey;

/// <summary>Has reminders.</summary>
public interface IAlarm : IGrainWithIntegerKey
{
    /// <summary>Creates or replaces a reminder.</summary>
    Task Set(string name);

    /// <summary>Ends a reminder.</summary>
    Task Stop(string name);

    /// <summary>The names of its reminders.</summary>
    Task<string[]> List();
}

/// <summary>Keeps ids in storage.</summary>
public interface IVault : IGrainWithIntegerKey
{
    /// <summary>Returns when the id is stored.</summary>
    Task Put(long id);

    /// <summary>The ids.</summary>
    Task<long[]> Get();

    /// <summary>Removes the record, and keeps no id.</summary>
    Task Clear();

    /// <summary>Ends the activation.</summary>
    Task Leave();
}

/// <summary>Waits, and counts.</summary>
public interface ISleeper : IGrainWithIntegerKey
{
    /// <summary>Waits for so many milliseconds or until it is cancelled; true if it was.</summary>
    Task<bool> Sleep(int milliseconds, CancellationToken cancellationToken);

    /// <summary>The same with a token of the older kind.</summary>
    Task<bool> SleepWith(int milliseconds, GrainCancellationToken cancellationToken);

    /// <summary>The numbers from 0, with a pause before each.</summary>
    IAsyncEnumerable<int> Numbers(int count, int milliseconds, CancellationToken cancellationToken = default);
}

/// <inheritdoc cref="IPublisher"/>
internal sealed class Publisher(Fixtures fixtures) : Grain, IPublisher
{
    public async Task Publish(string stream, long first, int count)
    {
        var target = this.GetStreamProvider(Fixtures.Streams).GetStream<long>(StreamId.Create("stream", stream));
        for (var id = first; id < first + count; id++)
        {
            await target.OnNextAsync(id);
            fixtures.Published(stream, id);
        }
    }

    public Task Broadcast(string channel, long id) => ServiceProvider.GetRequiredKeyedService<IBroadcastChannelProvider>(Fixtures.Channels)
        .GetChannelWriter<long>(ChannelId.Create(channel, "key")).Publish(id);
}

/// <inheritdoc cref="ISubscriber"/>
internal sealed class Subscriber(Fixtures fixtures) : Grain, ISubscriber
{
    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        foreach (var stream in Fixtures.StreamNames)
        {
            foreach (var handle in await Of(stream).GetAllSubscriptionHandles())
                await handle.ResumeAsync((id, _) => HearAsync(stream, id));
        }
    }

    public async Task Subscribe(string stream)
    {
        fixtures.MaySubscribe(stream, this.GetPrimaryKeyLong());
        await Of(stream).SubscribeAsync((id, _) => HearAsync(stream, id));
        fixtures.Subscribed(stream, this.GetPrimaryKeyLong());
    }

    public async Task Unsubscribe(string stream)
    {
        fixtures.MayUnsubscribe(stream, this.GetPrimaryKeyLong());
        foreach (var handle in await Of(stream).GetAllSubscriptionHandles())
            await handle.UnsubscribeAsync();
        fixtures.Unsubscribed(stream, this.GetPrimaryKeyLong());
    }

    public Task Move()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }

    private Task HearAsync(string stream, long id)
    {
        fixtures.Heard(stream, this.GetPrimaryKeyLong(), id);
        return Task.CompletedTask;
    }

    private IAsyncStream<long> Of(string stream) =>
        this.GetStreamProvider(Fixtures.Streams).GetStream<long>(StreamId.Create("stream", stream));
}

/// <inheritdoc cref="IListener"/>
[ImplicitChannelSubscription("waves")]
internal sealed class Listener(Fixtures fixtures) : Grain, IListener, IOnBroadcastChannelSubscribed
{
    public Task OnSubscribed(IBroadcastChannelSubscription streamSubscription) => streamSubscription.Attach<long>(id =>
    {
        fixtures.HeardWave(id);
        return Task.CompletedTask;
    });
}

/// <inheritdoc cref="IAlarm"/>
internal sealed class Alarm(Fixtures fixtures) : Grain, IAlarm, IRemindable
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(2);

    public async Task Set(string name)
    {
        fixtures.Reminds(this.GetPrimaryKeyLong(), name, null);
        await this.RegisterOrUpdateReminder(name, Period, Period);
        fixtures.Reminds(this.GetPrimaryKeyLong(), name, true);
    }

    public async Task Stop(string name)
    {
        fixtures.Reminds(this.GetPrimaryKeyLong(), name, null);
        if (await this.GetReminder(name) is { } reminder)
            await this.UnregisterReminder(reminder);
        fixtures.Reminds(this.GetPrimaryKeyLong(), name, false);
    }

    public async Task<string[]> List() => [.. (await this.GetReminders()).Select(static reminder => reminder.ReminderName)];

    public Task ReceiveReminder(string reminderName, TickStatus status)
    {
        fixtures.Ticked(this.GetPrimaryKeyLong(), reminderName);
        return Task.CompletedTask;
    }
}

/// <inheritdoc cref="IVault"/>
internal sealed class Vault(Fixtures fixtures, [PersistentState("ids", Fixtures.Storage)] IPersistentState<Load.KeptIds> state)
    : Grain, IVault
{
    public async Task Put(long id)
    {
        state.State.Ids.Add(id);
        await state.WriteStateAsync();
        fixtures.Kept(this.GetPrimaryKeyLong(), id);
    }

    public Task<long[]> Get() => Task.FromResult(state.State.Ids.ToArray());

    public async Task Clear()
    {
        fixtures.Cleared(this.GetPrimaryKeyLong());
        await state.ClearStateAsync();
    }

    public Task Leave()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }
}

/// <inheritdoc cref="ISleeper"/>
internal sealed class Sleeper(Machine machine) : Grain, ISleeper
{
    public async Task<bool> Sleep(int milliseconds, CancellationToken cancellationToken)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(milliseconds), machine.AppClock, cancellationToken)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        return cancellationToken.IsCancellationRequested;
    }

    public Task<bool> SleepWith(int milliseconds, GrainCancellationToken cancellationToken) =>
        Sleep(milliseconds, cancellationToken.CancellationToken);

    public async IAsyncEnumerable<int> Numbers(
        int count, int milliseconds, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        for (var number = 0; number < count; number++)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(milliseconds), machine.AppClock, cancellationToken);
            yield return number;
        }
    }
}

/// <summary>What the grains of scenarios have done, and what must hold: see the methods that accuse.</summary>
/// <remarks>Memory of the cluster ends with the silo that has it. What depends on it is checked only if no silo was lost.</remarks>
internal sealed class Fixtures(World.World world, Ledger ledger, Faults faults)
{
    internal const string Streams = "streams";
    internal const string Channels = "channels";
    internal const string Storage = "store";

    /// <summary>Ids that are published when all is well again.</summary>
    private const long FirstAfterwards = 1_000;
    private const int CountAfterwards = 5;

    /// <summary>A tick that was on its way when its reminder ended, or the period of one that goes on.</summary>
    private const long LatestTick = 6 * Pump.Second;

    internal static readonly string[] StreamNames = ["one", "two"];

    private readonly HashSet<(string Stream, long Id)> _published = [];
    private readonly Dictionary<(string Stream, long Subscriber), bool?> _subscriptions = [];
    private readonly Dictionary<(string Stream, long Subscriber), long> _subscribedAt = [];
    private readonly Dictionary<(string Stream, long Subscriber, long Id), long> _heard = [];
    private readonly Dictionary<(string Stream, long Id), long> _publishedAt = [];
    private readonly Dictionary<(string Stream, long Subscriber), long> _newest = [];
    private readonly HashSet<long> _waves = [];
    private readonly Dictionary<(long Alarm, string Name), bool?> _reminders = [];
    private readonly Dictionary<(long Alarm, string Name), long> _ticks = [];
    private readonly Dictionary<long, HashSet<long>> _kept = [];
    private readonly Dictionary<long, Task<long[]>> _read = [];
    private long _afterwards;

    private bool HasLostSilo => faults.Any(0, FaultKind.Crash, FaultKind.Isolation, FaultKind.Restart);

    /// <summary>Exceptions of the application's libraries that say that something was not done.</summary>
    internal bool IsExpected(Exception? failure) => !world.IsCalm
        && failure is ReminderException or InconsistentStateException or EnumerationAbortedException or OrleansException;

    internal void Published(string stream, long id)
    {
        _published.Add((stream, id));
        _publishedAt[(stream, id)] = world.Pump.Now;
    }

    internal void MaySubscribe(string stream, long subscriber) => _subscriptions[(stream, subscriber)] = null;

    internal void Subscribed(string stream, long subscriber)
    {
        _subscriptions[(stream, subscriber)] = true;
        _subscribedAt[(stream, subscriber)] = world.Pump.Now;
    }

    internal void MayUnsubscribe(string stream, long subscriber) => _subscriptions[(stream, subscriber)] = null;

    internal void Unsubscribed(string stream, long subscriber) => _subscriptions[(stream, subscriber)] = false;

    /// <summary>Ids come in the order in which they were published, unless they come again.</summary>
    internal void Heard(string stream, long subscriber, long id)
    {
        world.Pump.Note(null, EventKind.Check, "heard " + stream + " " + subscriber + " " + id);
        if (!_heard.TryAdd((stream, subscriber, id), world.Pump.Now))
            return;
        if (_newest.TryGetValue((stream, subscriber), out var newest) && newest > id && !HasLostSilo)
            ledger.Accuse("stream order", "The id " + id + " of the stream " + stream + " came after " + newest + ".");
        _newest[(stream, subscriber)] = Math.Max(newest, id);
    }

    internal void HeardWave(long id) => _waves.Add(id);

    /// <summary>Whether the reminder exists; null while that is not known.</summary>
    internal void Reminds(long alarm, string name, bool? exists)
    {
        _reminders[(alarm, name)] = exists;
        if (exists is not null)
            world.Pump.Note(null, EventKind.Check, "reminder " + alarm + " " + name + " " + exists);
    }

    internal void Ticked(long alarm, string name) => _ticks[(alarm, name)] = world.Pump.Now;

    internal void Kept(long vault, long id)
    {
        if (!_kept.TryGetValue(vault, out var ids))
            _kept.Add(vault, ids = []);
        ids.Add(id);
    }

    internal void Cleared(long vault) => _kept.Remove(vault);

    /// <summary>Publishes to the streams, and reads the vaults.</summary>
    internal void BeginAfterwards()
    {
        _afterwards = world.Pump.Now;
        var machine = world.Silos.First();
        world.Pump.After(0, machine, EventKind.Load, "afterwards", () =>
        {
            foreach (var stream in _subscriptions.Keys.Select(static one => one.Stream).Distinct())
                _ = CallAsync(machine, machine.Grains.GetGrain<IPublisher>(99).Publish(stream, FirstAfterwards, CountAfterwards));
            foreach (var vault in _kept.Keys)
                _read[vault] = machine.Grains.GetGrain<IVault>(vault).Get();
        });
    }

    internal void CheckAfterwards()
    {
        foreach (var ((stream, subscriber), isSubscribed) in _subscriptions)
            CheckSubscription(stream, subscriber, isSubscribed);
        foreach (var ((alarm, name), exists) in _reminders)
        {
            var age = world.Pump.Now - _ticks.GetValueOrDefault((alarm, name), long.MinValue / 2);
            if (exists == true && age > LatestTick)
                ledger.Accuse("reminder", "The reminder " + name + " of alarm " + alarm + " was registered and does not tick.");
            else if (exists == false && age < world.Pump.Now - _afterwards - LatestTick)
                ledger.Accuse("reminder", "The reminder " + name + " of alarm " + alarm + " was ended and ticks.");
        }

        foreach (var (vault, read) in _read)
        {
            if (!read.IsCompletedSuccessfully)
                ledger.Accuse("unserved", "Vault " + vault + " does not answer: " + read.Exception?.InnerException);
            else if (!HasLostSilo && _kept.TryGetValue(vault, out var ids) && !ids.IsSubsetOf(read.Result))
                ledger.Accuse("lost write", "Vault " + vault + " has lost ids that were stored.");
        }
    }

    /// <summary>Reminders would call grains for ever.</summary>
    internal void EndAfterwards()
    {
        var machine = world.Silos.First();
        world.Pump.After(0, machine, EventKind.Load, "leave", () =>
        {
            foreach (var (alarm, name) in _reminders.Keys.ToArray())
                _ = CallAsync(machine, machine.Grains.GetGrain<IAlarm>(alarm).Stop(name));
        });
    }

    private void CheckSubscription(string stream, long subscriber, bool? isSubscribed)
    {
        if (isSubscribed == false
            && _heard.Keys.Any(one => one.Stream == stream && one.Subscriber == subscriber && one.Id >= FirstAfterwards))
        {
            ledger.Accuse("subscription", "Subscriber " + subscriber + " hears the stream " + stream + " after it has ended that.");
        }

        if (isSubscribed != true || HasLostSilo)
            return;
        var since = _subscribedAt[(stream, subscriber)];
        foreach (var (_, id) in _published.Where(one => one.Stream == stream && _publishedAt[one] - since > Pump.Second / 2))
        {
            if (!_heard.ContainsKey((stream, subscriber, id)))
            {
                ledger.Accuse("stream", "Subscriber " + subscriber + " has not heard the id " + id + " of the stream " + stream + ".");
                return;
            }
        }
    }

    private async Task CallAsync(Machine machine, Task call)
    {
        try
        {
            await call;
        }
        catch (Exception exception)
        {
            ledger.Accuse("unserved", "A call of " + machine.Name + " failed though nothing is wrong any more: " + exception);
        }
    }
}
