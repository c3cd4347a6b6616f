using ActOp.Management.Operations;
using ActOp.Tool.Connection;
using Orleans.Runtime;

namespace ActOp.Tool.Commands;

/// <summary>The commands that change the cluster. Each begins what it is asked for, and then looks until it has ended.</summary>
/// <remarks>Holds nothing. A command that is interrupted leaves what it has begun: the cluster goes on with it.</remarks>
internal static class Changes
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    internal static async Task<Answer> DrainAsync(
        ClusterConnection cluster, string text, bool evenLast, TimeSpan wait, CancellationToken cancellationToken)
    {
        var silo = cluster.Silo(text);
        var answer = await cluster.Operators.Target.Drain(silo.Silo, evenLast).ConfigureAwait(false);
        if (answer == OperatorAnswer.LastSilo)
        {
            throw new ToolException(ExitCode.Refused, text + " is the last active silo: nobody would take its grains, and what is only in"
                + " memory would be lost. --last drains it all the same.");
        }

        if (answer == OperatorAnswer.NoSuchSilo)
            throw new ToolException(ExitCode.NotFound, text + " is not active any more.");
        // After the last one there is nobody to ask.
        var hasLeft = evenLast || await UntilAsync(wait, () => Task.FromResult(HasLeft(cluster, silo.Silo)), cancellationToken)
            .ConfigureAwait(false);
        return hasLeft
            ? Ended(new { silo = silo.Silo.ToParsableString(), hasLeft = !evenLast }, evenLast ? text + " stops." : text + " has left.")
            : throw new ToolException(ExitCode.NotYet, text + " has been asked to stop, and is still a member after " + wait
                + ". Look at its log: its host may not stop when it is asked to, or its grains take long to end.");
    }

    internal static async Task<Answer> MoveAsync(
        ClusterConnection cluster, GrainId grain, string text, TimeSpan wait, CancellationToken cancellationToken)
    {
        var silo = cluster.Silo(text).Silo;
        switch (await cluster.Operators.Target.Move(grain, silo).ConfigureAwait(false))
        {
            case OperatorAnswer.NotActive:
                throw new ToolException(ExitCode.NotFound, grain + " is not active: there is nothing to move.");
            case OperatorAnswer.NoSuchSilo:
                throw new ToolException(ExitCode.NotFound, text + " is not active any more.");
            case OperatorAnswer.IsThere:
                return Ended(
                    new { grain = grain.ToString(), silo = silo.ToParsableString(), hasMoved = false }, grain + " is there already.");
        }

        SiloAddress? now = null;
        var hasMoved = await UntilAsync(wait, async () =>
        {
            now = await cluster.Operators.Target.Locate(grain).ConfigureAwait(false);
            return silo.Equals(now);
        }, cancellationToken).ConfigureAwait(false);
        return hasMoved
            ? Ended(
                new { grain = grain.ToString(), silo = silo.ToParsableString(), hasMoved = true }, grain + " is on " + text + " now.")
            : throw new ToolException(ExitCode.NotYet, grain + " has been asked to move, and is "
                + (now is null ? "not active" : "on " + now) + " after " + wait
                + ". It moves when it has no call, and not to a silo that its placement rules out.");
    }

    private static Answer Ended(object value, string line) => new(ExitCode.Done, value, [line]);

    private static bool HasLeft(ClusterConnection cluster, SiloAddress silo) =>
        cluster.Operators.Members.FirstOrDefault(member => member.Silo.Equals(silo)) is null or { Status: SiloStatus.Dead };

    private static async Task<bool> UntilAsync(TimeSpan wait, Func<Task<bool>> isSo, CancellationToken cancellationToken)
    {
        var begin = TimeProvider.System.GetTimestamp();
        while (!await IsSoAsync(isSo).ConfigureAwait(false))
        {
            if (TimeProvider.System.GetElapsedTime(begin) > wait)
                return false;
            await Task.Delay(Pause, TimeProvider.System, cancellationToken).ConfigureAwait(false);
        }

        return true;
    }

    /// <summary>While silos go, the one that is asked may be gone: the next look asks another one.</summary>
    private static async Task<bool> IsSoAsync(Func<Task<bool>> isSo)
    {
        try
        {
            return await isSo().ConfigureAwait(false);
        }
        catch (SiloUnavailableException)
        {
            return false;
        }
    }
}
