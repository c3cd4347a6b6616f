using System.Collections.Immutable;
using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>The directory slots of one silo, as called by the others.</summary>
internal interface IDirectoryTarget : ISystemTarget
{
    ValueTask<DirectoryReply> Lookup(GrainId grain);

    ValueTask<DirectoryReply> Register(RegisterRequest request);

    ValueTask<DirectoryReply> Unregister(Registration registration);

    [OneWay]
    ValueTask RequestSlots(SlotRequest request);

    [OneWay]
    ValueTask ReplySlots(SlotReply reply);

    [OneWay]
    ValueTask AcknowledgeSlots(SlotAck ack);

    /// <summary>Another activation of the grain is registered: this one must end.</summary>
    [OneWay]
    ValueTask EndDuplicate(Registration loser);
}

/// <summary>A request to register an activation.</summary>
/// <param name="Grain">The grain.</param>
/// <param name="Silo">Where the activation is.</param>
/// <param name="Activation">The activation.</param>
/// <param name="Previous">The activation that it takes over from (migration), which must be registered; default for none.</param>
[Orleans.GenerateSerializer]
internal readonly record struct RegisterRequest(GrainId Grain, SiloAddress Silo, ActivationId Activation, ActivationId Previous = default);

/// <summary>A grain and where it is registered.</summary>
[Orleans.GenerateSerializer]
internal readonly record struct Registration(GrainId Grain, Location Location);

/// <summary>The reply to a directory request.</summary>
/// <param name="Status">The outcome.</param>
/// <param name="Location">The registered location, when there is one.</param>
/// <param name="View">The view in which the slot was served, to be checked with <see cref="RegistrationFence"/>; or the owner's view when
/// it was not served.</param>
/// <param name="RetryAfter">If leased: milliseconds after which the request should be repeated.</param>
[Orleans.GenerateSerializer]
internal readonly record struct DirectoryReply(DirectoryStatus Status, Location Location, long View, int RetryAfter = 0);

/// <summary>The outcome of a directory request.</summary>
internal enum DirectoryStatus : byte
{
    /// <summary>Done: the location is the registered one (lookup), the own one (register), or gone (unregister).</summary>
    Ok = 0,

    /// <summary>The grain is registered nowhere.</summary>
    NotFound = 1,

    /// <summary>Another activation is registered: the location in the reply is the winner.</summary>
    Conflict = 2,

    /// <summary>The silo does not own the slot in its view: compare the views, refresh the older one, and repeat the request.</summary>
    WrongOwner = 3,

    /// <summary>The silo owns the slot but has not received it yet: repeat the request soon.</summary>
    NotReady = 4,

    /// <summary>
    /// The grain may still run on a silo that was evicted because it did not reply: repeat the request when its lease has ended.
    /// </summary>
    Leased = 5,

    /// <summary>The registering silo is dead in, or not yet known to, the owner's view.</summary>
    UnknownSilo = 6,
}

/// <summary>A request of a new owner for slots.</summary>
/// <param name="Id">Number that the replies repeat.</param>
/// <param name="Attempt">Number of the attempt. Parts of replies to different attempts are not mixed.</param>
/// <param name="From">The new owner.</param>
/// <param name="View">The view in which it owns them; the receiver must be in exactly this view to answer.</param>
/// <param name="Recovery">False: hand over your sealed entries. True: the old owner is lost, report your own activations in them.</param>
/// <param name="Slots">Which slots.</param>
[Orleans.GenerateSerializer]
internal sealed record SlotRequest(long Id, int Attempt, SiloAddress From, long View, bool Recovery, SlotSet Slots);

/// <summary>One part of the reply to a <see cref="SlotRequest"/>.</summary>
/// <param name="Id">The request's number.</param>
/// <param name="Attempt">The request's attempt.</param>
/// <param name="From">The sender of the reply.</param>
/// <param name="View">The view of the replying silo. If it is not the requested one, the reply has no other content.</param>
/// <param name="Part">Number of this part, from 0.</param>
/// <param name="Parts">How many parts there are.</param>
/// <param name="Entries">Registrations.</param>
[Orleans.GenerateSerializer]
internal sealed record SlotReply(long Id, int Attempt, SiloAddress From, long View, int Part, int Parts,
    ImmutableArray<Registration> Entries)
{
    /// <summary>Hand-over: requested slots that the answerer does not hold (in part 0).</summary>
    [Orleans.Id(11)]
    public SlotSet? Missing { get; init; }

    /// <summary>Hand-over: slots with a running lease and how many milliseconds remain (in part 0).</summary>
    [Orleans.Id(12)]
    public ImmutableArray<SlotLease> Leases { get; init; } = [];
}

/// <summary>A slot in which unknown grains may still run on a dead silo.</summary>
/// <param name="Slot">The slot.</param>
/// <param name="Remaining">Milliseconds until the lease ends.</param>
[Orleans.GenerateSerializer]
internal readonly record struct SlotLease(int Slot, int Remaining);

/// <summary>The new owner has applied a hand-over, so the old one may drop it.</summary>
[Orleans.GenerateSerializer]
internal sealed record SlotAck(SiloAddress From, long View, SlotSet Slots);
