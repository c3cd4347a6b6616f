using System.Diagnostics;
using System.IO.MemoryMappedFiles;

namespace ActOp.Harness.Activations;

/// <summary>
/// Begins and ends of activations in a memory-mapped file: what was written is still there when the process is killed. Times are those of
/// the machine's monotonic clock, so that files of several processes can be compared. Not safe for concurrent use.
/// </summary>
/// <remarks>A begin is written before the first turn for others, an end after the last one and before the activation is
/// unregistered. Who cannot know the end may write an end with each turn: the last one counts.</remarks>
public sealed class ActivationJournal : IDisposable
{
    /// <summary>Bytes of one record: kind and activation, grain, time, mark.</summary>
    private const int RecordBytes = 32;

    /// <summary>Marks a complete record.</summary>
    private const long Mark = 0x4A4F55524E414C31;

    private const int Records = 1 << 20;
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private long _next;

    /// <summary>Writes to a new file.</summary>
    public ActivationJournal(string path)
    {
        _file = MemoryMappedFile.CreateFromFile(path, FileMode.CreateNew, null, (long)Records * RecordBytes);
        _view = _file.CreateViewAccessor();
    }

    /// <summary>Writes down that an activation begins or ends.</summary>
    /// <param name="kind">A number from 0 to 127 for the class of the grain.</param>
    /// <param name="begins">Whether it begins.</param>
    /// <param name="activation">A number that no other activation of the file has.</param>
    /// <param name="key">The grain.</param>
    public void Write(int kind, bool begins, long activation, long key)
    {
        if (_next >= Records)
            throw new InvalidOperationException($"The journal of activations is full: {Records} records.");
        var at = _next++ * RecordBytes;
        _view.Write(at, (activation << 8) | ((long)kind << 1) | (begins ? 1L : 0L));
        _view.Write(at + 8, key);
        _view.Write(at + 16, Stopwatch.GetTimestamp());
        _view.Write(at + 24, Mark);
    }

    /// <summary>The complete records of a file, in the order in which they were written.</summary>
    public static IEnumerable<JournalRecord> Read(string path)
    {
        using var file = File.OpenRead(path);
        var record = new byte[RecordBytes];
        while (file.ReadAtLeast(record, RecordBytes, throwOnEndOfStream: false) == RecordBytes)
        {
            var head = BitConverter.ToInt64(record, 0);
            var mark = BitConverter.ToInt64(record, 24);
            // The rest of the file is empty. A killed process may leave a record half done before that.
            if (head == 0 && mark == 0)
                yield break;
            if (mark == Mark)
            {
                yield return new JournalRecord(
                    (int)(head >> 1) & 0x7F, (head & 1) != 0, head >> 8, BitConverter.ToInt64(record, 8), BitConverter.ToInt64(record, 16));
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _view.Dispose();
        _file.Dispose();
    }
}

/// <summary>One record of a journal; see <see cref="ActivationJournal.Write"/>.</summary>
/// <param name="Kind">The class of the grain.</param>
/// <param name="Begins">Whether the activation begins or ends.</param>
/// <param name="Activation">The activation.</param>
/// <param name="Key">The grain.</param>
/// <param name="Timestamp">The machine's monotonic clock.</param>
public readonly record struct JournalRecord(int Kind, bool Begins, long Activation, long Key, long Timestamp);
