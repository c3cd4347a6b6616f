using Heartbeat.Options;

namespace Heartbeat.Compare;

/// <summary>A cell of the comparison.</summary>
/// <param name="Repeat">Which pass, from 1.</param>
/// <param name="BlockingPercent">Percent of the requests that block their thread.</param>
/// <param name="Load">The load.</param>
/// <param name="Allocation">Who gives the stages their threads.</param>
public sealed record PlannedCell(int Repeat, double BlockingPercent, LoadLevel Load, Allocation Allocation);
