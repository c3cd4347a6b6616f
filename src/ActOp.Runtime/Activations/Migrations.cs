using System.Buffers;
using System.Collections.Concurrent;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Wire;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>Accepts activations from other silos.</summary>
internal interface IMigrationTarget : ISystemTarget
{
    /// <summary>Starts the activation with its transferred state. Returns the location of the grain.</summary>
    ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values);

    /// <summary>
    /// Asked at the silo that the grain leaves, by the activation on the target, when it is registered and before its first turn. False if
    /// the silo has taken the state back: then the activation ends. May be repeated. See <see cref="HandOver"/>.
    /// </summary>
    /// <param name="previous">The activation that leaves.</param>
    /// <param name="next">The one that asks.</param>
    ValueTask<bool> Release(Registration previous, Location next);
}

/// <summary>
/// Sends activations to other silos and accepts theirs. The sending half runs on the turns of the activations that leave.
/// </summary>
internal sealed class Migrations(
    LocalNode local, ClusterView cluster, DirectoryService directory, ActivationTable activations, GrainClasses classes,
    GrainFactory factory, CallSender calls, ILocality locality) : IMigrationTarget
{
    internal const string Name = "migration";

    /// <summary>
    /// Among the values: the id that the activation on the target must have. It says that the source decides who goes on. A target of an
    /// older build has another id and does not ask; a source of an older build does not send it.
    /// </summary>
    private const string NextKey = "\0next";

    /// <summary>Among the values: the trace that the move belongs to. Silos of an older build leave it among the values.</summary>
    private const string TraceKey = "\0trace";

    /// <summary>The length of an id.</summary>
    private const int IdBytes = 16;

    /// <summary>
    /// By the activation that leaves, from the sending until nobody asks any more: the target has answered, or is gone, or the state was
    /// taken back. An activation that is not here is not released.
    /// </summary>
    private readonly ConcurrentDictionary<ActivationId, HandOver> _handOvers = new();

    /// <summary>Activations whose target may still ask. For tests.</summary>
    internal int Undecided => _handOvers.Count;

    /// <summary>
    /// Sends the state to its target in the request context of this turn. Returns the location of the grain, or none if the target did not
    /// accept it.
    /// </summary>
    /// <exception cref="SiloUnavailableException">The target did not answer, and has not begun.</exception>
    internal async Task<Location> SendAsync(MigrationState state)
    {
        var (previous, handOver) = (state.Previous, state.HandOver!);
        var values = new Dictionary<string, byte[]>(state.Values) { [NextKey] = handOver.Next.Key.ToByteArray() };
        if (state.Trace is { } trace)
            values[TraceKey] = TraceHeader.ToBytes(trace);
        _handOvers[previous.Location.Activation] = handOver;
        try
        {
            var location = await factory.GetSystemTarget<IMigrationTarget>(Name, handOver.Target).Accept(previous, values);
            Forget(previous);
            return location;
        }
        catch (Exception) when (handOver.ReleasedTo is { IsNone: false })
        {
            // It may not have got the answer to its question, and asks again.
            return handOver.ReleasedTo;
        }
    }

    /// <summary>The state was taken back: the target is refused when it asks.</summary>
    internal void Forget(Registration previous) => _handOvers.TryRemove(previous.Location.Activation, out _);

    /// <summary>Silos that are gone ask nothing.</summary>
    internal void OnView(View view)
    {
        foreach (var (leaving, handOver) in _handOvers)
        {
            if (!view.MayHost(handOver.Target))
                _handOvers.TryRemove(leaving, out _);
        }
    }

    public ValueTask<bool> Release(Registration previous, Location next) => new(
        _handOvers.TryGetValue(previous.Location.Activation, out var handOver) && handOver.Next.Equals(next.Activation)
            && handOver.TryRelease(next, silo => !directory.Map.View.MayHost(silo)));

    /// <summary>
    /// Asks the source for the grain. Null if it has not answered: the question must be repeated.
    /// </summary>
    internal async Task<bool?> AskAsync(Registration previous, Location next)
    {
        var source = previous.Location.Silo;
        try
        {
            return await factory.GetSystemTarget<IMigrationTarget>(Name, source).Release(previous, next);
        }
        catch (Exception exception)
        {
            if (IsGone(cluster.View, previous.Location))
                return AfterDeath(previous.Location);
            local.Log.ReleaseUnknown(previous.Grain, source, exception);
            return null;
        }
    }

    /// <summary>
    /// A source that was only silent may have taken the state back, registered it in a slot of its own side, and served it since. So this
    /// silo waits for its lease, and the state that it has sent is outdated. Null while the lease runs, false after it.
    /// </summary>
    private bool? AfterDeath(Location source)
    {
        var view = directory.Map.View;
        if (!IsGone(view, source) || directory.IsLeased(source.Silo))
            return null;
        return !directory.HasLeases || view.FindMember(source.Silo) is { Cause: not DeathCause.Silent };
    }

    /// <summary>A view that is older than the registration of the source may not know it yet.</summary>
    private static bool IsGone(View view, Location location) => view.IsDead(location.Silo)
        || (view.StatusOf(location.Silo) == SiloStatus.None && view.Number >= Slot.ViewOf(location.Epoch) && location.Epoch > 0);

    public async ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values)
    {
        // A silo that does not host the class keeps nothing: the grain continues where it is.
        if (!local.AcceptsActivations || !classes.TryGet(previous.Grain.Type, out var grainClass))
            return default;
        var next = values.Remove(NextKey, out var id) && id.Length == IdBytes ? new ActivationId(new Guid(id)) : default;
        var state = new MigrationState(calls, previous, values) { Context = RequestContext.Current, MustAsk = !next.IsDefault };
        var trace = values.Remove(TraceKey, out var header) ? CallTrace.Arrived(TraceHeader.FromBytes(header)) : null;
        // If the sender has given up meanwhile, the grain may have been activated elsewhere.
        var patience = local.ResponseTimeout / 2;
        var asked = local.Clock.Update();
        while (true)
        {
            var activation = activations.GetOrCreate(previous.Grain, grainClass, withFirstRequest: false, out var created, next);
            if (created)
            {
                activation.Begin(state, trace: trace);
                var location = await state.Arrival;
                if (location.Silo is not null && location.Silo.Equals(local.Address))
                    locality.Arrived(previous.Grain);
                return location;
            }

            if (activation.State == ActivationState.Active && activation.Registered)
                return activation.Location;
            // An activation that is still leaving this silo, or one that starts and will find the grain registered at the sender.
            var left = patience - TimeSpan.FromMilliseconds(local.Clock.Update() - asked);
            if (left <= TimeSpan.Zero)
                return default;
            await activation.Deactivated.WaitAsync(left, local.TaskTime)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }
}

/// <summary>A request to move one activation, and its outcome.</summary>
internal sealed class MigrationRequest(SiloAddress target, bool live = true)
{
    private readonly TaskCompletionSource<MigrationOutcome> _outcome = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal SiloAddress Target => target;

    /// <summary>
    /// Whether the state is transferred. Otherwise the grain is deactivated, and its next call activates it on the target.
    /// </summary>
    internal bool Live => live;

    internal Task<MigrationOutcome> Outcome => _outcome.Task;

    internal void Report(MigrationOutcome outcome) => _outcome.TrySetResult(outcome);
}

/// <summary>The outcome of a request to move an activation.</summary>
internal enum MigrationOutcome
{
    /// <summary>It runs on the target now.</summary>
    Moved,

    /// <summary>It was not idle and was not moved. The request may be repeated.</summary>
    Busy,

    /// <summary>The target did not accept it. It ended, and its next call activates it again.</summary>
    Failed,
}

/// <summary>The state that an activation transfers to another silo: named values, serialized when they are added.</summary>
/// <remarks>Used by the turn of the activation that leaves, then by the turn of the one that arrives.</remarks>
internal sealed class MigrationState : IDehydrationContext, IRehydrationContext
{
    private readonly CallRuntime _runtime;
    private readonly Dictionary<string, byte[]> _values;
    private readonly TaskCompletionSource<Location> _arrival = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal MigrationState(CallRuntime runtime, Registration previous, Dictionary<string, byte[]>? values = null)
    {
        _runtime = runtime;
        Previous = previous;
        _values = values ?? [];
    }

    /// <summary>The registration that the arriving activation replaces.</summary>
    internal Registration Previous { get; }

    internal Dictionary<string, byte[]> Values => _values;

    /// <summary>At the source: the trace that the move belongs to, if somebody listens.</summary>
    internal object? Trace { get; init; }

    /// <summary>The request context of the caller that requested the move.</summary>
    internal RequestContextData? Context { get; init; }

    /// <summary>At the source: who goes on with the state; null on the target.</summary>
    internal HandOver? HandOver { get; init; }

    /// <summary>On the target: the source decides who goes on with the state.</summary>
    internal bool MustAsk { get; init; }

    /// <summary>True if the source has taken the state back, because no other silo goes on with it.</summary>
    internal bool HasReturned { get; private init; }

    /// <summary>The same values for a new activation on the silo that they came from.</summary>
    internal MigrationState Return(RequestContextData? context) =>
        new(_runtime, Previous, _values) { Context = context, HandOver = HandOver, HasReturned = true };

    /// <summary>The location of the grain after the move; none if it could not start here.</summary>
    internal Task<Location> Arrival => _arrival.Task;

    public IEnumerable<string> Keys => _values.Keys;

    internal void Arrived(Location location) => _arrival.TrySetResult(location);

    internal void Refused(Location winner) => _arrival.TrySetResult(winner);

    public void AddBytes(string key, ReadOnlySpan<byte> value) => _values[key] = value.ToArray();

    public void AddBytes<T>(string key, Action<T, IBufferWriter<byte>> valueWriter, T value)
    {
        var buffer = new ArrayBufferWriter<byte>();
        valueWriter(value, buffer);
        _values[key] = buffer.WrittenSpan.ToArray();
    }

    public bool TryAddValue<T>(string key, T? value)
    {
        try
        {
            var buffer = new WireBuffer();
            var writer = new WireWriter(buffer, new WireSession(_runtime));
            Codec<T>.Default.Write(ref writer, value!);
            writer.Commit();
            _values[key] = buffer.Written.ToArray();
            return true;
        }
        catch (Orleans.Serialization.CodecNotFoundException)
        {
            return false;
        }
    }

    public bool TryGetBytes(string key, out ReadOnlySequence<byte> value)
    {
        var found = _values.TryGetValue(key, out var bytes);
        value = found ? new ReadOnlySequence<byte>(bytes!) : default;
        return found;
    }

    public bool TryGetValue<T>(string key, out T? value)
    {
        value = default;
        if (!_values.TryGetValue(key, out var bytes))
            return false;
        var reader = new WireReader(bytes, new WireSession(_runtime));
        value = Codec<T>.Default.Read(ref reader);
        return true;
    }
}
