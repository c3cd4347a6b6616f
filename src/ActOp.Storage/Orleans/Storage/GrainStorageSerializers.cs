using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Serialization;

namespace Orleans.Storage;

/// <summary>Writes states as the messages of grains are written: only types with a codec. Any thread.</summary>
public class OrleansGrainStorageSerializer : IGrainStorageStreamingSerializer
{
    private readonly Serializer _serializer;

    /// <summary>Uses a serializer.</summary>
    public OrleansGrainStorageSerializer(Serializer serializer)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        _serializer = serializer;
    }

    /// <inheritdoc/>
    public BinaryData Serialize<T>(T? value) => new(_serializer.SerializeToArray(value));

    /// <inheritdoc/>
    public T? Deserialize<T>(BinaryData input)
    {
        ArgumentNullException.ThrowIfNull(input);
        return _serializer.Deserialize<T>(input.ToMemory());
    }

    /// <inheritdoc/>
    public async ValueTask SerializeAsync<T>(T? value, Stream destination, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        await destination.WriteAsync(_serializer.SerializeToArray(value), cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async ValueTask<T?> DeserializeAsync<T>(Stream input, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(input);
        var bytes = new MemoryStream();
        await input.CopyToAsync(bytes, cancellationToken).ConfigureAwait(false);
        return _serializer.Deserialize<T>(bytes.GetBuffer().AsSpan(0, (int)bytes.Length));
    }
}

/// <summary>Writes states as JSON. Any thread.</summary>
public sealed class SystemTextJsonGrainStorageSerializer : IGrainStorageStreamingSerializer
{
    private readonly JsonSerializerOptions _options;

    /// <summary>Uses the options.</summary>
    public SystemTextJsonGrainStorageSerializer(IOptions<SystemTextJsonGrainStorageSerializerOptions> options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options.Value.JsonSerializerOptions;
    }

    /// <inheritdoc/>
    public BinaryData Serialize<T>(T? input) => new(JsonSerializer.SerializeToUtf8Bytes(input, _options));

    /// <inheritdoc/>
    public T? Deserialize<T>(BinaryData input)
    {
        ArgumentNullException.ThrowIfNull(input);
        return JsonSerializer.Deserialize<T>(input.ToMemory().Span, _options);
    }

    /// <inheritdoc/>
    public async ValueTask SerializeAsync<T>(T? input, Stream destination, CancellationToken cancellationToken = default) =>
        await JsonSerializer.SerializeAsync(destination, input, _options, cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public ValueTask<T?> DeserializeAsync<T>(Stream input, CancellationToken cancellationToken = default) =>
        JsonSerializer.DeserializeAsync<T>(input, _options, cancellationToken);
}

/// <summary>
/// Gives the options of a storage provider that has no serializer the one that is registered: for the name of the provider, or for all.
/// </summary>
/// <typeparam name="TOptions">The options.</typeparam>
public class DefaultStorageProviderSerializerOptionsConfigurator<TOptions> : IPostConfigureOptions<TOptions>
    where TOptions : class, IStorageProviderSerializerOptions
{
    private readonly IServiceProvider _services;

    /// <summary>Uses the services of a silo.</summary>
    public DefaultStorageProviderSerializerOptionsConfigurator(IServiceProvider serviceProvider)
    {
        ArgumentNullException.ThrowIfNull(serviceProvider);
        _services = serviceProvider;
    }

    /// <inheritdoc/>
    public void PostConfigure(string? name, TOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.GrainStorageSerializer ??= _services.GetKeyedService<IGrainStorageSerializer>(name)
            ?? _services.GetRequiredService<IGrainStorageSerializer>();
    }
}
