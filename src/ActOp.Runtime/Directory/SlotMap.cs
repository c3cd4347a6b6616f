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
    private static readonly int[] AllSlots = [.. Enumerable.Range(0, SlotCount)];

    private readonly SiloAddress?[] _owners;

    /// <summary>The hash of each slot and its owner.</summary>
    private readonly ulong[] _scores;

    /// <summary>Computes the map of a view; about 5 ns times slots times active silos.</summary>
    public SlotMap(View view)
        : this(view, new SiloAddress?[SlotCount], new ulong[SlotCount])
    {
        foreach (var silo in view.ActiveSilos)
            Offer(silo, AllSlots);
    }

    private SlotMap(View view, SiloAddress?[] owners, ulong[] scores)
    {
        View = view;
        _owners = owners;
        _scores = scores;
    }

    /// <summary>The view.</summary>
    public View View { get; }

    /// <summary>The slot of a grain.</summary>
    public static int SlotOf(in GrainId grain) => (int)((grain.GetUniformHashCode() * 0x9E3779B1u) >> (32 - SlotBits));

    /// <summary>The slot's owner; null when no silo is active.</summary>
    public SiloAddress? OwnerOf(int slot) => _owners[slot];

    /// <summary>The owner of the grain's slot; null when no silo is active.</summary>
    public SiloAddress? OwnerOf(in GrainId grain) => _owners[SlotOf(grain)];

    /// <summary>
    /// The map of a later view: shares the owners when the same silos are active, and else computes what has changed, so that the cost is
    /// that of the silos that came and of the slots whose owner has gone.
    /// </summary>
    public SlotMap For(View later)
    {
        if (View.ActiveSilos.SequenceEqual(later.ActiveSilos))
            return new SlotMap(later, _owners, _scores);
        var map = new SlotMap(later, [.. _owners], [.. _scores]);
        var ownerless = map.Release();
        foreach (var silo in later.ActiveSilos)
            map.Offer(silo, View.StatusOf(silo) == SiloStatus.Active ? ownerless : AllSlots);
        return map;
    }

    /// <summary>Takes their slots from silos that are not active any more; returns the slots without an owner.</summary>
    private int[] Release()
    {
        List<int> ownerless = [];
        for (var slot = 0; slot < SlotCount; slot++)
        {
            if (_owners[slot] is { } owner && View.StatusOf(owner) == SiloStatus.Active)
                continue;
            _owners[slot] = null;
            ownerless.Add(slot);
        }

        return [.. ownerless];
    }

    /// <summary>A silo takes those of the slots for which it has the highest hash.</summary>
    private void Offer(SiloAddress silo, int[] slots)
    {
        var hash = SiloOrder.EndpointHash(silo);
        foreach (var slot in slots)
        {
            var score = SiloOrder.Mix(hash + (ulong)slot);
            var owner = _owners[slot];
            // Processes at one address and port have the same hash: the first in silo order has the slot, whoever came first.
            if (owner is not null && (score < _scores[slot] || (score == _scores[slot] && SiloOrder.Instance.Compare(owner, silo) <= 0)))
                continue;
            _scores[slot] = score;
            _owners[slot] = silo;
        }
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
