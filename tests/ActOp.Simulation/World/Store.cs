using System.Globalization;
using System.Text.Json;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Storage;

namespace ActOp.Simulation.World;

/// <summary>
/// The storage of a run: a database somewhere that keeps every version of every record. The faults make it slow or refuse, take it away,
/// fill its disk, lose its answers, and let writes be done after their sender was told that they have failed.
/// </summary>
internal sealed class Store(Pump pump, Dice dice) : KeeperStore
{
    private readonly List<Action> _parked = [];
    private readonly Dictionary<string, (string ETag, string Json)> _records = [];
    private readonly Dictionary<string, string> _versions = [];
    private long _written;

    /// <summary>Share of the requests that are refused before anything is done.</summary>
    internal double Refusals { get; set; }

    /// <summary>Share of the requests that are done but whose answer is an error.</summary>
    internal double LostAnswers { get; set; }

    /// <summary>Share of the requests that take seconds.</summary>
    internal double Delays { get; set; }

    /// <summary>Share of the writes that are reported as failed at once and done seconds later.</summary>
    internal double LateWrites { get; set; }

    /// <summary>Share of the writes whose machine is killed when they arrive.</summary>
    internal double Kills { get; set; }

    /// <summary>What it cannot do now.</summary>
    internal override StoreTrouble Trouble
    {
        get;
        set
        {
            field = value;
            if (value == StoreTrouble.Hangs)
                return;
            foreach (var request in _parked)
                pump.After(dice.Exponential(Pump.Millisecond), null, EventKind.Table, "late request", request);
            _parked.Clear();
        }
    }

    internal override void Configure(Machine machine, IServiceCollection services, string name) =>
        services.AddKeyedSingleton<IGrainStorage>(name, new MachineStorage(this, machine));

    internal override void BeginFaults(Dice faults, bool isCalm)
    {
        Delays = faults.Pick<double>([0, 0.01, 0.1]);
        // Without faults of silos the store is only slow: then nothing excuses a conflict.
        if (isCalm)
            return;
        Refusals = faults.Pick<double>([0, 0.02, 0.2]);
        LostAnswers = faults.Pick<double>([0, 0.02, 0.1]);
        LateWrites = faults.Pick<double>([0, 0.02, 0.1]);
        Kills = faults.Pick<double>([0, 0.001, 0.005]);
    }

    internal override void EndFaults()
    {
        (Refusals, LostAnswers, Delays, LateWrites, Kills) = (0, 0, 0, 0, 0);
        Trouble = StoreTrouble.None;
    }

    private protected override string? Stored(string key) => _records.TryGetValue(key, out var record) ? record.Json : null;

    private protected override string? StoredAt(string key, string etag) => _versions.GetValueOrDefault(key + "@" + etag);

    internal Task<(string ETag, string Json)?> ReadAsync(Machine machine, string key) =>
        AskAsync<(string, string)?>(machine, "read", () =>
    {
        if (_records.TryGetValue(key, out var record))
            return record;
        FoundNothing(machine, key);
        return null;
    });

    internal Task<string> WriteAsync(Machine machine, string key, string? etag, string json) => AskAsync(machine, "write", () =>
    {
        if (Trouble == StoreTrouble.Full)
            throw new IOException("The store is full.");
        var stored = _records.TryGetValue(key, out var record) ? record.ETag : null;
        if (stored != etag)
        {
            Writes = (Writes.Done, Writes.Conflicts + 1);
            throw new InconsistentStateException("The record " + key + " has another version.", stored, etag);
        }

        var next = (++_written).ToString(CultureInfo.InvariantCulture);
        _records[key] = (next, json);
        _versions[key + "@" + next] = json;
        Written(key, json);
        Writes = (Writes.Done + 1, Writes.Conflicts);
        return next;
    });

    /// <summary>The request reaches the store even if its sender ends meanwhile; the answer reaches only a process that runs.</summary>
    private Task<T> AskAsync<T>(Machine machine, string name, Func<T> request)
    {
        var answer = new TaskCompletionSource<T>();
        var isWrite = name == "write";
        void Arrive()
        {
            if (isWrite && dice.Chance(Kills))
                Kill(machine);
            if (Trouble == StoreTrouble.Hangs)
                _parked.Add(Run);
            else
                Run();
        }

        void Run()
        {
            var end = Trouble != StoreTrouble.Refuses && isWrite && dice.Chance(LateWrites)
                ? Postpone(answer, request) : Do(answer, request);
            pump.After(Latency(), machine, EventKind.Table, name + " answer", end);
        }

        pump.After(Latency(), null, EventKind.Table, name, Arrive);
        return answer.Task;
    }

    private Action Do<T>(TaskCompletionSource<T> answer, Func<T> request)
    {
        try
        {
            if (Trouble == StoreTrouble.Refuses || dice.Chance(Refusals))
                throw new IOException("The store refuses.");
            var result = request();
            if (dice.Chance(LostAnswers))
                throw new IOException("The answer of the store is lost.");
            return () => answer.TrySetResult(result);
        }
        catch (Exception exception)
        {
            return () => answer.TrySetException(exception);
        }
    }

    private Action Postpone<T>(TaskCompletionSource<T> answer, Func<T> request)
    {
        // Its outcome reaches nobody.
        pump.After(dice.Between(1, 8 * Pump.Second), null, EventKind.Table, "late write", () => Do(new TaskCompletionSource<T>(), request));
        return () => answer.TrySetException(new IOException("The store has not answered in time."));
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
