using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The slots of the directory that one silo owns. Lookups and registrations may come from any thread (each takes its slot's lock and
/// allocates nothing but table growth); views, ticks and slot messages come from one. Time is passed in as monotonic milliseconds.
/// </summary>
/// <remarks>
/// What makes it strong: at most one living silo serves a slot. A silo keeps serving across views in which it stays the owner. A new owner
/// serves only after the old one sealed and handed over, or after every silo that may host grains answered in exactly the new owner's view,
/// by which it has sealed what it served before and fences off (<see cref="RegistrationFence"/>) answers of owners left behind. What dead
/// silos may still run is covered by leases: by entry where the entry survived, by slot where it was lost.
/// </remarks>
internal sealed partial class DirectoryPartition
{
    private readonly SiloAddress _self;
    private readonly DirectoryLimits _limits;
    private readonly ILocalActivations _activations;
    private readonly RegistrationFence _fence;
    private readonly Residences _residences = new();
    private readonly Slot[] _slots = new Slot[SlotMap.SlotCount];
    private volatile SlotMap _map = new(View.Empty);
    private volatile Dictionary<SiloAddress, long> _leases = [];
    private long _now;

    /// <summary>Creates the partition of <paramref name="self"/>, owner of nothing before the first <see cref="OnView"/>.</summary>
    public DirectoryPartition(SiloAddress self, DirectoryLimits limits, ILocalActivations activations, RegistrationFence fence)
    {
        _self = self;
        _limits = limits;
        _activations = activations;
        _fence = fence;
        for (var slot = 0; slot < _slots.Length; slot++)
        {
            _slots[slot] = new Slot();
        }
    }

    /// <summary>What is to be done, in order. The driver does it and clears the list.</summary>
    public List<DirectoryAction> Actions { get; } = [];

    /// <summary>Who owns which slot in this silo's view.</summary>
    public SlotMap Map => _map;

    /// <summary>Registrations held; takes every slot's lock in turn.</summary>
    public long Count
    {
        get
        {
            long count = 0;
            foreach (var slot in _slots)
            {
                lock (slot)
                {
                    count += slot.State == SlotState.Ready ? slot.Entries?.Count ?? 0 : 0;
                }
            }

            return count;
        }
    }

    /// <summary>What this silo is to a slot.</summary>
    public SlotState StateOf(int slot) => _slots[slot].State;

    /// <summary>Where a grain is registered: Ok, NotFound, Leased, NotReady or WrongOwner.</summary>
    public DirectoryReply Lookup(in GrainId grain)
    {
        var slot = _slots[SlotMap.SlotOf(grain)];
        lock (slot)
        {
            return slot.State == SlotState.Ready ? Find(slot, grain) : NotServed(slot);
        }
    }

    /// <summary>
    /// Registers an activation if the grain has none, or has <see cref="RegisterRequest.Previous"/> when that is given. Ok carries the own
    /// location with its new epoch (or the old one when it was registered already); Conflict the winner; NotFound says that the previous
    /// one is not registered any more and the grain has none; else NotReady, WrongOwner, Leased or UnknownSilo.
    /// </summary>
    public DirectoryReply Register(in RegisterRequest request)
    {
        var slot = _slots[SlotMap.SlotOf(request.Grain)];
        lock (slot)
        {
            if (slot.State != SlotState.Ready)
            {
                return NotServed(slot);
            }

            if (!_map.View.MayHost(request.Silo))
            {
                return new DirectoryReply(DirectoryStatus.UnknownSilo, default, _map.View.Number);
            }

            var found = Find(slot, request.Grain);
            var entry = default(Location);
            var known = slot.Entries is not null && slot.Entries.TryGet(request.Grain, out entry);
            if (known && entry.Activation.Equals(request.Activation) && entry.Silo.Equals(request.Silo))
            {
                return new DirectoryReply(DirectoryStatus.Ok, entry, slot.ServedView);
            }

            // Whoever names the registered activation got the grain from it, even if its silo died since.
            var takesOver = known && !request.Previous.IsDefault && entry.Activation.Equals(request.Previous);
            if (!takesOver && found.Status != DirectoryStatus.NotFound)
            {
                return found.Status == DirectoryStatus.Ok ? found with { Status = DirectoryStatus.Conflict } : found;
            }

            // The grain has lived and ended since its state was taken: that state is old.
            if (!takesOver && !request.Previous.IsDefault)
            {
                return found;
            }

            var location = new Location(request.Silo, request.Activation, slot.NextEpoch());
            (slot.Entries ??= new SlotEntries()).Set(request.Grain, location, _residences);
            return new DirectoryReply(DirectoryStatus.Ok, location, slot.ServedView);
        }
    }

    /// <summary>
    /// Removes the grain's registration if it is this activation: Ok, or NotFound when it is not, or NotReady or WrongOwner.
    /// </summary>
    public DirectoryReply Unregister(in GrainId grain, ActivationId activation)
    {
        var slot = _slots[SlotMap.SlotOf(grain)];
        lock (slot)
        {
            if (slot.State != SlotState.Ready)
            {
                return NotServed(slot);
            }

            if (slot.Entries is null || !slot.Entries.TryGet(grain, out var entry) || !entry.Activation.Equals(activation))
            {
                return new DirectoryReply(DirectoryStatus.NotFound, default, slot.ServedView);
            }

            slot.Entries.Remove(grain);
            return new DirectoryReply(DirectoryStatus.Ok, entry, slot.ServedView);
        }
    }

    /// <summary>Registers many; <paramref name="replies"/>[i] answers <paramref name="requests"/>[i].</summary>
    public void RegisterMany(ReadOnlySpan<RegisterRequest> requests, Span<DirectoryReply> replies)
    {
        for (var i = 0; i < requests.Length; i++)
        {
            replies[i] = Register(requests[i]);
        }
    }

    /// <summary>Unregisters many; only the activation of each location counts.</summary>
    public void UnregisterMany(ReadOnlySpan<Registration> registrations, Span<DirectoryReply> replies)
    {
        for (var i = 0; i < registrations.Length; i++)
        {
            replies[i] = Unregister(registrations[i].Grain, registrations[i].Location.Activation);
        }
    }

    private DirectoryReply NotServed(Slot slot) =>
        new(slot.State == SlotState.Waiting ? DirectoryStatus.NotReady : DirectoryStatus.WrongOwner, default, _map.View.Number);

    // Only under the slot's lock and when it is ready.
    private DirectoryReply Find(Slot slot, in GrainId grain)
    {
        var now = Volatile.Read(ref _now);
        if (slot.Entries is not null && slot.Entries.TryGet(grain, out var entry))
        {
            if (_map.View.MayHost(entry.Silo))
            {
                return new DirectoryReply(DirectoryStatus.Ok, entry, slot.ServedView);
            }

            var remaining = _leases.GetValueOrDefault(entry.Silo) - now;
            if (remaining > 0)
            {
                return new DirectoryReply(DirectoryStatus.Leased, entry, slot.ServedView, (int)remaining);
            }

            slot.Entries.Remove(grain);
        }

        return slot.LeaseUntil > now
            ? new DirectoryReply(DirectoryStatus.Leased, default, slot.ServedView, (int)(slot.LeaseUntil - now))
            : new DirectoryReply(DirectoryStatus.NotFound, default, slot.ServedView);
    }
}
