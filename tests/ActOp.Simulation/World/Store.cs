using System.Globalization;
using System.Text.Json;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Simulation.World;

/// <summary>
/// The storage of a run: a database somewhere that keeps every version of every record. The faults make it slow or refuse, and lose its
/// answers.
/// </summary>
internal sealed class Store(Pump pump, Dice dice)
{
    private readonly Dictionary<string, (string ETag, string Json)> _records = [];
    private readonly Dictionary<string, string> _versions = [];
    private long _written;

    /// <summary>Share of the requests that are refused before anything is done.</summary>
    internal double Refusals { get; set; }

    /// <summary>Share of the requests that are done but whose answer is an error.</summary>
    internal double LostAnswers { get; set; }

    /// <summary>Share of the requests that take seconds.</summary>
    internal double Delays { get; set; }

    /// <summary>Writes that were done, and those that found another version.</summary>
    internal (long Done, long Conflicts) Writes { get; private set; }

    /// <summary>The record as it is; null if there is none.</summary>
    internal T? Peek<T>(string key) => _records.TryGetValue(key, out var record) ? JsonSerializer.Deserialize<T>(record.Json) : default;

    /// <summary>The record as it was at that version.</summary>
    internal T? At<T>(string key, string etag) =>
        _versions.TryGetValue(key + "@" + etag, out var json) ? JsonSerializer.Deserialize<T>(json) : default;

    internal Task<(string ETag, string Json)?> ReadAsync(Machine machine, string key) =>
        AskAsync<(string, string)?>(machine, "read", () => _records.TryGetValue(key, out var record) ? record : null);

    internal Task<string> WriteAsync(Machine machine, string key, string? etag, string json) => AskAsync(machine, "write", () =>
    {
        var stored = _records.TryGetValue(key, out var record) ? record.ETag : null;
        if (stored != etag)
        {
            Writes = (Writes.Done, Writes.Conflicts + 1);
            throw new InconsistentStateException("The record " + key + " has another version.", stored, etag);
        }

        var next = (++_written).ToString(CultureInfo.InvariantCulture);
        _records[key] = (next, json);
        _versions[key + "@" + next] = json;
        Writes = (Writes.Done + 1, Writes.Conflicts);
        return next;
    });

    /// <summary>The request reaches the store even if its sender ends meanwhile; the answer reaches only a process that runs.</summary>
    private Task<T> AskAsync<T>(Machine machine, string name, Func<T> request)
    {
        var answer = new TaskCompletionSource<T>();
        pump.After(Latency(), null, EventKind.Table, name, () =>
        {
            Action end;
            try
            {
                if (dice.Chance(Refusals))
                    throw new IOException("The store refuses.");
                var result = request();
                if (dice.Chance(LostAnswers))
                    throw new IOException("The answer of the store is lost.");
                end = () => answer.TrySetResult(result);
            }
            catch (Exception exception)
            {
                end = () => answer.TrySetException(exception);
            }

            pump.After(Latency(), machine, EventKind.Table, name + " answer", end);
        });
        return answer.Task;
    }

    private long Latency() => dice.Exponential(Pump.Millisecond) + (dice.Chance(Delays) ? dice.Between(0, 3 * Pump.Second) : 0);
}

/// <summary>The storage as a provider of one machine.</summary>
internal sealed class MachineStorage(Store store, Machine machine) : IGrainStorage
{
    public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var record = await store.ReadAsync(machine, grainId.ToString());
        (grainState.ETag, grainState.RecordExists) = (record?.ETag, record is not null);
        if (record is { } found)
            grainState.State = JsonSerializer.Deserialize<T>(found.Json);
    }

    public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var json = JsonSerializer.Serialize(grainState.State);
        grainState.ETag = await store.WriteAsync(machine, grainId.ToString(), grainState.ETag, json);
        grainState.RecordExists = true;
    }

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        throw new NotSupportedException("Nothing of the simulation is cleared.");
}
