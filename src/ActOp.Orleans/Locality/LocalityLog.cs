using Microsoft.Extensions.Logging;

namespace ActOp.Orleans.Locality;

/// <summary>The log events of locality.</summary>
internal static partial class LocalityLog
{
    [LoggerMessage(1, LogLevel.Information, "Locality has begun on {Silo}: {Silos} other silos take part.")]
    internal static partial void Began(this ILogger log, SiloAddress silo, int silos);

    [LoggerMessage(2, LogLevel.Debug,
        "Locality round {Round}: {Reason}. Remote share {RemoteShare:P1} of {Rate:0} messages/s, {Edges} edges, "
        + "{Unplaced} ends without a known silo, {Grains} grains here, band {Lower:0} to {Upper:0}.")]
    internal static partial void Round(
        this ILogger log, long round, string reason, double remoteShare, double rate, int edges, int unplaced, int grains, double lower,
        double upper);

    [LoggerMessage(3, LogLevel.Information,
        "Locality moved {Moved} grains to {Silo}, {Skipped} stay ({Reasons}). Remote message rate before the moves: {Rate:0}/s.")]
    internal static partial void Exchanged(this ILogger log, SiloAddress silo, int moved, int skipped, string reasons, double rate);

    [LoggerMessage(4, LogLevel.Error,
        "Locality is switched off on this silo until it restarts: {Part} threw. Calls are not affected.")]
    internal static partial void SwitchedOff(this ILogger log, string part, Exception exception);

    [LoggerMessage(5, LogLevel.Warning, "Locality goes on after {Part} threw.")]
    internal static partial void StepFailed(this ILogger log, string part, Exception exception);

    [LoggerMessage(6, LogLevel.Information,
        "Grains of {Class} are not moved: they hold state in fields that a move would lose. Implement IGrainMigrationParticipant, mark the "
        + "class [ActOp.Orleans.Movable], or set LocalityOptions.Moves to All.")]
    internal static partial void Unmovable(this ILogger log, Type @class);

    [LoggerMessage(7, LogLevel.Warning,
        "Grains of type {Type} are not moved for {Minutes} minutes: Orleans did not begin their moves. The placement director of their "
        + "class may not take the placement hint.")]
    internal static partial void Refused(this ILogger log, GrainType type, double minutes);

    [LoggerMessage(8, LogLevel.Information, "Locality is {State}: LocalityOptions.Enabled has changed.")]
    internal static partial void Switched(this ILogger log, string state);

    [LoggerMessage(9, LogLevel.Warning, "A message of locality from another silo was dropped: {Reason}")]
    internal static partial void Malformed(this ILogger log, string reason);
}
