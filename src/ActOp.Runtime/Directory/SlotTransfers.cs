using System.Collections.Immutable;
using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The transfer of slots between silos and the recovery of lost ones, part of <see cref="DirectoryPartition"/>. Owns the requests under way
/// and the list of actions. One thread; it locks each slot that it reads or fills.
/// </summary>
internal sealed class SlotTransfers(
    SiloAddress self, DirectoryLimits limits, OwnedSlots owned, ILocalActivations activations, RegistrationFence fence)
{
    private const int MaxBackoff = 5;
    private readonly List<SlotTransfer> _transfers = [];
    private long _lastId;

    /// <summary>The actions to perform, in order. The driver performs them and clears the list.</summary>
    public List<DirectoryAction> Actions { get; } = [];

    /// <summary>Another silo requests slots that it owns now.</summary>
    public void OnSlotRequest(SlotRequest request, long now)
    {
        var view = owned.Map.View.Number;
        if (request.View != view)
        {
            if (request.View > view)
                Actions.Add(new DirectoryAction.RefreshView(request.View));

            Reply(request, [], null, []);
            return;
        }

        if (request.Recovery)
            Reply(request, Report(request.Slots), null, []);
        else
            HandOver(request, now);
    }

    /// <summary>Another silo replied.</summary>
    public void OnSlotReply(SlotReply reply, long now)
    {
        var view = owned.Map.View.Number;
        if (reply.View > view)
            Actions.Add(new DirectoryAction.RefreshView(reply.View));

        var transfer = _transfers.Find(one => one.Id == reply.Id);
        if (transfer is null || reply.View != view)
            return;

        transfer.AddPart(reply);
        if (transfer.Awaited.Count == 0)
            Complete(transfer, now);
    }

    /// <summary>The new owner has received a hand-over.</summary>
    public void OnSlotAck(SlotAck ack)
    {
        for (var number = ack.Slots.Next(-1); number >= 0; number = ack.Slots.Next(number))
        {
            var slot = owned[number];
            lock (slot)
            {
                if (slot.State == SlotState.Sealed && ack.From.Equals(slot.Partner))
                    slot.Drop();
            }
        }
    }

    /// <summary>Starts the transfers of the slots that wait, after a new view. Those of older views end.</summary>
    public void Start(long now)
    {
        _transfers.Clear();
        SlotSet? lost = null;
        var held = new Dictionary<SiloAddress, SlotSet>();
        for (var number = 0; number < SlotMap.SlotCount; number++)
        {
            if (owned[number] is not { State: SlotState.Waiting } slot)
                continue;

            if (slot.Partner is null)
                (lost ??= new SlotSet()).Add(number);
            else
                (held.TryGetValue(slot.Partner, out var set) ? set : held[slot.Partner] = new SlotSet()).Add(number);
        }

        foreach (var (owner, slots) in held.OrderBy(pair => pair.Key, SiloOrder.Instance))
        {
            var transfer = new SlotTransfer(++_lastId, owner, slots);
            transfer.Await(owner);
            Start(transfer, now);
        }

        if (lost is not null)
            Recover(lost, now);
    }

    private void Recover(SlotSet slots, long now)
    {
        var transfer = new SlotTransfer(++_lastId, null, slots);
        foreach (var member in owned.Map.View.Members)
        {
            if (member.MayHost && !member.Silo.Equals(self))
                transfer.Await(member.Silo);
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
        Invariant.Holds(transfer.Awaited.Count > 0);
        transfer.Attempt++;
        // Large slots may take longer than one period to arrive, so the period doubles each time.
        transfer.ResendAt = now + ((long)limits.ResendAfter << Math.Min(transfer.Attempt - 1, MaxBackoff));
        var request = new SlotRequest(transfer.Id, transfer.Attempt, self, owned.Map.View.Number, transfer.Recovery, transfer.Slots);
        foreach (var silo in transfer.Awaited)
            Actions.Add(new DirectoryAction.SendRequest(silo, request));
    }

    /// <summary>Repeats requests without a reply.</summary>
    public void Tick(long now)
    {
        foreach (var transfer in _transfers)
        {
            if (now >= transfer.ResendAt)
                Send(transfer, now);
        }
    }

    // The fence first: a registration that is accepted after this is in the new owner's table or will be refused.
    private List<Registration> Report(SlotSet slots)
    {
        fence.Raise(slots, owned.Map.View.Number);
        for (var number = slots.Next(-1); number >= 0; number = slots.Next(number))
        {
            var slot = owned[number];
            lock (slot)
            {
                if (slot.State == SlotState.Sealed)
                    slot.Drop();
            }
        }

        var own = new List<Registration>();
        activations.CollectRegistered(slots, own);
        return own;
    }

    private void HandOver(SlotRequest request, long now)
    {
        var entries = new List<Registration>();
        var leases = ImmutableArray.CreateBuilder<SlotLease>();
        var missing = new SlotSet();
        for (var number = request.Slots.Next(-1); number >= 0; number = request.Slots.Next(number))
        {
            var slot = owned[number];
            lock (slot)
            {
                if (slot.State != SlotState.Sealed || !request.From.Equals(slot.Partner))
                {
                    missing.Add(number);
                    continue;
                }

                slot.Entries?.CopyTo(entries);

                if (slot.LeaseUntil > now)
                    leases.Add(new SlotLease(number, (int)(slot.LeaseUntil - now)));
            }
        }

        Reply(request, entries, missing, leases.ToImmutable());
    }

    private void Reply(SlotRequest request, List<Registration> entries, SlotSet? missing, ImmutableArray<SlotLease> leases)
    {
        var size = limits.EntriesPerPart;
        var parts = Math.Max(1, (entries.Count + size - 1) / size);
        for (var part = 0; part < parts; part++)
        {
            var some = entries.GetRange(part * size, Math.Min(size, entries.Count - (part * size)));
            var reply = new SlotReply(request.Id, request.Attempt, self, owned.Map.View.Number, part, parts, [.. some]);
            Actions.Add(new DirectoryAction.SendReply(request.From, part > 0 ? reply : reply with { Missing = missing, Leases = leases }));
        }
    }

    private void Complete(SlotTransfer transfer, long now)
    {
        Invariant.Holds(transfer.Awaited.Count == 0);
        _transfers.Remove(transfer);
        var slots = SlotSet.FromWords(transfer.Slots.Words);
        var missing = transfer.Missing ?? new SlotSet();
        for (var number = missing.Next(-1); number >= 0; number = missing.Next(number))
        {
            slots.Remove(number);
            owned[number].Partner = null;
        }

        Fill(transfer, slots);
        Open(transfer, slots);
        if (!slots.IsEmpty)
            Actions.Add(new DirectoryAction.SlotsReady(slots));

        if (transfer.Source is { } source && !slots.IsEmpty)
            Actions.Add(new DirectoryAction.SendAck(source, new SlotAck(self, owned.Map.View.Number, slots)));

        if (!missing.IsEmpty)
            Recover(missing, now);
    }

    private void Fill(SlotTransfer transfer, SlotSet slots)
    {
        foreach (var registration in transfer.Entries)
        {
            var number = SlotMap.SlotOf(registration.Grain);
            if (!slots.Contains(number))
                continue;

            var slot = owned[number];
            lock (slot)
                Keep(slot.Entries ??= new SlotEntries(), registration);
        }
    }

    // While an activation moves, both its ends are reported: the target is registered before it activates, and the source unregisters when
    // the target has confirmed. An epoch is given only to the sole registration of a grain or to one that names its predecessor, so the
    // activation with the highest epoch has, or gets, the state of the grain. What it superseded serves no more calls.
    private void Keep(SlotEntries entries, Registration registration)
    {
        if (!entries.TryGet(registration.Grain, out var held))
        {
            entries.Set(registration.Grain, registration.Location, owned.Residences);
            return;
        }

        if (held.IsSameActivation(registration.Location))
            return;

        var wins = IsNewer(registration.Location, held);
        if (wins)
            entries.Set(registration.Grain, registration.Location, owned.Residences);

        var loser = wins ? held : registration.Location;
        Actions.Add(new DirectoryAction.Deactivate(loser.Silo, new Registration(registration.Grain, loser)));
    }

    private static bool IsNewer(in Location one, in Location other) =>
        one.Epoch != other.Epoch
            ? one.Epoch > other.Epoch
            : string.CompareOrdinal(one.Activation.ToParsableString(), other.Activation.ToParsableString()) > 0;

    private void Open(SlotTransfer transfer, SlotSet slots)
    {
        var lease = transfer.Recovery ? owned.Leases.Last : 0;
        foreach (var one in transfer.Leases)
        {
            if (slots.Contains(one.Slot))
                owned[one.Slot].LeaseUntil = owned.Now + one.Remaining;
        }

        for (var number = slots.Next(-1); number >= 0; number = slots.Next(number))
        {
            var slot = owned[number];
            lock (slot)
            {
                Invariant.Holds(slot.State == SlotState.Waiting);
                slot.LeaseUntil = Math.Max(slot.LeaseUntil, lease);
                slot.Serve(owned.Map.View.Number);
            }
        }
    }
}

/// <summary>A slot request under way: to one old owner, or to all silos if the old owner was lost.</summary>
internal sealed class SlotTransfer(long id, SiloAddress? source, SlotSet slots)
{
    private readonly Dictionary<SiloAddress, SlotAnswer?> _awaited = [];

    /// <summary>The request's number.</summary>
    public long Id { get; } = id;

    /// <summary>The silo that hands over; null if every silo must report its activations.</summary>
    public SiloAddress? Source { get; } = source;

    /// <summary>Whether every silo must report its activations.</summary>
    public bool Recovery => Source is null;

    /// <summary>The slots.</summary>
    public SlotSet Slots { get; } = slots;

    /// <summary>Registrations of complete replies.</summary>
    public List<Registration> Entries { get; } = [];

    /// <summary>Leases of complete replies.</summary>
    public List<SlotLease> Leases { get; } = [];

    /// <summary>Slots that the old owner did not hold.</summary>
    public SlotSet? Missing { get; private set; }

    /// <summary>How often it was sent.</summary>
    public int Attempt { get; set; }

    /// <summary>When to send it again.</summary>
    public long ResendAt { get; set; }

    /// <summary>Silos without a complete reply.</summary>
    public IReadOnlyCollection<SiloAddress> Awaited => _awaited.Keys;

    /// <summary>Adds a silo whose reply is needed.</summary>
    public void Await(SiloAddress silo) => _awaited[silo] = null;

    /// <summary>
    /// Takes one part of a reply. A reply to a newer attempt replaces the older one, because reports may differ between attempts.
    /// </summary>
    public void AddPart(SlotReply reply)
    {
        if (!_awaited.TryGetValue(reply.From, out var answer) || reply.Parts <= 0 || answer?.Attempt > reply.Attempt)
            return;

        if (answer is null || answer.Attempt < reply.Attempt)
        {
            answer = new SlotAnswer(reply.Attempt, reply.Parts);
            _awaited[reply.From] = answer;
        }

        answer.AddPart(reply);
        if (answer.IsComplete)
        {
            _awaited.Remove(reply.From);
            Entries.AddRange(answer.Entries);
            Leases.AddRange(answer.Leases);
            Missing ??= answer.Missing;
        }
    }
}

/// <summary>The partial reply of one silo to a slot request.</summary>
internal sealed class SlotAnswer(int attempt, int parts)
{
    private readonly bool[] _seen = new bool[parts];

    /// <summary>The attempt.</summary>
    public int Attempt { get; } = attempt;

    /// <summary>Registrations so far.</summary>
    public List<Registration> Entries { get; } = [];

    /// <summary>Leases so far.</summary>
    public List<SlotLease> Leases { get; } = [];

    /// <summary>Slots that the old owner did not hold.</summary>
    public SlotSet? Missing { get; private set; }

    /// <summary>Whether all parts are here.</summary>
    public bool IsComplete => !_seen.AsSpan().Contains(false);

    /// <summary>Takes a part unless it has arrived before.</summary>
    public void AddPart(SlotReply part)
    {
        if (part.Parts == _seen.Length && (uint)part.Part < (uint)_seen.Length && !_seen[part.Part])
        {
            _seen[part.Part] = true;
            Entries.AddRange(part.Entries);
            Leases.AddRange(part.Leases);
            Missing ??= part.Missing;
        }
    }
}

/// <summary>
/// Refuses registrations by an owner that has lost the slot in the cluster's view. When the silo reports its activations to
/// a slot's new owner in view v, replies to its registrations in that slot from before v no longer count, because they may be missing in
/// the report.
/// </summary>
/// <remarks>
/// The order makes it safe with concurrent turns: the report raises the fence, then collects; a turn that gets a reply first marks the
/// activation as registered, then asks <see cref="Accepts"/> and registers again when refused (registering the same activation twice is
/// harmless).
/// </remarks>
internal sealed class RegistrationFence
{
    private readonly long[] _views = new long[SlotMap.SlotCount];

    /// <summary>For these slots, only replies served in <paramref name="view"/> or later count from now on.</summary>
    public void Raise(SlotSet slots, long view)
    {
        for (var slot = slots.Next(-1); slot >= 0; slot = slots.Next(slot))
            _views[slot] = Math.Max(_views[slot], view);

        Interlocked.MemoryBarrier();
    }

    /// <summary>Whether a reply served in <paramref name="view"/> counts.</summary>
    public bool Accepts(int slot, long view)
    {
        Interlocked.MemoryBarrier();
        return view >= Volatile.Read(ref _views[slot]);
    }
}

/// <summary>The activations of this silo, as the directory needs them to rebuild slots whose owner was lost.</summary>
internal interface ILocalActivations
{
    /// <summary>Adds all activations in these slots that are marked as registered, with the epoch of their registration.</summary>
    void CollectRegistered(SlotSet slots, List<Registration> into);
}
