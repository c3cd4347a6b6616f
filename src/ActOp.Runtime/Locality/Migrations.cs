using System.Buffers;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Hosting;
using ActOp.Runtime.Routing;
using ActOp.Wire;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>Accepts activations from other silos.</summary>
internal interface IMigrationTarget : ISystemTarget
{
    /// <summary>Starts the activation with its transferred state. Returns the location of the grain.</summary>
    ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values);
}

/// <summary>
/// Sends activations to other silos and accepts theirs. The sending half runs on the turns of the activations that leave.
/// </summary>
internal sealed class Migrations(
    LocalNode local, ActivationTable activations, GrainClasses classes, GrainFactory factory, CallSender calls, LocalityService locality)
        : IMigrationTarget
{
    internal const string Name = "migration";

    /// <summary>
    /// Sends the state to the target in the request context of this turn. Returns the location of the grain, or none if the target did not
    /// accept it.
    /// </summary>
    internal async Task<Location> SendAsync(SiloAddress target, MigrationState state) =>
        await factory.GetSystemTarget<IMigrationTarget>(Name, target).Accept(state.Previous, state.Values);

    public async ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values)
    {
        // A silo that does not host the class keeps nothing: the grain continues where it is.
        if (!local.AcceptsActivations || !classes.TryGet(previous.Grain.Type, out var grainClass))
            return default;
        var state = new MigrationState(calls, previous, values) { Context = RequestContext.Current };
        // If the sender has given up meanwhile, the grain may have been activated elsewhere.
        var patience = local.ResponseTimeout / 2;
        var asked = local.Clock.Update();
        while (true)
        {
            var activation = activations.GetOrCreate(previous.Grain, grainClass, withFirstRequest: false, out var created);
            if (created)
            {
                activation.Begin(state);
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
            await activation.Deactivated.WaitAsync(left, local.Time)
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

    /// <summary>The request context of the caller that requested the move.</summary>
    internal RequestContextData? Context { get; init; }

    /// <summary>True if the state was returned to its silo, because no other silo is known to have accepted it.</summary>
    internal bool HasReturned { get; private init; }

    /// <summary>The same values for a new activation on the silo that they came from.</summary>
    internal MigrationState Return(RequestContextData? context) =>
        new(_runtime, Previous, _values) { Context = context, HasReturned = true };

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
