using Orleans;
using Orleans.Concurrency;
using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>The slots of the directory that one silo owns, as the others ask them.</summary>
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

    /// <summary>Another activation of the grain has won: this one must end.</summary>
    [OneWay]
    ValueTask EndDuplicate(Registration loser);
}
