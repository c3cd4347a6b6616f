using System.Globalization;
using System.Text;
using System.Text.Json;
using ActOp.Configuration;
using ActOp.Runtime.State.Files;
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
    private const string Files = "files";
    private const string Root = "/data/shop";
    private const string Unfinished = ".new";

    /// <summary>Two losses of power are not closer.</summary>
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
    private long _lostAt = -LeastBetween;
    private bool _isOver = true;

    internal FileStore(Pump pump, Dice dice)
    {
        _pump = pump;
        _dice = dice;
        _disk = new SharedDisk(dice.Fork("disk"));
        _threads = new DiskThreads(pump, _faults, dice.Fork("threads"));
        (_faults.Writes, _faults.Renamed, _faults.Refused) = (SeeWrite, SeeRename, SeeRefusal);
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
        [.. base.Counts, ("losses of power", _powerLosses), ("disk beside", _threads.Beside)];

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
            name, (all, _) => new WatchedFiles(this, machine, all.GetRequiredKeyedService<IGrainStorage>(Files)));
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
        _records.TryGetValue(key, out var record) ? record.Versions.GetValueOrDefault(etag).Json : null;

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
        record.Versions.Add(file.ETag, (record.Versions.Count + 1, JsonOf(file)));
        record.Writing = file.ETag;
    }

    private void SeeRename(string from, string to)
    {
        var record = _records[_keys[to]];
        Writes = (Writes.Done + 1, Writes.Conflicts);
        Written(record.Key, record.Versions[record.Writing].Json);
    }

    private void SeeRefusal(string path)
    {
        if (_keys.TryGetValue(path[..^Unfinished.Length], out var key))
            _records[key].Refused.Add(_records[key].Writing);
    }

    /// <summary>What a killed process has left may be read by the others, and lost by all.</summary>
    private void KillAt(Machine machine)
    {
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

            var found = file is null ? 0 : record.Versions[file.ETag].Number;
            if (found < record.Seen)
            {
                Accuse("lost power", record.Key + " has the version " + found + " after a loss of power, but " + record.Seen
                    + " was acknowledged, or read.");
            }
        }
    }

    /// <summary>A read has ended that began when <paramref name="least"/> had been seen.</summary>
    private void CheckRead(Machine machine, Record record, string? etag, int least)
    {
        if (etag is null)
        {
            FoundNothing(machine, record.Key);
            if (least > 0)
                Accuse("went back", record.Key + " has no record for " + machine.Name + ", but " + least + " was seen before.");
            return;
        }

        if (!record.Versions.TryGetValue(etag, out var version))
            Accuse("state", record.Key + " was read with the version " + etag + ", which nobody has written.");
        else if (record.Refused.Contains(etag))
            Accuse("refused", record.Key + " was read with the version " + etag + ", whose write was refused.");
        else if (version.Number < least)
            Accuse("went back", record.Key + " was read with the version " + version.Number + ", but " + least + " was seen before.");
        record.Seen = Math.Max(record.Seen, version.Number);
    }

    private async Task PauseAsync(Machine machine)
    {
        if (_dice.Chance(_delays))
            await Task.Delay(TimeSpan.FromTicks(_dice.Between(1, 3 * Pump.Second)), machine.AppClock);
    }

    /// <summary>One state.</summary>
    private sealed class Record(string key, string path)
    {
        internal string Key => key;

        internal string Path => path;

        /// <summary>All that were written, by ETag: the numbers are in the order of the writes.</summary>
        internal Dictionary<string, (int Number, string Json)> Versions { get; } = [];

        /// <summary>Those whose write has failed before it could change the record.</summary>
        internal HashSet<string> Refused { get; } = [];

        /// <summary>That of the unfinished file.</summary>
        internal string Writing { get; set; } = "";

        /// <summary>The newest one that was acknowledged or read.</summary>
        internal int Seen { get; set; }
    }

    /// <summary>The storage in files of one silo, and what comes of its operations.</summary>
    private sealed class WatchedFiles(FileStore store, Machine machine, IGrainStorage files) : IGrainStorage
    {
        public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            var record = store.Know(stateName, grainId);
            await store.PauseAsync(machine);
            var least = record.Seen;
            try
            {
                await files.ReadStateAsync(stateName, grainId, grainState);
            }
            catch (InvalidDataException exception)
            {
                store.Accuse("torn", record.Key + " could not be read: " + exception.Message);
                throw;
            }

            store.CheckRead(machine, record, grainState.ETag, least);
            await store.PauseAsync(machine);
        }

        public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
        {
            var record = store.Know(stateName, grainId);
            await store.PauseAsync(machine);
            try
            {
                await files.WriteStateAsync(stateName, grainId, grainState);
            }
            catch (InconsistentStateException)
            {
                store.Writes = (store.Writes.Done, store.Writes.Conflicts + 1);
                throw;
            }

            record.Seen = Math.Max(record.Seen, record.Versions[grainState.ETag!].Number);
            await store.PauseAsync(machine);
        }

        public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
            throw new NotSupportedException("Nothing of the simulation is cleared.");
    }

    private sealed class Json : IGrainStorageSerializer
    {
        public BinaryData Serialize<T>(T? input) => new(JsonSerializer.SerializeToUtf8Bytes(input));

        public T? Deserialize<T>(BinaryData input) => JsonSerializer.Deserialize<T>(input.ToMemory().Span);
    }
}
