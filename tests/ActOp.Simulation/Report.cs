using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation;

/// <summary>What is printed at the end.</summary>
internal static class Report
{
    /// <summary>Writes what happened in all seeds; returns their excuses.</summary>
    /// <param name="outcomes">All seeds.</param>
    /// <param name="theme">Theirs.</param>
    /// <param name="cpu">Time of processors that they took.</param>
    internal static Excuses Write(List<Outcome> outcomes, Theme theme, TimeSpan cpu)
    {
        var excuses = new Excuses();
        outcomes.ForEach(one => excuses.Add(one.Excuses));
        Console.WriteLine("seeds       " + outcomes.Count);
        Console.WriteLine(
            "simulated   " + (outcomes.Sum(static one => one.Simulated.TotalHours)).ToString("F2") + " h, " +
                outcomes.Sum(static one => one.Events) + " events, " + outcomes.Sum(static one => one.Detours) + " detours, " +
                outcomes.Sum(static one => one.Looks) + " looks at the directory");
        WriteSpeed(outcomes, cpu);
        Console.WriteLine("faults      "
            + Counts(outcomes.SelectMany(static one => one.Faults).GroupBy(static fault => fault.Kind.ToString())
                .Select(static group => (group.Key, (long)group.Count()))));
        Console.WriteLine("calls       "
            + Counts(outcomes.SelectMany(static one => one.Calls).GroupBy(static call => call.Key)
                .Select(static group => (group.Key, group.Sum(static call => call.Value)))));
        Console.WriteLine(
            "lives       " + outcomes.Sum(static one => one.LifeEvents) + " events, of " +
                outcomes.SelectMany(static one => one.KindsOfLifeEvents).Distinct().Count() + " of " + LifeEvents.AllKinds + " kinds");
        Console.WriteLine("excuses");
        foreach (var line in excuses.Table(theme))
            Console.WriteLine(line);
        Console.WriteLine(
            "violations  " + outcomes.Sum(static one => one.Violations.Count) + " in " +
                outcomes.Count(static one => one.Violations.Count > 0) + " seeds");
        if (outcomes.Count == 1)
        {
            foreach (var violation in outcomes[0].Violations)
                Console.WriteLine("  at " + new TimeSpan(violation.Time) + " " + violation.Oracle + ": " + violation.Text);
        }

        return excuses;
    }

    private static void WriteSpeed(List<Outcome> outcomes, TimeSpan cpu)
    {
        var seconds = cpu.TotalSeconds;
        Console.WriteLine(
            "speed       " + (outcomes.Sum(static one => one.Simulated.TotalSeconds) / seconds).ToString("F0") + " simulated seconds and " +
                (outcomes.Sum(static one => one.Calls.GetValueOrDefault("ok")) / seconds).ToString("F0") + " calls per second of CPU ("
                + seconds.ToString("F1") + " s in all)");
    }

    private static string Counts(IEnumerable<(string Name, long Count)> counts) =>
        string.Join(", ", counts.OrderByDescending(static pair => pair.Count)
            .Select(static pair => pair.Name + " " + pair.Count)) is { Length: > 0 } text ? text : "none";
}
