using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>Which silo owes the answer of a call that was sent on. Stands in <see cref="ActOp.Calls.Call.Remote"/> in place of the silo that was asked.</summary>
/// <param name="Silo">The silo.</param>
/// <param name="By">Who sent it on and says so. When this one dies too, nobody knows whether the request had left it.</param>
/// <param name="Hop">How often the call had been sent on by then: of two notes, which may overtake each other, the one with more counts.</param>
internal sealed record SentOnTo(SiloAddress Silo, SiloAddress By, int Hop)
{
    /// <summary>The silo that owes the answer, whichever form <paramref name="remote"/> has.</summary>
    internal static SiloAddress? Of(object? remote) => remote is SentOnTo later ? later.Silo : remote as SiloAddress;

    /// <summary>Whether no answer may come any more because <paramref name="dead"/> is dead.</summary>
    internal static bool DiesWith(object? remote, SiloAddress dead) => dead.Equals(Of(remote)) || remote is SentOnTo later && dead.Equals(later.By);
}
