using ActOp.Serialization;
using Orleans.Serialization;
using Orleans.Storage;

namespace ActOp.Storage;

/// <summary>
/// The registered serializer if the application has not chosen one: JSON. A type of its own, so that a provider whose records no other
/// version reads can choose a better one.
/// </summary>
internal sealed class UsualGrainStorageSerializer(SystemTextJsonGrainStorageSerializer json) : IGrainStorageStreamingSerializer
{
    public BinaryData Serialize<T>(T? input) => json.Serialize(input);

    public T? Deserialize<T>(BinaryData input) => json.Deserialize<T>(input);

    public ValueTask SerializeAsync<T>(T? input, Stream destination, CancellationToken cancellationToken = default) =>
        json.SerializeAsync(input, destination, cancellationToken);

    public ValueTask<T?> DeserializeAsync<T>(Stream input, CancellationToken cancellationToken = default) =>
        json.DeserializeAsync<T>(input, cancellationToken);
}

/// <summary>
/// The form of states in memory: as in messages, which keeps derived types, references and private members, else JSON for types without a
/// codec. A byte tells which. Any thread.
/// </summary>
internal sealed class MemoryForm(ICodecScope scope, IGrainStorageSerializer json) : IGrainStorageSerializer
{
    private const byte IsCodec = 1;
    private const byte IsJson = 2;

    public BinaryData Serialize<T>(T? input)
    {
        if (CodecTable.CanResolve(typeof(T)))
        {
            try
            {
                return Marked(IsCodec, MarkedMessage.ToArray(input, scope));
            }
            catch (CodecNotFoundException)
            {
                // A member has no codec, or has an object of a type without one.
            }
        }

        return Marked(IsJson, json.Serialize(input).ToMemory().Span);
    }

    public T? Deserialize<T>(BinaryData input)
    {
        var bytes = input.ToMemory();
        return bytes.Span[0] == IsCodec ? MarkedMessage.Read<T>(bytes.Span[1..], scope.Runtime, scope, out _)
            : json.Deserialize<T>(new BinaryData(bytes[1..]));
    }

    private static BinaryData Marked(byte mark, ReadOnlySpan<byte> bytes)
    {
        var marked = new byte[bytes.Length + 1];
        marked[0] = mark;
        bytes.CopyTo(marked.AsSpan(1));
        return new BinaryData(marked);
    }
}
