using Orleans.Serialization;

namespace Orleans.Storage;

/// <summary>Writes states as JSON with the names of their classes, see <see cref="OrleansJsonSerializer"/>. Any thread.</summary>
/// <remarks>Holds the serializer. What it throws reaches the caller of the storage.</remarks>
public class JsonGrainStorageSerializer : IGrainStorageStreamingSerializer
{
    private readonly OrleansJsonSerializer _serializer;

    /// <summary>Uses a serializer.</summary>
    public JsonGrainStorageSerializer(OrleansJsonSerializer orleansJsonSerializer)
    {
        ArgumentNullException.ThrowIfNull(orleansJsonSerializer);
        _serializer = orleansJsonSerializer;
    }

    /// <inheritdoc/>
    public BinaryData Serialize<T>(T? value) => new(_serializer.Serialize(value, typeof(T)));

    /// <inheritdoc/>
    public T? Deserialize<T>(BinaryData input)
    {
        ArgumentNullException.ThrowIfNull(input);
        return (T?)_serializer.Deserialize(typeof(T), input.ToStream());
    }

    /// <inheritdoc/>
    public async ValueTask SerializeAsync<T>(T? value, Stream destination, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        await destination.WriteAsync(Serialize(value).ToMemory(), cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async ValueTask<T?> DeserializeAsync<T>(Stream input, CancellationToken cancellationToken = default) =>
        Deserialize<T>(await BinaryData.FromStreamAsync(input, cancellationToken).ConfigureAwait(false));
}
