using ActOp.Storage.Files;

namespace ActOp.State.Tests;

/// <summary>The machine or the process has ended at a step of the simulated disk.</summary>
internal sealed class EndedException() : Exception("It has ended here.");

/// <summary>
/// A file system that loses, at a loss of power, any part of what was not flushed: names of files and their contents. It ends or fails at a
/// step that the test chooses. One thread at a time.
/// </summary>
internal sealed class SimulatedDisk : Disk
{
    private readonly HashSet<string> _directories = ["/"];
    private readonly HashSet<string> _durableDirectories = ["/"];
    private readonly Dictionary<string, Node> _names = [];
    private readonly Dictionary<string, Node> _durableNames = [];
    private readonly List<(string Directory, Action<Dictionary<string, Node>> Change)> _changes = [];
    private readonly HashSet<string> _locks = [];
    private readonly HashSet<string> _marks = [];
    private bool _hasEnded;

    /// <summary>The steps so far.</summary>
    internal int Steps { get; private set; }

    /// <summary>At this step, counted from 1, it ends; 0 for never.</summary>
    internal int EndsAt { get; set; }

    /// <summary>Whether the step at which it ends still takes effect.</summary>
    internal bool EndsAfterwards { get; set; }

    /// <summary>False for a disk that says that it has flushed and has not.</summary>
    internal bool Flushes { get; init; } = true;

    /// <summary>From this step to <see cref="FailsUntil"/>, all that needs space or permission fails.</summary>
    internal int FailsFrom { get; set; }

    internal int FailsUntil { get; set; } = int.MaxValue;

    /// <summary>What another thread does before the next file is read.</summary>
    internal Action? BeforeRead { get; set; }

    internal IEnumerable<string> Names => _names.Keys;

    /// <summary>What the next process finds: everything after the end of a process, some of it after a loss of power.</summary>
    internal SimulatedDisk Restart(Random? lossOfPower)
    {
        var next = new SimulatedDisk();
        if (lossOfPower is null)
        {
            next._directories.UnionWith(_directories);
            next._marks.UnionWith(_marks);
            foreach (var (path, node) in _names)
                next._names[path] = new Node { Content = node.Content };
        }
        else
        {
            // From above: what is in a directory is lost with its name.
            foreach (var path in _directories.OrderBy(static path => path.Length))
            {
                if ((_durableDirectories.Contains(path) || lossOfPower.Next(2) == 0)
                    && (Path.GetDirectoryName(path) is not { } parent || next._directories.Contains(parent)))
                {
                    next._directories.Add(path);
                }
            }

            var names = new Dictionary<string, Node>(_durableNames);
            foreach (var (_, change) in _changes.Where(_ => lossOfPower.Next(2) == 0))
                change(names);
            foreach (var (path, node) in names)
            {
                if (next._directories.Contains(Path.GetDirectoryName(path)!))
                    next._names[path] = new Node { Content = Surviving(node, lossOfPower) };
            }
        }

        // What the next process finds is durable: only it can be lost that is written from now on.
        next._durableDirectories.UnionWith(next._directories);
        foreach (var (path, node) in next._names)
        {
            node.Durable = node.Content;
            next._durableNames[path] = node;
        }

        return next;
    }

    /// <summary>As <see cref="Restart"/>, but the new process runs on what the old one has left in memory: not flushed still.</summary>
    internal void Continue()
    {
        _hasEnded = false;
        EndsAt = 0;
        _locks.Clear();
    }

    internal override bool TryCreateDirectory(string path)
    {
        var isNew = false;
        Step(() =>
        {
            for (var each = path; each is not null && _directories.Add(each); each = Path.GetDirectoryName(each))
                isNew = true;
        });
        return isNew;
    }

    internal override (string[] Files, string[] Directories) List(string directory)
    {
        Step(static () => { }, mayFail: false);
        return ([.. _names.Keys.Where(path => Path.GetDirectoryName(path) == directory).Select(static path => Path.GetFileName(path))],
            [.. _directories.Where(path => Path.GetDirectoryName(path) == directory).Select(static path => Path.GetFileName(path))]);
    }

    internal override byte[]? Read(string path)
    {
        Step(static () => { }, mayFail: false);
        var before = BeforeRead;
        BeforeRead = null;
        before?.Invoke();
        return _names.TryGetValue(path, out var node) ? node.Content : null;
    }

    internal override void Write(string path, ReadOnlySpan<byte> content)
    {
        var all = content.ToArray();
        if (!_names.ContainsKey(path))
            Step(() => Change(path, (names, node) => names[path] = node, new Node()));
        // The content comes in two parts: an end between them leaves a torn file.
        Step(() => _names[path].Content = all[..(all.Length / 2)]);
        Step(() => _names[path].Content = all);
    }

    internal override void FlushFile(string path) => Step(
        () => _names[path].Durable = Flushes ? _names[path].Content : _names[path].Durable);

    internal override void Rename(string from, string to) => Step(() => Change(
        to,
        (names, node) =>
        {
            names.Remove(from);
            names[to] = node;
        },
        _names[from]));

    internal override void Delete(string path) => Step(
        () =>
        {
            if (_names.TryGetValue(path, out var node))
                Change(path, (names, _) => names.Remove(path), node);
        },
        mayFail: false);

    internal override void FlushDirectory(string directory) => Step(() =>
    {
        if (!Flushes)
            return;
        foreach (var (_, change) in _changes.Where(one => one.Directory == directory))
            change(_durableNames);
        _changes.RemoveAll(one => one.Directory == directory);
        foreach (var path in _directories.Where(path => Path.GetDirectoryName(path) == directory))
            _durableDirectories.Add(path);
    });

    internal override DiskLock? TryLock(string path)
    {
        Step(static () => { }, mayFail: false);
        return _locks.Add(path) ? new Held(this, path) : null;
    }

    internal override bool HasMark(string path) => _marks.Contains(path);

    private static byte[] Surviving(Node node, Random random)
    {
        if (ReferenceEquals(node.Content, node.Durable))
            return node.Content;
        return random.Next(4) switch
        {
            0 => node.Durable ?? [],
            1 => node.Content,
            2 => node.Content[..random.Next(node.Content.Length + 1)],
            _ => new byte[node.Content.Length],
        };
    }

    private void Change(string path, Action<Dictionary<string, Node>, Node> change, Node node)
    {
        change(_names, node);
        _changes.Add((Path.GetDirectoryName(path)!, names => change(names, node)));
    }

    private void Step(Action effect, bool mayFail = true)
    {
        if (_hasEnded)
            throw new EndedException();
        Steps++;
        if (Steps == EndsAt)
        {
            _hasEnded = true;
            if (EndsAfterwards)
                effect();
            throw new EndedException();
        }

        if (mayFail && FailsFrom > 0 && Steps >= FailsFrom && Steps <= FailsUntil)
            throw new IOException("No space left on device.");
        effect();
    }

    private sealed class Node
    {
        internal byte[] Content { get; set; } = [];

        /// <summary>What a loss of power leaves; null for nothing.</summary>
        internal byte[]? Durable { get; set; }
    }

    private sealed class Held(SimulatedDisk disk, string path) : DiskLock
    {
        internal override bool HasMark
        {
            get => disk._marks.Contains(path);
            set => disk.Step(() => _ = value ? disk._marks.Add(path) : disk._marks.Remove(path));
        }

        public override void Dispose() => disk._locks.Remove(path);
    }
}
