using System.Diagnostics;
using HaloPresence.Grains;

namespace HaloPresence.Faults;

/// <summary>Reads the journals of all silo processes and looks for grains that were active twice at one time.</summary>
public static class ActivationCheck
{
    private const int MaxTexts = 5;

    /// <summary>
    /// Checks every file; <paramref name="processes"/> names each and says when its process was surely over (monotonic time).
    /// </summary>
    /// <remarks>An activation lasts from its first record to its second, or to the end of its process.</remarks>
    public static ActivationReport Run(IEnumerable<(string Path, TimeSpan Over)> processes)
    {
        var lives = new Dictionary<(long Kind, long Key), List<Life>>();
        int silo = 0;
        long count = 0;
        foreach ((string path, TimeSpan over) in processes)
        {
            foreach (Life life in Read(path, silo, over.Ticks * (Stopwatch.Frequency / TimeSpan.TicksPerSecond), lives))
                count++;
            silo++;
        }
        var texts = new List<string>();
        long doubles = 0;
        foreach (((long kind, long key), List<Life> all) in lives)
        {
            all.Sort((one, other) => one.From.CompareTo(other.From));
            for (int i = 1; i < all.Count; i++)
            {
                if (all[i].From >= all[i - 1].To)
                    continue;
                doubles++;
                if (texts.Count < MaxTexts)
                    texts.Add($"{(JournalKind)kind} {key}: active in process {all[i - 1].Process} until {Seconds(all[i - 1].To)} and in process {all[i].Process} from {Seconds(all[i].From)}");
                all[i].To = Math.Max(all[i].To, all[i - 1].To);
            }
        }
        return new ActivationReport(count, lives.Count, doubles, texts);
    }

    private static List<Life> Read(string path, int process, long over, Dictionary<(long, long), List<Life>> lives)
    {
        byte[] bytes = File.ReadAllBytes(path);
        var open = new Dictionary<long, Life>();
        var own = new List<Life>();
        for (int at = 0; at + ActivationJournal.RecordBytes <= bytes.Length; at += ActivationJournal.RecordBytes)
        {
            // A killed process may leave a record half done.
            if (BitConverter.ToInt64(bytes, at + 24) != ActivationJournal.Mark)
                continue;
            long head = BitConverter.ToInt64(bytes, at);
            long key = BitConverter.ToInt64(bytes, at + 8);
            long time = BitConverter.ToInt64(bytes, at + 16);
            if ((head & 1) == 0)
            {
                if (open.TryGetValue(head >> 8, out Life? ending))
                    ending.To = time;
                continue;
            }
            var life = new Life { Process = process, From = time, To = over };
            open.Add(head >> 8, life);
            own.Add(life);
            var grain = ((head >> 1) & 0x7F, key);
            if (!lives.TryGetValue(grain, out List<Life>? all))
                lives.Add(grain, all = []);
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
