namespace ActOp.Runtime.Directory;

/// <summary>
/// A part of the <see cref="LocationCache"/> with its own write lock: sets of eight entries. Readers take no lock; a tag (32 bits of the
/// hash) tells them which entry to look at, and the entry itself whether it is the right one, so a torn pair of tag and entry is just a
/// miss.
/// </summary>
internal sealed class CacheSegment(int sets)
{
    /// <summary>Entries in a set.</summary>
    public const int Ways = 8;

    private readonly CachedLocation?[] _entries = new CachedLocation?[sets * Ways];
    private readonly byte[] _hands = new byte[sets];

    /// <summary>Guards writes.</summary>
    public Lock Gate { get; } = new();

    /// <summary>The tags, in the order of the entries.</summary>
    public uint[] Tags { get; } = new uint[sets * Ways];

    /// <summary>Reads an entry.</summary>
    public CachedLocation? this[int index] => Volatile.Read(ref _entries[index]);

    /// <summary>Replaces an entry. Under the gate.</summary>
    public void Set(int index, uint tag, CachedLocation? entry)
    {
        if (_entries[index] is { } before)
        {
            before.IsStale = true;
        }

        Volatile.Write(ref _entries[index], entry);
        Volatile.Write(ref Tags[index], tag);
    }

    /// <summary>
    /// The index of an empty or dead entry of the set, else of the first one not used since the hand last passed. Under the gate.
    /// </summary>
    public int Victim(int set)
    {
        var start = set * Ways;
        for (var way = 0; way < Ways; way++)
        {
            if (_entries[start + way] is not { Silo.IsDead: false })
            {
                return start + way;
            }
        }

        for (var turn = 0; ; turn++)
        {
            var index = start + (_hands[set]++ % Ways);
            var entry = _entries[index]!;
            if (!entry.Used || turn == 2 * Ways)
            {
                return index;
            }

            entry.Used = false;
        }
    }
}
