using System.Collections.Concurrent;
using ActOp.Foundation;
using ActOp.Staging;
using ActOp.Wire;
using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activations of this silo, by grain. Any thread.</summary>
internal sealed class ActivationTable(ActivationParts parts) : IEnumerable<Activation>
{
    private readonly ActivationMap<Activation> _activations = new();
    private readonly ConcurrentDictionary<GrainId, StatelessWorkers> _workers = new(GrainsByRandomHash.Instance);
    private readonly RecentActivations _recent = new();

    private readonly BackgroundPart _lives = parts.Local.Background.Part("activations");
    private readonly TaskCompletionSource _stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly GrainClass _observerClass = GrainClass.Special("sys.observer", typeof(IGrainObserver), reentrant: false);
    private int _special;

    /// <summary>Activations of grains; system targets and observers do not count.</summary>
    internal int Count => _activations.Count - Volatile.Read(ref _special);

    /// <summary>
    /// Supervises the start or the end of an activation until it is over, or until the turns are stopped (<see cref="Stop"/>).
    /// </summary>
    internal void Follow(Task life) => _lives.Follow(Task.WhenAny(life, _stopped.Task).Unwrap());

    /// <summary>Stops the turns of grains, so starts and ends that run are never over.</summary>
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

    /// <summary>
    /// As <see cref="TryGet"/>, by the bytes of an id from the wire, for recently used grains. Null does not mean that the grain has no
    /// activation.
    /// </summary>
    internal Activation? FindRecent(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => _recent.FindRecent(hash, type, key);

    /// <summary>Lets <see cref="FindRecent"/> find an activation of the table.</summary>
    internal void Remember(Activation activation) => _recent.SetRecent(activation, this);

    /// <summary>
    /// The activation of the grain, a new one if there is none. A <paramref name="created"/> one starts with its first request, or the
    /// caller must start it. It has the <paramref name="activationId"/>, unless that is the default.
    /// </summary>
    internal Activation GetOrCreate(
        GrainId id, GrainClass grainClass, bool withFirstRequest, out bool created, ActivationId activationId = default)
    {
        created = false;
        while (true)
        {
            if (_activations.TryGet(id, out var existing))
                return existing;
            var activation = New(id, grainClass, activationId);
            if (withFirstRequest)
                activation.Life.BeginWithFirstRequest();
            if (!_activations.TryAdd(activation))
                continue;
            created = true;
            // References may have stored another silo; they must find the grain here.
            parts.Locations.Forget(id);
            return activation;
        }
    }

    /// <summary>
    /// The grain could not migrate: a new activation replaces the one that leaves and gets its state. Every lookup finds one of them. False
    /// if the leaving one is not in the table any more. On a turn of the leaving one.
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

    /// <summary>A worker of the stateless worker grain, a new one if needed; see <see cref="GetOrCreate"/>.</summary>
    internal Activation PickWorker(GrainId id, GrainClass grainClass, out bool created)
    {
        while (true)
        {
            var workers = _workers.GetOrAdd(
                id, static (key, arg) => new StatelessWorkers(arg.parts, key, arg.grainClass), (parts, grainClass));
            if (workers.Pick(out created) is { } picked)
                return picked;
            // The last worker has just left: a new entry is needed.
            _workers.TryRemove(KeyValuePair.Create(id, workers));
        }
    }

    /// <summary>Requests the end of idle workers. On the control stage.</summary>
    internal void EndIdleWorkers(long now, StatelessWorkerOptions options)
    {
        foreach (var (_, workers) in _workers)
            workers.EndIdle(now, options);
    }

    /// <summary>Workers of the grain of which idle periods are counted. For tests.</summary>
    internal int CountedIdleWorkers(GrainId id) => _workers.TryGetValue(id, out var workers) ? workers.CountedIdle : 0;

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
        var activation = Activation.ForObserver(
            parts, SystemGrainIds.Observer(parts.Local.Address, parts.Local.NewId()), _observerClass, observer);
        Add(activation);
        return activation;
    }

    /// <summary>Adds a system target of this silo; its turns run on the control stage, unless another one is given.</summary>
    internal Activation AddSystemTarget(string name, object instance, Stage? stage = null)
    {
        var grainClass = GrainClass.Special("sys." + name, instance.GetType(), reentrant: true);
        var activation = Activation.ForInstance(
            parts, SystemGrainIds.SystemTarget(name, parts.Local.Address), grainClass, instance, stage ?? parts.Stages.Control);
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
    internal Activation New(GrainId id, GrainClass grainClass, ActivationId activationId = default) =>
        new(parts, id, grainClass, parts.Stages.Work, activationId);

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
/// Finds an activation by the bytes of the grain id in a request from the wire, without creating an id object. For each remainder of the
/// hash, it holds the activation that was used last. The others are found in the table.
/// </summary>
/// <remarks>
/// <para>Any thread, without a lock: a slot is one reference, and the id of the activation is compared with the bytes. The hash comes from
/// the peer and only selects the slot.</para>
/// <para>No activation stays here after its end. A thread that stores one checks the table afterwards. A thread that removes one from the
/// table checks the slot afterwards. Both pass a full fence between, so at least one of them sees the other.</para>
/// </remarks>
internal sealed class RecentActivations
{
    /// <summary>About the number of grains that a silo uses within a short time; 8 bytes each.</summary>
    private const int Size = 1 << 14;

    private Activation?[]? _slots;

    /// <summary>The activation of the grain, if it is stored here.</summary>
    internal Activation? FindRecent(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (Volatile.Read(ref _slots) is not { } slots || Volatile.Read(ref slots[hash & (Size - 1)]) is not { } found)
            return null;
        var id = found.GrainId;
        return id.Key.AsSpan().SequenceEqual(key) && id.Type.AsSpan().SequenceEqual(type) ? found : null;
    }

    /// <summary>Stores an activation that was found in the table.</summary>
    internal void SetRecent(Activation activation, ActivationTable table)
    {
        var slots = Volatile.Read(ref _slots) ?? Make();
        ref var slot = ref slots[SlotOf(activation)];
        if (ReferenceEquals(Volatile.Read(ref slot), activation))
            return;
        Interlocked.Exchange(ref slot, activation);
        if (!table.TryGet(activation.GrainId, out var present) || !ReferenceEquals(present, activation))
            Interlocked.CompareExchange(ref slot, null, activation);
    }

    /// <summary>Removes an activation that is not in the table any more.</summary>
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
