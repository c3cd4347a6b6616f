using System.Buffers;
using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

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
