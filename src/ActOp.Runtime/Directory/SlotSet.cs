using System.Numerics;

namespace ActOp.Runtime.Directory;

/// <summary>A set of slots: 4,096 bits.</summary>
[Orleans.GenerateSerializer]
internal sealed class SlotSet : IEquatable<SlotSet>
{
    [Orleans.Id(0)]
    private readonly ulong[] _bits = new ulong[SlotMap.SlotCount / 64];

    /// <summary>The bits, slot 0 lowest in the first word.</summary>
    public ReadOnlySpan<ulong> Words => _bits;

    /// <summary>Whether no slot is in the set.</summary>
    public bool IsEmpty => !_bits.AsSpan().ContainsAnyExcept(0UL);

    /// <summary>How many slots are in the set.</summary>
    public int Count
    {
        get
        {
            var count = 0;
            foreach (var word in _bits)
            {
                count += BitOperations.PopCount(word);
            }

            return count;
        }
    }

    /// <summary>Reads a set back from <see cref="Words"/>. Missing words are empty, further ones are ignored.</summary>
    public static SlotSet FromWords(ReadOnlySpan<ulong> words)
    {
        var set = new SlotSet();
        words[..Math.Min(words.Length, set._bits.Length)].CopyTo(set._bits);
        return set;
    }

    /// <summary>Adds a slot.</summary>
    public void Add(int slot) => _bits[slot >> 6] |= 1UL << (slot & 63);

    /// <summary>Removes a slot.</summary>
    public void Remove(int slot) => _bits[slot >> 6] &= ~(1UL << (slot & 63));

    /// <summary>Whether a slot is in the set.</summary>
    public bool Contains(int slot) => (_bits[slot >> 6] & (1UL << (slot & 63))) != 0;

    /// <summary>The slot after <paramref name="slot"/> that is in the set, or -1. Start with -1.</summary>
    public int Next(int slot)
    {
        slot++;
        for (var word = slot >> 6; word < _bits.Length; word++)
        {
            var rest = word == slot >> 6 ? _bits[word] & (ulong.MaxValue << (slot & 63)) : _bits[word];
            if (rest != 0)
            {
                return (word << 6) + BitOperations.TrailingZeroCount(rest);
            }
        }

        return -1;
    }

    /// <inheritdoc/>
    public bool Equals(SlotSet? other) => other is not null && _bits.AsSpan().SequenceEqual(other._bits);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as SlotSet);

    /// <inheritdoc/>
    public override int GetHashCode() => Count;
}
