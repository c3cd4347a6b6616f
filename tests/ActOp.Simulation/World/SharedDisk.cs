using ActOp.Testing.Simulated;

namespace ActOp.Simulation.World;

/// <summary>
/// The file system of the one machine on which all silos of a run are processes. What the system has survives the end of a process. A loss
/// of power leaves what was flushed, and of the rest any part: each block of a file as it was, as it was written, or empty; and each change
/// of a name or not, in any selection.
/// </summary>
internal sealed class SharedDisk(Dice dice)
{
    /// <summary>Small, so that files of a few hundred bytes can be torn.</summary>
    private const int Block = 64;

    private readonly Dictionary<string, Machine> _locks = [];
    private Folder _root = new();

    /// <summary>Creates a folder with those above it. False if it is there.</summary>
    internal bool TryCreate(string path)
    {
        var isNew = false;
        var at = _root;
        foreach (var name in path.Split('/', StringSplitOptions.RemoveEmptyEntries))
        {
            if (!at.Names.TryGetValue(name, out var next))
            {
                isNew = true;
                next = new Folder();
                at.Change(names => names[name] = next);
            }

            at = (Folder)next;
        }

        return isNew;
    }

    internal (string[] Files, string[] Folders) List(string path)
    {
        var names = Find(path).Names;
        return ([.. names.Where(static pair => pair.Value is Content).Select(static pair => pair.Key).Order(StringComparer.Ordinal)],
            [.. names.Where(static pair => pair.Value is Folder).Select(static pair => pair.Key).Order(StringComparer.Ordinal)]);
    }

    /// <summary>What any process reads now; null if there is no such file.</summary>
    internal byte[]? Read(string path) => FileAt(path)?.Bytes;

    /// <summary>What would be read after any loss of power; null if that is not certain, or nothing.</summary>
    internal byte[]? ReadDurable(string path)
    {
        var at = _root;
        var names = path.Split('/', StringSplitOptions.RemoveEmptyEntries);
        foreach (var name in names[..^1])
        {
            if (!at.DurableNames.TryGetValue(name, out var next))
                return null;
            at = (Folder)next;
        }

        return at.DurableNames.TryGetValue(names[^1], out var file) && file is Content { IsDurable: true } content ? content.Bytes : null;
    }

    internal void Write(string path, byte[] bytes)
    {
        if (FileAt(path) is not { } file)
        {
            var added = file = new Content();
            var name = Path.GetFileName(path);
            Find(Path.GetDirectoryName(path)!).Change(names => names[name] = added);
        }

        file.Write(bytes);
    }

    /// <summary>A system that could not flush a file does not try again: it takes what it has for written.</summary>
    internal void FlushFile(string path, bool fails)
    {
        var file = FileAt(path) ?? throw new FileNotFoundException(path);
        file.Flush(fails);
    }

    internal void Rename(string from, string to)
    {
        var file = FileAt(from) ?? throw new FileNotFoundException(from);
        var (before, after) = (Path.GetFileName(from), Path.GetFileName(to));
        Find(Path.GetDirectoryName(to)!).Change(names =>
        {
            names.Remove(before);
            names[after] = file;
        });
    }

    internal void Delete(string path)
    {
        if (FileAt(path) is null)
            return;
        var name = Path.GetFileName(path);
        Find(Path.GetDirectoryName(path)!).Change(names => names.Remove(name));
    }

    internal void FlushFolder(string path) => Find(path).Flush();

    /// <summary>True if the process has the lock now. The end of a process releases its locks.</summary>
    internal bool TryLock(string path, Machine machine)
    {
        if (_locks.TryGetValue(path, out var holder) && !holder.IsDead)
            return false;
        if (FileAt(path) is null)
            Write(path, []);
        _locks[path] = machine;
        return true;
    }

    internal void Unlock(string path, Machine machine)
    {
        if (_locks.GetValueOrDefault(path) == machine)
            _locks.Remove(path);
    }

    /// <summary>The machine loses its power. All processes on it have ended.</summary>
    internal void LosePower()
    {
        _locks.Clear();
        _root = Survivor(_root);
    }

    private Folder Survivor(Folder folder)
    {
        var kept = dice.Pick<double>([0, 0.3, 0.7, 1]);
        var names = new Dictionary<string, object>(folder.DurableNames, StringComparer.Ordinal);
        foreach (var change in folder.Changes)
        {
            if (dice.Chance(kept))
                change(names);
        }

        var survivor = new Folder();
        foreach (var (name, item) in names.OrderBy(static pair => pair.Key, StringComparer.Ordinal))
            survivor.Add(name, item is Folder inner ? Survivor(inner) : Survivor((Content)item));
        return survivor;
    }

    private Content Survivor(Content file)
    {
        if (file.IsDurable)
            return new Content(file.Bytes);
        var before = file.Durable ?? [];
        var length = dice.Below(4) switch
        {
            0 => 0,
            1 => before.Length,
            2 => file.Bytes.Length,
            _ => dice.Below((file.Bytes.Length / Block) + 1) * Block,
        };
        var bytes = new byte[length];
        for (var at = 0; at < length; at += Block)
        {
            var source = dice.Below(3) switch { 0 => before, 1 => file.Bytes, _ => [] };
            var count = Math.Min(Math.Min(Block, length - at), source.Length - at);
            if (count > 0)
                source.AsSpan(at, count).CopyTo(bytes.AsSpan(at));
        }

        return new Content(bytes);
    }

    private Content? FileAt(string path) => Find(Path.GetDirectoryName(path)!, isOptional: true)?.Names.GetValueOrDefault(
        Path.GetFileName(path)) as Content;

    private Folder Find(string path) => Find(path, isOptional: false)!;

    private Folder? Find(string path, bool isOptional)
    {
        var at = _root;
        foreach (var name in path.Split('/', StringSplitOptions.RemoveEmptyEntries))
        {
            if (!at.Names.TryGetValue(name, out var next) || next is not Folder inner)
                return isOptional ? null : throw new DirectoryNotFoundException(path);
            at = inner;
        }

        return at;
    }

    private sealed class Folder
    {
        internal Dictionary<string, object> Names { get; } = new(StringComparer.Ordinal);

        internal Dictionary<string, object> DurableNames { get; } = new(StringComparer.Ordinal);

        /// <summary>Those of names that were not flushed, in order.</summary>
        internal List<Action<Dictionary<string, object>>> Changes { get; } = [];

        internal void Change(Action<Dictionary<string, object>> change)
        {
            change(Names);
            Changes.Add(change);
        }

        internal void Flush()
        {
            foreach (var change in Changes)
                change(DurableNames);
            Changes.Clear();
        }

        internal void Add(string name, object item) => Names[name] = DurableNames[name] = item;
    }

    /// <summary>A file without its name.</summary>
    private sealed class Content
    {
        private bool _isLost;

        internal Content() => Bytes = [];

        internal Content(byte[] durable) => (Bytes, Durable, IsDurable) = (durable, durable, true);

        internal byte[] Bytes { get; private set; }

        /// <summary>What was flushed last; null for nothing.</summary>
        internal byte[]? Durable { get; private set; }

        internal bool IsDurable { get; private set; }

        internal void Write(byte[] bytes) => (Bytes, IsDurable, _isLost) = (bytes, false, false);

        internal void Flush(bool fails)
        {
            _isLost |= fails;
            if (fails)
                throw new IOException("Input/output error");
            if (!_isLost)
                (Durable, IsDurable) = (Bytes, true);
        }
    }
}
