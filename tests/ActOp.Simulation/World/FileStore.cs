using System.Globalization;
using System.Text;
using System.Text.Json;
using ActOp.Configuration;
using ActOp.Storage.Files;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace ActOp.Simulation.World;

/// <summary>
/// The storage in files as it is, of all silos in one directory of a disk that fails, is slow or full, and that loses what was not flushed
/// when all lose their power. Sees every file that is written and every answer, and says what must not be.
/// </summary>
internal sealed class FileStore : KeeperStore
{
    /// <summary>The storage as code of the application gets it that is no grain: its conflicts are its own.</summary>
    internal const string Drafts = "drafts";

    private const string Files = "files";
    private const string Root = "/data/shop";
    private const string Unfinished = ".new";

    /// <summary>Two ends of all processes are not closer.</summary>
    private const long LeastBetween = 6 * Pump.Second;

    private readonly Pump _pump;
    private readonly Dice _dice;
    private readonly SharedDisk _disk;
    private readonly DiskFaults _faults = new();
    private readonly DiskThreads _threads;
    private readonly Dictionary<string, string> _keys = [];
    private readonly SortedDictionary<string, Record> _records = new(StringComparer.Ordinal);
    private double _delays;
    private long _etags;
    private long _powerLosses;
    private long _endsOfAll;
    private long _conflictsOfDrafts;
    private long _lostAt = -LeastBetween;
    private bool _isOver = true;

    internal FileStore(Pump pump, Dice dice)
    {
        _pump = pump;
        _dice = dice;
        _disk = new SharedDisk(dice.Fork("disk"));
        _threads = new DiskThreads(pump, _faults, dice.Fork("threads"));
        (_faults.Writes, _faults.Renamed, _faults.Refused, _faults.Deleted) = (SeeWrite, SeeRename, SeeRefusal, SeeDeletion);
        _faults.Kill = KillAt;
        _faults.LosePower = LosePower;
        // Processes get in each other's way in each run.
        _faults.Beside = 0.1;
    }

    internal override StoreTrouble Trouble
    {
        get => _faults.Trouble;
        set
        {
            _faults.Trouble = value;
            if (value != StoreTrouble.Hangs)
                _threads.Unpark();
        }
    }

    internal override IEnumerable<(string Name, long Count)> Counts =>
        [.. base.Counts, ("losses of power", _powerLosses), ("ends of all processes", _endsOfAll),
            ("draft conflicts", _conflictsOfDrafts), ("disk beside", _threads.Beside)];

    internal override void Configure(Machine machine, IServiceCollection services, string name)
    {
        if (!machine.IsSilo)
            return;
        services.AddSingleton(new FileSeams(
            new MachineDisk(_disk, _faults, _threads, _dice.Fork("steps" + machine.Number), machine),
            _threads.Of(machine),
            () => "e" + (++_etags).ToString(CultureInfo.InvariantCulture)));
        services.Configure<FileGrainStorageOptions>(Files, options =>
        {
            options.RootDirectory = Root;
            options.LockTimeout = TimeSpan.FromSeconds(1);
            options.GrainStorageSerializer = new Json();
        });
        StorageProviderExtensions.AddGrainStorage(services, Files, FileGrainStorage.Create);
        services.AddKeyedSingleton<IGrainStorage>(
            name, (all, _) => new WatchedFiles(this, machine, all.GetRequiredKeyedService<IGrainStorage>(Files), isOfGrains: true));
        services.AddKeyedSingleton<IGrainStorage>(
            Drafts, (all, _) => new WatchedFiles(this, machine, all.GetRequiredKeyedService<IGrainStorage>(Files), isOfGrains: false));
    }

    internal override void BeginFaults(Dice dice, bool isCalm)
    {
        _delays = dice.Pick<double>([0, 0.01, 0.1]);
        if (isCalm)
            return;
        _isOver = false;
        _faults.Failures = dice.Pick<double>([0, 0.002, 0.02]);
        _faults.Kills = dice.Pick<double>([0, 0.0005, 0.002]);
        _faults.PowerLosses = dice.Pick<double>([0, 0.0005, 0.002]);
        _pump.After(_dice.Exponential(10 * Pump.Second), null, EventKind.Fault, "power", LosePowerAgain);
    }

    internal override void EndFaults()
    {
        _isOver = true;
        (_delays, _faults.Failures, _faults.Kills, _faults.PowerLosses) = (0, 0, 0, 0);
        Trouble = StoreTrouble.None;
    }

    private protected override string? Stored(string key) =>
        _records.TryGetValue(key, out var record) && _disk.ReadDurable(record.Path) is { } bytes
            ? JsonOf(StateFile.Decode(bytes, record.Path)) : null;

    private protected override string? StoredAt(string key, string etag) =>
        _records.TryGetValue(key, out var record) ? record.Versions.GetValueOrDefault(etag)?.Json : null;

    private static string JsonOf(StateFile file) => Encoding.UTF8.GetString(file.Content.Span);

    private Record Know(string state, GrainId grain)
    {
        var key = grain.ToString();
        if (!_records.TryGetValue(key, out var record))
        {
            var (folder, name) = StateFile.NameOf(state, grain);
            _records[key] = record = new Record(key, Path.Combine(Root, Files, folder, name));
            _keys[record.Path] = key;
        }

        return record;
    }

    private void SeeWrite(string path, byte[] bytes)
    {
        if (!path.EndsWith(Unfinished, StringComparison.Ordinal) || !_keys.TryGetValue(path[..^Unfinished.Length], out var key))
        {
            Accuse("files", "The file " + path + " was written, which is none of a state.");
            return;
        }

        var file = StateFile.Decode(bytes, path);
        var record = _records[key];
        record.Versions.Add(file.ETag, new Version(record.NextNumber(), JsonOf(file)));
        record.Writing = file.ETag;
    }

    private void SeeRename(string to, byte[]? before)
    {
        var record = _records[_keys[to]];
        var version = record.Versions[record.Writing];
        version.Replaced = ETagOf(before, to);
        Writes = (Writes.Done + 1, Writes.Conflicts);
        Written(record.Key, version.Json);
    }

    private void SeeDeletion(string path, byte[] before)
    {
        if (!_keys.TryGetValue(path, out var key))
            return;
        _records[key].ClearedAs = _records[key].NextNumber();
        if (ETagOf(before, path) is { } etag)
            _records[key].Cleared.Add(etag);
    }

    /// <summary>The version of a file; null if there is none, or if it is damaged, which is said elsewhere.</summary>
    private static string? ETagOf(byte[]? bytes, string path)
    {
        try
        {
            return bytes is null ? null : StateFile.Decode(bytes, path).ETag;
        }
        catch (InvalidDataException)
        {
            return null;
        }
    }

    private void SeeRefusal(string path)
    {
        if (_keys.TryGetValue(path[..^Unfinished.Length], out var key))
            _records[key].Refused.Add(_records[key].Writing);
    }

    /// <summary>What a killed process has left may be read by the others, and lost by all.</summary>
    private void KillAt(Machine machine)
    {
        // The machine may also lose all its processes and keep its power: then it is a start that finds what they have left.
        if (_dice.Chance(0.15) && _pump.Now - _lostAt >= LeastBetween && EndAll())
        {
            _lostAt = _pump.Now;
            _endsOfAll++;
            return;
        }

        Kill(machine);
        if (machine.IsDead && _dice.Chance(0.4))
            _pump.After(_dice.Between(1, 6 * Pump.Second), null, EventKind.Fault, "power", LosePower);
    }

    private void LosePowerAgain()
    {
        if (_isOver)
            return;
        LosePower();
        _pump.After(_dice.Exponential(10 * Pump.Second), null, EventKind.Fault, "power", LosePowerAgain);
    }

    /// <summary>What was acknowledged, or read by anybody, is still there, or something newer.</summary>
    private void LosePower()
    {
        // The start of all processes is what costs the simulator most.
        if (_pump.Now - _lostAt < LeastBetween || !EndAll())
            return;
        _lostAt = _pump.Now;
        _powerLosses++;
        _disk.LosePower();
        _pump.Note(null, EventKind.Fault, "loss of power");
        foreach (var record in _records.Values)
        {
            StateFile? file = null;
            try
            {
                if (_disk.Read(record.Path) is { } bytes)
                    file = StateFile.Decode(bytes, record.Path);
            }
            catch (InvalidDataException exception)
            {
                Accuse("torn", "After a loss of power " + record.Key + " is damaged: " + exception.Message);
                continue;
            }

            var found = file is null ? record.ClearedAs : record.Versions[file.ETag].Number;
            if (found < record.Seen)
            {
                Accuse("lost power", record.Key + " has the version " + found + " after a loss of power, but " + record.Seen
                    + " was acknowledged, or read.");
            }
        }
    }

    /// <summary>A read has ended that began when <paramref name="since"/> was so.</summary>
    private void CheckRead(Machine machine, Record record, string? etag, string json, (int Seen, int Cleared) since)
    {
        if (etag is null)
        {
            FoundNothing(machine, record.Key);
            if (since.Seen > record.ClearedAs)
                Accuse("went back", record.Key + " has no record for " + machine.Name + ", but " + since.Seen + " was seen before.");
            // The clear that was found is this one or a later one.
            record.Seen = Math.Max(record.Seen, since.Cleared);
            return;
        }

        if (!record.Versions.TryGetValue(etag, out var version))
        {
            Accuse("state", record.Key + " was read with the version " + etag + ", which nobody has written.");
            return;
        }

        if (record.Refused.Contains(etag))
            Accuse("refused", record.Key + " was read with the version " + etag + ", whose write was refused.");
        if (version.Number < since.Seen)
            Accuse("went back", record.Key + " was read with the version " + version.Number + ", but " + since.Seen + " was seen before.");
        if (version.Json != json)
            Accuse("state", record.Key + " was read with the version " + etag + ", but not with what was written as that.");
        if (DurableNumber(record) is var durable && durable < version.Number)
        {
            Accuse("not durable", record.Key + " was read with the version " + version.Number + ", but a loss of power would bring "
                + durable + " back.");
        }

        record.Seen = Math.Max(record.Seen, version.Number);
    }

    /// <summary>What any loss of power leaves at least.</summary>
    private int DurableNumber(Record record) => ETagOf(_disk.ReadDurable(record.Path), record.Path) is { } etag
        ? record.Versions[etag].Number : record.ClearedAs;

    /// <summary>A write or a clear replaces the version that its writer has: with any other one there, it must be refused.</summary>
    private void CheckReplaced(Machine machine, Record record, string? expected, string? replaced)
    {
        if (expected != replaced)
        {
            Accuse("conflict", record.Key + " was changed by " + machine.Name + ", which had the version " + (expected ?? "none")
                + ", but the version that was there was " + (replaced ?? "none") + ".");
        }
    }

    private async Task PauseAsync(Machine machine)
    {
        if (_dice.Chance(_delays))
            await Task.Delay(TimeSpan.FromTicks(_dice.Between(1, 3 * Pump.Second)), machine.AppClock);
    }

    /// <summary>One state.</summary>
    private sealed class Record(string key, string path)
    {
        private int _number;

        internal string Key => key;

        internal string Path => path;

        /// <summary>All that were written, by ETag: the numbers are in the order of the writes and clears.</summary>
        internal Dictionary<string, Version> Versions { get; } = [];

        /// <summary>Those that were cleared.</summary>
        internal HashSet<string> Cleared { get; } = [];

        /// <summary>The number of the last clear; 0 for none.</summary>
        internal int ClearedAs { get; set; }

        /// <summary>Those whose write has failed before it could change the record.</summary>
        internal HashSet<string> Refused { get; } = [];

        /// <summary>That of the unfinished file.</summary>
        internal string Writing { get; set; } = "";

        /// <summary>The newest one that was acknowledged or read.</summary>
        internal int Seen { get; set; }

        internal int NextNumber() => ++_number;
    }

    /// <summary>One version of a state.</summary>
    private sealed class Version(int number, string json)
    {
        internal int Number => number;

        internal string Json => json;

        /// <summary>The version that was there before; null for none.</summary>
        internal string? Replaced { get; set; }
    }

    /// <summary>The storage in files of one silo, and what comes of its operations.</summary>
    private sealed class WatchedFiles(FileStore store, Machine machine, IGrainStorage files, bool isOfGrains) : IGrainStorage
    {
        public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            var record = store.Know(stateName, grainId);
            await store.PauseAsync(machine);
            var since = (record.Seen, record.ClearedAs);
            try
            {
                await files.ReadStateAsync(stateName, grainId, grainState);
            }
            catch (InvalidDataException exception)
            {
                store.Accuse("torn", record.Key + " could not be read: " + exception.Message);
                throw;
            }

            store.CheckRead(machine, record, grainState.ETag, JsonSerializer.Serialize(grainState.State), since);
            await store.PauseAsync(machine);
        }

        public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            var record = store.Know(stateName, grainId);
            await store.PauseAsync(machine);
            var expected = grainState.ETag;
            await ChangeAsync(() => files.WriteStateAsync(stateName, grainId, grainState));
            var version = record.Versions[grainState.ETag!];
            store.CheckReplaced(machine, record, expected, version.Replaced);
            record.Seen = Math.Max(record.Seen, version.Number);
            await store.PauseAsync(machine);
        }

        public async Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            var record = store.Know(stateName, grainId);
            await store.PauseAsync(machine);
            var expected = grainState.ETag;
            await ChangeAsync(() => files.ClearStateAsync(stateName, grainId, grainState));
            if (expected is not null)
            {
                store.CheckReplaced(machine, record, expected, record.Cleared.Contains(expected) ? expected : null);
                // Whatever is found from now on is at least the clear of this version.
                record.Seen = Math.Max(record.Seen, record.Versions[expected].Number + 1);
            }

            await store.PauseAsync(machine);
        }

        private async Task ChangeAsync(Func<Task> change)
        {
            try
            {
                await change();
            }
            catch (InconsistentStateException)
            {
                if (isOfGrains)
                    store.Writes = (store.Writes.Done, store.Writes.Conflicts + 1);
                else
                    store._conflictsOfDrafts++;
                throw;
            }
        }
    }

    private sealed class Json : IGrainStorageSerializer
    {
        public BinaryData Serialize<T>(T? input) => new(JsonSerializer.SerializeToUtf8Bytes(input));

        public T? Deserialize<T>(BinaryData input) => JsonSerializer.Deserialize<T>(input.ToMemory().Span);
    }
}
