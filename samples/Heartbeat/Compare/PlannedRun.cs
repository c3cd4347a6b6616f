using System.Globalization;
using Heartbeat.Options;

namespace Heartbeat.Compare;

/// <summary>A silo and its load clients, which go through all loads, the lowest first.</summary>
/// <param name="Repeat">Which pass, from 1.</param>
/// <param name="ComputeUs">Microseconds of processor time that every request uses.</param>
/// <param name="BlockingPercent">Percent of the requests that block their thread.</param>
/// <param name="Allocation">Who gives the stages their threads.</param>
public sealed record PlannedRun(int Repeat, double ComputeUs, double BlockingPercent, Allocation Allocation)
{
    /// <summary>As text for people.</summary>
    public override string ToString() => $"{ListOption.Camel(Allocation.ToString())}, {Describe(ComputeUs, BlockingPercent)}";

    /// <summary>What its requests cost.</summary>
    public static string Describe(double computeUs, double blockingPercent) =>
        string.Create(CultureInfo.InvariantCulture, $"{computeUs:0.##} us, {blockingPercent:0.##} % block");
}
