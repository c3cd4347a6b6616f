using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>The part that moves slots between silos and rebuilds lost ones.</summary>
internal sealed partial class DirectoryPartition
{
    private const int MaxBackoff = 5;
    private readonly List<SlotTransfer> _transfers = [];
    private long _nextId;

    /// <summary>Another silo asks for slots that are its own now.</summary>
    public void OnSlotRequest(SlotRequest request, long now)
    {
        Volatile.Write(ref _now, now);
        var view = _map.View.Number;
        if (request.View != view)
        {
            if (request.View > view)
            {
                Actions.Add(new DirectoryAction.RefreshView(request.View));
            }

            Reply(request, [], null, []);
            return;
        }

        if (request.Recovery)
        {
            Reply(request, Report(request.Slots), null, []);
        }
        else
        {
            HandOver(request, now);
        }
    }

    /// <summary>Another silo answered.</summary>
    public void OnSlotReply(SlotReply reply, long now)
    {
        Volatile.Write(ref _now, now);
        var view = _map.View.Number;
        if (reply.View > view)
        {
            Actions.Add(new DirectoryAction.RefreshView(reply.View));
        }

        var transfer = _transfers.Find(one => one.Id == reply.Id);
        if (transfer is null || reply.View != view)
        {
            return;
        }

        transfer.Take(reply);
        if (transfer.Awaited.Count == 0)
        {
            Complete(transfer, now);
        }
    }

    /// <summary>The new owner has what was handed over.</summary>
    public void OnSlotAck(SlotAck ack)
    {
        for (var number = ack.Slots.Next(-1); number >= 0; number = ack.Slots.Next(number))
        {
            var slot = _slots[number];
            lock (slot)
            {
                if (slot.State == SlotState.Sealed && ack.From.Equals(slot.Partner))
                {
                    slot.Drop();
                }
            }
        }
    }

    private void StartTransfers(long now)
    {
        _transfers.Clear();
        SlotSet? lost = null;
        var held = new Dictionary<SiloAddress, SlotSet>();
        for (var number = 0; number < _slots.Length; number++)
        {
            if (_slots[number] is not { State: SlotState.Waiting } slot)
            {
                continue;
            }

            if (slot.Partner is null)
            {
                (lost ??= new SlotSet()).Add(number);
            }
            else
            {
                (held.TryGetValue(slot.Partner, out var set) ? set : held[slot.Partner] = new SlotSet()).Add(number);
            }
        }

        foreach (var (owner, slots) in held.OrderBy(pair => pair.Key, Cluster.SiloOrder.Instance))
        {
            var transfer = new SlotTransfer(++_nextId, owner, slots);
            transfer.Await(owner);
            Start(transfer, now);
        }

        if (lost is not null)
        {
            Recover(lost, now);
        }
    }

    private void Recover(SlotSet slots, long now)
    {
        var transfer = new SlotTransfer(++_nextId, null, slots);
        foreach (var member in _map.View.Members)
        {
            if (member.MayHost && !member.Silo.Equals(_self))
            {
                transfer.Await(member.Silo);
            }
        }

        transfer.Entries.AddRange(Report(slots));
        Start(transfer, now);
    }

    private void Start(SlotTransfer transfer, long now)
    {
        if (transfer.Awaited.Count == 0)
        {
            Complete(transfer, now);
            return;
        }

        _transfers.Add(transfer);
        Send(transfer, now);
    }

    private void Send(SlotTransfer transfer, long now)
    {
        transfer.Attempt++;
        // Large slots may take longer than one period to come: ask less often each time.
        transfer.ResendAt = now + ((long)_limits.ResendAfter << Math.Min(transfer.Attempt - 1, MaxBackoff));
        var request = new SlotRequest(transfer.Id, transfer.Attempt, _self, _map.View.Number, transfer.Recovery, transfer.Slots);
        foreach (var silo in transfer.Awaited)
        {
            Actions.Add(new DirectoryAction.SendRequest(silo, request));
        }
    }

    private void Resend(long now)
    {
        foreach (var transfer in _transfers)
        {
            if (now >= transfer.ResendAt)
            {
                Send(transfer, now);
            }
        }
    }

    // The fence first: a registration that is accepted after this is in the new owner's table or will be refused.
    private List<Registration> Report(SlotSet slots)
    {
        _fence.Raise(slots, _map.View.Number);
        for (var number = slots.Next(-1); number >= 0; number = slots.Next(number))
        {
            var slot = _slots[number];
            lock (slot)
            {
                if (slot.State == SlotState.Sealed)
                {
                    slot.Drop();
                }
            }
        }

        var own = new List<Registration>();
        _activations.CollectRegistered(slots, own);
        return own;
    }

    private void HandOver(SlotRequest request, long now)
    {
        var entries = new List<Registration>();
        var leases = ImmutableArray.CreateBuilder<SlotLease>();
        var missing = new SlotSet();
        for (var number = request.Slots.Next(-1); number >= 0; number = request.Slots.Next(number))
        {
            var slot = _slots[number];
            lock (slot)
            {
                if (slot.State != SlotState.Sealed || !request.From.Equals(slot.Partner))
                {
                    missing.Add(number);
                    continue;
                }

                slot.Entries?.CopyTo(entries);

                if (slot.LeaseUntil > now)
                {
                    leases.Add(new SlotLease(number, (int)(slot.LeaseUntil - now)));
                }
            }
        }

        Reply(request, entries, missing, leases.ToImmutable());
    }

    private void Reply(SlotRequest request, List<Registration> entries, SlotSet? missing, ImmutableArray<SlotLease> leases)
    {
        var size = _limits.EntriesPerPart;
        var parts = Math.Max(1, (entries.Count + size - 1) / size);
        for (var part = 0; part < parts; part++)
        {
            var some = entries.GetRange(part * size, Math.Min(size, entries.Count - (part * size)));
            var reply = new SlotReply(request.Id, request.Attempt, _self, _map.View.Number, part, parts, [.. some]);
            Actions.Add(new DirectoryAction.SendReply(request.From, part > 0 ? reply : reply with { Missing = missing, Leases = leases }));
        }
    }

    private void Complete(SlotTransfer transfer, long now)
    {
        _transfers.Remove(transfer);
        var slots = SlotSet.FromWords(transfer.Slots.Words);
        var missing = transfer.Missing ?? new SlotSet();
        for (var number = missing.Next(-1); number >= 0; number = missing.Next(number))
        {
            slots.Remove(number);
            _slots[number].Partner = null;
        }

        Fill(transfer, slots);
        Open(transfer, slots);
        if (!slots.IsEmpty)
        {
            Actions.Add(new DirectoryAction.SlotsReady(slots));
        }

        if (transfer.Source is { } source && !slots.IsEmpty)
        {
            Actions.Add(new DirectoryAction.SendAck(source, new SlotAck(_self, _map.View.Number, slots)));
        }

        if (!missing.IsEmpty)
        {
            Recover(missing, now);
        }
    }

    private void Fill(SlotTransfer transfer, SlotSet slots)
    {
        foreach (var registration in transfer.Entries)
        {
            var number = SlotMap.SlotOf(registration.Grain);
            if (!slots.Contains(number))
            {
                continue;
            }

            var slot = _slots[number];
            lock (slot)
            {
                Keep(slot.Entries ??= new SlotEntries(), registration);
            }
        }
    }

    // While an activation moves, both its ends are reported: the target is registered before it activates, and the source leaves when it
    // has the
    // target's word. An epoch is given only to the grain's sole registration or to the one that names its predecessor, so the highest is
    // the one that
    // has, or gets, the grain's state; what it superseded serves nothing any more.
    private void Keep(SlotEntries entries, Registration registration)
    {
        if (!entries.TryGet(registration.Grain, out var held))
        {
            entries.Set(registration.Grain, registration.Location, _residences);
            return;
        }

        if (held.IsSameActivation(registration.Location))
        {
            return;
        }

        var wins = IsNewer(registration.Location, held);
        if (wins)
        {
            entries.Set(registration.Grain, registration.Location, _residences);
        }

        var loser = wins ? held : registration.Location;
        Actions.Add(new DirectoryAction.Deactivate(loser.Silo, new Registration(registration.Grain, loser)));
    }

    private static bool IsNewer(in Location one, in Location other) =>
        one.Epoch != other.Epoch
            ? one.Epoch > other.Epoch
            : string.CompareOrdinal(one.Activation.ToParsableString(), other.Activation.ToParsableString()) > 0;

    private void Open(SlotTransfer transfer, SlotSet slots)
    {
        long lease = 0;
        foreach (var until in transfer.Recovery ? _leases.Values : Enumerable.Empty<long>())
        {
            lease = Math.Max(lease, until);
        }

        foreach (var one in transfer.Leases)
        {
            if (slots.Contains(one.Slot))
            {
                _slots[one.Slot].LeaseUntil = _now + one.Remaining;
            }
        }

        for (var number = slots.Next(-1); number >= 0; number = slots.Next(number))
        {
            var slot = _slots[number];
            lock (slot)
            {
                slot.LeaseUntil = Math.Max(slot.LeaseUntil, lease);
                slot.Serve(_map.View.Number);
            }
        }
    }
}
