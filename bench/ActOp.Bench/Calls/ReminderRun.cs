using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Globalization;
using ActOp.Bench.Grains;
using ActOp.Bench.Hosting;
using ActOp.Harness.Processes;

namespace ActOp.Bench.Calls;

/// <summary>What is measured of reminders.</summary>
/// <param name="Count">Reminders of the cluster, one per grain.</param>
/// <param name="Silos">Silos, all in this process.</param>
/// <param name="Period">Time between the ticks of a reminder. They are spread over it evenly.</param>
/// <param name="Periods">How long ticks are watched.</param>
internal sealed record ReminderSettings(int Count, int Silos, TimeSpan Period, int Periods);

/// <summary>Many reminders in a cluster: how late their ticks are sent, and whether each came once.</summary>
internal static class ReminderRun
{
    private const int Callers = 64;

    private static readonly TimeSpan LongestStop = TimeSpan.FromSeconds(10);

    /// <summary>True if each reminder ticked as often as there were periods.</summary>
    internal static async Task<bool> Run(ReminderSettings settings)
    {
        var silos = new List<BenchHost>();
        try
        {
            var ports = Ports.FindFree(2 * settings.Silos);
            for (var silo = 0; silo < settings.Silos; silo++)
            {
                silos.Add(await BenchHost.StartSilo(
                    ports[2 * silo], ports[(2 * silo) + 1], silo == 0 ? null : ports[0], locality: false, configure: AddReminders));
            }

            return await Run(settings, silos[0]);
        }
        finally
        {
            // The first one holds the table of the cluster.
            foreach (var silo in Enumerable.Reverse(silos))
                await silo.StopAsync(LongestStop);
        }
    }

    private static void AddReminders(ISiloBuilder silo) => silo.UseInMemoryReminderService()
        .Configure<ReminderOptions>(static options => options.MinimumReminderPeriod = TimeSpan.Zero);

    private static async Task<bool> Run(ReminderSettings settings, BenchHost silo)
    {
        using var lateness = new Lateness();
        RemindedGrain.Ticks = new int[settings.Count];
        var start = Stopwatch.GetTimestamp();
        // All begin when the last one is registered, spread over one period.
        var begin = TimeSpan.FromSeconds(2) + TimeSpan.FromSeconds(settings.Count / 3_000.0);
        var next = -1;
        await Task.WhenAll(Enumerable.Range(0, Callers).Select(_ => Register()));
        var took = Stopwatch.GetElapsedTime(start);
        Write("reminders registered", "per s", settings.Count / took.TotalSeconds);
        Write("heap after a collection", "MB", GC.GetTotalMemory(forceFullCollection: true) / 1e6);
        if (took > begin)
            Console.WriteLine("Registering took " + took + ", longer than the planned " + begin + ": the first ticks were sent meanwhile.");
        // The last one of each reminder is due before this, and the next one after it.
        var end = begin + (settings.Period * settings.Periods) + (settings.Period / 2);
        await Task.Delay(end - Stopwatch.GetElapsedTime(start), TimeProvider.System);
        lateness.Write();
        var counts = RemindedGrain.Ticks.CountBy(static ticks => ticks).OrderBy(static entry => entry.Key).ToArray();
        Console.WriteLine("ticks of a reminder: "
            + string.Join(", ", counts.Select(static entry => entry.Key + " in " + entry.Value + " reminders")));
        return counts[0].Key >= settings.Periods;

        async Task Register()
        {
            while (Interlocked.Increment(ref next) is var key && key < settings.Count)
            {
                var due = begin - Stopwatch.GetElapsedTime(start) + (settings.Period * (key / (double)settings.Count));
                due = due > TimeSpan.Zero ? due : TimeSpan.Zero;
                await silo.Grains.GetGrain<IRemindedGrain>(key).Register(due, settings.Period).ConfigureAwait(false);
            }
        }
    }

    private static void Write(string name, string unit, double value) =>
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name,-44} {value,12:N1} {unit}"));

    /// <summary>What the silos of this process say about the lateness of ticks.</summary>
    private sealed class Lateness : IDisposable
    {
        private readonly Lock _gate = new();
        private readonly List<double> _seconds = [];
        private readonly MeterListener _listener = new();

        internal Lateness()
        {
            _listener.InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Name == "actop.reminders.lateness")
                    listener.EnableMeasurementEvents(instrument);
            };
            _listener.SetMeasurementEventCallback<double>((_, value, _, _) =>
            {
                lock (_gate)
                    _seconds.Add(value);
            });
            _listener.Start();
        }

        public void Dispose() => _listener.Dispose();

        internal void Write()
        {
            lock (_gate)
            {
                _seconds.Sort();
                ReminderRun.Write("ticks sent", "", _seconds.Count);
                foreach (var (name, share) in new[] { ("median", 0.5), ("99 %", 0.99), ("99.9 %", 0.999), ("largest", 1.0) })
                {
                    var place = (int)Math.Min(_seconds.Count - 1, share * _seconds.Count);
                    ReminderRun.Write("lateness of a tick, " + name, "ms", 1000 * _seconds[place]);
                }
            }
        }
    }
}
