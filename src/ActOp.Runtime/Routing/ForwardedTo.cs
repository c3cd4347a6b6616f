using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Which silo must reply to a forwarded call. Stored in <see cref="ActOp.Calls.Call.Remote"/> in place of the first receiver.
/// </summary>
/// <param name="Silo">The silo.</param>
/// <param name="By">The silo that forwarded it. If this silo dies, it is unknown whether the request had left it.</param>
/// <param name="Hop">The number of forwards so far. Notes may arrive out of order; the one with the larger number is valid.</param>
/// <param name="Ticket">The use of the call object that the note is about. A late note may find the next use of the object, for which
/// <paramref name="Before"/> is valid.</param>
/// <param name="Before">The value before the note.</param>
internal sealed record ForwardedTo(SiloAddress Silo, SiloAddress By, int Hop, long Ticket, object? Before)
{
    /// <summary>
    /// The silo that must reply to the use <paramref name="ticket"/> of a call, for either form of <paramref name="remote"/>.
    /// </summary>
    internal static SiloAddress? DebtorOf(object? remote, long ticket) =>
        Note(ref remote, ticket) is { } note ? note.Silo : remote as SiloAddress;

    /// <summary>Whether no reply may arrive because <paramref name="dead"/> is dead.</summary>
    internal static bool DiesWith(object? remote, long ticket, SiloAddress dead) =>
        Note(ref remote, ticket) is { } note ? dead.Equals(note.Silo) || dead.Equals(note.By) : dead.Equals(remote as SiloAddress);

    /// <summary>The note about this use; null, and the value before, if the note is about another use.</summary>
    internal static ForwardedTo? Note(ref object? remote, long ticket)
    {
        while (remote is ForwardedTo note)
        {
            if (note.Ticket == ticket)
                return note;
            remote = note.Before;
        }

        return null;
    }
}
