using System.Collections.Concurrent;
using System.Text;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Storage.Files;

/// <summary>
/// The states of one storage on a disk: one file each, in 256 folders by the hash of their names. A write puts the new file beside the old
/// one, flushes it, renames it and flushes the folder; only then it is acknowledged.
/// </summary>
/// <remarks>
/// <para>Blocking; any thread. Writers of one folder take turns: in this process by a lock, between processes by a locked file, which the
/// system releases when a process ends. Readers need no lock, because a rename is one step.</para>
/// <para>Before a writer changes a name, it marks the lock of the folder, and removes the mark when the names are durable. So every process
/// sees whether names in a folder may disappear again, also if the one that has changed them was killed. Who finds the mark flushes the
/// folder before it uses, or shows, what it has found there.</para>
/// <para>What each step leaves behind when it fails or the process ends there:</para>
/// <list type="table">
/// <item><term>write, flush</term><description>The old file, and an incomplete one with the ending <c>.new</c>, which nobody reads and the
/// next write or start removes.</description></item>
/// <item><term>rename</term><description>The old file or the new one, never a part.</description></item>
/// <item><term>flush of the folder</term><description>The new file, but a loss of power may bring the old one back. It was not
/// acknowledged, and the next operation of any process in the folder flushes it before anything else, as does the next start.</description>
/// </item>
/// <item><term>delete</term><description>The file, or none; as above.</description></item>
/// </list>
/// </remarks>
internal sealed class StateFolder(Disk disk, string root, Func<string> newETag)
{
    private const string Unfinished = ".new";
    private const int Folders = 256;

    /// <summary>The locks of this process by root: several silos of one process may share a directory.</summary>
    private static readonly ConcurrentDictionary<string, Folder[]> Shared = new(StringComparer.Ordinal);

    private readonly Folder[] _folders = disk is RealDisk
        ? Shared.GetOrAdd(Path.GetFullPath(root), static _ => NewFolders())
        : NewFolders();

    /// <summary>
    /// Creates the root, and completes what the last process has left: removes unfinished files, and flushes the folders, because names
    /// that are there may not be durable yet.
    /// </summary>
    internal void Open()
    {
        Create(root);
        FlushAbove(root);
        var found = disk.List(root).Directories;
        // Their names, too: whoever writes into one of them does not ask again.
        disk.FlushDirectory(root);
        foreach (var name in found)
        {
            if (!int.TryParse(name, System.Globalization.NumberStyles.HexNumber, null, out var number) || number is < 0 or >= Folders)
                continue;
            var path = Path.Combine(root, name);
            lock (_folders[number].Gate)
            {
                // A folder in which another process writes now is in order.
                using var turn = disk.TryLock(LockOf(path));
                if (turn is null)
                    continue;
                foreach (var file in disk.List(path).Files.Where(static file => file.EndsWith(Unfinished, StringComparison.Ordinal)))
                    disk.Delete(Path.Combine(path, file));
                disk.FlushDirectory(path);
                Unmark(turn);
                _folders[number].Exists = true;
            }
        }
    }

    /// <summary>The record, or null.</summary>
    /// <exception cref="InvalidDataException">The file is damaged, or of something else.</exception>
    internal StateFile? Read(string state, GrainId grain)
    {
        var (path, folder) = PathOf(state, grain);
        var record = Load(path, state, grain);
        var directory = Path.GetDirectoryName(path)!;
        // A record whose name is not durable yet must not be seen: it may disappear again. Asked after it was read: a writer says so before
        // it changes the name.
        if (disk.HasMark(LockOf(directory)))
        {
            lock (folder.Gate)
                SettleForReader(directory);
        }

        return record;
    }

    /// <summary>Replaces the record if it has this ETag. Returns the new one, or null while another process holds the folder.</summary>
    /// <exception cref="InconsistentStateException">It has another ETag.</exception>
    internal string? TryWrite(string state, GrainId grain, string? etag, ReadOnlyMemory<byte> content)
    {
        var (path, folder) = PathOf(state, grain);
        var directory = Path.GetDirectoryName(path)!;
        lock (folder.Gate)
        {
            Prepare(directory, folder);
            using var turn = disk.TryLock(LockOf(directory));
            if (turn is null)
                return null;
            Settle(directory, turn);
            Check(path, state, grain, etag);
            var next = newETag();
            turn.HasMark = true;
            ReplaceFile(path, new StateFile(state, GrainBytes.BytesOf(grain), next, content).Encode());
            disk.FlushDirectory(directory);
            Unmark(turn);
            return next;
        }
    }

    /// <summary>Removes the record if it has this ETag. False while another process holds the folder.</summary>
    /// <exception cref="InconsistentStateException">It has another ETag.</exception>
    internal bool TryClear(string state, GrainId grain, string? etag)
    {
        var (path, folder) = PathOf(state, grain);
        var directory = Path.GetDirectoryName(path)!;
        lock (folder.Gate)
        {
            Prepare(directory, folder);
            using var turn = disk.TryLock(LockOf(directory));
            if (turn is null)
                return false;
            Settle(directory, turn);
            if (Check(path, state, grain, etag) is null)
                return true;
            turn.HasMark = true;
            disk.Delete(path);
            Settle(directory, turn);
            return true;
        }
    }

    private static Folder[] NewFolders() => [.. Enumerable.Range(0, Folders).Select(static _ => new Folder())];

    private static string LockOf(string directory) => Path.Combine(directory, "lock");

    private (string Path, Folder Folder) PathOf(string state, GrainId grain)
    {
        var (folder, name) = StateFile.NameOf(state, grain);
        return (Path.Combine(root, folder, name), _folders[Convert.FromHexString(folder)[0]]);
    }

    private void Prepare(string directory, Folder folder)
    {
        Invariant.Held(folder.Gate);
        if (folder.Exists)
            return;
        Create(directory);
        folder.Exists = true;
    }

    /// <summary>Before anything else in a folder: what an earlier operation, of any process, has not flushed is durable.</summary>
    private void Settle(string directory, DiskLock turn)
    {
        if (!turn.HasMark)
            return;
        disk.FlushDirectory(directory);
        Unmark(turn);
    }

    /// <summary>The same without the lock, which another process may have: it keeps the mark then.</summary>
    private void SettleForReader(string directory)
    {
        // Another thread of this process may have done it while this one waited for the gate.
        if (!disk.HasMark(LockOf(directory)))
            return;
        using var turn = disk.TryLock(LockOf(directory));
        if (turn is null)
            disk.FlushDirectory(directory);
        else
            Settle(directory, turn);
    }

    /// <summary>A mark that stays costs the next operation a flush. So that is no reason to fail this one.</summary>
    private static void Unmark(DiskLock turn)
    {
        try
        {
            if (turn.HasMark)
                turn.HasMark = false;
        }
        catch (IOException)
        {
            // The next one tries again.
        }
    }

    private void Create(string directory)
    {
        disk.TryCreateDirectory(directory);
        // Also if it was there: the process that has created it may have ended before it was durable.
        if (Path.GetDirectoryName(Path.GetFullPath(directory)) is { } parent)
            disk.FlushDirectory(parent);
    }

    /// <summary>
    /// The directories above the parent, from there up to one that may not be opened: this start, or one that ended before, may have
    /// created them, and what is in a directory is lost with its name.
    /// </summary>
    private void FlushAbove(string directory)
    {
        var parent = Path.GetDirectoryName(Path.GetFullPath(directory));
        try
        {
            for (var above = Path.GetDirectoryName(parent); above is not null; above = Path.GetDirectoryName(above))
                disk.FlushDirectory(above);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // It belongs to somebody else, who has made it durable.
        }
    }

    private void ReplaceFile(string path, byte[] content)
    {
        var unfinished = path + Unfinished;
        try
        {
            disk.Write(unfinished, content);
            disk.FlushFile(unfinished);
            disk.Rename(unfinished, path);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            TryDelete(unfinished);
            throw new IOException("The file " + path + " could not be written: " + exception.Message
                + " The state that was written before is still there.", exception);
        }
    }

    /// <summary>A full disk gets its space back. What is not removed now is removed by the next write or start.</summary>
    private void TryDelete(string path)
    {
        try
        {
            disk.Delete(path);
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // The first error is the one that matters.
        }
    }

    private StateFile? Check(string path, string state, GrainId grain, string? etag)
    {
        var stored = Load(path, state, grain);
        if (stored?.ETag != etag)
        {
            throw new InconsistentStateException("The state " + state + " of " + grain + " has the ETag " + (stored?.ETag ?? "none")
                + " in its file, the writer has " + (etag ?? "none") + ".", stored?.ETag, etag);
        }

        return stored;
    }

    private StateFile? Load(string path, string state, GrainId grain)
    {
        if (disk.Read(path) is not { } bytes)
            return null;
        var file = StateFile.Decode(bytes, path);
        return file.State == state && file.Grain.Span.SequenceEqual(GrainBytes.BytesOf(grain))
            ? file
            : throw StateFile.Refused(path, "it is the state " + file.State + " of " + Encoding.UTF8.GetString(file.Grain.Span)
                + ", not " + state + " of " + grain);
    }

    /// <summary>One of the folders. Its members belong to the holder of the gate.</summary>
    private sealed class Folder
    {
        internal Lock Gate { get; } = new();

        internal bool Exists { get; set; }
    }
}
