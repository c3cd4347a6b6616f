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

/// <summary>Takes activations of other silos.</summary>
internal interface IMigrationTarget : ISystemTarget
{
    /// <summary>Begins the activation with the state it carries; answers where the grain is then.</summary>
    ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values);
}

/// <summary>Sends activations to other silos and takes theirs. The sending half runs on the turns of the activations that leave.</summary>
internal sealed class Migrations(
    LocalNode local, ActivationTable activations, GrainClasses classes, GrainFactory factory, CallSender calls, LocalityService locality) : IMigrationTarget
{
    internal const string Name = "migration";

    /// <summary>
    /// Hands the state to the target, in the request context of this turn; answers where the grain is then, or none when the target did not
    /// take it.
    /// </summary>
    internal async Task<Location> SendAsync(SiloAddress target, MigrationState state) =>
        await factory.GetSystemTarget<IMigrationTarget>(Name, target).Accept(state.Previous, state.Values);

    public async ValueTask<Location> Accept(Registration previous, Dictionary<string, byte[]> values)
    {
        if (!local.AcceptsActivations)
            return default;
        var state = new MigrationState(calls, previous, values) { Context = RequestContext.Current };
        // The sender must not have given up meanwhile: then the grain may have begun anew elsewhere.
        var patience = local.ResponseTimeout / 2;
        var asked = local.Clock.Update();
        while (true)
        {
            var activation = activations.GetOrCreate(previous.Grain, classes.Get(previous.Grain), withFirstRequest: false, out var created);
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
            // One that is still on its way out of here, or one that begins and will find the grain registered at the sender: the state
            // would only go back.
            var left = patience - TimeSpan.FromMilliseconds(local.Clock.Update() - asked);
            if (left <= TimeSpan.Zero)
                return default;
            await activation.Deactivated.WaitAsync(left, local.Time)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
    }
}

/// <summary>A wish to move one activation, and what became of it.</summary>
internal sealed class MigrationRequest(SiloAddress target, bool live = true)
{
    private readonly TaskCompletionSource<MigrationOutcome> _outcome = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal SiloAddress Target => target;

    /// <summary>The state goes along; otherwise the grain is deactivated and begins anew on the target with its next call.</summary>
    internal bool Live => live;

    internal Task<MigrationOutcome> Outcome => _outcome.Task;

    internal void Report(MigrationOutcome outcome) => _outcome.TrySetResult(outcome);
}

/// <summary>What became of a wish to move an activation.</summary>
internal enum MigrationOutcome
{
    /// <summary>It runs on the target now.</summary>
    Moved,

    /// <summary>It was not at rest; it stays and may be asked again.</summary>
    Busy,

    /// <summary>The target did not take it; it ended and begins anew with its next call.</summary>
    Failed,
}

/// <summary>What an activation carries from one silo to another: named values, serialized when they are added.</summary>
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

    /// <summary>The registration that the arriving activation takes over.</summary>
    internal Registration Previous { get; }

    internal Dictionary<string, byte[]> Values => _values;

    /// <summary>The request context of whoever asked for the move.</summary>
    internal RequestContextData? Context { get; init; }

    /// <summary>No other silo has taken the state, as far as is known: it is back where it came from, and nobody else has it.</summary>
    internal bool HasReturned { get; private init; }

    /// <summary>The same values for a new activation on the silo that they came from.</summary>
    internal MigrationState Return(RequestContextData? context) => new(_runtime, Previous, _values) { Context = context, HasReturned = true };

    /// <summary>Where the grain is when the move has ended; none when it could not begin here.</summary>
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
