using System.Collections.Concurrent;
using System.Text.Json;
using ActOp.Storage;
using ActOp.TestClusters;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>What a test makes a storage do at its next operation.</summary>
public enum ShelfFault
{
    None,
    OtherException,
    OrleansException,

    /// <summary>The operation is done, and fails.</summary>
    LostAnswer,
}

/// <summary>
/// A storage as an application writes one: records as JSON by key, ETags that count, faults and gates on request. All silos of a process
/// share the records of one shelf.
/// </summary>
public class ShelfStorage(string shelf) : IGrainStorage, ILifecycleParticipant<ISiloLifecycle>
{
    private static readonly ConcurrentDictionary<string, (string Json, int ETag)> Records = new();
    private static readonly ConcurrentDictionary<string, ConcurrentQueue<string>> Journals = new();
    private static readonly ConcurrentDictionary<string, (string Operation, ShelfFault Fault)> Faults = new();
    private static readonly ConcurrentDictionary<string, string> Gates = new();

    private readonly ConcurrentQueue<string> _started = new();

    public IEnumerable<string> Started => _started;

    /// <summary>The operations on a grain's states so far.</summary>
    public static string[] Journal(GrainId grain) => [.. Journals.GetOrAdd(grain.ToString(), _ => new())];

    /// <summary>The next operation of that name on the grain fails.</summary>
    public static void Fail(GrainId grain, string operation, ShelfFault fault) => Faults[grain.ToString()] = (operation, fault);

    /// <summary>Operations on the grain stop at the gate.</summary>
    public static void Stop(GrainId grain, Gate gate) => Gates[grain.ToString()] = gate.Name;

    /// <summary>Somebody else writes the record.</summary>
    public static void Overwrite<T>(string shelf, string state, GrainId grain, T value) => Records.AddOrUpdate(
        shelf + "/" + state + "/" + grain, _ => (JsonSerializer.Serialize(value), 1),
        (_, old) => (JsonSerializer.Serialize(value), old.ETag + 1));

    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe("shelf", ServiceLifecycleStage.ApplicationServices, _ =>
    {
        _started.Enqueue(shelf);
        return Task.CompletedTask;
    });

    public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        await EnterAsync("read " + stateName, grainId);
        if (!Records.TryGetValue(KeyOf(stateName, grainId), out var record))
        {
            grainState.RecordExists = false;
            grainState.ETag = null;
            return;
        }

        grainState.State = JsonSerializer.Deserialize<T>(record.Json)!;
        grainState.ETag = record.ETag.ToString(System.Globalization.CultureInfo.InvariantCulture);
        grainState.RecordExists = true;
    }

    public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var json = JsonSerializer.Serialize(grainState.State);
        await EnterAsync("write " + stateName, grainId);
        var next = Check(stateName, grainId, grainState.ETag) + 1;
        Records[KeyOf(stateName, grainId)] = (json, next);
        ThrowIfAnswerIsLost("write", grainId);
        grainState.ETag = next.ToString(System.Globalization.CultureInfo.InvariantCulture);
        grainState.RecordExists = true;
    }

    public async Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        await EnterAsync("clear " + stateName, grainId);
        Check(stateName, grainId, grainState.ETag);
        Records.TryRemove(KeyOf(stateName, grainId), out _);
        ThrowIfAnswerIsLost("clear", grainId);
        grainState.State = Activator.CreateInstance<T>();
        grainState.ETag = null;
        grainState.RecordExists = false;
    }

    private static async Task EnterAsync(string operation, GrainId grain)
    {
        Journals.GetOrAdd(grain.ToString(), _ => new()).Enqueue(operation);
        if (Gates.TryGetValue(grain.ToString(), out var gate))
            await Gate.PassAsync(gate);
        else
            await Task.Yield();
        if (!Faults.TryGetValue(grain.ToString(), out var fault) || !operation.StartsWith(fault.Operation, StringComparison.Ordinal)
            || fault.Fault == ShelfFault.LostAnswer)
        {
            return;
        }

        Faults.TryRemove(grain.ToString(), out _);
        throw fault.Fault == ShelfFault.OrleansException
            ? new ShelfException("The shelf is full.")
            : new IOException("The shelf is broken.");
    }

    private static void ThrowIfAnswerIsLost(string operation, GrainId grain)
    {
        if (Faults.TryRemove(KeyValuePair.Create(grain.ToString(), (operation, ShelfFault.LostAnswer))))
            throw new IOException("The shelf does not answer.");
    }

    private string KeyOf(string state, GrainId grain) => shelf + "/" + state + "/" + grain;

    private int Check(string state, GrainId grain, string? etag)
    {
        var stored = Records.TryGetValue(KeyOf(state, grain), out var record) ? record.ETag : 0;
        var text = stored == 0 ? null : stored.ToString(System.Globalization.CultureInfo.InvariantCulture);
        return etag == text ? stored : throw new InconsistentStateException("The shelf has another version.", text, etag);
    }
}

/// <summary>A shelf that says of itself that its ETags tell what a record may be.</summary>
public sealed class DoubtfulShelf(string shelf) : ShelfStorage(shelf), IDoubtfulETags;

public sealed class ShelfException(string message) : OrleansException(message);
