using System.Diagnostics;

namespace ActOp.Bench.Storage;

/// <summary>Writes its state again and again.</summary>
public interface INoteGrain : IGrainWithIntegerKey
{
    /// <summary>Writes for a while, one write after the other; returns how many were acknowledged.</summary>
    Task<int> Write(int milliseconds);
}

/// <summary>About 200 bytes as JSON.</summary>
[GenerateSerializer]
public sealed class Note
{
    /// <summary>Counts the writes.</summary>
    [Id(0)]
    public int Number { get; set; }

    /// <summary>The rest.</summary>
    [Id(1)]
    public string Text { get; set; } = new('x', 176);
}

/// <inheritdoc/>
public sealed class NoteGrain([PersistentState("note", "notes")] IPersistentState<Note> note) : Grain, INoteGrain
{
    /// <inheritdoc/>
    public async Task<int> Write(int milliseconds)
    {
        var written = 0;
        for (var start = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(start).TotalMilliseconds < milliseconds; written++)
        {
            note.State.Number++;
            await note.WriteStateAsync();
        }

        return written;
    }
}
