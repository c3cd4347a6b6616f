using System.Collections.Concurrent;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Locality;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activations of this silo, by grain. Any thread.</summary>
internal sealed class ActivationTable(ActivationParts parts) : IEnumerable<Activation>
{
    private readonly ActivationMap<Activation> _activations = new();
    private readonly ConcurrentDictionary<GrainId, StatelessWorkers> _workers = new();
    private readonly RecentActivations _recent = new();

    private readonly BackgroundPart _lives = parts.Local.Background.Part("activations");
    private readonly TaskCompletionSource _stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly GrainClass _observerClass = GrainClass.Special("sys.observer", typeof(IGrainObserver), reentrant: false);
    private int _special;

    /// <summary>Activations of grains; system targets and observers do not count.</summary>
    internal int Count => _activations.Count - Volatile.Read(ref _special);

    /// <summary>
    /// Sees to the end of the begin or the end of an activation, unless the turns on which it goes on are stopped (<see cref="Stop"/>).
    /// </summary>
    internal void Follow(Task life) => _lives.Follow(Task.WhenAny(life, _stopped.Task).Unwrap());

    /// <summary>No turn of a grain runs any more, so begins and ends that are under way never end.</summary>
    internal void Stop()
    {
        foreach (var activation in this)
        {
            if (activation.Class.IsOrdinary)
                activation.Stop();
        }

        _stopped.TrySetResult();
    }

    internal bool TryGet(GrainId id, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out Activation? activation) =>
        _activations.TryGet(id, out activation);

    /// <summary>As <see cref="TryGet"/>, by the bytes of an id from the wire, for grains remembered lately; null says nothing.</summary>
    internal Activation? FindRecent(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => _recent.Find(hash, type, key);

    /// <summary>Has <see cref="FindRecent"/> find an activation of the table.</summary>
    internal void Remember(Activation activation) => _recent.Put(activation, this);

    /// <summary>
    /// The activation of the grain, a new one when there is none. It begins with the first request that it gets, or whoever has
    /// <paramref name="created"/> it must begin it.
    /// </summary>
    internal Activation GetOrCreate(GrainId id, GrainClass grainClass, bool withFirstRequest, out bool created)
    {
        created = false;
        while (true)
        {
            if (_activations.TryGet(id, out var existing))
                return existing;
            var activation = New(id, grainClass);
            if (withFirstRequest)
                activation.Life.BeginWithFirstRequest();
            if (!_activations.TryAdd(activation))
                continue;
            created = true;
            // References that remember another silo shall find the grain here.
            parts.Locations.Forget(id);
            return activation;
        }
    }

    /// <summary>
    /// The grain could not move: a new activation takes the place of the one that leaves, and what that one carried. Nobody finds the grain
    /// missing meanwhile. False when the leaving one has no place here any more. On its turn.
    /// </summary>
    internal bool TryReplace(Activation leaving, MigrationState state)
    {
        var returned = New(leaving.GrainId, leaving.Class);
        returned.Life.PrepareBegin(returned, state, null, null);
        if (!_activations.TryReplace(leaving, returned))
            return false;
        _recent.Forget(leaving);
        returned.Life.BeginPrepared(returned);
        return true;
    }

    /// <summary>A worker of the stateless worker grain, a new one if need be; see <see cref="GetOrCreate"/>.</summary>
    internal Activation PickWorker(GrainId id, GrainClass grainClass, out bool created)
    {
        while (true)
        {
            var workers = _workers.GetOrAdd(id, static (key, arg) => new StatelessWorkers(arg.parts, key, arg.grainClass), (parts, grainClass));
            if (workers.Pick(out created) is { } picked)
                return picked;
            // The last of them has left just now: there will be a new entry.
            _workers.TryRemove(KeyValuePair.Create(id, workers));
        }
    }

    /// <summary>Whether this silo has an entry for the workers of the grain.</summary>
    internal bool HasWorkers(GrainId id) => _workers.ContainsKey(id);

    private void Add(Activation activation)
    {
        if (_activations.TryAdd(activation))
            Interlocked.Increment(ref _special);
    }

    /// <summary>Adds an observer: an object of the application that other nodes call.</summary>
    internal Activation AddObserver(IGrainObserver observer)
    {
        var activation = Activation.ForObserver(parts, SystemGrainIds.Observer(parts.Local.Address, parts.Local.NewId()), _observerClass, observer);
        Add(activation);
        return activation;
    }

    /// <summary>Adds a system target of this silo; its turns run on the control stage.</summary>
    internal Activation AddSystemTarget(string name, object instance)
    {
        var grainClass = GrainClass.Special("sys." + name, instance.GetType(), reentrant: true);
        var activation = Activation.ForInstance(parts, SystemGrainIds.SystemTarget(name, parts.Local.Address), grainClass, instance, parts.Stages.Control);
        Add(activation);
        return activation;
    }

    internal void Remove(Activation activation)
    {
        if (activation.Class.Worker is not null)
        {
            if (_workers.TryGetValue(activation.GrainId, out var workers) && workers.Remove(activation))
                _workers.TryRemove(KeyValuePair.Create(activation.GrainId, workers));
        }
        else
        {
            if (_activations.TryRemove(activation) && !activation.Class.IsOrdinary)
                Interlocked.Decrement(ref _special);
            _recent.Forget(activation);
        }
    }

    /// <summary>An activation of a grain that is in no table yet.</summary>
    internal Activation New(GrainId id, GrainClass grainClass) => new(parts, id, grainClass, parts.Stages.Work);

    public IEnumerator<Activation> GetEnumerator()
    {
        foreach (var activation in _activations)
            yield return activation;
        foreach (var pair in _workers)
        {
            foreach (var worker in pair.Value.Snapshot())
                yield return worker;
        }
    }

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}

/// <summary>
/// Finds an activation by the bytes of its grain's id, as they stand in a request from the wire, without making an id of them. Holds one
/// activation for each remainder of the hash, the one that was asked for last; what it does not know is found in the table.
/// </summary>
/// <remarks>
/// <para>Any thread, without a lock: a slot is one reference, and an activation that is found is compared with the bytes. What a peer says
/// is the hash decides nothing but where to look.</para>
/// <para>No activation stays after its end: whoever enters one looks into the table afterwards, and whoever takes one out of the table
/// looks into its slot afterwards, with a full fence between. One of them sees the other.</para>
/// </remarks>
internal sealed class RecentActivations
{
    /// <summary>Grains that a silo works with in a while; 8 bytes each.</summary>
    private const int Size = 1 << 14;

    private Activation?[]? _slots;

    /// <summary>The activation of the grain, if it is held; null says nothing.</summary>
    internal Activation? Find(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (Volatile.Read(ref _slots) is not { } slots || Volatile.Read(ref slots[hash & (Size - 1)]) is not { } found)
            return null;
        var id = found.GrainId;
        return id.Key.AsSpan().SequenceEqual(key) && id.Type.AsSpan().SequenceEqual(type) ? found : null;
    }

    /// <summary>Holds an activation that was found in the table.</summary>
    internal void Put(Activation activation, ActivationTable table)
    {
        var slots = Volatile.Read(ref _slots) ?? Make();
        ref var slot = ref slots[SlotOf(activation)];
        if (ReferenceEquals(Volatile.Read(ref slot), activation))
            return;
        Interlocked.Exchange(ref slot, activation);
        if (!table.TryGet(activation.GrainId, out var present) || !ReferenceEquals(present, activation))
            Interlocked.CompareExchange(ref slot, null, activation);
    }

    /// <summary>The activation is not in the table any more.</summary>
    internal void Forget(Activation activation)
    {
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _slots) is not { } slots)
            return;
        ref var slot = ref slots[SlotOf(activation)];
        if (ReferenceEquals(Volatile.Read(ref slot), activation))
            Interlocked.CompareExchange(ref slot, null, activation);
    }

    private static int SlotOf(Activation activation) => (int)(activation.GrainId.GetUniformHashCode() & (Size - 1));

    private Activation?[] Make()
    {
        var slots = new Activation?[Size];
        return Interlocked.CompareExchange(ref _slots, slots, null) ?? slots;
    }
}
