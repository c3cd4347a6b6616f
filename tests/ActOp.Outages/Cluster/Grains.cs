using ActOp.Harness.Activations;
using Orleans.Placement;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Outages.Cluster;

/// <summary>What the records of the journals speak of.</summary>
public enum Role
{
    /// <summary>A register in PostgreSQL.</summary>
    Register = 1,

    /// <summary>A counter in PostgreSQL.</summary>
    Counter = 2,

    /// <summary>A counter in memory.</summary>
    Memory = 3,

    /// <summary>A consumer that is subscribed by its class.</summary>
    Implicit = 4,

    /// <summary>A consumer that has subscribed itself.</summary>
    Explicit = 5,
}

/// <summary>
/// Writes down the turns of the grains of a silo and the items that arrived, in files that survive the process. Any thread.
/// </summary>
/// <remarks>The time of a record is one at which the turn ran, whatever stops the process between two instructions.</remarks>
public sealed class TurnJournal(string turns, string arrivals) : IDisposable
{
    private const int ItemBits = 40;
    private readonly ActivationJournal _turns = new(turns);
    private readonly ActivationJournal _arrivals = new(arrivals);
    private readonly Lock _lock = new();
    private long _activations;

    /// <summary>An activation begins; returns its number in this file.</summary>
    public long Begin(Role role, long key)
    {
        lock (_lock)
        {
            _turns.Write((int)role, begins: true, ++_activations, key);
            return _activations;
        }
    }

    /// <summary>An activation runs a turn.</summary>
    public void Turn(Role role, long activation, long key)
    {
        lock (_lock)
            _turns.Write((int)role, begins: false, activation, key);
    }

    /// <summary>A consumer has an item of the stream with its key.</summary>
    public void Arrived(Role role, long activation, long key, long item)
    {
        lock (_lock)
            _arrivals.Write((int)role, begins: false, activation, (key << ItemBits) | item);
    }

    /// <summary>Stream and item of a record.</summary>
    public static (long Stream, long Item) ItemOf(JournalRecord record) =>
        (record.Key >> ItemBits, record.Key & ((1L << ItemBits) - 1));

    /// <inheritdoc/>
    public void Dispose()
    {
        _turns.Dispose();
        _arrivals.Dispose();
    }
}

/// <summary>An answer of a register or counter.</summary>
/// <param name="Value">The value; what it means depends on the method.</param>
/// <param name="Activation">The activation that answered.</param>
[GenerateSerializer, Immutable]
public readonly record struct Reply([property: Id(0)] long Value, [property: Id(1)] Guid Activation);

/// <summary>A register in PostgreSQL, 0 at first.</summary>
public interface IRegister : IGrainWithIntegerKey
{
    /// <summary>Its value.</summary>
    Task<Reply> Read();

    /// <summary>Sets it; the answer has no value.</summary>
    Task<Reply> Write(long value);

    /// <summary>Sets it if it is the expected one; returns what it was.</summary>
    Task<Reply> Swap(long expected, long value);
}

/// <summary>A counter, 0 at first.</summary>
public interface ICounter : IGrainWithIntegerKey
{
    /// <summary>Its value.</summary>
    Task<Reply> Read();

    /// <summary>Adds one, with an id that no other call has; returns the new value.</summary>
    Task<Reply> Add(long id);

    /// <summary>The ids that were added, in this order.</summary>
    Task<long[]> Added();
}

/// <summary>A counter in PostgreSQL.</summary>
public interface IKeptCounter : ICounter;

/// <summary>A counter in memory: a new activation begins with 0.</summary>
public interface IMemoryCounter : ICounter;

/// <summary>The consumer of the stream with its key that has subscribed itself.</summary>
public interface ISubscriber : IGrainWithIntegerKey
{
    /// <summary>Subscribes.</summary>
    Task Subscribe();
}

/// <summary>The consumer that its class subscribes.</summary>
public interface IArrivals : IGrainWithIntegerKey;

/// <summary>The record of a register or a counter.</summary>
[GenerateSerializer]
public sealed class KeptState
{
    /// <summary>The value of a register.</summary>
    [Id(0)]
    public long Value { get; set; }

    /// <summary>The ids of a counter.</summary>
    [Id(1)]
    public List<long> Added { get; set; } = [];
}

/// <summary>A grain whose turns are written down.</summary>
public abstract class WatchedGrain(TurnJournal journal, Role role) : Grain
{
    private long _activation;

    /// <summary>The activation, for replies.</summary>
    protected Guid Identity { get; } = Guid.NewGuid();

    /// <inheritdoc/>
    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        _activation = journal.Begin(role, this.GetPrimaryKeyLong());
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        Turn();
        return Task.CompletedTask;
    }

    /// <summary>Writes down that a turn runs.</summary>
    protected void Turn() => journal.Turn(role, _activation, this.GetPrimaryKeyLong());

    /// <summary>Writes down that an item has arrived.</summary>
    protected Task Arrive(long item)
    {
        Turn();
        journal.Arrived(role, _activation, this.GetPrimaryKeyLong(), item);
        return Task.CompletedTask;
    }
}

/// <summary>
/// A grain with a record. After a write of unknown outcome, memory may be ahead of the record: it is read again before the next call.
/// </summary>
public abstract class KeptGrain(TurnJournal journal, Role role, IPersistentState<KeptState> state) : WatchedGrain(journal, role)
{
    private bool _isInDoubt;

    /// <summary>The state.</summary>
    protected KeptState State => state.State;

    /// <summary>To be awaited before the state is used.</summary>
    protected async Task BeginAsync()
    {
        Turn();
        if (!_isInDoubt)
            return;
        await state.ReadStateAsync();
        _isInDoubt = false;
        Turn();
    }

    /// <summary>Stores the state.</summary>
    protected async Task StoreAsync()
    {
        _isInDoubt = true;
        await state.WriteStateAsync();
        _isInDoubt = false;
        Turn();
    }

    /// <summary>The answer with a value.</summary>
    protected Reply Answer(long value) => new(value, Identity);
}

/// <inheritdoc cref="IRegister"/>
[RandomPlacement]
public sealed class RegisterGrain(
    TurnJournal journal, [PersistentState("register", Names.Storage)] IPersistentState<KeptState> state)
    : KeptGrain(journal, Role.Register, state), IRegister
{
    /// <inheritdoc/>
    public async Task<Reply> Read()
    {
        await BeginAsync();
        return Answer(State.Value);
    }

    /// <inheritdoc/>
    public async Task<Reply> Write(long value)
    {
        await BeginAsync();
        State.Value = value;
        await StoreAsync();
        return Answer(0);
    }

    /// <inheritdoc/>
    public async Task<Reply> Swap(long expected, long value)
    {
        await BeginAsync();
        var found = State.Value;
        if (found == expected)
        {
            State.Value = value;
            await StoreAsync();
        }

        return Answer(found);
    }
}

/// <inheritdoc cref="IKeptCounter"/>
[RandomPlacement]
public sealed class KeptCounterGrain(
    TurnJournal journal, [PersistentState("counter", Names.Storage)] IPersistentState<KeptState> state)
    : KeptGrain(journal, Role.Counter, state), IKeptCounter
{
    /// <inheritdoc/>
    public async Task<Reply> Read()
    {
        await BeginAsync();
        return Answer(State.Added.Count);
    }

    /// <inheritdoc/>
    public async Task<Reply> Add(long id)
    {
        await BeginAsync();
        State.Added.Add(id);
        await StoreAsync();
        return Answer(State.Added.Count);
    }

    /// <inheritdoc/>
    public async Task<long[]> Added()
    {
        await BeginAsync();
        return [.. State.Added];
    }
}

/// <inheritdoc cref="IMemoryCounter"/>
[RandomPlacement]
public sealed class MemoryCounterGrain(TurnJournal journal) : WatchedGrain(journal, Role.Memory), IMemoryCounter
{
    private readonly List<long> _added = [];

    /// <inheritdoc/>
    public Task<Reply> Read()
    {
        Turn();
        return Task.FromResult(new Reply(_added.Count, Identity));
    }

    /// <inheritdoc/>
    public Task<Reply> Add(long id)
    {
        Turn();
        _added.Add(id);
        return Task.FromResult(new Reply(_added.Count, Identity));
    }

    /// <inheritdoc/>
    public Task<long[]> Added()
    {
        Turn();
        return Task.FromResult<long[]>([.. _added]);
    }
}

/// <inheritdoc cref="IArrivals"/>
[RandomPlacement, ImplicitStreamSubscription(Names.Streams)]
public sealed class ArrivalsGrain(TurnJournal journal) : WatchedGrain(journal, Role.Implicit), IArrivals, IStreamSubscriptionObserver
{
    /// <inheritdoc/>
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory) =>
        await handleFactory.Create<long>().ResumeAsync((item, _) => Arrive(item));
}

/// <inheritdoc cref="ISubscriber"/>
[RandomPlacement]
public sealed class SubscriberGrain(TurnJournal journal)
    : WatchedGrain(journal, Role.Explicit), ISubscriber, IStreamSubscriptionObserver
{
    /// <inheritdoc/>
    public async Task Subscribe()
    {
        Turn();
        var stream = this.GetStreamProvider(Names.Streams).GetStream<long>(StreamId.Create(Names.Streams, this.GetPrimaryKeyLong()));
        // A caller that got no answer asks again.
        if ((await stream.GetAllSubscriptionHandles()).Count == 0)
            await stream.SubscribeAsync((item, _) => Arrive(item));
    }

    /// <inheritdoc/>
    public async Task OnSubscribed(IStreamSubscriptionHandleFactory handleFactory) =>
        await handleFactory.Create<long>().ResumeAsync((item, _) => Arrive(item));
}

/// <summary>Names of the cluster.</summary>
public static class Names
{
    /// <summary>The storage of states.</summary>
    public const string Storage = "kept";

    /// <summary>The provider of streams, and their namespace.</summary>
    public const string Streams = "ledger";

    /// <summary>The secret of the cluster.</summary>
    internal const string Secret = "a secret of processes in namespaces";

    internal const int SiloPort = 11111;

    internal const int GatewayPort = 30000;
}
