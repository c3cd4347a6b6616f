using ActOp.Staging;
using ActOp.Storage.Files;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.World;

/// <summary>The process has ended in the middle of what it did.</summary>
internal sealed class ProcessEndedException() : Exception("The process has ended here.");

/// <summary>What goes wrong on a disk, and who is told of its steps.</summary>
internal sealed class DiskFaults
{
    /// <summary>Share of the steps that fail.</summary>
    internal double Failures { get; set; }

    /// <summary>Share of the steps at which the process is killed.</summary>
    internal double Kills { get; set; }

    /// <summary>Share of the steps at which the machine loses its power.</summary>
    internal double PowerLosses { get; set; }

    /// <summary>Share of the steps before which another process makes a whole operation.</summary>
    internal double Beside { get; set; }

    internal StoreTrouble Trouble { get; set; }

    /// <summary>Ends the process, if it may be lost.</summary>
    internal Action<Machine> Kill { get; set; } = static _ => { };

    /// <summary>Takes the power away, if that may be now.</summary>
    internal Action LosePower { get; set; } = static () => { };

    /// <summary>A file is about to be written: its path and its bytes.</summary>
    internal Action<string, byte[]> Writes { get; set; } = static (_, _) => { };

    /// <summary>A file has got its name: the name, and the bytes that had it before; null for none.</summary>
    internal Action<string, byte[]?> Renamed { get; set; } = static (_, _) => { };

    /// <summary>A file has lost its name: the name, and its bytes.</summary>
    internal Action<string, byte[]> Deleted { get; set; } = static (_, _) => { };

    /// <summary>A file could not be written, flushed or renamed, and its writer is told so.</summary>
    internal Action<string> Refused { get; set; } = static _ => { };
}

/// <summary>
/// The disk as one process sees it. Between any two of its steps another process may act, and at each of them it may end: before, after,
/// or in the middle of a write.
/// </summary>
internal sealed class MachineDisk(SharedDisk disk, DiskFaults faults, DiskThreads threads, Dice dice, Machine machine) : Disk
{
    private readonly SharedDisk _disk = disk;
    private readonly Machine _machine = machine;

    internal override bool TryCreateDirectory(string path) =>
        Step("create", () => _disk.TryCreate(path), needsRoom: true);

    internal override (string[] Files, string[] Directories) List(string directory) => Step("list", () => _disk.List(directory));

    internal override byte[]? Read(string path) => Step("read", () => _disk.Read(path));

    internal override void Write(string path, ReadOnlySpan<byte> content)
    {
        var bytes = content.ToArray();
        faults.Writes(path, bytes);
        Try(path, () => Step(
            "write",
            () =>
            {
                _disk.Write(path, bytes);
                return true;
            },
            needsRoom: true,
            half: () => _disk.Write(path, bytes[..dice.Below(bytes.Length + 1)])));
    }

    internal override void FlushFile(string path) => Try(path, () => Step("flush", () =>
    {
        _disk.FlushFile(path, fails: Fails());
        return true;
    }));

    internal override void Rename(string from, string to) => Try(from, () => Step("rename", () =>
    {
        var before = _disk.Read(to);
        _disk.Rename(from, to);
        faults.Renamed(to, before);
        return true;
    }));

    internal override void Delete(string path) => Step("delete", () =>
    {
        var before = _disk.Read(path);
        _disk.Delete(path);
        if (before is not null)
            faults.Deleted(path, before);
        return true;
    });

    internal override void FlushDirectory(string directory) => Step("flush folder", () =>
    {
        _disk.FlushFolder(directory);
        return true;
    });

    internal override DiskLock? TryLock(string path) =>
        Step("lock", () => _disk.TryLock(path, _machine), needsRoom: _disk.Read(path) is null) ? new Held(this, path) : null;

    internal override bool HasMark(string path) => Step("look", () => _disk.Read(path) is { Length: > 0 });

    private void Try(string path, Action step)
    {
        try
        {
            step();
        }
        catch (IOException)
        {
            faults.Refused(path);
            throw;
        }
    }

    private bool Fails() => dice.Chance(faults.Trouble == StoreTrouble.Refuses ? 0.5 : faults.Failures);

    private T Step<T>(string name, Func<T> effect, bool needsRoom = false, Action? half = null)
    {
        CheckAlive();
        if (dice.Chance(faults.Beside))
            threads.RunBeside(_machine);
        CheckAlive();
        // Between the change of a name and its flush, most can be lost.
        var ends = dice.Chance(name is "rename" or "delete" ? 20 * faults.Kills : faults.Kills) ? (Action)(() => faults.Kill(_machine))
            : dice.Chance(faults.PowerLosses) ? faults.LosePower : null;
        var moment = ends is null ? 0 : dice.Below(3);
        if (moment == 1 && half is not null)
            half();
        if (ends is not null && moment < 2)
        {
            ends();
            CheckAlive();
        }

        if (needsRoom && faults.Trouble == StoreTrouble.Full)
        {
            half?.Invoke();
            throw new IOException("No space left on device");
        }

        if (Fails())
            throw new IOException("Input/output error at: " + name);
        var result = effect();
        if (ends is not null && moment == 2)
        {
            ends();
            CheckAlive();
        }

        return result;
    }

    private void CheckAlive()
    {
        if (_machine.IsDead)
            throw new ProcessEndedException();
    }

    private sealed class Held(MachineDisk owner, string path) : DiskLock
    {
        internal override bool HasMark
        {
            get => owner.Step("look", () => owner._disk.Read(path) is { Length: > 0 });
            set => owner.Step("mark", () =>
            {
                owner._disk.Write(path, value ? [1] : []);
                return true;
            });
        }

        public override void Dispose() => owner._disk.Unlock(path, owner._machine);
    }
}

/// <summary>The threads of all storages in files: each operation is an event, or runs between two steps of another process.</summary>
/// <remarks>
/// Never between two steps of its own process: the locks of a process are those of its threads, and here all are one.
/// </remarks>
internal sealed class DiskThreads(Pump pump, DiskFaults faults, Dice dice)
{
    private readonly List<Waiting> _waiting = [];
    private readonly List<Waiting> _parked = [];
    private bool _isBeside;

    internal StageDriver Of(Machine machine) => new Driver(this, machine);

    /// <summary>Operations that ran between two steps of another process.</summary>
    internal long Beside { get; private set; }

    /// <summary>The disk answers again.</summary>
    internal void Unpark()
    {
        foreach (var operation in _parked)
            Schedule(operation);
        _parked.Clear();
    }

    /// <summary>Another process makes an operation at this very moment, if any waits.</summary>
    internal void RunBeside(Machine machine)
    {
        if (_isBeside)
            return;
        var others = _waiting.Where(one => one.Machine != machine && one.Machine.IsRunning).ToArray();
        if (others.Length == 0)
            return;
        var other = dice.Pick(others);
        other.Event!.IsCancelled = true;
        _waiting.Remove(other);
        pump.Note(other.Machine, EventKind.Item, "disk beside " + machine.Name);
        Beside++;
        _isBeside = true;
        other.Item.Execute();
        _isBeside = false;
    }

    private void Schedule(Waiting operation)
    {
        _waiting.Add(operation);
        operation.Event = pump.After(dice.Exponential(2 * Pump.Millisecond), operation.Machine, EventKind.Item, "disk", () =>
        {
            _waiting.Remove(operation);
            if (faults.Trouble == StoreTrouble.Hangs)
                _parked.Add(operation);
            else
                operation.Stage.RunDriven(operation.Item);
        });
    }

    private sealed class Waiting(Machine machine, Stage stage, IStageItem item)
    {
        internal Machine Machine => machine;

        internal Stage Stage => stage;

        internal IStageItem Item => item;

        internal PumpEvent? Event { get; set; }
    }

    private sealed class Driver(DiskThreads threads, Machine machine) : StageDriver
    {
        internal override void Post(Stage stage, IStageItem item)
        {
            if (!machine.IsDead)
                threads.Schedule(new Waiting(machine, stage, item));
        }

        internal override void Begin(PollStage stage, int index) =>
            throw new NotSupportedException("A storage has no stage that polls.");
    }
}
