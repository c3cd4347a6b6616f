using System.Diagnostics.Metrics;
using System.Globalization;
using System.Runtime.InteropServices;
using ActOp.PostgreSql.Configuration;
using ActOp.PostgreSql.Schema;
using ActOp.PostgreSql.Storage;
using ActOp.Runtime.Diagnostics;
using ActOp.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;

namespace Orleans.Storage;

/// <summary>States of grains in PostgreSQL: a record per state. The ETag is the version of the record, which no other write has.</summary>
/// <remarks>
/// <para>
/// In the tables of Orleans (<see cref="PostgresTables"/>) versions count from 1. There a change of unknown outcome leaves the ETag as it
/// was: the next change from it is done, or fails with an <see cref="InconsistentStateException"/>.
/// </para>
/// <para>
/// Records are found by service id, name of the state and id of the grain; two providers on one database share them. A write or clear
/// whose ETag is not the version of the record fails with an <see cref="InconsistentStateException"/> that has both.
/// </para>
/// <para>
/// While the database cannot be reached, operations wait and are repeated for 20 s; then they fail with an
/// <see cref="OrleansException"/>, which says if it is unknown whether the state was changed. The ETag then names all versions that the
/// record may have, so the next write from it succeeds in each case, also if the grain has moved meanwhile.
/// </para>
/// Owns its connections until disposed with the container. Any thread; see the type StateStore for what runs where.
/// </remarks>
public sealed class AdoNetGrainStorage : IGrainStorage, ILifecycleParticipant<ISiloLifecycle>, IAsyncDisposable, IDisposable, IDoubtfulETags
{
    /// <summary>The start of the silo fails if the database does not answer within this time.</summary>
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);

    private readonly string _name;
    private readonly AdoNetGrainStorageOptions _options;
    private readonly string _serviceId;
    private readonly Database _database;
    private readonly StateStore _store;
    private readonly Meter _meter = new(RuntimeMetrics.MeterName);
    private readonly IActivatorProvider? _activators;

    internal AdoNetGrainStorage(
        string name, AdoNetGrainStorageOptions options, string serviceId, Database database, long firstVersion,
        IActivatorProvider? activators = null, PostgresOptions? limits = null)
    {
        _activators = activators;
        _name = name;
        _options = options;
        _serviceId = serviceId;
        _database = database;
        limits = (limits ?? new PostgresOptions()).Checked();
        _store = new StateStore(database, serviceId, firstVersion, limits.MaxWaitingOperations) { RetryTime = limits.RetryTime };
        _meter.CreateObservableUpDownCounter(
            "actop.storage.waiting", () => new Measurement<int>(_store.Waiting, new KeyValuePair<string, object?>("storage", name)),
            "{operation}", "Operations on states that wait for PostgreSQL.");
    }

    internal StateStore Store => _store;

    /// <inheritdoc/>
    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        ReadStateAsync(stateName, grainId, grainState, CancellationToken.None);

    /// <inheritdoc/>
    public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grainState);
        var read = await EndAsync(_store.Read(Key(stateName, grainId, grainState)), grainState, cancellationToken);
        grainState.ETag = Text(read.Version);
        grainState.RecordExists = read.Data is not null;
        grainState.State = read.Data is { } data
            ? Deserialize<T>(data, stateName, grainId)
            : NewState<T>.Create(_activators);
    }

    /// <inheritdoc/>
    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        WriteStateAsync(stateName, grainId, grainState, CancellationToken.None);

    /// <inheritdoc/>
    public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grainState);
        var data = Bytes(_options.GrainStorageSerializer.Serialize(grainState.State));
        var operation = _store.Write(Key(stateName, grainId, grainState), Expected(grainState.ETag, stateName, grainId), data);
        var written = await EndAsync(operation, grainState, cancellationToken);
        ThrowIfConflict(written, "written", stateName, grainId, grainState.ETag);
        grainState.ETag = Text(written.Version);
        grainState.RecordExists = true;
    }

    /// <inheritdoc/>
    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        ClearStateAsync(stateName, grainId, grainState, CancellationToken.None);

    /// <inheritdoc/>
    public async Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(grainState);
        var key = Key(stateName, grainId, grainState);
        var expected = Expected(grainState.ETag, stateName, grainId);
        var operation = _options.DeleteStateOnClear ? _store.Delete(key, expected) : _store.Clear(key, expected);
        var cleared = await EndAsync(operation, grainState, cancellationToken);
        ThrowIfConflict(cleared, "cleared", stateName, grainId, grainState.ETag);
        grainState.ETag = Text(cleared.Version);
        grainState.RecordExists = false;
        grainState.State = NewState<T>.Create(_activators);
    }

    /// <summary>The database is reached, and its tables made, at the stage of the options.</summary>
    public void Participate(ISiloLifecycle observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        observer.Subscribe(nameof(AdoNetGrainStorage) + " " + _name, _options.InitStage, new Start(this));
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _meter.Dispose();
        await _store.EndAsync().ConfigureAwait(false);
        await _database.DisposeAsync().ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _meter.Dispose();
        _database.Dispose();
    }

    private StateKey Key<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var key = new StateKey(stateName, GrainKeys.TextOf(grainId));
        return _database.Tables is { MayBeOrleans: true }
            ? key with { Orleans = OrleansKey.KeyOf(_options.HashPicker, _serviceId, _name, stateName, grainId, grainState) }
            : key;
    }

    /// <summary>The tables of Orleans may have been written with another serializer, which its own exception would not say.</summary>
    private T? Deserialize<T>(byte[] data, string stateName, GrainId grainId)
    {
        var serializer = _options.GrainStorageSerializer;
        try
        {
            return serializer.Deserialize<T>(new BinaryData(data));
        }
        catch (Exception exception) when (_database.OrleansQueries is not null)
        {
            throw new OrleansException("The state " + stateName + " of " + grainId + " in OrleansStorage cannot be read by "
                + serializer.GetType() + ". Was it written with another serializer? " + exception.Message, exception);
        }
    }

    /// <summary>Waits for the end of an operation. If its outcome is unknown then, the ETag says so.</summary>
    private async Task<StateOutcome> EndAsync<T>(StoreOperation operation, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        try
        {
            return await operation.Ended.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            var isInDoubt = exception is OperationCanceledException ? !_store.TryGiveUp(operation) : operation.MayBeDone;
            if (isInDoubt && operation.Work != StateWork.Read)
                grainState.ETag = operation.InDoubt(isCounted: _database.OrleansQueries is not null).Text();
            throw;
        }
    }

    /// <summary>Without a copy if the data are a whole array, which serializers return.</summary>
    private static byte[] Bytes(BinaryData data)
    {
        var memory = data.ToMemory();
        return MemoryMarshal.TryGetArray(memory, out var part) && part.Offset == 0 && part.Array!.Length == part.Count
            ? part.Array
            : memory.ToArray();
    }

    private static string? Text(long? version) => version?.ToString(CultureInfo.InvariantCulture);

    /// <summary>An ETag that this provider has not made is no version of the record.</summary>
    private static RecordVersions Expected(string? etag, string stateName, GrainId grainId) =>
        RecordVersions.Parse(etag) ?? throw new InconsistentStateException(
            "The ETag of the state " + stateName + " of " + grainId + " is \"" + etag + "\", which is none of this storage.", null, etag);

    /// <summary>
    /// The usual JSON of ActOp is not that of Orleans, where a collection is an object and an object may be a reference to another one: it
    /// would read some of it, and not all.
    /// </summary>
    private void CheckSerializer()
    {
        if (_options.GrainStorageSerializer is not UsualGrainStorageSerializer)
            return;
        throw new OrleansConfigurationException("The storage " + _name + " uses the table OrleansStorage, but has no serializer that was "
            + "chosen. States that Orleans has written by default need silo.UseOrleansJsonGrainStorageSerializer() of the package "
            + "ActOp.Serialization.NewtonsoftJson; others the serializer of the application (IGrainStorageSerializer). To use the tables "
            + "of ActOp instead, set PostgresOptions.Tables.");
    }

    private static void ThrowIfConflict(StateOutcome outcome, string what, string stateName, GrainId grainId, string? etag)
    {
        if (!outcome.IsConflict)
            return;
        var stored = Text(outcome.Version);
        throw new InconsistentStateException("The state " + stateName + " of " + grainId + " was not " + what + ": its record has the ETag "
            + (stored ?? "none") + ", but the grain has " + (etag ?? "none") + ".", stored, etag);
    }

    private sealed class Start(AdoNetGrainStorage storage) : ILifecycleObserver
    {
        public async Task OnStart(CancellationToken cancellationToken = default)
        {
            using var limit = new CancellationTokenSource(StartLimit, storage._database.Time);
            using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
            await using var connection = await storage._database.OpenAsync(both.Token).ConfigureAwait(false);
            storage._database.NoteReached();
            if (storage._database.OrleansQueries is not null)
                storage.CheckSerializer();
            else if (storage._options.HashPicker is { } picker && picker.GetType() != typeof(StorageHasherPicker))
                storage._database.Log.HasherWithoutEffect(storage._name);
        }

        public Task OnStop(CancellationToken cancellationToken = default) => Task.CompletedTask;
    }
}

/// <summary>Makes an <see cref="AdoNetGrainStorage"/>.</summary>
public static class AdoNetGrainStorageFactory
{
    /// <summary>The storage with the options of a name.</summary>
    public static AdoNetGrainStorage Create(IServiceProvider services, string name)
    {
        ArgumentNullException.ThrowIfNull(services);
        var options = services.GetRequiredService<IOptionsMonitor<AdoNetGrainStorageOptions>>().Get(name);
        var limits = services.GetRequiredService<IOptionsMonitor<PostgresOptions>>().Get(name).Checked();
        var database = Database.FromServices(
            services, options.Choice(name), StateStore.Connections + 1, OrleansStatements.Tables(options.DeleteStateOnClear),
            limits.Tables);
        var first = BitConverter.ToInt64(Guid.NewGuid().ToByteArray()) & long.MaxValue;
        var service = services.GetRequiredService<IOptions<ClusterOptions>>().Value.ServiceId;
        return new AdoNetGrainStorage(
            name, options, service, database, first, services.GetService<IActivatorProvider>(),
            limits);
    }
}
