using System.Diagnostics;
using System.IO.MemoryMappedFiles;

namespace HaloPresence.Grains;

/// <summary>
/// Writes down when activations of this silo begin and end, into a memory-mapped file: what was written is still there when the process is
/// killed. Times are those of the machine's monotonic clock, so that files of several processes can be compared. Safe for concurrent use;
/// without a file it does nothing.
/// </summary>
public sealed class ActivationJournal : IDisposable
{
    /// <summary>Bytes of one record: kind and activation, grain, time, mark.</summary>
    internal const int RecordBytes = 32;

    /// <summary>Marks a complete record.</summary>
    internal const long Mark = 0x4A4F55524E414C31;

    private const int Records = 1 << 20;
    private readonly MemoryMappedFile? _file;
    private readonly MemoryMappedViewAccessor? _view;
    private long _next = -1;
    private long _activations;

    /// <summary>Writes to a new file, or nowhere when <paramref name="path"/> is null.</summary>
    public ActivationJournal(string? path)
    {
        if (path is null)
            return;
        _file = MemoryMappedFile.CreateFromFile(path, FileMode.CreateNew, null, (long)Records * RecordBytes);
        _view = _file.CreateViewAccessor();
    }

    /// <summary>
    /// An activation begins; returns its number in this process. Called when it is registered and before its first turn for others.
    /// </summary>
    public long Begin(JournalKind grainKind, long key)
    {
        if (_view is null)
            return 0;
        long activation = Interlocked.Increment(ref _activations);
        Write(grainKind, begins: true, activation, key);
        return activation;
    }

    /// <summary>An activation ends: it runs no turn for others any more. Called before it is unregistered.</summary>
    public void End(JournalKind grainKind, long key, long activation)
    {
        if (_view is not null)
            Write(grainKind, begins: false, activation, key);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _view?.Dispose();
        _file?.Dispose();
    }

    private void Write(JournalKind grainKind, bool begins, long activation, long key)
    {
        long record = Interlocked.Increment(ref _next);
        if (record >= Records)
            throw new InvalidOperationException($"The journal of activations is full: {Records} records.");
        long at = record * RecordBytes;
        _view!.Write(at, (activation << 8) | ((long)grainKind << 1) | (begins ? 1L : 0L));
        _view.Write(at + 8, key);
        _view.Write(at + 16, Stopwatch.GetTimestamp());
        _view.Write(at + 24, Mark);
    }
}
