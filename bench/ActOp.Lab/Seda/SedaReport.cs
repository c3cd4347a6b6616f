namespace ActOp.Lab.Seda;

/// <summary>The result of the seda command as it is written with --json.</summary>
internal sealed record SedaReport(
    SedaPlan Plan, double Hours, double WarmUp, double PenaltySeconds, double WithinShare, IReadOnlyList<ControllerReport> Controllers, IReadOnlyList<ProxyReport> Proxies);
