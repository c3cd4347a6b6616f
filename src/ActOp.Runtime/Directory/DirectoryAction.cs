using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>Something the directory wants done.</summary>
internal abstract record DirectoryAction
{
    /// <summary>Send to a silo. Loss is harmless: it is sent again.</summary>
    internal sealed record SendRequest(SiloAddress To, SlotRequest Request) : DirectoryAction;

    /// <summary>Send to a silo.</summary>
    internal sealed record SendReply(SiloAddress To, SlotReply Reply) : DirectoryAction;

    /// <summary>Send to a silo.</summary>
    internal sealed record SendAck(SiloAddress To, SlotAck Ack) : DirectoryAction;

    /// <summary>Some silo is in a newer view: read the membership table.</summary>
    internal sealed record RefreshView(long AtLeast) : DirectoryAction;

    /// <summary>Recovery found a second activation: the silo must end this one without unregistering.</summary>
    internal sealed record Deactivate(SiloAddress Silo, Registration Loser) : DirectoryAction;

    /// <summary>These slots are served from now on: requests that wait for them may go.</summary>
    internal sealed record SlotsReady(SlotSet Slots) : DirectoryAction;
}
