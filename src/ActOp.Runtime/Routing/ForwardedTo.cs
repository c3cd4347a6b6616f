using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Which silo owes the answer of a call that was sent on. Stands in <see cref="ActOp.Calls.Call.Remote"/> in place of the silo that was
/// asked.
/// </summary>
/// <param name="Silo">The silo.</param>
/// <param name="By">Who sent it on and says so. When this one dies too, nobody knows whether the request had left it.</param>
/// <param name="Hop">How often the call had been sent on by then: of two notes, which may overtake each other, the one with more
/// counts.</param>
/// <param name="Ticket">The use of the call object that the note is about. A note that comes late may meet the next use, for which
/// <paramref name="Before"/> holds.</param>
/// <param name="Before">What stood in the call before the note.</param>
internal sealed record ForwardedTo(SiloAddress Silo, SiloAddress By, int Hop, long Ticket, object? Before)
{
    /// <summary>
    /// The silo that owes the answer of the use <paramref name="ticket"/> of a call, whichever form <paramref name="remote"/> has.
    /// </summary>
    internal static SiloAddress? Of(object? remote, long ticket) => Note(ref remote, ticket) is { } note ? note.Silo : remote as SiloAddress;

    /// <summary>Whether no answer may come any more because <paramref name="dead"/> is dead.</summary>
    internal static bool DiesWith(object? remote, long ticket, SiloAddress dead) =>
        Note(ref remote, ticket) is { } note ? dead.Equals(note.Silo) || dead.Equals(note.By) : dead.Equals(remote as SiloAddress);

    /// <summary>The note about this use, or null with what stood in the call before notes about others.</summary>
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
