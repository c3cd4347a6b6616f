using System.Globalization;
using System.Text;
using ActOp.Calls;
using ActOp.Serialization;
using ActOp.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Placement;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;

namespace Orleans.Storage;

/// <summary>Keeps a share of the states of <see cref="MemoryGrainStorage"/>.</summary>
[OfRuntime]
public interface IMemoryStorageGrain : IGrainWithIntegerKey
{
    /// <summary>The record; null if there is none.</summary>
    Task<IGrainState<T>?> ReadStateAsync<T>(string grainStoreKey);

    /// <summary>Replaces the record if it has the ETag of the state, and returns the new one.</summary>
    Task<string> WriteStateAsync<T>(string grainStoreKey, IGrainState<T> grainState);

    /// <summary>Removes the record if it has that ETag.</summary>
    Task DeleteStateAsync<T>(string grainStoreKey, string? eTag);
}

/// <summary>
/// Keeps states in the memory of grains that are spread over the cluster: they survive the loss of any silo except the one that has their
/// storage grain. For development and tests. Records are copies, and ETags are checked.
/// </summary>
/// <remarks>Any thread; called on the turns of the grains whose states it keeps. Errors of calls to the storage grains reach the
/// caller.</remarks>
public class MemoryGrainStorage : IGrainStorage, IDisposable
{
    private readonly string _name;
    private readonly IGrainStorageSerializer _serializer;
    private readonly IGrainFactory _factory;
    private readonly IActivatorProvider _activators;
    private readonly IMemoryStorageGrain?[] _grains;

    /// <summary>Creates the provider.</summary>
    /// <param name="name">Its name: the records of providers of different names are different.</param>
    /// <param name="options">How many grains, and the form of the states.</param>
    /// <param name="logger">Not used: errors reach the grain, which logs them.</param>
    /// <param name="grainFactory">Finds the storage grains.</param>
    /// <param name="defaultGrainStorageSerializer">The form of the states if the options have none.</param>
    /// <param name="activatorProvider">Makes new states.</param>
    public MemoryGrainStorage(
        string name,
        MemoryGrainStorageOptions options,
        ILogger<MemoryGrainStorage> logger,
        IGrainFactory grainFactory,
        IGrainStorageSerializer defaultGrainStorageSerializer,
        IActivatorProvider activatorProvider)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(grainFactory);
        _name = name;
        _serializer = options.GrainStorageSerializer ?? defaultGrainStorageSerializer;
        _factory = grainFactory;
        _activators = activatorProvider;
        _grains = new IMemoryStorageGrain[options.NumStorageGrains];
    }

    /// <inheritdoc/>
    public virtual async Task ReadStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState)
    {
        ArgumentNullException.ThrowIfNull(grainState);
        var key = KeyOf(grainType, grainId);
        var record = await GrainOf(key).ReadStateAsync<ReadOnlyMemory<byte>>(key);
        if (record is null)
        {
            Reset(grainState);
            return;
        }

        grainState.State = _serializer.Deserialize<T>(new BinaryData(record.State));
        grainState.ETag = record.ETag;
        grainState.RecordExists = true;
    }

    /// <inheritdoc/>
    public virtual async Task WriteStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState)
    {
        ArgumentNullException.ThrowIfNull(grainState);
        var key = KeyOf(grainType, grainId);
        var record = new GrainState<ReadOnlyMemory<byte>>(_serializer.Serialize(grainState.State).ToMemory(), grainState.ETag);
        try
        {
            grainState.ETag = await GrainOf(key).WriteStateAsync(key, record);
        }
        catch (MemoryRecordConflictException conflict)
        {
            throw conflict.AsInconsistentState();
        }

        grainState.RecordExists = true;
    }

    /// <inheritdoc/>
    public virtual async Task ClearStateAsync<T>(string grainType, GrainId grainId, IGrainState<T> grainState)
    {
        ArgumentNullException.ThrowIfNull(grainState);
        var key = KeyOf(grainType, grainId);
        try
        {
            await GrainOf(key).DeleteStateAsync<ReadOnlyMemory<byte>>(key, grainState.ETag);
        }
        catch (MemoryRecordConflictException conflict)
        {
            throw conflict.AsInconsistentState();
        }

        Reset(grainState);
    }

    /// <summary>There is nothing to release: the records belong to the storage grains.</summary>
    public void Dispose() => GC.SuppressFinalize(this);

    private void Reset<T>(IGrainState<T> state)
    {
        state.State = NewState<T>.Create(_activators);
        state.ETag = null;
        state.RecordExists = false;
    }

    private string KeyOf(string stateName, GrainId grain) => _name + "/" + stateName + "/" + GrainBytes.TextOf(grain);

    /// <summary>References are made when they are needed: before the start of the silo there are none.</summary>
    private IMemoryStorageGrain GrainOf(string key)
    {
        var number = StableHash.HashOf(Encoding.UTF8.GetBytes(key)) % (uint)_grains.Length;
        return _grains[number] ??= _factory.GetGrain<IMemoryStorageGrain>(number);
    }
}

/// <summary>Makes providers of <see cref="MemoryGrainStorage"/>.</summary>
public static class MemoryGrainStorageFactory
{
    /// <summary>Makes the provider with the options of that name.</summary>
    public static MemoryGrainStorage Create(IServiceProvider services, string name)
    {
        ArgumentNullException.ThrowIfNull(services);
        var options = services.GetRequiredService<IOptionsMonitor<MemoryGrainStorageOptions>>().Get(name);
        if (options.NumStorageGrains < 1)
        {
            throw new OrleansConfigurationException("MemoryGrainStorageOptions.NumStorageGrains of the storage \"" + name
                + "\" must be at least 1, but is " + options.NumStorageGrains + ".");
        }

        if (options.GrainStorageSerializer is UsualGrainStorageSerializer usual)
            options.GrainStorageSerializer = new MemoryForm(services.GetRequiredService<ICodecScope>(), usual);
        return ActivatorUtilities.CreateInstance<MemoryGrainStorage>(services, name, options);
    }
}

/// <summary>
/// Some of the records of a silo's cluster. It moves its records along when its silo stops, but is never moved for its messages: its
/// callers are everywhere.
/// </summary>
[Immovable]
[KeepAlive]
internal sealed class MemoryStorageGrain : Grain, IMemoryStorageGrain, IGrainMigrationParticipant
{
    private const string RecordsKey = "records";

    private Dictionary<string, (string ETag, ReadOnlyMemory<byte> State)> _records = [];
    private long _written;

    public Task<IGrainState<T>?> ReadStateAsync<T>(string grainStoreKey) => Task.FromResult<IGrainState<T>?>(
        _records.TryGetValue(grainStoreKey, out var record)
            ? (IGrainState<T>)(object)new GrainState<ReadOnlyMemory<byte>>(record.State, record.ETag) { RecordExists = true }
            : null);

    public Task<string> WriteStateAsync<T>(string grainStoreKey, IGrainState<T> grainState)
    {
        Check(grainStoreKey, grainState.ETag);
        // Never the same again, also not after this activation is lost: an ETag of a lost record must not fit a new one.
        var etag = GrainContext.ActivationId + "." + (++_written).ToString(CultureInfo.InvariantCulture);
        _records[grainStoreKey] = (etag, ((IGrainState<ReadOnlyMemory<byte>>)grainState).State);
        return Task.FromResult(etag);
    }

    public Task DeleteStateAsync<T>(string grainStoreKey, string? eTag)
    {
        Check(grainStoreKey, eTag);
        _records.Remove(grainStoreKey);
        return Task.CompletedTask;
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        if (reason.ReasonCode == DeactivationReasonCode.ShuttingDown)
            MigrateOnIdle();
        return Task.CompletedTask;
    }

    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue(RecordsKey, _records);

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue<Dictionary<string, (string ETag, ReadOnlyMemory<byte> State)>>(RecordsKey, out var records))
            _records = records!;
    }

    private void Check(string key, string? etag)
    {
        var stored = _records.TryGetValue(key, out var record) ? record.ETag : null;
        if (stored != etag)
            throw new MemoryRecordConflictException(key, stored, etag);
    }
}

/// <summary>
/// A conflict on its way from the storage grain to the provider. It is no <see cref="InconsistentStateException"/>, which would end the
/// storage grain. Its ETags are in the data of the exception, which travel with it.
/// </summary>
internal sealed class MemoryRecordConflictException : OrleansException
{
    internal MemoryRecordConflictException(string key, string? stored, string? current)
        : base("The record " + key + " has the ETag " + (stored ?? "none") + ", the writer has " + (current ?? "none") + ".")
    {
        Data["stored"] = stored;
        Data["current"] = current;
    }

    internal InconsistentStateException AsInconsistentState() =>
        new(Message, Data["stored"] as string, Data["current"] as string, this);
}
