using ActOp.Runtime.Cluster;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>
/// The slots of the directory that one silo owns. Lookups and registrations may come from any thread (each takes its slot's lock and
/// allocates nothing but table growth); views, ticks and slot messages come from one. Time is passed in as monotonic milliseconds.
/// </summary>
/// <remarks>
/// The guarantee: at most one living silo serves a slot. A silo keeps serving across views in which it stays the owner. A new owner
/// serves only after the old one sealed and handed over, or after every silo that may host grains replied in exactly the new owner's view.
/// By this reply a silo has sealed its former slots and refuses replies of former owners (<see cref="RegistrationFence"/>). Grains that
/// dead silos may still run are covered by leases: per entry if the entry survived, per slot if it was lost. <see cref="OwnedSlots"/> holds
/// the slots and follows the views; <see cref="SlotTransfers"/> moves and rebuilds them.
/// </remarks>
internal sealed class DirectoryPartition
{
    private readonly DirectoryLimits _limits;
    private readonly OwnedSlots _slots;
    private readonly SlotTransfers _transfers;

    /// <summary>Creates the partition of <paramref name="self"/>, owner of nothing before the first <see cref="OnView"/>.</summary>
    public DirectoryPartition(SiloAddress self, DirectoryLimits limits, ILocalActivations activations, RegistrationFence fence)
    {
        _limits = limits;
        _slots = new OwnedSlots(self, limits);
        _transfers = new SlotTransfers(self, limits, _slots, activations, fence);
    }

    /// <summary>The actions to perform, in order. The driver performs them and clears the list.</summary>
    public List<DirectoryAction> Actions => _transfers.Actions;

    /// <summary>Whether the grains of a silo that was only silent are waited for.</summary>
    public bool HasLeases => _limits.SilentLease > 0;

    /// <summary>Until when a dead silo may still run its grains; 0 if its lease has ended. Any thread.</summary>
    public long EndOfLease(SiloAddress silo) => _slots.Leases.EndOf(silo);

    /// <summary>Who owns which slot in this silo's view.</summary>
    public SlotMap Map => _slots.Map;

    /// <summary>Registrations held; takes every slot's lock in turn.</summary>
    public long Count => _slots.Count;

    /// <summary>What this silo is to a slot.</summary>
    public SlotState StateOf(int slot) => _slots[slot].State;

    /// <summary>Where a grain is registered: Ok, NotFound, Leased, NotReady or WrongOwner.</summary>
    public DirectoryReply Lookup(in GrainId grain) => _slots.Lookup(grain);

    /// <inheritdoc cref="OwnedSlots.Register"/>
    public DirectoryReply Register(in RegisterRequest request) => _slots.Register(request);

    /// <inheritdoc cref="OwnedSlots.Unregister"/>
    public DirectoryReply Unregister(in GrainId grain, ActivationId activation) => _slots.Unregister(grain, activation);

    /// <summary>Registers many; <paramref name="replies"/>[i] answers <paramref name="requests"/>[i].</summary>
    public void RegisterMany(ReadOnlySpan<RegisterRequest> requests, Span<DirectoryReply> replies)
    {
        for (var i = 0; i < requests.Length; i++)
            replies[i] = Register(requests[i]);
    }

    /// <summary>Unregisters many; only the activation of each location counts.</summary>
    public void UnregisterMany(ReadOnlySpan<Registration> registrations, Span<DirectoryReply> replies)
    {
        for (var i = 0; i < registrations.Length; i++)
            replies[i] = Unregister(registrations[i].Grain, registrations[i].Location.Activation);
    }

    /// <summary>Adopts a newer view. Older ones are ignored.</summary>
    public void OnView(View view, long now)
    {
        _slots.Now = now;
        if (_slots.TryAdopt(view, now))
            _transfers.Start(now);
    }

    /// <summary>
    /// Advances the time: repeats requests without a reply, drops sealed slots that were not fetched, and entries of dead silos.
    /// </summary>
    public void OnTick(long now)
    {
        _slots.Now = now;
        _transfers.Tick(now);
        _slots.Sweep(now);
    }

    /// <inheritdoc cref="SlotTransfers.OnSlotRequest"/>
    public void OnSlotRequest(SlotRequest request, long now)
    {
        _slots.Now = now;
        _transfers.OnSlotRequest(request, now);
    }

    /// <inheritdoc cref="SlotTransfers.OnSlotReply"/>
    public void OnSlotReply(SlotReply reply, long now)
    {
        _slots.Now = now;
        _transfers.OnSlotReply(reply, now);
    }

    /// <inheritdoc cref="SlotTransfers.OnSlotAck"/>
    public void OnSlotAck(SlotAck ack) => _transfers.OnSlotAck(ack);
}

/// <summary>An action of the directory, performed by the driver.</summary>
internal abstract record DirectoryAction
{
    /// <summary>Send to a silo. If it is lost, it is repeated.</summary>
    internal sealed record SendRequest(SiloAddress To, SlotRequest Request) : DirectoryAction;

    /// <summary>Send to a silo.</summary>
    internal sealed record SendReply(SiloAddress To, SlotReply Reply) : DirectoryAction;

    /// <summary>Send to a silo.</summary>
    internal sealed record SendAck(SiloAddress To, SlotAck Ack) : DirectoryAction;

    /// <summary>Another silo has a newer view: read the membership table.</summary>
    internal sealed record RefreshView(long AtLeast) : DirectoryAction;

    /// <summary>Recovery found a second activation: the silo must end it without unregistering.</summary>
    internal sealed record Deactivate(SiloAddress Silo, Registration Loser) : DirectoryAction;

    /// <summary>These slots are now served: requests that wait for them can continue.</summary>
    internal sealed record SlotsReady(SlotSet Slots) : DirectoryAction;
}

/// <summary>The directory's constants. Times in milliseconds.</summary>
internal sealed record DirectoryLimits
{
    /// <summary>
    /// How long the grains of a silo that was evicted because it did not reply cannot be registered. Must not be less than the membership
    /// lease.
    /// </summary>
    public int SilentLease { get; init; } = 30_000;

    /// <summary>
    /// The same after a death by refused connections or replacement: the process is gone, so no wait is needed. Set it to
    /// <see cref="SilentLease"/> if a network device between the silos may refuse connections of a running process.
    /// </summary>
    public int CrashLease { get; init; }

    /// <summary>Time without a reply after which a slot request is repeated.</summary>
    public int ResendAfter { get; init; } = 500;

    /// <summary>How long sealed slots are kept for a new owner that does not fetch them.</summary>
    public int SealedRetention { get; init; } = 60_000;

    /// <summary>Registrations in one part of a slot reply, at most.</summary>
    public int EntriesPerPart { get; init; } = 8_192;

    /// <summary>Slots swept of dead entries per tick.</summary>
    public int SweepPerTick { get; init; } = 128;

    /// <summary>The lease after a death of this cause.</summary>
    public int LeaseAfter(DeathCause cause) => cause switch
    {
        DeathCause.Graceful => 0,
        DeathCause.Replaced or DeathCause.Refused => CrashLease,
        _ => SilentLease,
    };
}
