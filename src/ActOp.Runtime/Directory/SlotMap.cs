using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// Who owns which slot of the directory in one view: rendezvous hashing (each slot goes to the active silo with the highest hash of slot
/// and silo), so a silo that comes or goes moves only its own share. The same in every process.
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
        {
            return owners;
        }

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
