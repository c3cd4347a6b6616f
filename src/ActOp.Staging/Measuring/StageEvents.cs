using System.Diagnostics.Tracing;

namespace ActOp.Staging.Measuring;

/// <summary>
/// The measured busy times as events of the provider <c>ActOp-Stages</c>, for <c>dotnet-trace</c>, <c>dotnet-counters</c> and
/// the package ActOp.Staging.Tracing. Nothing happens while nobody listens.
/// </summary>
[EventSource(Name = ProviderName)]
internal sealed class StageEvents : EventSource
{
    internal const string ProviderName = "ActOp-Stages";

    internal static StageEvents Log { get; } = new();

    [NonEvent]
    internal void Begin(string stage)
    {
        if (IsEnabled())
            BusyBegin(stage);
    }

    [NonEvent]
    internal void End(string stage, int items, long cpu)
    {
        if (IsEnabled())
            BusyEnd(stage, items, cpu);
    }

    /// <summary>A thread begins to run events of a stage.</summary>
    [Event(1)]
    private void BusyBegin(string stage) => WriteEvent(1, stage);

    /// <summary>It has run out of them, or enough for one measurement.</summary>
    [Event(2)]
    private void BusyEnd(string stage, int items, long cpuNanoseconds) => WriteEvent(2, stage, items, cpuNanoseconds);
}
