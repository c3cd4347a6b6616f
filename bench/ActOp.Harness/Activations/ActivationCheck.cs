using System.Diagnostics;

namespace ActOp.Harness.Activations;

/// <summary>Reads the journals of all silo processes and looks for grains that were active twice at one time.</summary>
public static class ActivationCheck
{
    private const int MaxTexts = 5;

    /// <summary>Checks every file.</summary>
    /// <param name="processes">The files, and when the process of each was surely over (monotonic).</param>
    /// <param name="nameOf">The name of a class of grains.</param>
    /// <param name="excuses">Whether an activation of a process may have run until then beside a newer one.</param>
    /// <remarks>An activation lasts from its first record to its last one, or to the end of its process if it has one only.</remarks>
    public static ActivationReport Run(
        IEnumerable<(string Path, TimeSpan Over)> processes, Func<int, string> nameOf, Func<int, TimeSpan, bool>? excuses = null)
    {
        var lives = new Dictionary<(int Kind, long Key), List<Life>>();
        var silo = 0;
        long count = 0;
        foreach ((var path, var over) in processes)
        {
            foreach (var life in Read(path, silo, over.Ticks * (Stopwatch.Frequency / TimeSpan.TicksPerSecond), lives))
                count++;
            silo++;
        }
        var texts = new List<string>();
        long doubles = 0;
        long excused = 0;
        foreach (((var kind, var key), var all) in lives)
        {
            all.Sort((one, other) => one.From.CompareTo(other.From));
            for (var i = 1; i < all.Count; i++)
            {
                if (all[i].From >= all[i - 1].To)
                    continue;
                if (excuses?.Invoke(all[i - 1].Process, Stopwatch.GetElapsedTime(0, all[i - 1].To)) == true)
                {
                    excused++;
                    continue;
                }
                doubles++;
                if (texts.Count < MaxTexts)
                {
                    texts.Add(
                        $"{nameOf(kind)} {key}: active in process {all[i - 1].Process} until {Seconds(all[i - 1].To)} and in process "
                        + $"{all[i].Process} from {Seconds(all[i].From)}");
                }

                all[i].To = Math.Max(all[i].To, all[i - 1].To);
            }
        }
        return new ActivationReport(count, lives.Count, doubles, excused, texts);
    }

    private static List<Life> Read(string path, int process, long over, Dictionary<(int, long), List<Life>> lives)
    {
        var open = new Dictionary<long, Life>();
        var own = new List<Life>();
        foreach (var record in ActivationJournal.Read(path))
        {
            if (!record.Begins)
            {
                if (open.TryGetValue(record.Activation, out var ending))
                    ending.To = record.Timestamp;
                continue;
            }
            var life = new Life { Process = process, From = record.Timestamp, To = over };
            open.Add(record.Activation, life);
            own.Add(life);
            if (!lives.TryGetValue((record.Kind, record.Key), out var all))
                lives.Add((record.Kind, record.Key), all = []);
            all.Add(life);
        }
        return own;
    }

    private static string Seconds(long timestamp) => $"{(double)timestamp / Stopwatch.Frequency:0.000} s";

    private sealed class Life
    {
        public int Process { get; init; }

        public long From { get; init; }

        public long To { get; set; }
    }
}

/// <summary>What <see cref="ActivationCheck"/> found.</summary>
/// <param name="Activations">Activations that were written down.</param>
/// <param name="Grains">Grains that they belong to.</param>
/// <param name="Doubles">Times that a grain was active twice at once.</param>
/// <param name="Excused">Times that were excused.</param>
/// <param name="Texts">The first few of them.</param>
public sealed record ActivationReport(long Activations, long Grains, long Doubles, long Excused, IReadOnlyList<string> Texts);
