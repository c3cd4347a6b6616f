using Orleans.Runtime;

namespace Orleans.Storage;

/// <summary>
/// Keeps states of grains. A provider is a keyed service of this type; its key is the name that grains use. Called on turns of the grains,
/// for different grains in parallel.
/// </summary>
/// <remarks>
/// A write or clear whose ETag is not the one of the record fails with an <see cref="InconsistentStateException"/> and changes nothing.
/// </remarks>
public interface IGrainStorage
{
    /// <summary>Reads a state into <paramref name="grainState"/>: the state, its ETag, and whether there is a record.</summary>
    /// <param name="stateName">The name of the state.</param>
    /// <param name="grainId">The grain.</param>
    /// <param name="grainState">Gets the record.</param>
    Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState);

    /// <summary>As <see cref="ReadStateAsync{T}(string, GrainId, IGrainState{T})"/>.</summary>
    /// <param name="stateName">The name of the state.</param>
    /// <param name="grainId">The grain.</param>
    /// <param name="grainState">Gets the record.</param>
    /// <param name="cancellationToken">Gives the operation up.</param>
    Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken) =>
        ReadStateAsync(stateName, grainId, grainState);

    /// <summary>Writes a state if its ETag is the one of the record, and sets the new ETag.</summary>
    /// <param name="stateName">The name of the state.</param>
    /// <param name="grainId">The grain.</param>
    /// <param name="grainState">The state.</param>
    Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState);

    /// <summary>As <see cref="WriteStateAsync{T}(string, GrainId, IGrainState{T})"/>.</summary>
    /// <param name="stateName">The name of the state.</param>
    /// <param name="grainId">The grain.</param>
    /// <param name="grainState">The state.</param>
    /// <param name="cancellationToken">Gives the operation up; whether it was done is then unknown.</param>
    Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken) =>
        WriteStateAsync(stateName, grainId, grainState);

    /// <summary>Removes a record if the ETag is its own; the state becomes a new object.</summary>
    /// <param name="stateName">The name of the state.</param>
    /// <param name="grainId">The grain.</param>
    /// <param name="grainState">The state.</param>
    Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState);

    /// <summary>As <see cref="ClearStateAsync{T}(string, GrainId, IGrainState{T})"/>.</summary>
    /// <param name="stateName">The name of the state.</param>
    /// <param name="grainId">The grain.</param>
    /// <param name="grainState">The state.</param>
    /// <param name="cancellationToken">Gives the operation up; whether it was done is then unknown.</param>
    Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken) =>
        ClearStateAsync(stateName, grainId, grainState);
}

/// <summary>The form of states in a storage. Any thread.</summary>
public interface IGrainStorageSerializer
{
    /// <summary>Writes a value.</summary>
    BinaryData Serialize<T>(T? input);

    /// <summary>Reads a value that <see cref="Serialize"/> has written.</summary>
    T? Deserialize<T>(BinaryData input);
}

/// <summary>As <see cref="IGrainStorageSerializer"/>, over streams, for providers whose storage has them.</summary>
public interface IGrainStorageStreamingSerializer : IGrainStorageSerializer
{
    /// <summary>Writes a value to <paramref name="destination"/>, which stays open.</summary>
    ValueTask SerializeAsync<T>(T? input, Stream destination, CancellationToken cancellationToken = default);

    /// <summary>Reads a value from <paramref name="input"/>, which stays open.</summary>
    ValueTask<T?> DeserializeAsync<T>(Stream input, CancellationToken cancellationToken = default);
}

/// <summary>A storage provider that knows the codes in the errors of its service; they are added to the log.</summary>
public interface IRestExceptionDecoder
{
    /// <summary>Reads an error of the service.</summary>
    /// <param name="exception">The error.</param>
    /// <param name="httpStatusCode">The status of the answer.</param>
    /// <param name="restStatus">The code of the service.</param>
    /// <param name="getExtendedErrors">Whether to look for the code in the body of the answer, too.</param>
    /// <returns>False if the error is none of the service.</returns>
    bool DecodeException(
        Exception exception, out System.Net.HttpStatusCode httpStatusCode, out string restStatus, bool getExtendedErrors = false);
}

/// <summary>Options of a provider that lets the application choose the form of the states.</summary>
public interface IStorageProviderSerializerOptions
{
    /// <summary>The form of the states; the registered one if it is not set.</summary>
    IGrainStorageSerializer GrainStorageSerializer { get; set; }
}

/// <summary>Shorter ways to use an <see cref="IGrainStorageSerializer"/>.</summary>
public static class GrainStorageSerializerExtensions
{
    /// <summary>Reads a value from memory.</summary>
    public static T? Deserialize<T>(this IGrainStorageSerializer serializer, ReadOnlyMemory<byte> input)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        return serializer.Deserialize<T>(new BinaryData(input));
    }
}

/// <summary>Writes with one serializer, and reads with a second one what the first cannot read: for a change of the form.</summary>
public class GrainStorageSerializer : IGrainStorageSerializer
{
    private readonly IGrainStorageSerializer _serializer;
    private readonly IGrainStorageSerializer _fallbackDeserializer;

    /// <summary>Sets the serializers.</summary>
    /// <param name="serializer">Writes, and reads first.</param>
    /// <param name="fallbackDeserializer">Reads what the first one fails to read.</param>
    public GrainStorageSerializer(IGrainStorageSerializer serializer, IGrainStorageSerializer fallbackDeserializer)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        ArgumentNullException.ThrowIfNull(fallbackDeserializer);
        _serializer = serializer;
        _fallbackDeserializer = fallbackDeserializer;
    }

    /// <inheritdoc/>
    public BinaryData Serialize<T>(T? input) => _serializer.Serialize(input);

    /// <summary>Reads with the first serializer, else with the second one.</summary>
    /// <exception cref="AggregateException">Both have failed; it has both reasons.</exception>
    public T? Deserialize<T>(BinaryData input)
    {
        try
        {
            return _serializer.Deserialize<T>(input);
        }
        catch (Exception first)
        {
            try
            {
                return _fallbackDeserializer.Deserialize<T>(input);
            }
            catch (Exception second)
            {
                throw new AggregateException("Neither serializer could read a " + typeof(T) + ".", first, second);
            }
        }
    }
}
