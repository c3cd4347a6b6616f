using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>Something the membership protocol wants done.</summary>
internal abstract record MembershipAction
{
    /// <summary>Send a probe. When the connection is refused, report it with <see cref="MembershipProtocol.OnRefused"/>.</summary>
    internal sealed record SendProbe(SiloAddress To, Probe Probe) : MembershipAction;

    /// <summary>Answer a probe.</summary>
    internal sealed record SendAnswer(SiloAddress To, ProbeAnswer Answer) : MembershipAction;

    /// <summary>Ask another silo to probe.</summary>
    internal sealed record SendIndirectProbe(SiloAddress To, IndirectProbe Probe) : MembershipAction;

    /// <summary>Tell the asker what an indirect probe found.</summary>
    internal sealed record SendIndirectAnswer(SiloAddress To, IndirectAnswer Answer) : MembershipAction;

    /// <summary>Show another silo the table.</summary>
    internal sealed record SendGossip(SiloAddress To, TableSnapshot Table) : MembershipAction;

    /// <summary>Do an operation on the table; report with OnTableReply or OnTableFailed.</summary>
    internal sealed record UseTable(TableRequest Request) : MembershipAction;

    /// <summary>A newer view holds. <paramref name="View"/> is the new one.</summary>
    internal sealed record Publish(View View) : MembershipAction;

    /// <summary>Turns may run (<paramref name="Held"/>) or must pause because the own membership could not be confirmed in time.</summary>
    internal sealed record LeaseChanged(bool Held) : MembershipAction;

    /// <summary>This silo is dead for the others: stop all turns now and for ever.</summary>
    internal sealed record StopDead(string Reason) : MembershipAction;

    /// <summary>The graceful leave is written in the table.</summary>
    internal sealed record Left : MembershipAction;
}
