using System.Globalization;
using ActOp.Management.Operations;
using ActOp.Tool.Connection;
using Orleans.Runtime;

namespace ActOp.Tool.Checks;

/// <summary>
/// The command <c>check</c>: one line for each thing that an operator can get wrong, in the order in which they depend on each other.
/// </summary>
/// <remarks>One run, one thread. A check that fails does not keep those from running that do not need it.</remarks>
internal sealed class ClusterCheck(ConnectionSettings settings, string? postgres, int certificateDays)
{
    /// <summary>
    /// A difference of clocks that people notice: logs cannot be read side by side, and a silo whose clock is behind may come back with an
    /// older number than it had before.
    /// </summary>
    private static readonly TimeSpan MostDifference = TimeSpan.FromSeconds(1);

    private readonly List<CheckLine> _lines = [];

    internal async Task<Answer> RunAsync(CancellationToken cancellationToken)
    {
        _lines.AddRange(await GatewayProbe.RunAsync(settings, certificateDays, cancellationToken).ConfigureAwait(false));
        if (_lines.Exists(static line => line is { Name: GatewayProbe.Name, State: CheckState.Failed }))
            _lines.Add(CheckLine.Skipped("cluster", "The gateway cannot be reached."));
        else
            await CheckClusterAsync(cancellationToken).ConfigureAwait(false);
        _lines.Add(await DatabaseProbe.RunAsync(postgres, cancellationToken).ConfigureAwait(false));
        var failed = _lines.Count(static line => line.State == CheckState.Failed);
        return new Answer(failed == 0 ? ExitCode.Done : ExitCode.NotWell, new { isWell = failed == 0, checks = _lines }, [],
            new TextTable(["check", "result", "what was found"], _lines.Select(static line =>
                (IReadOnlyList<string>)[line.Name, line.State.ToString().ToLowerInvariant(), line.Text])));
    }

    private async Task CheckClusterAsync(CancellationToken cancellationToken)
    {
        ClusterConnection cluster;
        try
        {
            cluster = await ClusterConnection.OpenAsync(settings, cancellationToken).ConfigureAwait(false);
        }
        catch (ToolException failure)
        {
            _lines.Add(CheckLine.Failed("cluster", failure.Message));
            return;
        }

        await using (cluster)
        {
            var active = cluster.Operators.Members.Count(static member => member.Status == SiloStatus.Active);
            _lines.Add(CheckLine.Ok("cluster", settings.ClusterId + " lets the tool in; its view " + cluster.Operators.View + " has "
                + active + " active silos."));
            await CheckSilosAsync(cluster).ConfigureAwait(false);
        }
    }

    private async Task CheckSilosAsync(ClusterConnection cluster)
    {
        var time = TimeProvider.System;
        var begin = time.GetTimestamp();
        var before = time.GetUtcNow().UtcDateTime;
        ClusterReport report;
        try
        {
            report = await cluster.Operators.Target.GetReport().ConfigureAwait(false);
        }
        catch (UnauthorizedAccessException)
        {
            _lines.Add(settings.OperatorSecret is null
                ? CheckLine.Skipped("operator", "The tool has no secret of operators. " + ConnectionOptions.HowToBecomeOperator)
                : CheckLine.Failed("operator", "The silo does not take this tool for an operator. "
                    + ConnectionOptions.HowToBecomeOperator));
            return;
        }
        catch (Exception exception) when (exception is SiloUnavailableException or TimeoutException)
        {
            _lines.Add(CheckLine.Failed("silos", exception.Message));
            return;
        }

        var took = time.GetElapsedTime(begin);
        _lines.Add(CheckLine.Ok("operator", "The tool may look at the cluster and change it."));
        _lines.Add(report.Silent.Count == 0
            ? CheckLine.Ok("silos", "All " + report.Silos.Count + " active silos answer.")
            : CheckLine.Failed("silos", string.Join(" ", report.Silent.Select(static pair => pair.Key.Endpoint + ": " + pair.Value))));
        _lines.Add(Clocks(report, before, took));
    }

    /// <summary>Each silo has read its clock between the question and the answer.</summary>
    private static CheckLine Clocks(ClusterReport report, DateTime before, TimeSpan took)
    {
        var worst = report.Silos.Select(silo => (silo.Silo, Off: Off(silo.UtcNow - before, took)))
            .OrderByDescending(static one => one.Off.Duration()).FirstOrDefault();
        if (worst.Silo is null)
            return CheckLine.Skipped("clocks", "No silo has answered.");
        return worst.Off.Duration() <= MostDifference
            ? CheckLine.Ok("clocks", "The clocks of all silos are within " + MostDifference.TotalSeconds + " s of that of this machine.")
            : CheckLine.Failed("clocks", "The clock of " + worst.Silo.Endpoint + " is "
                + worst.Off.TotalSeconds.ToString("+0.0;-0.0", CultureInfo.InvariantCulture)
                + " s off that of this machine. Synchronise the clocks (NTP).");
    }

    /// <summary>How far a clock is at least from one that showed between 0 and <paramref name="took"/> when it was read.</summary>
    internal static TimeSpan Off(TimeSpan read, TimeSpan took) =>
        read < TimeSpan.Zero ? read : read > took ? read - took : TimeSpan.Zero;
}
