using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;

namespace Orleans.Storage;

/// <summary>Options of <see cref="MemoryGrainStorageWithLatency"/>.</summary>
public class MemoryStorageWithLatencyOptions : MemoryGrainStorageOptions
{
    /// <summary>Default of <see cref="Latency"/>.</summary>
    public static readonly TimeSpan DefaultLatency = TimeSpan.FromMilliseconds(200);

    /// <summary>How long each operation takes before it begins.</summary>
    public TimeSpan Latency { get; set; } = DefaultLatency;

    /// <summary>True to do nothing but wait: nothing is stored.</summary>
    public bool MockCallsOnly { get; set; }
}

/// <summary>Storage in memory that is as slow as a real one: for tests.</summary>
/// <remarks>Any thread; as <see cref="MemoryGrainStorage"/>.</remarks>
public class MemoryGrainStorageWithLatency : IGrainStorage
{
    private readonly MemoryGrainStorage _storage;
    private readonly MemoryStorageWithLatencyOptions _options;
    private readonly TimeProvider _time;

    /// <summary>Creates the provider.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="options">How slow it is.</param>
    /// <param name="loggerFactory">Makes the logger of the storage in memory.</param>
    /// <param name="grainFactory">Finds the storage grains.</param>
    /// <param name="activatorProvider">Makes new states.</param>
    /// <param name="defaultGrainStorageSerializer">The form of the states if the options have none.</param>
    public MemoryGrainStorageWithLatency(
        string name,
        MemoryStorageWithLatencyOptions options,
        ILoggerFactory loggerFactory,
        IGrainFactory grainFactory,
        IActivatorProvider activatorProvider,
        IGrainStorageSerializer defaultGrainStorageSerializer)
        : this(name, options, loggerFactory, grainFactory, activatorProvider, defaultGrainStorageSerializer, TimeProvider.System)
    {
    }

    /// <summary>Creates the provider with the time of the application.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="options">How slow it is.</param>
    /// <param name="loggerFactory">Makes the logger of the storage in memory.</param>
    /// <param name="grainFactory">Finds the storage grains.</param>
    /// <param name="activatorProvider">Makes new states.</param>
    /// <param name="defaultGrainStorageSerializer">The form of the states if the options have none.</param>
    /// <param name="time">By what operations are slow.</param>
    [ActivatorUtilitiesConstructor]
    public MemoryGrainStorageWithLatency(
        string name,
        MemoryStorageWithLatencyOptions options,
        ILoggerFactory loggerFactory,
        IGrainFactory grainFactory,
        IActivatorProvider activatorProvider,
        IGrainStorageSerializer defaultGrainStorageSerializer,
        TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _time = time;
        _storage = new MemoryGrainStorage(
            name, options, loggerFactory.CreateLogger<MemoryGrainStorage>(), grainFactory, defaultGrainStorageSerializer,
            activatorProvider);
    }

    /// <inheritdoc/>
    public Task ReadStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState) =>
        LateAsync(() => _storage.ReadStateAsync(grainType, grainId, grainState));

    /// <inheritdoc/>
    public Task WriteStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState) =>
        LateAsync(() => _storage.WriteStateAsync(grainType, grainId, grainState));

    /// <inheritdoc/>
    public Task ClearStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState) =>
        LateAsync(() => _storage.ClearStateAsync(grainType, grainId, grainState));

    private async Task LateAsync(Func<Task> operation)
    {
        await Task.Delay(_options.Latency, _time);
        if (!_options.MockCallsOnly)
            await operation();
    }
}
