using System.Globalization;

namespace ActOp.Runtime.Stages;

/// <summary>
/// How much of the processors other processes use, and so which share of the time that our threads are ready without one is due to them.
/// The paper's servers have no other processes (section 5.2), so there ready time is our own threads' competition, which more threads make
/// worse.
/// </summary>
/// <remarks>One thread at a time.</remarks>
/// <param name="processors">Processors that the process may use, p: with a quota, a fraction.</param>
/// <param name="ownTime">Reads the processor time that the process has used, in seconds.</param>
/// <param name="machineTime">Reads the processor time that all have used, in seconds; null where the system does not say, and then nothing
/// is due to others.</param>
internal sealed class ForeignCpuShare(double processors, Func<double> ownTime, Func<double?> machineTime)
{
    private const string Statistics = "/proc/stat";
    private const double TicksPerSecond = 100;

    /// <summary>Columns of the first line of /proc/stat, after the name: user, nice, system, idle, iowait, irq, softirq.</summary>
    private const int Idle = 3;
    private const int Waiting = 4;
    private const int Columns = 7;

    private double _own = ownTime();
    private double? _machine = machineTime();

    /// <summary>Of this process and this machine.</summary>
    internal static ForeignCpuShare OfThisProcess(double processors) =>
        new(processors, static () => Environment.CpuUsage.TotalTime.TotalSeconds, static () => ParseBusy(SystemFile.FirstLine(Statistics)));

    /// <summary>
    /// The share of the ready time since the last call that is due to other processes, 0 to 1, and how many processors they used.
    /// </summary>
    /// <param name="seconds">Seconds since the last call.</param>
    internal (double Share, double Processors) Take(double seconds)
    {
        var (own, machine) = (ownTime(), machineTime());
        var (usedByUs, usedByAll) = (own - _own, machine - _machine);
        (_own, _machine) = (own, machine);
        if (usedByAll is not > 0)
            return (0, 0);
        // With a quota we may have to wait on an idle machine: a process that uses up what it may use waits for itself.
        var share = Math.Clamp(1 - Math.Max(usedByUs / usedByAll.Value, usedByUs / (processors * seconds)), 0, 1);
        return (share, share * usedByAll.Value / seconds);
    }

    /// <summary>Processor time that all have used, in seconds, from the first line of /proc/stat; null when it is not understood.</summary>
    internal static double? ParseBusy(string line)
    {
        var words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (words.Length <= Columns || words[0] != "cpu")
            return null;
        double ticks = 0;
        for (var column = 0; column < Columns; column++)
        {
            if (!double.TryParse(words[column + 1], NumberStyles.None, CultureInfo.InvariantCulture, out var value))
                return null;
            if (column is not (Idle or Waiting))
                ticks += value;
        }

        return ticks / TicksPerSecond;
    }
}
