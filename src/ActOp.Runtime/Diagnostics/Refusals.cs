using ActOp.Foundation;
using ActOp.Runtime.Routing;

namespace ActOp.Runtime.Diagnostics;

/// <summary>Why a frame of a peer was refused.</summary>
internal enum Refusal : byte
{
    /// <summary>A method of a system target that the peer may not call.</summary>
    Method,

    /// <summary>A client names another node as the origin or place of a request, or forwards or relays what only silos do.</summary>
    Origin,

    /// <summary>A client names a caller that is not its own.</summary>
    Source,

    /// <summary>An answer to a call that was not sent to the peer.</summary>
    Reply,

    /// <summary>A silo that the view does not list as alive sends what only members may send.</summary>
    View,

    /// <summary>A method, or type arguments of one, that this process does not have.</summary>
    Unknown,

    /// <summary>Arguments or a result that could not be read, or that exceed a limit.</summary>
    Data,

    /// <summary>A frame of unknown kind.</summary>
    Frame,

    /// <summary>A method of a grain or an extension that a client may not call (<see cref="Configuration.ClientRightsOptions"/>).</summary>
    Rights,
}

/// <summary>The refusals of one peer, by reason. Any thread: counts and times are independent words.</summary>
internal sealed class RefusalCounts
{
    private readonly CountedLine[] _lines = new CountedLine[Refusals.Reasons];

    /// <summary>True if a line should be logged now, with the number of refusals since the last one.</summary>
    internal bool Add(Refusal reason, long now, out long count) => _lines[(int)reason].Add(now, out count);
}

/// <summary>
/// Counts what this node has refused of its peers (<c>actop.refused</c>), and logs one line per peer and reason every ten seconds, so that
/// a hostile peer cannot fill the log.
/// </summary>
/// <remarks>Any thread. Holds one count per reason; those of peers belong to <see cref="Sender"/>.</remarks>
internal sealed class Refusals(LocalNode local)
{
    internal const int Reasons = (int)Refusal.Rights + 1;

    private static readonly string[] Names = ["method", "origin", "source", "reply", "view", "unknown", "data", "frame", "rights"];

    private readonly long[] _counts = new long[Reasons];

    /// <summary>The metric's tag of a reason.</summary>
    internal static string NameOf(Refusal reason) => Names[(int)reason];

    internal long this[Refusal reason] => Interlocked.Read(ref _counts[(int)reason]);

    /// <summary>A frame of the peer was refused.</summary>
    internal void Add(Sender sender, Refusal reason, string what, Exception? exception = null)
    {
        Interlocked.Increment(ref _counts[(int)reason]);
        if (sender.Refusals.Add(reason, local.Clock.Now, out var count))
            local.Log.Refused(sender.Address, NameOf(reason), count, what, exception);
    }
}
