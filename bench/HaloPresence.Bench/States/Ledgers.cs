using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace HaloPresence.Bench.States;

/// <summary>What a ledger answers.</summary>
/// <param name="Value">The value that is stored.</param>
/// <param name="Activation">The activation that has stored or read it.</param>
[GenerateSerializer]
public readonly record struct LedgerEntry([property: Id(0)] long Value, [property: Id(1)] string Activation);

/// <summary>A grain that counts in a storage.</summary>
public interface ILedger : IGrainWithIntegerKey
{
    /// <summary>Adds one; returns when the new value is stored.</summary>
    Task<LedgerEntry> Add();

    /// <summary>Reads the value from the storage.</summary>
    Task<LedgerEntry> Reload();
}

/// <summary>Counts in PostgreSQL.</summary>
public interface IPostgresLedger : ILedger;

/// <summary>Counts in files.</summary>
public interface IFileLedger : ILedger;

/// <summary>The record of a ledger.</summary>
[GenerateSerializer]
public sealed class LedgerState
{
    /// <summary>The count.</summary>
    [Id(0)]
    public long Value { get; set; }

    /// <summary>Makes the record as large as an ordinary one.</summary>
    [Id(1)]
    public byte[] Content { get; set; } = [];
}

/// <summary>
/// Counts. A write that fails leaves the value in memory as it is, so the next one writes a larger value: no value is written twice.
/// </summary>
public abstract class Ledger(ILogger logger, IPersistentState<LedgerState> state) : Grain, ILedger
{
    private const int ContentBytes = 1500;
    private readonly Random _content = new();

    /// <inheritdoc/>
    public override Task OnActivateAsync(CancellationToken cancellationToken)
    {
        logger.LogDebug(HaloEvents.Activated, "Ledger {Key} is active here.", this.GetPrimaryKeyLong());
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        logger.LogDebug(HaloEvents.Deactivated, "Ledger {Key} is no longer active here.", this.GetPrimaryKeyLong());
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public async Task<LedgerEntry> Add()
    {
        var content = new byte[ContentBytes];
        _content.NextBytes(content);
        state.State.Value++;
        state.State.Content = content;
        await state.WriteStateAsync();
        return Entry();
    }

    /// <inheritdoc/>
    public async Task<LedgerEntry> Reload()
    {
        await state.ReadStateAsync();
        return Entry();
    }

    private LedgerEntry Entry() => new(state.State.Value, GrainContext.ActivationId.ToString());
}

/// <inheritdoc cref="IPostgresLedger"/>
public sealed class PostgresLedger(
    ILogger<PostgresLedger> logger, [PersistentState("ledger", LedgerStorages.Postgres)] IPersistentState<LedgerState> state)
    : Ledger(logger, state), IPostgresLedger;

/// <inheritdoc cref="IFileLedger"/>
public sealed class FileLedger(
    ILogger<FileLedger> logger, [PersistentState("ledger", LedgerStorages.Files)] IPersistentState<LedgerState> state)
    : Ledger(logger, state), IFileLedger;

/// <summary>The storages of the ledgers in a silo process.</summary>
public static class LedgerStorages
{
    internal const string Postgres = "postgres";
    internal const string Files = "files";
    private const string SoundFiles = "sound files";

    /// <summary>
    /// Adds both. While the folder has a file <c>errors</c>, a share of the operations on files fails: before they are done, or after.
    /// </summary>
    public static void AddTo(IHostApplicationBuilder builder, string connection, string folder) => builder.UseOrleans(silo =>
    {
        silo.AddAdoNetGrainStorage(Postgres, options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = connection;
        });
        silo.AddFileGrainStorage(SoundFiles, options => options.RootDirectory = folder);
        silo.Services.AddGrainStorage(
            Files, (services, _) => new ErringStorage(services.GetRequiredKeyedService<IGrainStorage>(SoundFiles), ErrorFile(folder)));
    });

    /// <summary>The file that makes operations fail, and whose text is the share of those that do.</summary>
    internal static string ErrorFile(string folder) => Path.Combine(folder, "errors");
}

/// <summary>Lets operations of a storage fail: half of them before, half of them after they are done. Any thread.</summary>
internal sealed class ErringStorage(IGrainStorage inner, string errors) : IGrainStorage
{
    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        RunAsync(() => inner.ReadStateAsync(stateName, grainId, grainState));

    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) => RunAsync(async () =>
    {
        // An error after the write must also leave the grain with the version from before it.
        var record = new GrainState<T>(grainState.State, grainState.ETag) { RecordExists = grainState.RecordExists };
        await inner.WriteStateAsync(stateName, grainId, record);
        return () => (grainState.ETag, grainState.RecordExists) = (record.ETag, record.RecordExists);
    });

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        RunAsync(() => inner.ClearStateAsync(stateName, grainId, grainState));

    private Task RunAsync(Func<Task> operation) => RunAsync(async () =>
    {
        await operation();
        return () => { };
    });

    private async Task RunAsync(Func<Task<Action>> operation)
    {
        var share = File.Exists(errors) ? 0.3 : 0;
        if (Random.Shared.NextDouble() < share / 2)
            throw new IOException("An injected error before the operation.");
        var end = await operation();
        if (Random.Shared.NextDouble() < share / 2)
            throw new IOException("An injected error after the operation.");
        end();
    }
}
