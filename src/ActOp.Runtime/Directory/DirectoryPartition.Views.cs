using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>The part that follows views: who seals, who waits, for whom.</summary>
internal sealed partial class DirectoryPartition
{
    private int _sweep = SlotMap.SlotCount;

    /// <summary>Adopts a newer view. Older ones are ignored.</summary>
    public void OnView(View view, long now)
    {
        Volatile.Write(ref _now, now);
        var old = _map;
        if (view.Number <= old.View.Number)
        {
            return;
        }

        NoteDeaths(old.View, view, now);
        _map = old.For(view);
        for (var slot = 0; slot < _slots.Length; slot++)
        {
            Move(_slots[slot], old.OwnerOf(slot), _map.OwnerOf(slot), view, now);
        }

        StartTransfers(now);
    }

    /// <summary>
    /// Lets time pass: sends again what was not answered, forgets sealed slots that nobody fetched, sweeps out dead entries.
    /// </summary>
    public void OnTick(long now)
    {
        Volatile.Write(ref _now, now);
        Resend(now);
        EndLeases(now);
        for (var i = 0; i < _limits.SweepPerTick && _sweep < _slots.Length; i++)
        {
            Sweep(_slots[_sweep++], now);
        }
    }

    private void NoteDeaths(View old, View view, long now)
    {
        var leases = new Dictionary<SiloAddress, long>(_leases);
        foreach (var dead in view.Since(old).Died)
        {
            leases[dead.Silo] = now + _limits.LeaseAfter(dead.Cause);
        }

        foreach (var member in view.Members)
        {
            // Dead already when first seen: when it died is unknown, so the lease counts from now.
            if (member.Status == SiloStatus.Dead && old.Find(member.Silo) is null)
            {
                leases.TryAdd(member.Silo, now + _limits.LeaseAfter(member.Cause));
            }
        }

        _leases = leases;
        _sweep = 0;
        _residences.Forget(silo => !view.MayHost(silo));
    }

    private void EndLeases(long now)
    {
        foreach (var until in _leases.Values)
        {
            if (until <= now)
            {
                _leases = _leases.Where(lease => lease.Value > now).ToDictionary();
                _sweep = 0;
                return;
            }
        }
    }

    private void Sweep(Slot slot, long now)
    {
        lock (slot)
        {
            if (slot.State == SlotState.Sealed && now - slot.SealedAt > _limits.SealedRetention)
            {
                slot.Drop();
            }

            if (slot.State != SlotState.Ready || slot.Entries is null)
            {
                return;
            }

            slot.Entries.RemoveWhere(silo => !_map.View.MayHost(silo) && _leases.GetValueOrDefault(silo) <= now);
        }
    }

    private void Move(Slot slot, SiloAddress? before, SiloAddress? owner, View view, long now)
    {
        lock (slot)
        {
            if (_self.Equals(owner))
            {
                Gain(slot, before, view);
            }
            else
            {
                Lose(slot, owner, now);
            }
        }
    }

    private void Gain(Slot slot, SiloAddress? before, View view)
    {
        if (slot.State == SlotState.Ready)
        {
            slot.Serve(view.Number);
            return;
        }

        // Still waiting for the same old owner, or newly for the owner in our last view; everyone when that one cannot be asked.
        var source = slot.State == SlotState.Waiting ? slot.Partner : before;
        slot.Drop();
        slot.State = SlotState.Waiting;
        slot.Partner = source is not null && !source.Equals(_self) && view.MayHost(source) ? source : null;
    }

    private static void Lose(Slot slot, SiloAddress? owner, long now)
    {
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
