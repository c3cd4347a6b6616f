using System.Numerics;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// Who owns which slot of the directory in one view: rendezvous hashing (each slot goes to the active silo with the highest hash of slot
/// and silo), so a silo that joins or leaves moves only its own share. The same in every process.
/// </summary>
internal sealed class SlotMap
{
    /// <summary>Slots of the directory. Part of the protocol.</summary>
    public const int SlotCount = 4096;

    private const int SlotBits = 12;
    private readonly SiloAddress?[] _owners;

    /// <summary>Computes the map of a view; about 5 ns times slots times active silos.</summary>
    public SlotMap(View view)
    {
        View = view;
        _owners = Owners(view.ActiveSilos);
    }

    private SlotMap(View view, SiloAddress?[] owners)
    {
        View = view;
        _owners = owners;
    }

    /// <summary>The view.</summary>
    public View View { get; }

    /// <summary>The slot of a grain.</summary>
    public static int SlotOf(in GrainId grain) => (int)((grain.GetUniformHashCode() * 0x9E3779B1u) >> (32 - SlotBits));

    /// <summary>The slot's owner; null when no silo is active.</summary>
    public SiloAddress? OwnerOf(int slot) => _owners[slot];

    /// <summary>The owner of the grain's slot; null when no silo is active.</summary>
    public SiloAddress? OwnerOf(in GrainId grain) => _owners[SlotOf(grain)];

    /// <summary>The map of a later view; shares the owners when the same silos are active.</summary>
    public SlotMap For(View later) =>
        View.ActiveSilos.SequenceEqual(later.ActiveSilos) ? new SlotMap(later, _owners) : new SlotMap(later);

    private static SiloAddress?[] Owners(ReadOnlySpan<SiloAddress> silos)
    {
        var owners = new SiloAddress?[SlotCount];
        if (silos.IsEmpty)
            return owners;

        var best = new ulong[SlotCount];
        foreach (var silo in silos)
        {
            var hash = SiloOrder.EndpointHash(silo);
            for (var slot = 0; slot < best.Length; slot++)
            {
                var score = SiloOrder.Mix(hash + (ulong)slot);
                if (owners[slot] is null || score > best[slot])
                {
                    best[slot] = score;
                    owners[slot] = silo;
                }
            }
        }

        return owners;
    }
}

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
                count += BitOperations.PopCount(word);

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
                return (word << 6) + BitOperations.TrailingZeroCount(rest);
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
