using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The slots as one silo sees them, part of <see cref="DirectoryPartition"/>. Owns the slots and their entries, the map of the newest view
/// and the leases of dead silos. Any thread may look up and register: it takes the lock of the slot and allocates only when a table grows.
/// Views and sweeps come from one thread.
/// </summary>
internal sealed class OwnedSlots
{
    private readonly SiloAddress _self;
    private readonly DirectoryLimits _limits;
    private readonly Residences _residences = new();
    private readonly SiloLeases _leases;
    private readonly Slot[] _slots = new Slot[SlotMap.SlotCount];

    /// <summary>Stands for each slot that this silo has not owned yet, which are most in a large cluster. Never changed.</summary>
    private readonly Slot _elsewhere = new();

    private volatile SlotMap _map = new(View.Empty);
    private long _now;
    private int _sweep = SlotMap.SlotCount;

    /// <summary>Creates the slots of <paramref name="self"/>, owner of nothing before the first view.</summary>
    public OwnedSlots(SiloAddress self, DirectoryLimits limits)
    {
        _self = self;
        _limits = limits;
        _leases = new SiloLeases(limits);
        Array.Fill(_slots, _elsewhere);
    }

    /// <summary>Who owns which slot in this silo's view.</summary>
    public SlotMap Map => _map;

    /// <summary>The time of the last message, view or tick. Set by one thread.</summary>
    public long Now
    {
        get => Volatile.Read(ref _now);
        set => Volatile.Write(ref _now, value);
    }

    /// <summary>The types and silos that entries share.</summary>
    public Residences Residences => _residences;

    /// <summary>The leases of dead silos.</summary>
    public SiloLeases Leases => _leases;

    /// <summary>A slot, to be used under its lock.</summary>
    public Slot this[int number] => _slots[number];

    /// <summary>Registrations held; takes every slot's lock in turn.</summary>
    public long Count
    {
        get
        {
            long count = 0;
            foreach (var slot in _slots)
            {
                lock (slot)
                    count += slot.State == SlotState.Ready ? slot.Entries?.Count ?? 0 : 0;
            }

            return count;
        }
    }

    /// <summary>Where a grain is registered: Ok, NotFound, Leased, NotReady or WrongOwner.</summary>
    public DirectoryReply Lookup(in GrainId grain)
    {
        var slot = _slots[SlotMap.SlotOf(grain)];
        lock (slot)
            return slot.State == SlotState.Ready ? FindEntry(slot, grain) : NotServed(slot);
    }

    /// <summary>
    /// Registers an activation if the grain has none, or has <see cref="RegisterRequest.Previous"/> when that is given. Ok carries the own
    /// location with its new epoch (or the old one when it was registered already); Conflict the winner; NotFound means that the previous
    /// one is no longer registered and the grain has none; else NotReady, WrongOwner, Leased or UnknownSilo.
    /// </summary>
    public DirectoryReply Register(in RegisterRequest request)
    {
        var slot = _slots[SlotMap.SlotOf(request.Grain)];
        lock (slot)
        {
            if (slot.State != SlotState.Ready)
                return NotServed(slot);

            if (!_map.View.MayHost(request.Silo))
                return new DirectoryReply(DirectoryStatus.UnknownSilo, default, _map.View.Number);

            var entry = default(Location);
            var known = slot.Entries is not null && slot.Entries.TryGet(request.Grain, out entry);
            if (known && entry.Activation.Equals(request.Activation) && entry.Silo.Equals(request.Silo))
                return new DirectoryReply(DirectoryStatus.Ok, entry, slot.ServedView);

            // A request that names the registered activation got the grain from it, even if its silo has died since. So it comes before the
            // search, which removes the entries of dead silos.
            var takesOver = known && !request.Previous.IsDefault && entry.Activation.Equals(request.Previous);
            var found = takesOver ? default : FindEntry(slot, request.Grain);
            if (!takesOver && found.Status != DirectoryStatus.NotFound)
                return found.Status == DirectoryStatus.Ok ? found with { Status = DirectoryStatus.Conflict } : found;

            // The grain was activated and ended after its state was taken, so that state is outdated.
            if (!takesOver && !request.Previous.IsDefault)
                return found;

            var location = new Location(request.Silo, request.Activation, slot.NextEpoch());
            Invariant.Holds(!takesOver || location.Epoch > entry.Epoch);
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
                return NotServed(slot);

            if (slot.Entries is null || !slot.Entries.TryGet(grain, out var entry) || !entry.Activation.Equals(activation))
                return new DirectoryReply(DirectoryStatus.NotFound, default, slot.ServedView);

            slot.Entries.Remove(grain);
            return new DirectoryReply(DirectoryStatus.Ok, entry, slot.ServedView);
        }
    }

    /// <summary>
    /// Adopts a newer view: decides for each slot whether it is served, sealed, or waited for. Returns false for an older view.
    /// </summary>
    public bool TryAdopt(View view, long now)
    {
        var old = _map;
        if (view.Number <= old.View.Number)
            return false;

        _leases.NoteDeaths(old.View, view, now);
        _sweep = 0;
        _residences.Forget(silo => !view.MayHost(silo));
        _map = old.For(view);
        for (var slot = 0; slot < _slots.Length; slot++)
        {
            var owner = _map.OwnerOf(slot);
            if (!ReferenceEquals(_slots[slot], _elsewhere))
                Move(_slots[slot], old.OwnerOf(slot), owner, view, now);
            else if (_self.Equals(owner))
                Move(_slots[slot] = new Slot(), old.OwnerOf(slot), owner, view, now);
        }

        return true;
    }

    /// <summary>
    /// Drops sealed slots that no new owner has fetched, and entries of dead silos without a lease, some slots each time.
    /// </summary>
    public void Sweep(long now)
    {
        if (_leases.TryEnd(now))
            _sweep = 0;

        for (var i = 0; i < _limits.SweepPerTick && _sweep < _slots.Length; i++)
            Sweep(_slots[_sweep++], now);
    }

    private DirectoryReply NotServed(Slot slot) =>
        new(slot.State == SlotState.Waiting ? DirectoryStatus.NotReady : DirectoryStatus.WrongOwner, default, _map.View.Number);

    private DirectoryReply FindEntry(Slot slot, in GrainId grain)
    {
        Invariant.Entered(slot);
        Invariant.Holds(slot.State == SlotState.Ready);
        var now = Now;
        if (slot.Entries is not null && slot.Entries.TryGet(grain, out var entry))
        {
            if (_map.View.MayHost(entry.Silo))
                return new DirectoryReply(DirectoryStatus.Ok, entry, slot.ServedView);

            var remaining = _leases.EndOf(entry.Silo) - now;
            if (remaining > 0)
                return new DirectoryReply(DirectoryStatus.Leased, entry, slot.ServedView, (int)remaining);

            slot.Entries.Remove(grain);
        }

        return slot.LeaseUntil > now
            ? new DirectoryReply(DirectoryStatus.Leased, default, slot.ServedView, (int)(slot.LeaseUntil - now))
            : new DirectoryReply(DirectoryStatus.NotFound, default, slot.ServedView);
    }

    private void Sweep(Slot slot, long now)
    {
        lock (slot)
        {
            if (slot.State == SlotState.Sealed && now - slot.SealedAt > _limits.SealedRetention)
                slot.Drop();

            if (slot.State != SlotState.Ready || slot.Entries is null)
                return;

            slot.Entries.RemoveWhere(silo => !_map.View.MayHost(silo) && _leases.EndOf(silo) <= now);
        }
    }

    private void Move(Slot slot, SiloAddress? before, SiloAddress? owner, View view, long now)
    {
        lock (slot)
        {
            if (_self.Equals(owner))
                Gain(slot, before, view);
            else
                Lose(slot, owner, now);
        }
    }

    private void Gain(Slot slot, SiloAddress? before, View view)
    {
        Invariant.Entered(slot);
        if (slot.State == SlotState.Ready)
        {
            slot.Serve(view.Number);
            return;
        }

        // Waits for the same old owner as before, else for the owner in the last view; for all silos when that owner cannot be asked.
        var source = slot.State == SlotState.Waiting ? slot.Partner : before;
        slot.Drop();
        slot.State = SlotState.Waiting;
        slot.Partner = source is not null && !source.Equals(_self) && view.MayHost(source) ? source : null;
    }

    private static void Lose(Slot slot, SiloAddress? owner, long now)
    {
        Invariant.Entered(slot);
        if (slot.State == SlotState.Ready && owner is not null)
        {
            slot.State = SlotState.Sealed;
            slot.Partner = owner;
            slot.SealedAt = now;
        }
        else if (slot.State != SlotState.Sealed || !Equals(slot.Partner, owner))
        {
            slot.Drop();
        }
    }
}

/// <summary>
/// Until when each dead silo may still run its grains, part of <see cref="DirectoryPartition"/>. Written by one thread, read by any: a
/// change replaces the table.
/// </summary>
internal sealed class SiloLeases(DirectoryLimits limits)
{
    private volatile Dictionary<SiloAddress, long> _leases = [];

    /// <summary>The end of the last lease, or 0.</summary>
    public long Last
    {
        get
        {
            long last = 0;
            foreach (var until in _leases.Values)
                last = Math.Max(last, until);

            return last;
        }
    }

    /// <summary>The end of the lease of a dead silo, 0 for none.</summary>
    public long EndOf(SiloAddress silo) => _leases.GetValueOrDefault(silo);

    /// <summary>Starts the leases of the silos that have died between two views.</summary>
    public void NoteDeaths(View old, View view, long now)
    {
        var leases = new Dictionary<SiloAddress, long>(_leases);
        foreach (var dead in view.Since(old).Died)
            leases[dead.Silo] = now + limits.LeaseAfter(dead.Cause);

        foreach (var member in view.Members)
        {
            // Dead when first seen, so the time of its death is unknown and the lease starts now.
            if (member.Status == SiloStatus.Dead && old.FindMember(member.Silo) is null)
                leases.TryAdd(member.Silo, now + limits.LeaseAfter(member.Cause));
        }

        _leases = leases;
    }

    /// <summary>Drops the leases that have ended; returns whether there were any.</summary>
    public bool TryEnd(long now)
    {
        foreach (var until in _leases.Values)
        {
            if (until <= now)
            {
                _leases = _leases.Where(lease => lease.Value > now).ToDictionary();
                return true;
            }
        }

        return false;
    }
}

/// <summary>
/// One slot as one silo sees it. Guarded by a lock on the object itself: the slot is the unit of locking, transfer and recovery.
/// </summary>
internal sealed class Slot
{
    private const int CountBits = 40;
    private long _count;

    /// <summary>What this silo is to the slot.</summary>
    public SlotState State { get; set; }

    /// <summary>The registrations; null for none.</summary>
    public SlotEntries? Entries { get; set; }

    /// <summary>Ready: the newest view in which the slot is surely served by this silo alone.</summary>
    public long ServedView { get; private set; }

    /// <summary>Until when grains that are not registered may still run somewhere.</summary>
    public long LeaseUntil { get; set; }

    /// <summary>Waiting: who hands over; null when it must be recovered. Sealed: for whom.</summary>
    public SiloAddress? Partner { get; set; }

    /// <summary>Sealed: since when.</summary>
    public long SealedAt { get; set; }

    /// <summary>The epoch of the next registration.</summary>
    public long NextEpoch()
    {
        Invariant.Entered(this);
        Invariant.Holds(State == SlotState.Ready);
        return (ServedView << CountBits) | (++_count & ((1L << CountBits) - 1));
    }

    /// <summary>The view in which a registration with this epoch was made.</summary>
    public static long ViewOf(long epoch) => epoch >> CountBits;

    /// <summary>Serves from this view on.</summary>
    public void Serve(long view)
    {
        Invariant.Entered(this);
        Invariant.Holds(State is SlotState.Waiting or SlotState.Ready && view >= ServedView);
        // The count continues: the view is in the upper bits, so a newer view makes each epoch larger than all before.
        State = SlotState.Ready;
        ServedView = view;
        Partner = null;
    }

    /// <summary>Forgets everything.</summary>
    public void Drop()
    {
        Invariant.Entered(this);
        State = SlotState.NotOwned;
        Entries = null;
        LeaseUntil = 0;
        Partner = null;
    }
}

/// <summary>What a silo is to a slot.</summary>
internal enum SlotState : byte
{
    /// <summary>Nothing.</summary>
    NotOwned = 0,

    /// <summary>Its owner in this view, without its entries yet.</summary>
    Waiting = 1,

    /// <summary>Its owner, serving it.</summary>
    Ready = 2,

    /// <summary>Its last owner, holding the entries for the next one.</summary>
    Sealed = 3,
}
